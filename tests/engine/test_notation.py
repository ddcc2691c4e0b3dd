import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import rulesets
from engine.claim import DRAW, Claim, Counters, Facts, Options, Seat
from engine.errors import EngineError
from engine.melds import Meld, MeldKind
from engine.notation import (
    AmbiguousNotation,
    IllegalNotation,
    InvalidNotation,
    NotationError,
    claim_from_object,
    claim_to_object,
    format_claim,
    format_meld,
    format_tiles,
    parse_claim,
    parse_hand,
    parse_meld,
    parse_tiles,
)
from engine.tiles import Tile

EXAMPLE = (
    "456m789m11z34s C:123m +5s flip=1p how=discard seat=1 from=2 da=shou:1 chips=50,50,50,50 payment=bao"
)

tiles = st.lists(st.sampled_from(list(Tile)), max_size=20).map(tuple)
melds = st.builds(
    Meld,
    st.sampled_from(list(MeldKind)),
    st.lists(st.sampled_from(list(Tile)), min_size=1, max_size=5).map(tuple),
)
counters = st.integers(0, 9)
seats = st.integers(0, 12).map(Seat)
option_values = {
    name: st.booleans()
    if spec.type == "bool"
    else st.integers(spec.minimum, spec.maximum)
    if spec.type == "int"
    else st.sampled_from(spec.allowed)
    for name, spec in rulesets.option_specs("zhenjiang").items()
}
claims = st.builds(
    Claim,
    indicator=st.none() | st.sampled_from(list(Tile)),
    concealed=tiles,
    melds=st.lists(melds, max_size=5).map(tuple),
    win=st.none() | st.sampled_from(list(Tile)),
    how=st.sampled_from([*rulesets.data("zhenjiang").hows, DRAW]),
    winner=st.none() | seats,
    discarder=st.none() | seats,
    facts=st.builds(
        lambda *n: Counters(dict(zip(("shou", "er", "peng"), n, strict=True))), counters, counters, counters
    ).map(lambda da: Facts(da=da) if da else Facts()),
    chips=st.none() | st.lists(st.integers(0, 10**6), min_size=1, max_size=5).map(tuple),
    xianggong=st.booleans(),
    options=st.fixed_dictionaries({}, optional=option_values).map(Options),
)


def test_the_documented_line_comes_back_letter_for_letter():
    claim = parse_claim(EXAMPLE, "zhenjiang")
    assert format_claim(claim, "zhenjiang") == EXAMPLE
    assert claim.facts == {"da": {"shou": 1}}
    assert (claim.winner, claim.discarder, claim.chips) == (1, 2, (50, 50, 50, 50))
    assert claim.options == {"payment": "bao"}
    assert claim_to_object(claim, "zhenjiang") == {
        "indicator": "1p", "hand": "456m789m11z34s", "melds": ["C:123m"], "win": "5s", "how": "discard",
        "winner": 1, "discarder": 2, "da": {"shou": 1}, "chips": [50, 50, 50, 50],
        "options": {"payment": "bao"},
    }  # fmt: skip


@given(tiles)
def test_tiles_survive_the_round_trip(row):
    assert parse_tiles(format_tiles(row)) == row


@given(melds)
def test_melds_survive_the_round_trip(meld):
    assert parse_meld(format_meld(meld)) == meld


@settings(max_examples=150, deadline=None)
@given(claims)
def test_claims_survive_as_line_and_as_object(claim):
    line = format_claim(claim, "zhenjiang")
    assert parse_claim(line, "zhenjiang") == claim
    assert format_claim(parse_claim(line, "zhenjiang"), "zhenjiang") == line
    obj = json.loads(json.dumps(claim_to_object(claim, "zhenjiang")))
    assert claim_from_object(obj, "zhenjiang") == claim
    assert claim_to_object(claim_from_object(obj, "zhenjiang"), "zhenjiang") == obj


def attempt(read, *args):
    try:
        return read(*args), None
    except NotationError as error:
        return None, error


word = st.one_of(
    st.text(max_size=6),
    st.text(alphabet="0123456789mpszfback?+:,=CPKAH -", max_size=12),
    st.sampled_from(EXAMPLE.split()),
    st.sampled_from(
        ["how=draw", "xianggong", "flip=", "da=", "da=shou:-1", "chips=1,,2", "cap_at_chips", "how=self"]
    ),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(word, max_size=8).map(" ".join))
def test_any_text_is_refused_with_a_position_or_survives(text):
    claim, error = attempt(parse_claim, text, "zhenjiang")
    if error:
        assert 0 <= error.position <= len(text)
        assert str(error).endswith(f"(at position {error.position})")
    else:
        assert parse_claim(format_claim(claim, "zhenjiang"), "zhenjiang") == claim


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 60)
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.just("123m"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
claim_keys = st.sampled_from(
    [
        "indicator",
        "hand",
        "melds",
        "win",
        "how",
        "draw",
        "winner",
        "discarder",
        "da",
        "chips",
        "xianggong",
        "options",
    ]
)


@settings(max_examples=120, deadline=None)
@given(st.dictionaries(claim_keys, json_values, max_size=6), st.booleans())
def test_any_object_is_refused_or_survives(obj, sound):
    if sound:
        obj["how"] = "self"
    claim, error = attempt(claim_from_object, obj, "zhenjiang")
    if error:
        assert "'how'" in str(error) or any(key in str(error) for key in obj)
    else:
        assert claim_from_object(claim_to_object(claim, "zhenjiang"), "zhenjiang") == claim


@pytest.mark.parametrize(
    ("text", "error", "position"),
    [
        ("12q", InvalidNotation, 2),
        ("123m45", InvalidNotation, 6),
        ("m", InvalidNotation, 0),
        ("123m40p", IllegalNotation, 5),
        ("8z", IllegalNotation, 0),
        ("19f", IllegalNotation, 1),
        ("123m ", InvalidNotation, 4),
    ],
)
def test_refused_tiles(text, error, position):
    with pytest.raises(error) as caught:
        parse_tiles(text)
    assert type(caught.value) is error
    assert caught.value.position == position


@pytest.mark.parametrize(
    ("text", "error", "position"),
    [
        ("P555m", InvalidNotation, 0),
        ("X:555m", IllegalNotation, 0),
        ("P:", InvalidNotation, 2),
        ("P:550m", IllegalNotation, 4),
        ("P:55q", InvalidNotation, 4),
    ],
)
def test_refused_melds(text, error, position):
    with pytest.raises(error) as caught:
        parse_meld(text)
    assert caught.value.position == position


@pytest.mark.parametrize(
    ("line", "error", "position", "says"),
    [
        ("11z +1z flip=5s seat=0", InvalidNotation, 22, "how="),
        ("11z 22z how=self", AmbiguousNotation, 4, "twice"),
        ("11z +1z +2z how=self", AmbiguousNotation, 8, "twice"),
        ("11z how=self how=self", AmbiguousNotation, 13, "twice"),
        ("11z how=self payment=pei payment=bao", AmbiguousNotation, 25, "payment"),
        ("11z da=er:1,er:2 how=self", AmbiguousNotation, 12, "er"),
        ("11z how=selfish", IllegalNotation, 8, "selfish"),
        ("11z how=self wind=0", IllegalNotation, 13, "wind"),
        ("11z how=self payment=gratis", IllegalNotation, 21, "pei, bao, discarder"),
        ("11z how=self ron_needs_natural=yes", IllegalNotation, 31, "true or false"),
        ("11z how=self base=0", IllegalNotation, 18, "base"),
        ("11z how=self payment", InvalidNotation, 13, "payment="),
        ("11z how=self flip", InvalidNotation, 13, "flip="),
        ("11z how=self seat=x", InvalidNotation, 18, "x"),
        ("11z how=self seat=-1", IllegalNotation, 18, "-1"),
        ("11z how=self chips=50,5o", InvalidNotation, 22, "5o"),
        ("11z how=self da=one:1", IllegalNotation, 16, "one"),
        ("11z how=self da=er:x", InvalidNotation, 19, "x"),
        ("11z how=self flip=12m", InvalidNotation, 18, "12m"),
        ("11z +0m how=self", IllegalNotation, 5, "0m"),
        ("11z P:550m how=self", IllegalNotation, 8, "0m"),
        ("11z how=self xianggong=no", InvalidNotation, 23, "no"),
    ],
)
def test_refused_lines(line, error, position, says):
    with pytest.raises(error) as caught:
        parse_claim(line, "zhenjiang")
    assert type(caught.value) is error
    assert caught.value.position == position
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("obj", "says"),
    [
        ({"how": "self", "gold": "1m"}, "gold"),
        ({"hand": "11z"}, "how"),
        ({"how": "self", "hand": "11q"}, "hand"),
        ({"how": "self", "hand": 11}, "hand"),
        ({"how": "self", "melds": "P:111z"}, "melds"),
        ({"how": "self", "winner": True}, "winner"),
        ({"how": "self", "winner": -1}, "winner"),
        ({"how": "self", "chips": []}, "chips"),
        ({"how": "self", "da": {"one": 1}}, "one"),
        ({"how": "self", "xianggong": 1}, "xianggong"),
        ({"how": "self", "options": {"payment": None}}, "payment"),
        ({"how": "self", "options": []}, "options"),
        ({"how": "won"}, "won"),
        ({"how": "self", "win": "12m"}, "win"),
    ],
)
def test_refused_objects_name_the_key(obj, says):
    with pytest.raises(NotationError, match=says):
        claim_from_object(obj, "zhenjiang")


def test_flags_stand_bare_or_with_a_value():
    bare = parse_claim("11z +1z how=self xianggong ron_needs_natural", "zhenjiang")
    full = parse_claim("11z +1z how=self xianggong=true ron_needs_natural=true", "zhenjiang")
    assert bare == full
    assert bare.xianggong
    assert bare.options["ron_needs_natural"] is True


def test_a_draw_has_no_hand_and_reads_from_both_object_spellings():
    line = parse_claim("flip=1p how=draw", "zhenjiang")
    assert line == claim_from_object({"draw": True, "indicator": "1p"}, "zhenjiang")
    assert line == claim_from_object({"how": "draw", "indicator": "1p", "winner": None}, "zhenjiang")
    assert format_claim(line, "zhenjiang") == "flip=1p how=draw"


def test_a_changed_hand_is_not_written_in_its_old_spelling():
    from dataclasses import replace

    claim = parse_claim("1m2m +3m how=self", "zhenjiang")
    assert format_claim(claim, "zhenjiang").startswith("1m2m ")
    assert format_claim(replace(claim, concealed=(Tile.M1, Tile.M9)), "zhenjiang").startswith("19m ")


def test_a_spelling_that_cannot_be_read_is_not_kept():
    from dataclasses import replace

    claim = replace(parse_claim("1m2m +3m how=self", "zhenjiang"), spelling="12")
    assert format_claim(claim, "zhenjiang").startswith("12m ")


@pytest.mark.parametrize(("text", "position"), [("11z +1z +2z", 8), ("11z 22z", 4)])
def test_a_hand_says_nothing_twice(text, position):
    with pytest.raises(AmbiguousNotation) as caught:
        parse_hand(text)
    assert caught.value.position == position


def test_a_hand_is_read_without_facts():
    hand = parse_hand("123m P:555z +4m")
    assert hand.held == (Tile.M1, Tile.M2, Tile.M3, Tile.M4)
    assert hand.tiles[-1] is Tile.WHITE
    with pytest.raises(IllegalNotation):
        parse_hand("123m how=self")


def test_a_kong_of_white_dragons_is_no_red_five():
    assert set(parse_meld("K:5555z").tiles) == {Tile.WHITE}


def test_unknown_rule_set_is_refused_by_name():
    with pytest.raises(EngineError, match=r"'nowhere'.*zhenjiang"):
        parse_claim(EXAMPLE, "nowhere")


def test_claims_are_values():
    one, two = parse_claim(EXAMPLE, "zhenjiang"), parse_claim(EXAMPLE, "zhenjiang")
    assert one == two
    assert hash(one) == hash(two)
    assert eval(repr(Options(payment="bao"))) == Options(payment="bao")

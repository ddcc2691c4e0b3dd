"""The notation of every rule set: lines and objects hold the same, and nothing is read by guessing."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import rulesets
from engine.notation import (
    AmbiguousNotation,
    IllegalNotation,
    InvalidNotation,
    NotationError,
    claim_from_object,
    claim_to_object,
    format_claim,
    parse_claim,
)
from tests.engine.claims import claims, texts

GOLDEN = Path(__file__).parents[1] / "golden"
RULESETS = rulesets.ids()
VECTORS = {name: json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8")) for name in RULESETS}
LINES = {
    name: [format_claim(claim_from_object(vector, name), name) for vector in vectors]
    for name, vectors in VECTORS.items()
}
FULL = {
    "fengcheng": "456m789m11z34p H:222p +5p how=discard seat=1 from=2 xianggong p0=K:1111p,P:666z"
    " p0.spread=honors:8,groups:2 p0.yaoji=pair_start p2.seven_star p2.spread=extra_honors:1"
    " p2.no_honor_start p2.seven_less_two settlement=dealer_only smoke=false",
}


def attempt(read, *args):
    try:
        return read(*args), None
    except NotationError as error:
        return None, error


@pytest.mark.parametrize("ruleset", RULESETS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_claims_survive_as_line_and_as_object(ruleset, data):
    claim = data.draw(claims(ruleset))
    line = format_claim(claim, ruleset)
    assert parse_claim(line, ruleset) == claim
    assert format_claim(parse_claim(line, ruleset), ruleset) == line
    obj = json.loads(json.dumps(claim_to_object(claim, ruleset)))
    assert claim_from_object(obj, ruleset) == claim
    assert claim_to_object(claim_from_object(obj, ruleset), ruleset) == obj


@pytest.mark.parametrize("ruleset", RULESETS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_text_is_refused_with_a_position_or_survives(ruleset, data):
    text = data.draw(texts(ruleset, LINES[ruleset]))
    claim, error = attempt(parse_claim, text, ruleset)
    if error:
        assert 0 <= error.position <= len(text)
        assert str(error).endswith(f"(at position {error.position})")
    else:
        assert parse_claim(format_claim(claim, ruleset), ruleset) == claim
        assert claim_from_object(claim_to_object(claim, ruleset), ruleset) == claim


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 60)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "123m", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("ruleset", RULESETS)
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_any_object_is_refused_by_name_or_survives(ruleset, data):
    """A worked example in which one value, at any depth, is replaced."""
    obj = json.loads(json.dumps(data.draw(st.sampled_from(VECTORS[ruleset]))))
    del obj["expect"], obj["note"]
    key = data.draw(st.sampled_from([*obj, "players", "draw", "nonsense"]))
    home, name = obj, key
    if key == "players" and isinstance(obj.get(key), list) and data.draw(st.booleans()):
        home = obj[key][data.draw(st.integers(0, len(obj[key]) - 1))]
        name = data.draw(st.sampled_from(["melds", "spread", "no_honor_start", "nonsense"]))
    home[name] = data.draw(json_values)
    claim, error = attempt(claim_from_object, obj, ruleset)
    if error:
        assert name in str(error) or key in str(error) or "'how'" in str(error)
    else:
        assert claim_from_object(claim_to_object(claim, ruleset), ruleset) == claim


@pytest.mark.parametrize("ruleset", RULESETS)
def test_worked_examples_are_the_same_as_line_and_as_object(ruleset):
    for vector, line in zip(VECTORS[ruleset], LINES[ruleset], strict=True):
        assert parse_claim(line, ruleset) == claim_from_object(vector, ruleset)


@pytest.mark.parametrize(("ruleset", "line"), FULL.items())
def test_a_full_line_comes_back_letter_for_letter(ruleset, line):
    assert format_claim(parse_claim(line, ruleset), ruleset) == line


@pytest.mark.parametrize(
    ("line", "error", "position", "says"),
    [
        ("P:111m how=draw", InvalidNotation, 15, "seat="),
        ("P:111m how=self seat=3", InvalidNotation, 22, "seat="),
        ("how=self seat=0 p0=P:111m", AmbiguousNotation, 25, "without p0="),
        ("how=draw p3=P:111m", IllegalNotation, 10, "seats are 0 to 2"),
        ("how=draw p0=P:111m p0=P:222m", AmbiguousNotation, 19, "twice"),
        ("how=draw p0=P:111m,", InvalidNotation, 19, "meld"),
        ("how=draw p0=P:111m,X:222m", IllegalNotation, 19, "'X'"),
        ("how=draw p0", InvalidNotation, 9, "p0=P:111m"),
        ("how=draw p0.yaoji=both", IllegalNotation, 18, "single, pair_start"),
        ("how=draw p0.yaoji", InvalidNotation, 9, "p0.yaoji="),
        ("how=draw p0.flowers=1f", IllegalNotation, 9, "flowers"),
        ("how=draw p0.spread=honors:29", IllegalNotation, 26, "0 to 28"),
        ("how=draw p0.spread=honors:4,honors:5", AmbiguousNotation, 9, "twice"),
        ("how=draw p0.spread=honours:4", IllegalNotation, 19, "honours"),
        ("how=draw p0.spread", InvalidNotation, 9, "p0.spread=honors"),
        ("how=draw p0.spread=", IllegalNotation, 19, "use honors"),
        ("how=draw p0.seven_star p0.spread=seven_star", AmbiguousNotation, 23, "twice"),
        ("how=draw flip=1m", IllegalNotation, 9, "flip"),
        ("how=draw chips=1,2,3", IllegalNotation, 9, "chips"),
        ("how=ping", IllegalNotation, 4, "self (self-draw"),
    ],
)
def test_refused_lines_of_fengcheng(line, error, position, says):
    with pytest.raises(error) as caught:
        parse_claim(line, "fengcheng")
    assert type(caught.value) is error
    assert caught.value.position == position
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("players", "says"),
    [
        ({}, "3 players"),
        ([{}, {}], "3 players"),
        ([{}, {}, 3], "object"),
        ([{}, {}, {"melds": "P:111m"}], "melds"),
        ([{}, {}, {"spread": 4}], "spread"),
        ([{}, {}, {"spread": {"honors": True}}], "honors"),
        ([{}, {}, {"spread": {"colour": 1}}], "colour"),
        ([{}, {}, {"honors": 4}], "honors"),
        ([{}, {}, {"yaoji": "single"}], "yaoji"),
        ([{}, {}, {"no_honor_start": 1}], "no_honor_start"),
    ],
)
def test_refused_players_name_what_is_wrong(players, says):
    with pytest.raises(NotationError, match=says):
        claim_from_object({"draw": True, "players": players}, "fengcheng")


def test_nothing_said_of_a_player_is_the_same_as_nothing():
    said = {"spread": {"honors": 4, "groups": None}, "melds": None, "yaoji": None}
    claim = claim_from_object({"draw": True, "players": [said, {}, {}]}, "fengcheng")
    assert claim == claim_from_object(
        {"draw": True, "players": [{"spread": {"honors": 4}}, {}, {}]}, "fengcheng"
    )


def test_keys_of_other_rule_sets_are_refused_by_name():
    for key, ruleset in (
        ("gold", "zhenjiang"),
        ("indicator", "xiamen"),
        ("players", "mcr"),
        ("melds", "fengcheng"),
    ):
        with pytest.raises(IllegalNotation, match=key):
            claim_from_object({"draw": True, key: "1m"}, ruleset)
    with pytest.raises(IllegalNotation, match="dealer"):
        claim_from_object({"draw": True, "dealer": 1}, "fengcheng")
    assert claim_from_object({"draw": True, "dealer": 0}, "fengcheng").how == "draw"

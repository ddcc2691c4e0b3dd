"""What the scripted referee taps, and what lies in front of the camera."""

import dataclasses

import pytest

from engine import rulesets
from engine.claim import Counters, Facts, Seat
from engine.melds import Meld, MeldKind
from engine.notation import parse_tiles
from engine.tiles import Tile
from station.demo.laid import LaidOpen, OpenTiles, shown, shown_open
from station.demo.moves import Style
from station.demo.referee import (
    PATIENCE_S,
    Patience,
    claim_body,
    correction,
    is_read,
    line_of,
    public_line,
)
from station.demo.scenes import scene_of
from station.places import Place, sides_of
from tests.station.demo.played import new_hand

FENGCHENG = rulesets.load("fengcheng")
ZHENJIANG = rulesets.load("zhenjiang")
EAST_GROUP = tuple(parse_tiles("1234z"))


def _read(tiles, *, doubt=(), wrong=(), typed=False):
    return [
        {
            "kind": "9m" if i in wrong else tile.id,
            "group": group,
            "doubt": i in doubt,
            "box": None if typed else [0, 0, 1, 1],
        }
        for i, (group, tile) in enumerate(tiles)
    ]


def _hand(**changes):
    """Return a claim of Zhenjiang at seat 1 with a concealed kong."""
    laid = LaidOpen(
        seat=Seat(1),
        how="discard",
        source=Seat(2),
        facts=Facts(da=Counters(shou=1)),
        concealed=parse_tiles("123m456p78s11z"),
        win=Tile.S9,
        tables=(
            OpenTiles(),
            OpenTiles((Meld(MeldKind.CONCEALED_KONG, (Tile.RED,) * 4),)),
            *[OpenTiles()] * 2,
        ),
    )
    return dataclasses.replace(laid, **changes)


def _claim(laid, place=3, **changes):
    facts = {"da": {"shou": 1}}
    claim = {"place": place, "tiles": _read(shown(laid)), "facts": facts, "shown": []}
    return {**claim, **changes}


def test_a_claim_is_declared_by_places_with_what_the_table_can_not_know():
    body = claim_body(ZHENJIANG, _hand(), Place(2))
    assert body == {"place": 3, "how": "discard", "from": 0, "facts": {"da": {"shou": 1}}}


def test_facts_that_the_table_fills_in_are_not_tapped():
    rules, hand = new_hand("xiamen", "tapped", number=2)
    laid = hand.next_claim()
    assert laid.facts.get("streak") == 2
    assert "streak" not in claim_body(rules, laid, Place(0)).get("facts", {})


def test_a_hand_read_right_needs_nothing():
    assert correction(_claim(_hand()), _hand(), ZHENJIANG, Place(2), mend=True) is None


def test_a_wrong_tile_is_mended_and_a_doubted_one_approved():
    claim = _claim(_hand(), tiles=_read(shown(_hand()), doubt=(1, 4), wrong=(4,)))
    assert correction(claim, _hand(), ZHENJIANG, Place(2), mend=True) == ("tile", {"i": 1, "kind": "2m"})
    claim["tiles"][1]["doubt"] = False
    assert correction(claim, _hand(), ZHENJIANG, Place(2), mend=True) == ("tile", {"i": 4, "kind": "5p"})
    assert correction(claim, _hand(), ZHENJIANG, Place(2), mend=False) == ("tile", {"i": 4, "kind": "9m"})


def test_a_hand_laid_out_otherwise_is_typed():
    claim = _claim(_hand(), tiles=_read(shown(_hand())[1:]))
    line = "123m456p78s11z A:7777z +9s"
    assert line_of(_hand()) == line
    assert correction(claim, _hand(), ZHENJIANG, Place(2), mend=True) == ("hand", {"line": line})
    assert correction(claim, _hand(), ZHENJIANG, Place(2), mend=False) is None


def test_a_fact_that_is_wrong_is_changed():
    claim = _claim(_hand(), facts={"da": {"er": 1}})
    change = {"facts": {"da": {"shou": 1}}}
    assert correction(claim, _hand(), ZHENJIANG, Place(2), mend=True) == ("amend", change)
    claim = _claim(_hand(facts=Facts()))
    taken_back = {"facts": {"da": None}}
    assert correction(claim, _hand(facts=Facts()), ZHENJIANG, Place(2), mend=True) == ("amend", taken_back)


def _exhausted():
    spread = OpenTiles(
        (Meld(MeldKind.SHAO, (Tile.P5,) * 3),),
        spread=(EAST_GROUP, (Tile.S1, Tile.S1)),
        facts=Facts(honors=4, groups=1, yaoji="pair_start"),
    )
    tables = (OpenTiles(), spread, OpenTiles(facts=Facts(no_honor_start=True)))
    return LaidOpen(None, "draw", None, Facts(), (), None, tables, everybody=True)


def _entry(place, tiles, **changes):
    entry = {"place": place, "winner": False, "tiles": tiles, "photo": {}, "read": bool(tiles), "facts": {}}
    entry["tapped"] = {}
    return {**entry, **changes}


def _others(**facts):
    laid = _exhausted()
    return {
        "place": None,
        "tiles": [],
        "facts": {},
        "shown": [
            _entry(0, [], read=True, facts=facts.get("p0", {"no_honor_start": True})),
            _entry(1, [], read=True),
            _entry(2, _read(shown_open(laid.tables[1])), facts=facts.get("p2", {})),
        ],
    }


def test_nothing_is_mended_before_the_camera_has_looked_everywhere():
    claim = _others()
    assert is_read(claim)
    claim["shown"][0].update(read=False, photo=None)
    assert not is_read(claim)


def test_where_nothing_lies_open_a_person_says_so():
    claim = _others()
    claim["shown"][0].update(read=False)
    assert correction(claim, _exhausted(), FENGCHENG, Place(1), mend=True) == (
        "hand",
        {"line": "", "place": 0},
    )


def test_what_others_have_open_is_mended_at_their_place():
    claim = _others()
    claim["shown"][2]["tiles"][3]["kind"] = "2z"
    fix = correction(claim, _exhausted(), FENGCHENG, Place(1), mend=True)
    assert fix == ("tile", {"i": 3, "kind": "1z", "place": 2})


def test_spread_tiles_that_were_overlooked_are_typed():
    claim = _others()
    del claim["shown"][2]["tiles"][3:]
    line = "H:555p 1234z11s"
    fix = correction(claim, _exhausted(), FENGCHENG, Place(1), mend=True)
    assert fix == ("hand", {"line": line, "place": 2})
    assert public_line(_exhausted().tables[1]) == line
    assert public_line(OpenTiles()) == ""


def test_what_spread_tiles_do_not_show_is_said():
    claim = _others(p2={"honors": 4, "groups": 1})
    fix = correction(claim, _exhausted(), FENGCHENG, Place(1), mend=True)
    assert fix == ("amend", {"shown": {"2": {"yaoji": "pair_start"}}})


def test_without_mending_a_person_still_says_what_no_camera_sees():
    claim = _others(p2={"honors": 3})
    claim["shown"][0]["tapped"] = {"no_honor_start": True}
    fix = correction(claim, _exhausted(), FENGCHENG, Place(1), mend=False)
    assert fix == ("amend", {"shown": {"2": {"yaoji": "pair_start"}}})
    claim["shown"][2]["tapped"] = {"yaoji": "pair_start"}
    assert correction(claim, _exhausted(), FENGCHENG, Place(1), mend=False) is None


def test_a_claim_says_of_everybody_what_can_not_be_seen():
    laid = dataclasses.replace(_exhausted(), seat=Seat(0), how="self", win=Tile.M1)
    body = claim_body(FENGCHENG, laid, Place(1))
    assert body["shown"] == {"2": {"yaoji": "pair_start"}, "0": {"no_honor_start": True}}


@pytest.mark.parametrize("empty", [3, 1])
def test_hands_lie_at_the_sides_of_their_places(empty):
    sides = sides_of(3, empty)
    scene = scene_of(None, None, _exhausted(), sides=sides, dealer=Place(1), seed="s")
    assert set(scene.hands) == set(sides)
    assert scene.hands[sides[2]].melds == (("5p", "back", "5p"),)
    assert scene.hands[sides[2]].spread == (("1z", "2z", "3z", "4z"), ("1s", "1s"))


def test_a_concealed_kong_lies_with_its_outer_tiles_face_down():
    scene = scene_of(None, "3m", _hand(), sides=(0, 1, 2, 3), dealer=Place(2), seed="s")
    assert set(scene.hands) == {3}
    assert scene.hands[3].melds == (("back", "7z", "7z", "back"),)
    assert scene.hands[3].win == "9s"


def test_the_gold_lies_on_the_wall_it_was_counted_on():
    _, hand = new_hand("xiamen", "scene", Style.PLAIN)
    dealer = Place(3)
    scene = scene_of(hand, hand.indicator.id, None, sides=(0, 1, 2, 3), dealer=dealer, seed="s")
    turned = hand.wall.turned
    assert scene.turned == ((turned.wall + dealer) % 4, turned.stack)
    assert scene.stacks == 18
    assert sum(sum(scene.heights(side)) for side in range(4)) == len(hand.wall.tiles)


UNREAD = {"place": 1, "tiles": [], "shown": []}
WAITS = {"place": 1, "problems": [{"code": "glare", "box": None}], "anyway": False}


def test_a_zone_that_never_becomes_fit_is_read_as_it_is_after_a_while():
    patience = Patience()
    assert not patience.is_lost(UNREAD, WAITS, 100.0)
    assert not patience.is_lost(UNREAD, WAITS, 100.0 + PATIENCE_S - 0.1)
    assert patience.is_lost(UNREAD, WAITS, 100.0 + PATIENCE_S)


@pytest.mark.parametrize(
    ("claim", "guidance"),
    [
        pytest.param(UNREAD, None, id="became fit"),
        pytest.param(UNREAD, {**WAITS, "anyway": True}, id="is read anyway"),
        pytest.param(UNREAD, {**WAITS, "place": 2}, id="another place"),
        pytest.param({**UNREAD, "tiles": [{}]}, WAITS, id="was read"),
    ],
)
def test_the_patience_of_another_wait_begins_anew(claim, guidance):
    patience = Patience()
    patience.is_lost(UNREAD, WAITS, 0.0)
    assert not patience.is_lost(claim, guidance, PATIENCE_S - 1)
    assert not patience.is_lost(UNREAD, WAITS, PATIENCE_S)

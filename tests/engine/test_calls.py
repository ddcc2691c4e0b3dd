"""Calls: who gets a tile and by which sentence, and what speaks against a call."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import rulesets
from engine.claim import Seat
from engine.errors import EngineError
from engine.match import Match
from engine.ruledata import CallSpec
from engine.rules.zhenjiang import Zhenjiang
from engine.text.callobject import call_from_object
from engine.text.tiletext import NotationError
from engine.tiles import Tile

RULES = rulesets.load("zhenjiang")
CHOW = CallSpec(name="chow", rank=2, next_only=True, suits_only=True, section="§4", text="chow")
CHOWING = Zhenjiang(replace(RULES.data, calls={**RULES.data.calls, "chow": CHOW}), {})
"""Zhenjiang as if it knew the chow."""


def award(rules, discarder, *wants, tile="5m"):
    found = rules.award(Tile.of(tile), Seat(discarder), [(Seat(seat), call) for seat, call in wants])
    return found.seat, found.call


def problems(rules=RULES, **obj):
    return [problem.code for problem in rules.may_call(call_from_object(obj, "zhenjiang"))]


@pytest.mark.parametrize(
    ("wants", "gets"),
    [
        ([(1, "pung"), (3, "win")], (3, "win")),
        ([(2, "win"), (1, "win")], (1, "win")),
        ([(3, "kong"), (1, "chow")], (3, "kong")),
        ([(1, "chow")], (1, "chow")),
        ([(2, "chow")], (None, None)),
        ([(0, "win")], (None, None)),
        ([(1, "leap")], (None, None)),
        ([], (None, None)),
    ],
)
def test_lower_rank_first_then_the_nearest_after_the_discarder(wants, gets):
    assert award(CHOWING, 0, *wants) == gets
    turned = [((seat + 3) % 4, call) for seat, call in reversed(wants)]
    seat, call = award(CHOWING, 3, *turned)
    assert (None if seat is None else (seat + 1) % 4, call) == gets


@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["win", "pung", "kong", "chow"])), max_size=5))
def test_an_award_does_not_depend_on_the_order_of_the_calls(wants):
    assert award(CHOWING, 0, *wants) == award(CHOWING, 0, *sorted(wants, reverse=True))


def test_an_award_names_its_sentence_and_what_fell_away():
    found = RULES.award(Tile.M5, Seat(0), [(Seat(1), "chow"), (Seat(2), "pung")])
    assert (found.seat, found.call, found.section) == (2, "pung", "§4")
    assert "two of the kind" in found.text
    assert "碰" in found.zh
    [(want, problem)] = found.refused
    assert (want, problem.code, problem.section) == ((1, "chow"), "chow_not_allowed", "§4")
    with pytest.raises(EngineError, match="no seat 4"):
        RULES.award(Tile.M5, Seat(0), [(Seat(4), "win")])
    with pytest.raises(EngineError, match="no discarder 4"):
        RULES.award(Tile.M5, Seat(4), [(Seat(1), "win")])


def test_a_rule_set_may_forbid_a_tile_to_everybody():
    class Gold(Zhenjiang):
        def refuse_tile(self, call):
            if call.tile == call.indicator:
                yield "gold_discard_not_claimable", (call.tile.id,)

    rules = Gold(RULES.data, {})
    wants = [(Seat(1), "pung"), (Seat(2), "win")]
    match = Match.start(rules)
    found = match.award(Tile.M5, Seat(0), wants, indicator=Tile.M5)
    assert found.seat is None
    assert {problem.code for _, problem in found.refused} == {"gold_discard_not_claimable"}
    assert match.award(Tile.M5, Seat(0), wants, indicator=Tile.M6).seat == 2


@pytest.mark.parametrize(
    ("obj", "codes"),
    [
        ({"call": "pung", "discarder": 0, "tile": "5m", "with": "55m"}, []),
        ({"call": "pung", "discarder": 0, "tile": "5m", "with": "56m"}, ["tiles_do_not_fit"]),
        ({"call": "pung", "discarder": 0, "tile": "5m", "with": "5m"}, ["tiles_do_not_fit"]),
        ({"call": "pung", "discarder": 0, "tile": "5m", "with": "555m"}, ["tiles_do_not_fit"]),
        ({"call": "kong", "discarder": 0, "tile": "5m", "with": "555m"}, []),
        ({"call": "kong", "discarder": 0, "tile": "5m", "with": "5555m"}, ["fifth_copy", "tiles_do_not_fit"]),
        ({"call": "pung", "discarder": 0, "tile": "1f", "with": "11f"}, ["fifth_copy", "tiles_do_not_fit"]),
        ({"call": "pung", "discarder": 0, "with": "55m"}, ["contradictory_facts"]),
        ({"call": "pung", "tile": "5m", "with": "55m"}, ["contradictory_facts"]),
        ({"call": "pung", "discarder": 2, "tile": "5m", "with": "55m"}, ["contradictory_facts"]),
        ({"call": "win", "discarder": 0, "tile": "5m"}, []),
        ({"call": "chow", "discarder": 1, "tile": "5m", "with": "46m"}, ["chow_not_allowed"]),
        ({"call": "leap", "discarder": 1, "tile": "5m"}, ["call_not_allowed"]),
        ({"call": "kong_added", "tile": "5m", "with": "555m"}, []),
        ({"call": "kong_concealed", "with": "5555m"}, []),
        ({"call": "kong_concealed", "tile": "5m", "with": "555m"}, []),
        ({"call": "kong_concealed", "with": "555m"}, ["tiles_do_not_fit"]),
        ({"call": "kong_concealed", "with": "555m", "indicator": "5m"}, ["tiles_do_not_fit"]),
        ({"call": "discard", "tile": "5m", "hand": "456m"}, []),
        ({"call": "discard", "tile": "5m"}, []),
        ({"call": "discard", "tile": "5m", "hand": "46m"}, ["tiles_do_not_fit"]),
        ({"call": "discard", "hand": "46m"}, ["tiles_do_not_fit"]),
    ],
)
def test_what_speaks_against_a_call(obj, codes):
    assert problems(seat=2, **obj) == codes


def test_wildcards_are_punged_only_as_themselves():
    assert problems(call="pung", seat=2, discarder=0, tile="5m", **{"with": "5m6s"}, indicator="5s") != []
    assert problems(call="pung", seat=2, discarder=0, tile="6s", **{"with": "66s"}, indicator="5s") == []


def test_three_of_the_indicator_kind_are_a_concealed_kong_by_option():
    rules = RULES.with_options({"indicator_kong3": True})
    assert problems(rules, call="kong_concealed", seat=2, **{"with": "555m"}, indicator="5m") == []
    assert problems(rules, call="kong_concealed", seat=2, **{"with": "555m"}, indicator="4m") != []
    assert problems(rules, call="kong_concealed", seat=2, **{"with": "555m"}) != []


@pytest.mark.parametrize(
    ("seat", "tile", "own", "codes"),
    [
        (1, "5m", "46m", []),
        (2, "5m", "46m", ["not_next_player"]),
        (1, "5m", "47m", ["tiles_do_not_fit"]),
        (1, "2z", "13z", ["not_suited", "tiles_do_not_fit"]),
        (3, "2z", "13z", ["not_next_player", "not_suited", "tiles_do_not_fit"]),
    ],
)
def test_a_chow_is_the_next_players_and_suited(seat, tile, own, codes):
    call = {"call": "chow", "seat": seat, "discarder": 0, "tile": tile, "with": own}
    assert problems(CHOWING, **call) == codes


def test_problems_name_the_section_and_what_they_are_about():
    call = call_from_object({"call": "chow", "seat": 2, "discarder": 0, "tile": "5m"}, "zhenjiang")
    first, *_ = CHOWING.may_call(call)
    assert (first.section, first.about) == ("§4", ("seat=2", "next=1"))
    with pytest.raises(EngineError, match="no seat 5"):
        RULES.may_call(replace(call, seat=Seat(5)))


@pytest.mark.parametrize(
    ("obj", "says"),
    [
        ({"seat": 1}, "'call' is missing"),
        ({"call": "pung"}, "'seat' is missing"),
        ({"call": "pung", "seat": 1, "colour": "red"}, "colour"),
        ({"call": "pung", "seat": 1, "gold": "5m"}, "gold"),
        ({"call": "pung", "seat": 1, "tile": "55m"}, "tile: one tile"),
        ({"call": "pung", "seat": "one"}, "seat"),
        ({"call": "pung", "seat": 1, "passed": "5m"}, "passed: a list"),
        ({"call": "pung", "seat": 1, "with": "5x"}, "with"),
    ],
)
def test_an_object_that_is_no_call_is_refused_by_key(obj, says):
    with pytest.raises(NotationError, match=says):
        call_from_object(obj, "zhenjiang")


def test_a_call_object_may_leave_things_out():
    obj = {"call": "pung", "seat": 1, "tile": None, "passed": ["5m", "1z"], "discarded": [], "shao": True}
    call = call_from_object(obj, "zhenjiang")
    assert (call.tile, call.passed, call.shao) == (None, (Tile.M5, Tile.EAST), True)

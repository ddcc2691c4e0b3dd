"""Xiamen at the table: deal for 16 and 13 tiles, where the gold lies, calls, wins at the start."""

from itertools import product

import pytest

from engine import rulesets
from engine.calls import Call
from engine.claim import Seat
from engine.errors import EngineError
from engine.notation import parse_tiles
from engine.text.callobject import call_from_object
from engine.tiles import Tile
from engine.wall import Slot, break_point

RULES = rulesets.load("xiamen")
SHORT = rulesets.load("xiamen", {"hand_size": 13})
DICE = (3, 4, 2, 6)


# --- the deal


def test_a_set_has_144_tiles():
    assert RULES.tile_set.total == 144
    assert sum(RULES.tile_set.counts[34:]) == 8


@pytest.mark.parametrize(
    ("rules", "tiles", "rounds", "drawable"),
    [(RULES, (17, 16, 16, 16), 4, 144 - 65 - 1 - 16), (SHORT, (14, 13, 13, 13), 3, 144 - 53 - 1 - 16)],
)
def test_the_deal_takes_every_tile_once(rules, tiles, rounds, drawable):
    for dice in product((1, 4, 6), repeat=4):
        plan = rules.deal_plan(dice)
        taken = [position for take in plan.takes for position in take.positions]
        assert sorted(taken) == list(range(sum(tiles)))
        assert [len(take.positions) for take in plan.takes[: 4 * rounds]] == [4] * (4 * rounds)
        assert (plan.tiles, plan.drawable, plan.indicator) == (tiles, drawable, None)
        assert plan.start == break_point(4, 18, sum(dice[:2]), sum(dice[2:]))
    with pytest.raises(EngineError, match="4 dice"):
        rules.deal_plan((1, 2))


def test_with_16_tiles_the_dealer_takes_one_more_and_with_13_he_jumps():
    assert [(take.seat, take.positions) for take in RULES.deal_plan(DICE).takes[16:]] == [(0, (64,))]
    last = [(take.seat, take.positions) for take in SHORT.deal_plan(DICE).takes[12:]]
    assert last == [(0, (48, 52)), (1, (49,)), (2, (50,)), (3, (51,))]
    assert SHORT.deal_plan(DICE).jump
    assert not RULES.deal_plan(DICE).jump


def walked(plan, tiles):
    """Walk from the end of the wall, stack by stack, upper tile first, and give the last one reached."""
    stack, wall = plan.start.stack, plan.start.wall
    steps = []
    while len(steps) < tiles:
        stack -= 1  # back, against the way the wall is taken
        if stack == 0:
            wall, stack = (wall + 1) % 4, 18
        steps += [Slot(Seat(wall), stack, upper=True), Slot(Seat(wall), stack, upper=False)]
    return steps[tiles - 1]


@pytest.mark.parametrize("dice", [(1, 1), (3, 4), (6, 6)])
@pytest.mark.parametrize("replaced", [0, 1, 2, 5])
def test_the_gold_is_counted_in_tiles_from_the_end_after_the_replacements(dice, replaced):
    for break_dice in product((1, 3, 6), repeat=4):
        plan = RULES.deal_plan(break_dice)
        slot = RULES.indicator_slot(plan, dice, replaced=replaced)
        assert slot == walked(plan, replaced + sum(dice))
        further = RULES.indicator_slot(plan, dice, replaced=replaced, passed_over=2)
        assert further == walked(plan, replaced + sum(dice) + 2)


@pytest.mark.parametrize(
    ("replaced", "nth"), [(0, 1), (1, 2), (2, 3), (3, 4)]
)  # of a begun stack only the lower tile is left
def test_the_gold_may_be_counted_in_stacks(replaced, nth):
    stacks = RULES.with_options({"gold_count_unit": "stack"})
    plan = stacks.deal_plan(DICE)
    first_stack_left = replaced // 2
    for dice in ((1, 1), (2, 3), (6, 6)):
        upper = walked(plan, 2 * (first_stack_left + sum(dice) - 1) + 1)
        assert stacks.indicator_slot(plan, dice, replaced=replaced) == upper
        assert stacks.indicator_slot(plan, dice, replaced=replaced, passed_over=1) == Slot(
            upper.wall, upper.stack, upper=False
        )


@pytest.mark.parametrize(
    ("dice", "replaced", "passed_over"),
    [((1,), 0, 0), ((1, 7), 0, 0), ((1, 2), -1, 0), ((1, 2), 0, -1), ((6, 6), 68, 0), ((), 0, 0)],
)
def test_a_gold_that_cannot_be_found_is_refused(dice, replaced, passed_over):
    with pytest.raises(EngineError):
        RULES.indicator_slot(RULES.deal_plan(DICE), dice, replaced=replaced, passed_over=passed_over)


def test_who_rolls_for_the_gold():
    assert RULES.indicator_roller(RULES.deal_plan(DICE)) == 1
    assert RULES.with_options({"gold_roller": "jump_owner"}).indicator_roller(RULES.deal_plan(DICE)) == 1
    plan = SHORT.deal_plan(DICE)
    assert SHORT.indicator_roller(plan) == plan.slot(48).wall
    assert SHORT.with_options({"gold_roller": "next_drawer"}).indicator_roller(plan) == 1


def test_other_rule_sets_need_no_dice_for_their_indicator():
    zhenjiang = rulesets.load("zhenjiang")
    plan = zhenjiang.deal_plan((3, 4))
    assert zhenjiang.indicator_roller(plan) is None
    assert zhenjiang.indicator_slot(plan) == plan.indicator


# --- calls (the session vectors hold most of them)


def reasons(rules=RULES, **call):
    return [problem.code for problem in rules.may_call(call_from_object({"gold": "7p", **call}, "xiamen"))]


@pytest.mark.parametrize(
    ("call", "problems"),
    [
        ({"call": "chow", "tile": "5z", "with": "68p"}, []),
        ({"call": "chow", "tile": "5z", "with": "68p", "gold": None}, ["not_suited", "tiles_do_not_fit"]),
        ({"call": "chow", "tile": "5z", "with": "13z", "gold": "2z"}, ["not_suited", "tiles_do_not_fit"]),
        ({"call": "chow", "tile": "6p", "with": "57p"}, ["gold_not_melded"]),
        ({"call": "pung", "tile": "7p", "with": "77p"}, ["gold_discard_not_claimable", "gold_not_melded"]),
        ({"call": "pung", "tile": "7p", "with": "55z"}, ["gold_discard_not_claimable"]),
        ({"call": "pung", "tile": "5z", "with": "55z"}, []),
        ({"call": "pung", "tile": "5z", "with": "5z5p"}, ["tiles_do_not_fit"]),
        ({"call": "kong", "tile": "5z", "with": "555z"}, []),
        ({"call": "pung", "tile": "1m", "with": "11m", "passed": ["1m"]}, ["passed_tile"]),
        ({"call": "win", "tile": "1m", "passed": ["1m"], "locked": True}, ["passed_tile", "gold_lock"]),
        ({"call": "win", "tile": "1m", "hand": "7p"}, ["gold_in_hand_no_discard_win"]),
        ({"call": "win", "tile": "1m", "hand": "7p", "gold": None}, []),
        ({"call": "win", "tile": "1m", "closed": True}, ["shuangyou_closed"]),
        ({"call": "pung", "tile": "1m", "with": "11m", "closed": True}, ["shuangyou_closed"]),
        ({"call": "pass", "tile": "1m"}, []),
        ({"call": "pass", "tile": "1m", "with": "11m"}, ["shown_pair"]),
        ({"call": "pass", "tile": "1m", "with": "12m"}, []),
        ({"call": "pass", "tile": "7p", "with": "77p"}, []),
        ({"call": "pass", "tile": "5z", "with": "55z"}, ["shown_pair"]),
        ({"call": "spread", "tile": "1m"}, ["call_not_allowed"]),
    ],
)
def test_calls_on_anothers_tile(call, problems):
    assert reasons(seat=1, discarder=0, **call) == problems


@pytest.mark.parametrize(
    ("call", "problems"),
    [
        ({"call": "kong_added", "tile": "1m", "with": "111m"}, []),
        ({"call": "kong_added", "tile": "5z", "with": "555z"}, []),
        ({"call": "kong_added", "tile": "7p", "with": "555z"}, ["gold_not_melded"]),
        ({"call": "kong_concealed", "with": "7777p"}, ["gold_not_melded"]),
        ({"call": "kong_concealed", "with": "5555z", "closed": True}, []),
        ({"call": "discard", "tile": "7p", "hand": "7p1m"}, ["gold_discard_forbidden"]),
        ({"call": "discard", "tile": "7p", "hand": "7p1m", "closed": True}, []),
        ({"call": "discard", "tile": "1m", "hand": "7p1m", "closed": True}, ["shuangyou_closed"]),
        ({"call": "discard", "tile": "7p", "hand": "7p1z", "discarded": ["1z"], "closed": True},
         ["must_follow"]),
        ({"call": "discard", "tile": "1m", "hand": "1m1z", "discarded": ["1z", "1m"]}, ["must_follow"]),
        ({"call": "discard", "tile": "1m", "hand": "1m1z", "discarded": ["1m"]}, []),
        ({"call": "discard", "tile": "1m", "hand": "1m5z", "discarded": ["5z"]}, []),
        ({"call": "discard", "tile": "1m", "hand": "1m5z", "discarded": ["5z"], "gold": None},
         ["must_follow"]),
        ({"call": "discard", "tile": "1m", "hand": "1m5z", "discarded": ["5z"], "gold": "5z"}, []),
        ({"call": "discard", "tile": "2m", "hand": "1m"}, ["tiles_do_not_fit"]),
    ],
)  # fmt: skip
def test_calls_in_the_own_turn(call, problems):
    assert reasons(seat=2, **call) == problems


def test_discards_that_options_allow():
    lock = RULES.with_options({"gold_discard": "lock"})
    assert reasons(lock, call="discard", seat=2, tile="7p", hand="7p1m") == []
    others = RULES.with_options({"shuangyou_discard": True})
    assert reasons(others, call="discard", seat=2, tile="1m", hand="7p1m", closed=True) == []


def test_nobody_is_awarded_a_gold():
    wants = [(Seat(1), "win"), (Seat(2), "pung"), (Seat(1), "chow")]
    award = RULES.award(Tile.P7, Seat(0), wants, indicator=Tile.P7)
    assert award.seat is None
    assert {problem.code for _, problem in award.refused} == {"gold_discard_not_claimable"}
    assert RULES.award(Tile.WHITE, Seat(0), wants[1:], indicator=Tile.P7).call == "pung"
    assert RULES.award(Tile.WHITE, Seat(0), wants[2:], indicator=Tile.P7).call == "chow"
    assert RULES.award(Tile.WHITE, Seat(0), wants[2:]).call is None


def test_what_must_be_discarded_and_punged_may_be_asked():
    hand, out = parse_tiles("1123z567z"), parse_tiles("123567z9m")
    assert [tile.id for tile in RULES.must_follow(hand, out, Tile.WEST)] == ["2z", "6z", "7z"]
    assert [tile.id for tile in RULES.must_follow(hand, out, None)] == ["2z", "3z", "5z", "6z", "7z"]
    assert RULES.must_pung(parse_tiles("99m"), Tile.M9, Tile.M1)
    assert not RULES.must_pung(parse_tiles("9m"), Tile.M9, Tile.M1)
    assert Call(kind="pass", seat=Seat(1)).own == ()
    assert RULES.may_call(Call(kind="pass", seat=Seat(1), discarder=Seat(0)))[0].code == "contradictory_facts"


# --- wins before the first discard


@pytest.mark.parametrize(
    ("wins", "first"),
    [
        ([(1, "sanjin_start"), (0, "tianhe")], (0, "tianhe")),
        ([(1, "qiangjin"), (3, "sanjin_start")], (3, "sanjin_start")),
        ([(0, "qiangjin"), (3, "qiangjin")], (3, "qiangjin")),
        ([(3, "qiangjin"), (0, "qiangjin"), (2, "qiangjin")], (2, "qiangjin")),
    ],
)
def test_who_wins_at_the_start(wins, first):
    assert RULES.start_winner(wins) == first
    assert RULES.start_winner(wins[::-1]) == first


def test_other_wins_are_not_of_the_start():
    for wins in ([], [(Seat(1), "ping")]):
        with pytest.raises(EngineError, match="tianhe"):
            RULES.start_winner(wins)

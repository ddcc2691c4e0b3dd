import json
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from engine import rulesets
from engine.errors import EngineError
from engine.notation import NotationError
from engine.vectors import check_vector
from engine.wall import DealPattern, Slot, at_ring_index, break_point, plan_deal, ring_index

GOLDEN = Path(__file__).parents[1] / "golden"
WALLS = json.loads((GOLDEN / "walls.json").read_text(encoding="utf-8"))
RULES = rulesets.load("zhenjiang")


@pytest.mark.parametrize("vector", WALLS, ids=[vector["id"] for vector in WALLS])
def test_worked_wall(vector):
    assert check_vector(vector)["ok"]
    wrong = {**vector, "expect": {**vector["expect"], "stack": 99}}
    assert not check_vector(wrong)["ok"]


@pytest.mark.parametrize(
    ("change", "says"),
    [({"side": 1}, "side"), ({"n": "4"}, "n"), ({"d1": 13}, "13"), ({"n": 0}, "wall"), ({"d2": None}, "d2")],
)
def test_refused_walls(change, says):
    with pytest.raises(NotationError, match=says):
        check_vector({"n": 4, "W": 18, "d1": 5, "d2": 7, **change})


def walk(walls, stacks, d1, d2):
    """Count it out by hand: seats counter-clockwise, then stacks from the right end, wall after wall."""
    thrower = 0
    for _ in range(d1 - 1):
        thrower = (thrower + 1) % walls
    wall, stack = thrower, 1
    for _ in range(d1 + (d2 or 0)):
        stack += 1
        if stack > stacks:
            wall, stack = (wall - 1) % walls, 1
    return thrower, wall, stack


def test_the_break_agrees_with_a_walk_along_the_walls():
    for walls, stacks in ((4, 17), (4, 18), (3, 17)):
        for d1, d2 in product(range(2, 13), (None, *range(2, 13))):
            found = break_point(walls, stacks, d1, d2)
            assert (found.thrower, found.wall, found.stack) == walk(walls, stacks, d1, d2)


def test_ring_index_is_a_bijection():
    for walls, stacks in ((4, 17), (3, 17)):
        places = {at_ring_index(walls, stacks, index) for index in range(walls * stacks)}
        assert len(places) == walls * stacks
        for wall, stack in places:
            assert at_ring_index(walls, stacks, ring_index(walls, stacks, wall, stack)) == (wall, stack)


@pytest.mark.parametrize("jump", [True, False])
def test_every_deal_takes_53_tiles_once_and_flips_the_next(jump):
    rules = RULES.with_options({"jump": jump})
    for dice in product(range(1, 7), repeat=2):
        plan = rules.deal_plan(dice)
        taken = [position for take in plan.takes for position in take.positions]
        assert sorted(taken) == list(range(53))
        assert plan.tiles == (14, 13, 13, 13)
        assert plan.drawable == 82
        assert plan.indicator == plan.slot(53)
        assert len({plan.slot(position) for position in range(136)}) == 136
        assert plan.start == break_point(4, 17, sum(dice))


def test_the_deal_goes_round_in_the_documented_order():
    plan = RULES.deal_plan((3, 5))
    assert [(take.seat, len(take.positions)) for take in plan.takes] == [
        *[(seat, 4) for _ in range(3) for seat in range(4)], (0, 2), (1, 1), (2, 1), (3, 1),
    ]  # fmt: skip
    assert plan.takes[12].positions == (48, 52)  # upper tiles of the first and the third stack left
    assert plan.slot(48).upper
    assert plan.slot(52).upper
    assert plan.slot(0) == Slot(3, 9, upper=True)
    assert plan.slot(1) == Slot(3, 9, upper=False)
    without = RULES.with_options({"jump": False}).deal_plan((3, 5))
    assert [take.positions for take in without.takes[12:]] == [(48,), (49,), (50,), (51,), (52,)]
    assert Counter({take.seat: 0 for take in plan.takes}).keys() == {0, 1, 2, 3}


def test_replacement_tiles_come_from_the_tail_upper_first():
    plan = RULES.deal_plan((3, 5))
    assert [plan.replacement(n) for n in range(3)] == [plan.slot(134), plan.slot(135), plan.slot(132)]
    assert plan.replacement(0) == Slot(3, 8, upper=True)  # the stack before the break


def test_two_throws_by_option():
    plan = RULES.with_options({"dice_throws": 2}).deal_plan((2, 3, 3, 4))
    assert plan.start == break_point(4, 17, 5, 7)


@pytest.mark.parametrize("dice", [(), (3,), (3, 4, 5), (0, 4), (3, 7), (1, 2, 3, 4)])
def test_dice_that_cannot_be_are_refused(dice):
    with pytest.raises(EngineError):
        RULES.deal_plan(dice)


def test_impossible_walls_are_refused():
    plan = RULES.deal_plan((3, 5))
    for position in (-1, 136):
        with pytest.raises(EngineError):
            plan.slot(position)
    uneven = DealPattern(players=4, stacks=(17, 17, 17, 16), rounds=3, group=4, jump=True, indicators=1)
    with pytest.raises(EngineError, match="same number"):
        plan_deal(uneven, (1, 2))
    with pytest.raises(EngineError):
        break_point(4, 0, 5)


def test_a_deal_without_indicator_leaves_one_tile_more():
    pattern = DealPattern(players=3, stacks=(17, 17, 17), rounds=4, group=4, jump=True, indicators=0)
    plan = plan_deal(pattern, (1, 6, 5, 6))
    assert (plan.indicator, plan.tiles, plan.drawable) == (None, (18, 17, 17), 102 - 52)

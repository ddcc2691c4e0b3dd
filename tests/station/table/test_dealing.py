"""The deal as the table shows it and gives it to the machine: walls, throws, flowers, gold."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine import rulesets
from engine.rulesets import RuleSet
from firmware_bridge.machine import LinkState, MachineView
from firmware_bridge.ops import Op
from station import messages as m
from station.places import Place, by_side, sides_of
from station.session import Stage
from station.table.acting import Actor
from station.table.asking import Refused
from station.table.conductor import Motion, ReadIndicator, next_step
from station.table.dealing import FlowerTime, deal_of, flower_time, gold_stacks, steps_before_play
from station.table.machine import has_other_set
from station.table.times import TableTimes
from station.web.pages import render_fragment
from tests.station.table.booth import Booth

WALLS = json.loads((Path(__file__).parents[2] / "golden" / "walls.json").read_text())
OF_WALLS = {(4, 17, True): "zhenjiang", (4, 18, False): "mcr", (3, 17, False): "fengcheng"}


GOLD = {"dice": [6, 5], "count": 11, "unit": "tile"}


def _booth(ruleset: str, options: dict[str, Any] | None = None) -> Booth:
    rules = rulesets.load(ruleset, options)
    return Booth(rules, [100] * rules.players)


def _faces(total: int) -> list[int]:
    """Two dice that show this sum."""
    return [total - min(6, total - 1), min(6, total - 1)]


def _dealt_again_until(booth: Booth, dealer: int) -> None:
    """Play hands until this place deals (a win of the next place moves the deal)."""
    while booth.session.dealer != dealer:
        booth.to_play()
        following = (booth.session.dealer + 1) % booth.rules.players
        pay = [0] * booth.rules.players
        booth.do("ruling", kind="win", place=following, reason="x", pay=pay)


@pytest.mark.parametrize("dealer", [0, 2])
@pytest.mark.parametrize("vector", WALLS, ids=[vector["id"] for vector in WALLS])
def test_the_break_view_shows_the_wall_that_was_worked_out(vector: dict[str, Any], dealer: int) -> None:
    n = vector["n"]
    booth = _booth(OF_WALLS[n, vector["W"], bool(vector.get("single"))])
    _dealt_again_until(booth, dealer)
    throws = [vector["d1"], *([] if vector.get("single") else [vector["d2"]])]
    booth.deal(*(face for total in throws for face in _faces(total)))
    shown = booth.state()
    expect = vector["expect"]
    assert shown["walls"] == [vector["W"]] * n
    assert {key: shown["break"][key] for key in ("thrower", "wall", "stack")} == {
        "thrower": (expect["thrower"] + dealer) % n,
        "wall": (expect["wall"] + dealer) % n,
        "stack": expect["stack"],
    }
    html = render_fragment("referee", {**shown, "phase": "deal"}, "en")
    name = booth.session.places[shown["break"]["wall"]].name
    assert f"Break the wall of {name} at stack {expect['stack']} from the right" in html
    assert html.count("stack on mark") == 1
    assert html.count('class="stack ') == n * vector["W"]


@pytest.mark.parametrize(
    ("ruleset", "steps"),
    [
        ("zhenjiang", ["indicator"]),
        ("xiamen", ["flowers", "gold", "indicator"]),
        ("fengcheng", []),
        ("mcr", ["flowers"]),
    ],
)
def test_each_rule_set_has_its_steps_before_play(ruleset: str, steps: list[str]) -> None:
    booth = _booth(ruleset)
    dice = [1, 2, 3, 4][: 2 * booth.rules.dice_throws]
    booth.deal(*dice)
    assert list(booth.session.steps) == steps
    by_hand = steps_before_play(booth.rules, None)
    assert by_hand == [step for step in steps if step != "gold"]


def test_who_throws_second_follows_from_the_first_throw() -> None:
    booth = _booth("mcr")
    booth.book(m.CycleStarted(hand=1))
    machine = {"surface": "WALLS_UP", "locked": True, "hand_no": 1, "code": "machine.ok"}
    assert booth.state(machine=machine)["throw"] == {"nth": 1, "of": 2, "place": 0, "gold": False}
    booth.do("dice", dice=[4, 6])
    assert booth.session.stage is Stage.CYCLE
    shown = booth.state(machine=machine)
    assert shown["throw"] == {"nth": 2, "of": 2, "place": 1, "gold": False}
    assert (shown["break"]["thrower"], shown["break"]["wall"]) == (1, None)
    booth.do("dice", dice=[1, 1])
    assert (booth.session.stage, booth.session.dice) == (Stage.DICED, (4, 6, 1, 1))
    with pytest.raises(Refused, match="No wall"):
        booth.do("dice", dice=[1, 1])


def test_the_gold_is_rolled_for_and_counted_from_the_end_of_the_wall() -> None:
    booth = _booth("xiamen")
    booth.deal(2, 3, 4, 5)
    with pytest.raises(Refused):
        booth.do("dice", dice=[1, 1])
    booth.do("flowers")
    assert booth.state()["throw"]["gold"]
    booth.do("dice", dice=[6, 5])
    shown = booth.state()
    assert (shown["phase"], shown["break"]["gold"]) == ("indicator", GOLD)
    stacks = gold_stacks(booth.session, booth.rules)
    plan = deal_of(booth.session, booth.rules).plan
    assert plan is not None
    first = booth.rules.indicator_slot(plan, (6, 5))
    assert first is not None
    assert stacks[0] == (first.wall, first.stack)
    assert len(stacks) == 5, "up to eight flowers may have been taken from the end: four stacks further"


def test_a_gold_that_was_typed_in_needs_no_dice() -> None:
    booth = _booth("xiamen")
    booth.deal(2, 3, 4, 5)
    with pytest.raises(Refused):
        booth.do("indicator", tile="5p")
    booth.do("flowers")
    booth.do("indicator", tile="5p")
    assert booth.session.stage is Stage.PLAY
    assert booth.session.indicator is not None
    assert booth.session.indicator.wild == "5p"


@pytest.mark.parametrize(("ruleset", "stage"), [("fengcheng", Stage.PLAY), ("mcr", Stage.FLOWERS)])
def test_without_an_indicator_none_is_asked_for(ruleset: str, stage: Stage) -> None:
    booth = _booth(ruleset)
    booth.book(*_started(booth))
    assert booth.session.stage is stage
    with pytest.raises(Refused):
        booth.do("indicator", tile="1m")
    assert booth.state()["indicator"] is None


def _started(booth: Booth) -> list[m.Body]:
    from station.table import decide

    return decide.start(booth.session, booth.rules, None, None)


def test_flowers_are_replaced_only_after_the_deal() -> None:
    booth = _booth("mcr")
    with pytest.raises(Refused):
        booth.do("flowers")


@pytest.mark.parametrize(
    ("elapsed", "time"),
    [(0, "RUNNING"), (24.9, "RUNNING"), (25, "NEARLY_OVER"), (29.9, "NEARLY_OVER"), (30, "OVER")],
)
def test_thirty_seconds_for_flowers_with_a_warning_five_before(elapsed: float, time: str) -> None:
    booth = _booth("mcr")
    booth.deal(2, 3, 4, 5)
    assert flower_time(booth.session, booth.rules, elapsed) is FlowerTime[time]
    shown = booth.state(flowers_s=elapsed)["flowers"]
    assert shown == {"elapsed_s": int(elapsed), "limit_s": 30, "warn_s": 25}
    booth.do("flowers")
    assert booth.state()["flowers"] is None
    assert flower_time(booth.session, booth.rules, 900.0) is FlowerTime.NONE


def test_a_rule_set_without_a_limit_has_no_time_for_flowers() -> None:
    booth = _booth("xiamen")
    booth.deal(2, 3, 4, 5)
    assert flower_time(booth.session, booth.rules, 900.0) is FlowerTime.NONE
    assert booth.state()["flowers"]["limit_s"] is None
    assert render_fragment("players", booth.state(), "en")


def test_the_screens_hear_of_the_time_for_flowers(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk("mcr")
        now = 1.0
        desk.table.clock = type(desk.table.clock)(monotonic=lambda: now, wall=lambda: now)
        desk.table.times = TableTimes(desk.table.clock)
        await desk.do("start")
        desk.table.tick()
        with desk.table.watch() as changes:
            for moment, told in ((10.0, False), (27.5, True), (28.0, False), (33.0, True), (40.0, False)):
                now = moment
                desk.table.tick()
                assert await changes.changed(0.0) is told

    asyncio.run(play())


@pytest.mark.parametrize(
    ("places", "empty", "sides"), [(4, 3, (0, 1, 2, 3)), (3, 3, (0, 1, 2)), (3, 0, (1, 2, 3))]
)
def test_three_players_leave_one_side_empty(places: int, empty: int, sides: tuple[int, ...]) -> None:
    assert sides_of(places, empty) == sides
    assert by_side(range(5, 5 + places), sides)[sides[-1]] == 4 + places
    if places == 3:
        assert by_side([17] * 3, sides)[empty] == 0


def _planned(desk: Any, op: Op) -> dict[str, Any]:
    return Actor(desk.table)._planned(op)


def test_the_machine_gets_the_deal_by_side(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk("fengcheng", {"lei_per_point": 1}, empty_side=1)
        assert desk.table.sides == (0, 2, 3)
        assert _planned(desk, Op.RAISE_WALLS) == {"stacks": (17, 0, 17, 17)}
        await desk.table.book(
            m.CycleStarted(hand=1),
            m.DiceRolled(hand=1, dice=[1, 1], source="players", nth=1, of=2),
            m.DiceRolled(hand=1, dice=[2, 2], source="players", nth=2, of=2),
        )
        # d1 = 2: the next place throws second; S = 6: the 7th stack of its wall, which stands at side 2.
        assert _planned(desk, Op.DEAL) == {"tiles": (17, 0, 16, 16), "dealer": 0, "opening": (2, 7)}
        assert _planned(desk, Op.LOWER) == {}
        assert desk.table.state()["places"][1]["side"] == 2

    asyncio.run(play())


def _view(**changes: Any) -> MachineView:
    whole = {"link": LinkState.UP, "hand_no": 1, "lease": True}
    return MachineView(**{**whole, **changes})


@pytest.mark.parametrize(
    ("ruleset", "profile", "other"),
    [
        ("zhenjiang", "136", False),
        ("xiamen", "136", True),
        ("xiamen", "144", False),
        ("fengcheng", "102", False),
        ("fengcheng", "136", True),
        ("mcr", "of-the-venue", False),
    ],
)
def test_a_machine_set_to_another_set_is_told(ruleset: str, profile: str, other: bool) -> None:
    rules: RuleSet = rulesets.load(ruleset)
    assert has_other_set(_view(profile=profile), rules, sides_of(rules.players)) is other


def test_the_machine_flips_an_indicator_but_no_gold() -> None:
    flipping, rolled = _booth("zhenjiang"), _booth("xiamen")
    flipping.deal(2, 3)
    rolled.deal(2, 3, 4, 5)
    rolled.do("flowers")
    rolled.do("dice", dice=[6, 5])
    from firmware_bridge.interlock import Lid, Magazine, Surface

    view = _view(surface=Surface.DEALT, magazine=Magazine.READY, lid=Lid.CLOSED, locked=True)
    assert next_step(flipping.session, view, True) == Motion(Op.FLIP_INDICATOR)
    assert next_step(rolled.session, view, True) == ReadIndicator()


def test_a_session_of_places_has_no_more_sides_than_places() -> None:
    assert [Place(side) for side in sides_of(3)] == [0, 1, 2]

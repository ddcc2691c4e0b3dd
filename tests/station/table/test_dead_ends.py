"""Whatever happens to the machine, a person who taps what the screen offers can always go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firmware_bridge.interlock import Surface
from firmware_bridge.ops import Op
from firmware_bridge.sim.faults import parse_faults
from tests.station.table import rigged
from tests.virtual import run_virtually

MOTIONS = {
    "open": Op.OPEN_LID,
    "close": Op.CLOSE_LID,
    "build": Op.START_BUILD,
    "raise": Op.RAISE_WALLS,
    "dice": Op.ROLL_DICE,
    "deal": Op.DEAL,
    "flip": Op.FLIP_INDICATOR,
}
CHOICES = ("finish", "lower", "leave")


@pytest.fixture
def evening(new_writer: Callable[[], Any], tmp_path: Path) -> Callable[..., Any]:
    """Return a function that makes a table over a simulated machine."""
    return lambda **rig: rigged.Evening(new_writer(), tmp_path, **{"seed": 1, "speed": 10.0, **rig})


def _play(work: Callable[[Any], Any], evening: Any) -> None:
    async def whole() -> None:
        await evening.begin()
        try:
            await work(evening)
        finally:
            await evening.end()

    run_virtually(whole())


async def _happen(evening: Any, what: str) -> None:
    """Let something go wrong in the middle of a motion."""
    rig = evening.rig
    match what:
        case "hold":
            rig.host.hold(rig.now)
        case "reboot":
            rig.reset_device()
        case "estop":
            rig.host.estop()
        case "cable":
            rig.unplug()
            await asyncio.sleep(3)
            rig.plug()
        case "restart":
            await evening.restart_table()
        case "long restart":
            await evening.restart_table(away_s=3)
        case "power cut":
            rig.reset_device()
            await evening.restart_table(away_s=3)


async def _two_hands(evening: Any, where: str, what: str, choice: str) -> None:
    """Play two hands; the accident happens in the first motion of that kind."""
    if what in ("jam", "stuck"):
        evening.rig.device.plant.trouble += parse_faults(
            f"{what}{'=2' if what == 'jam' else ''}@{where}"
        ).trouble
    else:
        evening.on_motion(MOTIONS[where], lambda: _happen(evening, what))

    def chosen(offered: list[str]) -> str:
        return choice if choice in offered else offered[0]

    state = await evening.play_on(lambda state: state["hand_count"] >= 2, chosen)
    assert evening.accidents_left() == 0, "the accident never happened"
    assert sum(p["chips"] for p in state["places"]) + state["bank"] == 200


@pytest.mark.parametrize(
    "what", ["jam", "stuck", "hold", "reboot", "cable", "estop", "long restart", "power cut"]
)
@pytest.mark.parametrize("where", list(MOTIONS))
def test_an_accident_in_any_motion_leaves_a_way_on(
    evening: Callable[..., Any], what: str, where: str
) -> None:
    for choice in CHOICES if what in ("jam", "hold") else CHOICES[:1]:
        _play(lambda table, c=choice: _two_hands(table, where, what, c), evening())


def test_who_lowers_the_walls_is_asked_before_they_rise_again(evening: Callable[..., Any]) -> None:
    async def work(table: Any) -> None:
        table.on_motion(Op.RAISE_WALLS, lambda: _happen(table, "hold"))
        await table.play_on(lambda state: state["phase"] == "recovery")
        assert await table.post("recovery", choice="lower") == "ok"
        state = await table.wait_for_phase("start")
        raised = table.machine.asked.count(Op.RAISE_WALLS)
        await asyncio.sleep(60)
        assert table.machine.asked.count(Op.RAISE_WALLS) == raised
        assert state["machine"]["surface"] == "CLEAR"
        assert await table.post("start") == "ok"
        await table.wait_for_phase("dice")

    _play(work, evening())


@pytest.mark.parametrize("kind", ["redeal", "void"])
def test_a_raise_left_to_hands_can_be_given_up_and_unlocks(evening: Callable[..., Any], kind: str) -> None:
    async def work(table: Any) -> None:
        table.on_motion(Op.RAISE_WALLS, lambda: _happen(table, "hold"))
        await table.play_on(lambda state: state["phase"] == "recovery")
        assert await table.post("recovery", choice="leave") == "ok"
        state = await table.wait_for_phase("dice")
        assert state["machine"]["locked"]
        assert state["ruling_options"] == ["redeal", "void"]
        assert await table.post("start") == "cycle_running"
        assert await table.post("ruling", kind=kind, reason="walls fell") == "ok"
        state = await table.until(lambda state: not state["machine"]["locked"])
        assert table.writer.entries[-1].kind == "intake.released"
        await table.play_on(lambda state: state["hand_count"] == 2)

    _play(work, evening())


def test_a_raise_left_to_hands_can_be_played(evening: Callable[..., Any]) -> None:
    async def work(table: Any) -> None:
        table.on_motion(Op.RAISE_WALLS, lambda: _happen(table, "hold"))
        await table.play_on(lambda state: state["phase"] == "recovery")
        assert await table.post("recovery", choice="leave") == "ok"
        await table.wait_for_phase("dice")
        assert await table.post("dice", dice=[3, 4]) == "ok"
        await table.play_on(lambda state: state["phase"] == "play")
        assert table.table.session.machine_hand == table.rig.view.hand_no
        await table.play_on(lambda state: state["hand_count"] == 2)

    _play(work, evening())


def test_nothing_is_given_up_while_the_machine_moves(evening: Callable[..., Any]) -> None:
    async def work(table: Any) -> None:
        await table.play_on(lambda state: state["phase"] == "dice")
        assert await table.post("dice", dice=[3, 4]) == "ok"
        await table.until(lambda state: "DEAL" in state["machine"]["moving"])
        assert await table.post("ruling", kind="void") == "machine.moving"
        await table.play_on(lambda state: state["hand_count"] == 1)

    _play(work, evening())


def test_after_a_power_up_nothing_moves_before_somebody_looked(evening: Callable[..., Any]) -> None:
    async def work(table: Any) -> None:
        await table.play_on(lambda state: state["hand_count"] == 1)
        await table.post("start")
        table.on_motion(Op.OPEN_LID, lambda: _happen(table, "reboot"))
        await table.until(lambda state: state["machine"]["hand_no"] is None)
        state = await table.wait_for_phase("recovery")
        assert state["recovery"]["choices"] == ["clear"]
        asked = len(table.machine.asked)
        await asyncio.sleep(60)
        assert len(table.machine.asked) == asked
        await table.play_on(lambda state: state["hand_count"] == 2)

    _play(work, evening())


def test_a_machine_switched_on_again_between_two_motions_waits_for_a_tap(
    evening: Callable[..., Any],
) -> None:
    async def work(table: Any) -> None:
        await table.play_on(lambda state: state["phase"] == "play")
        await table.post("ruling", kind="draw", reason="wall_exhausted")
        await table.until(lambda s: not s["machine"]["locked"] and s["machine"]["magazine"] == "READY")
        table.rig.unplug()
        table.rig.reset_device()
        table.rig.plug()
        await table.until(lambda state: state["machine"]["link"] == "recover")
        assert await table.post("start") == "ok"
        await table.until(lambda state: state["machine"]["hand_no"] == 0)
        table.rig.reset_device()
        await table.wait_for_phase("start", "recovery")
        asked = len(table.machine.asked)
        await asyncio.sleep(60)
        assert len(table.machine.asked) == asked
        await table.play_on(lambda state: state["hand_count"] == 2)

    _play(work, evening())


def test_walls_that_stood_when_the_board_restarted_belong_to_the_hand(evening: Callable[..., Any]) -> None:
    async def work(table: Any) -> None:
        await table.play_on(lambda state: state["phase"] == "dice")
        table.rig.reset_device()
        state = await table.wait_for_phase("recovery")
        assert state["recovery"]["choices"] == ["adopt"]
        assert await table.post("recovery", choice="adopt") == "ok"
        state = await table.wait_for_phase("dice")
        assert state["machine"]["locked"]
        await table.play_on(lambda state: state["hand_count"] == 1)

    _play(work, evening())


def test_a_stop_after_a_power_up_is_cleared_before_the_hand_is_adopted(evening: Callable[..., Any]) -> None:
    """Under a stop the machine refuses ADOPT: offered alone, it would leave no way on."""

    async def work(table: Any) -> None:
        await table.play_on(lambda state: state["phase"] == "play")
        table.rig.reset_device()
        await table.wait_for_phase("recovery")
        table.rig.device.press_stop()
        state = await table.until(lambda state: state["machine"]["estop"])
        assert state["recovery"]["choices"] == ["clear"]
        assert await table.post("recovery", choice="clear") == "ok"
        state = await table.until(lambda s: s["recovery"] is not None and not s["machine"]["estop"])
        assert state["recovery"]["choices"] == ["adopt"]
        await table.play_on(lambda state: state["hand_count"] == 2)

    _play(work, evening())


@pytest.mark.parametrize("build_first", [False, True], ids=["at once", "other set built"])
def test_walls_of_a_hand_given_up_before_its_deal_are_dealt_from(
    evening: Callable[..., Any], build_first: bool
) -> None:
    """The lid never opens under standing walls, so they are the next hand's."""

    async def work(table: Any) -> None:
        await table.play_on(lambda state: state["hand_count"] == 1)
        await table.play_on(lambda state: state["phase"] == "dice")
        if build_first:
            table.rig.execute(Op.START_BUILD)
        assert await table.post("ruling", kind="redeal", reason="wrong dealer") == "ok"
        await table.until(lambda state: not state["machine"]["locked"])
        assert table.rig.view.surface is Surface.WALLS_UP
        assert await table.post("start") == "ok"
        await table.wait_for_phase("dice")
        await table.play_on(lambda state: state["phase"] == "play")
        assert table.state["machine"]["locked"]
        await table.play_on(lambda state: state["hand_count"] == 4)

    _play(work, evening())


def test_a_hand_that_the_log_never_booked_is_told_of_and_unlocked_with_a_reason(
    evening: Callable[..., Any],
) -> None:
    """Given up while the machine was away: no one releases it, since it may be another session's."""

    async def work(table: Any) -> None:
        await table.play_on(lambda state: state["phase"] == "dice")
        table.rig.unplug()
        await table.until(lambda state: state["machine"]["link"] not in ("up", "recover"))
        for _ in range(2):
            await table.post("dice", dice=[3, 4])
        assert await table.post("ruling", kind="void", reason="machine_fault") == "ok"
        table.rig.plug()
        state = await table.until(lambda state: state["machine"]["link"] == "up")
        assert state["machine"]["other_hand"]
        assert await table.post("start") == "locked"
        assert await table.post("override", reason="nobody holds tiles") == "ok"
        state = await table.until(lambda state: not state["machine"]["locked"])
        assert not state["machine"]["other_hand"]
        await table.play_on(lambda state: state["hand_count"] == 2)

    _play(work, evening())


def test_a_session_closed_early_still_unlocks_its_last_hand(evening: Callable[..., Any]) -> None:
    async def work(table: Any) -> None:
        await table.play_on(lambda state: state["phase"] == "play")
        table.rig.unplug()
        await table.until(lambda state: state["machine"]["link"] != "up")
        assert await table.post("ruling", kind="draw", reason="wall_exhausted") == "ok"
        assert await table.post("start") != "ok"
        assert await table.post("close") == "ok"
        table.rig.plug()
        await table.until(lambda state: state["machine"]["link"] == "up" and not state["machine"]["locked"])
        assert table.state["phase"] == "closed"

    _play(work, evening())


def test_a_new_session_can_unlock_a_hand_of_an_old_one_with_a_reason(evening: Callable[..., Any]) -> None:
    async def work(table: Any) -> None:
        await table.play_on(lambda state: state["phase"] == "play")
        await table.restart_table(forget=True)
        state = await table.until(lambda state: state["machine"]["link"] == "up")
        assert state["machine"]["locked"]
        assert await table.post("start") == "locked"
        assert await table.post("override") == "reason_needed"
        assert await table.post("override", reason="another session's hand") == "ok"
        await table.until(lambda state: not state["machine"]["locked"])
        assert table.rig.view.surface is Surface.DEALT
        await table.play_on(lambda state: state["hand_count"] == 1)

    _play(work, evening())


def test_the_intake_never_opens_before_a_ruling_whatever_happens(evening: Callable[..., Any]) -> None:
    async def work(table: Any) -> None:
        await table.play_on(lambda state: state["phase"] == "play")
        for what in ("restart", "reboot", "power cut", "cable"):
            await _happen(table, what)
            await table.play_on(
                lambda state: state["phase"] == "play" and state["machine"]["hand_no"] is not None
            )
            await asyncio.sleep(30)
            assert table.state["machine"]["locked"]
            assert table.rig.view.surface is Surface.DEALT

    _play(work, evening())


def test_a_recovery_tapped_twice_is_carried_out_once(evening: Callable[..., Any]) -> None:
    async def work(table: Any) -> None:
        table.on_motion(Op.RAISE_WALLS, lambda: _happen(table, "hold"))
        await table.play_on(lambda state: state["phase"] == "recovery")
        taps = [table.table.act("recovery", {"choice": "finish"}, "k", None) for _ in range(5)]
        assert len(set(await asyncio.gather(*taps))) == 1
        assert table.machine.asked.count(Op.RESUME) == 1
        assert [e.kind for e in table.writer.entries].count("motion.recovered") == 1

    _play(work, evening())


PROFILES = [
    ("xiamen", "144", {"hand_size": 16}),
    ("fengcheng", "102", {"lei_per_point": 1}),
    ("mcr", "144", {}),
]


@pytest.mark.parametrize(("ruleset", "profile", "options"), PROFILES, ids=[p[0] for p in PROFILES])
def test_a_machine_of_each_rule_set_plays_two_hands(
    evening: Callable[..., Any], ruleset: str, profile: str, options: dict[str, Any]
) -> None:
    async def hands(table: Any) -> None:
        seen = set()

        def two(state: dict[str, Any]) -> bool:
            seen.add(state["phase"])
            return bool(state["hand_count"] >= 2)

        state = await table.play_on(two)
        assert state["messages"] == []
        dealt = table.rig.device.plant.sensors.dealt
        plan = table.rules.deal_plan([1, 2, 3, 4]).tiles
        assert sorted(dealt, reverse=True)[: table.rules.players] == list(plan)
        rolled = [op for _, op, _ in table.rig.log if op is Op.ROLL_DICE]
        assert len(rolled) == (6 if ruleset == "xiamen" else 4)
        assert not [op for _, op, _ in table.rig.log if op is Op.FLIP_INDICATOR]
        wanted = {"xiamen": {"flowers", "gold", "indicator"}, "mcr": {"flowers"}, "fengcheng": {"verdict"}}
        assert wanted[ruleset] <= seen

    _play(hands, evening(ruleset=ruleset, options=options, profile=profile))


@pytest.mark.parametrize("what", [None, "reboot", "hold", "jam"])
def test_a_machine_that_deals_by_itself_deals_before_the_dice(
    evening: Callable[..., Any], what: str | None
) -> None:
    async def hands(table: Any) -> None:
        if what == "jam":
            table.rig.order("jam=1@deal")
        elif what is not None:
            table.on_motion(Op.DEAL, lambda: _happen(table, what))
        await table.play_on(lambda state: state["phase"] == "dice" and state["machine"]["locked"])
        assert table.rig.view.surface is Surface.DEALT
        await table.play_on(lambda state: state["hand_count"] == 2)
        assert not [op for _, op, _ in table.rig.log if op is Op.RAISE_WALLS]

    _play(hands, evening(profile="136-dealt"))


def test_a_machine_with_another_set_raises_no_walls_and_says_why(evening: Callable[..., Any]) -> None:
    async def stuck(table: Any) -> None:
        state = await table.play_on(lambda state: state["machine"]["magazine"] == "READY")
        assert {"code": "machine.other_set", "params": {}} in state["messages"]
        for _ in range(20):
            await table._turn()
        assert not [op for _, op, _ in table.rig.log if op is Op.RAISE_WALLS]

    _play(stuck, evening(ruleset="mcr", profile="136"))

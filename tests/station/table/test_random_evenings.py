"""Evenings at which anything may go wrong: a person who taps what is offered always gets on.

Nothing is opened while a hand has no ruling. Hundreds of seeds were tried; a few are kept.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firmware_bridge.interlock import Lid
from firmware_bridge.ops import Op
from firmware_bridge.sim.faults import MENU
from station.session import Stage
from tests.station.table.rigged import Evening
from tests.virtual import run_virtually

RULE_SETS: tuple[tuple[str, dict[str, Any] | None, str], ...] = (
    ("zhenjiang", None, "136"),
    ("xiamen", {"hand_size": 16}, "144"),
    ("fengcheng", {"lei_per_point": 1}, "102"),
    ("zhenjiang", None, "136-dealt"),
)
IN_PLAY = {Stage.DICED, Stage.FLOWERS, Stage.GOLD, Stage.DEALT, Stage.PLAY, Stage.CLAIM}
PATIENCE = 10.0
"""Seconds after which a person gives a tap up whose answer the line lost."""


class Unlucky:
    """One evening with bad luck and a person in front of it."""

    def __init__(self, evening: Evening, seed: int) -> None:
        self.e = evening
        self.rng = random.Random(seed)
        self.sane = False

    async def turn(self, seconds: float) -> None:
        """Let time pass; what has to be true at every moment is looked at."""
        end = self.e.rig.now + seconds
        while self.e.rig.now < end:
            await asyncio.sleep(0.02)
            session, plant = self.e.table.session, self.e.rig.device.plant
            moving = {motion.op for motion in plant.motions.values()}
            open_now = plant.sensors.lid is not Lid.CLOSED or Op.OPEN_LID in moving
            held = session.stage in IN_PLAY and not session.overridden and not session.released
            assert not (held and open_now), f"opened in mid-hand: {self.e.describe()}"
            assert not any(task.done() for task in self.e.tasks), "the table ended"

    async def tap(self, action: str, **body: Any) -> str:
        answer = asyncio.create_task(self.e.post(action, **body))
        end = self.e.rig.now + PATIENCE
        while not answer.done() and self.e.rig.now < end:
            await self.turn(0.02)
        return answer.result() if answer.done() else "no answer"

    async def act(self) -> None:
        """Tap something that the page offers now."""
        state, rng = self.e.state, self.rng
        machine, phase = state["machine"], state["phase"]
        held = machine["locked"] and machine["hand_no"] is not None
        if not self.sane and state["ruling_options"] and rng.random() < 0.1:
            kind = rng.choice([k for k in state["ruling_options"] if k in ("draw", "redeal", "void")] or [""])
            await self.tap("ruling", kind=kind, reason="x")
        elif phase in ("start", "ruled"):
            if await self.tap("start") == "locked" and held and rng.random() < 0.1:
                await self.tap("override", reason="nobody holds tiles")
        elif phase in ("dice", "gold"):
            if rng.random() < 0.3 or await self.tap("dice") != "ok":
                await self.tap("dice", dice=[rng.randint(1, 6), rng.randint(1, 6)])
        elif phase in ("verdict", "claim"):
            for place in range(self.e.rules.players):
                await self.tap("hand", place=place, line="")
            if await self.tap("confirm") != "ok":
                await self.tap("reject", reason="x")
        elif phase == "recovery":
            await self.tap("recovery", choice=rng.choice(state["recovery"]["choices"]))
        else:
            await self.e._tap(state, lambda choices: choices[0])

    async def mishap(self) -> None:
        rig, rng = self.e.rig, self.rng
        match rng.choice(("menu", "menu", "menu", "reset", "cable", "restart", "hold", "estop")):
            case "menu":
                item = rng.choice(list(MENU.values()))
                rig.order(item.example)
            case "reset":
                rig.reset_device()
            case "cable":
                rig.unplug()
                await self.turn(rng.uniform(0.1, 6))
                rig.plug()
            case "restart":
                await self.e.restart_table(away_s=rng.choice((0, 3, 200)))
            case "hold":
                rig.host.hold(rig.now)
            case _:
                rig.host.estop()

    async def play(self) -> None:
        for _ in range(50):
            await self.turn(self.rng.uniform(0.1, 1.2))
            if self.rng.random() < 0.2:
                await self.mishap()
            await self.act()
        self.sane = True
        self.e.rig.order("none")
        wanted, end = self.e.state["hand_count"] + 2, self.e.rig.now + 600
        while self.e.state["hand_count"] < wanted and self.e.state["ended"] is None:
            assert self.e.rig.now < end, f"stuck: {self.e.describe()}"
            await self.turn(0.2)
            await self.act()


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_there_is_always_a_tap_that_goes_on(
    new_writer: Callable[[], Any], tmp_path: Path, seed: int
) -> None:
    async def whole() -> None:
        ruleset, options, profile = RULE_SETS[seed % len(RULE_SETS)]
        evening = Evening(
            new_writer(), tmp_path, ruleset=ruleset, options=options, profile=profile, seed=seed, speed=10.0
        )
        await evening.begin()
        try:
            await Unlucky(evening, seed).play()
        finally:
            await evening.end()

    run_virtually(whole())

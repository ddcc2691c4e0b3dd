"""A whole table over a simulated machine, under a virtual clock: minutes pass in milliseconds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from engine import rulesets
from firmware_bridge.bridge import CHOICES
from firmware_bridge.machine import MachineView, Outcome, Status
from firmware_bridge.ops import Op, Value
from firmware_bridge.sim.rig import STEP, Rig
from station.clock import Clock
from station.table.config import TableConfig
from station.table.photos import PhotoStore
from station.table.runtime import Table
from tests.station.table.running import Running

Happening = Callable[[], Awaitable[None]]
"""Something that goes wrong."""


class RigMachine:
    """A `Machine` over a rig; its time is the loop's."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.on_change: Callable[[], None] = lambda: None
        self.asked: list[Op] = []
        self._waiting: dict[int, asyncio.Future[Outcome]] = {}

    @property
    def view(self) -> MachineView:
        return self.rig.view

    async def run(self) -> None:
        """Let the rig's time follow the loop's."""
        loop = asyncio.get_running_loop()
        before = self.view
        while True:
            await asyncio.sleep(STEP)
            self.rig.step()
            for cmd_id, future in list(self._waiting.items()):
                if self.rig.outcomes.get(cmd_id) and not future.done():
                    future.set_result(self.rig.outcomes[cmd_id][-1])
                    del self._waiting[cmd_id]
            if self.view != before:
                before = self.view
                loop.call_soon(self.on_change)

    async def execute(self, op: Op | str, *, rev: int | None = None, **args: Value) -> Outcome:
        wanted = Op.of(op)
        self.asked.append(wanted)
        asked = self.rig.submit(wanted, rev=rev, **args)
        if isinstance(asked, Outcome):
            return asked
        self._waiting[asked] = asyncio.get_running_loop().create_future()
        return await self._waiting[asked]

    async def recover(self, choice: str) -> Outcome:
        return await self.execute(CHOICES[choice])

    def close(self) -> None:
        """Nobody is told any more how a command ends."""
        for cmd_id, future in self._waiting.items():
            if not future.done():
                future.set_result(Outcome(Status.UNKNOWN, "closed", cmd_id, Op.LAMP))


class Evening(Running):
    """One table, its machine and the person in front of it."""

    def __init__(
        self,
        writer: Any,
        folder: Path,
        *,
        ruleset: str = "zhenjiang",
        options: dict[str, Any] | None = None,
        **rig: Any,
    ) -> None:
        super().__init__()
        self.rig = Rig(**rig)
        self.rules = rulesets.load(ruleset, options)
        self.options = options or {}
        self.machine = RigMachine(self.rig)
        self.writer = writer
        self.folder = folder
        self._accidents: list[tuple[Op, Happening]] = []
        self.table = self._table()

    def _table(self) -> Table:
        config = TableConfig(
            home=str(self.folder),
            serial="rig",
            camera="none",
            ruleset=self.rules.id,
            options=self.options,
            players=("甲", "乙", "丙", "丁")[: self.rules.players],
        )
        wall = Clock(monotonic=lambda: 0.0, wall=lambda: 1_000.0 + self.rig.now)
        photos = PhotoStore(self.folder / "photos")
        table = Table(config, self.rules, self.writer, photos, self.machine, None, wall)  # type: ignore[arg-type]
        self.machine.on_change = table.changed
        return table

    async def let_go(self) -> None:
        self.machine.close()

    async def restart_table(self, away_s: float = 0.0, *, forget: bool = False) -> None:
        """The table process dies, with its line to the machine, and starts again.

        ``forget``: it starts with another, empty log.
        """
        await self.end()
        self.rig.now += away_s
        if forget:
            self.writer = type(self.writer)()
        self.rig.restart_host()
        self.machine = RigMachine(self.rig)
        self.table = self._table()
        await self.begin()

    async def until(self, reached: Callable[[dict[str, Any]], bool], limit: float = 120.0) -> dict[str, Any]:
        """Wait for a state; nobody taps meanwhile."""
        end = self.rig.now + limit
        while not reached(self.state):
            assert self.rig.now < end, f"stuck: {self.describe()}"
            await self._turn()
        return self.state

    async def wait_for_phase(self, *phases: str, limit: float = 120.0) -> dict[str, Any]:
        return await self.until(lambda state: state["phase"] in phases, limit)

    async def play_on(
        self,
        reached: Callable[[dict[str, Any]], bool],
        choose: Callable[[list[str]], str] = lambda choices: choices[0],
        limit: float = 400.0,
    ) -> dict[str, Any]:
        """Tap what the screen offers until a state is reached, as a person does who reads no manual."""
        end = self.rig.now + limit
        while not reached(state := self.state):
            assert self.rig.now < end, f"stuck: {self.describe()}"
            await self._tap(state, choose)
            await self._turn()
        return state

    def on_motion(self, op: Op, happening: Happening) -> None:
        """Let something happen, once, in the middle of the next motion of that kind."""
        self._accidents.append((op, happening))

    def accidents_left(self) -> int:
        """Return how many accidents did not happen yet (faults of the mechanism included)."""
        return len(self._accidents) + len(self.rig.device.plant.trouble)

    async def _turn(self) -> None:
        """Let some time pass; accidents happen in it."""
        for _ in range(10):
            await asyncio.sleep(STEP)
            moving = {m.op for m in self.rig.device.plant.motions.values() if m.share >= 0.3}
            for accident in [a for a in self._accidents if a[0] in moving]:
                self._accidents.remove(accident)
                await accident[1]()

    async def _tap(self, state: dict[str, Any], choose: Callable[[list[str]], str]) -> None:
        match state["phase"]:
            case "start" | "ruled":
                await self.post("start")
            case "flowers":
                await self.post("flowers")
            case "dice" | "gold":
                rolling = asyncio.create_task(self.post("dice"))
                while not rolling.done():
                    await self._turn()
                if await rolling != "ok":
                    await self.post("dice", dice=[3, 4])
            case "indicator":
                await self.post("indicator", tile="1p")
            case "play":
                await self.post("ruling", kind="draw", reason="wall_exhausted")
            case "verdict":
                for place in range(self.rules.players):
                    await self.post("hand", place=place, line="")
                await self.post("confirm")
            case "recovery":
                await self.post("recovery", choice=choose(state["recovery"]["choices"]))

    def describe(self) -> str:
        state = self.state
        keep = ("phase", "hand_no", "machine", "recovery", "ruling_options")
        return f"{ {k: state[k] for k in keep} } {self.table.session.stage} cut={self.rig.view.cut}"

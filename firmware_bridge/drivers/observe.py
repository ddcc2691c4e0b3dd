"""A machine that is only watched: its lamps and lid through a relay board's inputs, or nothing at all.

It presses nothing and keeps no lock: `execute` is REJECTED (`unsupported`). What it gives is the boundary
between hands (`lid_opened`, `lid_closed`, `cycle_begun`) and what the lamps say.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from firmware_bridge.drivers.driver import LOOK_EVERY, BoardDriver
from firmware_bridge.drivers.line import Line
from firmware_bridge.drivers.press_core import ReadInputs
from firmware_bridge.drivers.telling import Telling
from firmware_bridge.drivers.watch_core import Bits, Happening, Watch
from firmware_bridge.drivers.wiring import ObserveSettings
from firmware_bridge.interlock import Lid, Surface
from firmware_bridge.machine import LinkState, MachineEvent, MachineView, Outcome, Status
from firmware_bridge.ops import Op, Value, pack_args
from firmware_bridge.profiles import load

IDLE: Final = 3600.0
"""Seconds between two looks at a machine of which nothing is wired."""

EVENTS: Final = {
    Happening.LID_OPENED: "lid_opened",
    Happening.LID_CLOSED: "lid_closed",
    Happening.CYCLE_BEGUN: "cycle_begun",
}


class Observe(BoardDriver):
    """One machine that is watched.

    Args:
        settings: what is wired.
        board: the line to the board whose inputs are wired; None where nothing is.
        clock: monotonic seconds.
        sleep: waits so many seconds.
        on_change: called with the new view, in the loop, whenever it differs.
        on_event: called with each event.

    Raises:
        ProfileError: there is no such profile.
    """

    def __init__(
        self,
        settings: ObserveSettings,
        board: Line | None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        on_change: Callable[[MachineView], None] | None = None,
        on_event: Callable[[MachineEvent], None] | None = None,
    ) -> None:
        profile = load(settings.profile)
        super().__init__(
            Telling(settings.capabilities, profile.id, clock, on_change, on_event, locked=False), sleep
        )
        self._board = board
        self._clock = clock
        self._watch = Watch(settings.wired, profile)

    async def _turn(self) -> float:
        if self._board is None:
            self._telling.update(link=LinkState.UP)
            return IDLE
        if not self._board.is_open:
            await self._board.open()
        self._looked(await self._board.read(ReadInputs()))
        return LOOK_EVERY

    async def _let_go(self) -> None:
        if self._board is not None:
            self._board.drop()

    def _looked(self, inputs: Bits) -> None:
        known = self._watch.lid is not None
        happened = self._watch.feed(inputs, self._clock())
        surface = self.view.surface
        if not known and self._watch.lid is Lid.OPEN:
            surface = Surface.COLLECTING  # it stood open when we began to look
        for happening in happened:
            surface = Surface.COLLECTING if happening is Happening.LID_OPENED else Surface.WALLS_UP
        self._telling.update(
            link=LinkState.UP,
            detail="",
            attempt=0,
            surface=surface,
            lid=Lid.CLOSED if self._watch.lid is None else self._watch.lid,
            magazine=self._watch.magazine,
            faults=self._watch.faults,
        )
        for happening in happened:
            self._telling.report(EVENTS[happening])

    async def execute(self, op: Op | str, *, rev: int | None = None, **args: Value) -> Outcome:
        """Refuse: a machine that is watched does nothing.

        Raises:
            UsageError: no such operation or argument.
        """
        del rev
        wanted = Op.of(op)
        pack_args(wanted, args)
        return Outcome(Status.REJECTED, "unsupported", 0, wanted)

    async def resolve_open(self) -> tuple[Outcome, ...]:
        """None: nothing was ever asked."""
        return ()

"""A machine that is only watched: its lamps and lid through a relay board's inputs, or nothing at all.

It presses nothing and keeps no lock: `execute` is REJECTED (`unsupported`). What it gives is the boundary
between hands (`lid_opened`, `lid_closed`, `cycle_begun`) and what the lamps say.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from firmware_bridge.abstract import Choice, Machine
from firmware_bridge.bridge import CHOICES
from firmware_bridge.drivers.line import Line
from firmware_bridge.drivers.press_core import ReadInputs
from firmware_bridge.drivers.telling import Telling
from firmware_bridge.drivers.watch_core import Bits, Happening, Watch
from firmware_bridge.drivers.wiring import ObserveSettings
from firmware_bridge.errors import PortError, UsageError
from firmware_bridge.interlock import Lid, Surface
from firmware_bridge.machine import Capability, LinkState, MachineEvent, MachineView, Outcome, Status
from firmware_bridge.ops import Op, Value, pack_args
from firmware_bridge.profiles import load

LOOK_EVERY: Final = 0.1
RETRY_FIRST: Final = 0.25
RETRY_MAX: Final = 5.0
IDLE: Final = 3600.0
"""Seconds between two looks at a machine of which nothing is wired."""

EVENTS: Final = {
    Happening.LID_OPENED: "lid_opened",
    Happening.LID_CLOSED: "lid_closed",
    Happening.CYCLE_BEGUN: "cycle_begun",
}


class Observe(Machine):
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
        self._settings = settings
        self._board = board
        self._clock = clock
        self._sleep = sleep
        self._watch = Watch(settings.wired, profile)
        self._telling = Telling(settings.capabilities, profile.id, clock, on_change, on_event, locked=False)
        self._closing = False
        self._task: asyncio.Task[None] | None = None

    @property
    def capabilities(self) -> Capability:
        """What it can tell."""
        return self._settings.capabilities

    @property
    def view(self) -> MachineView:
        """The last known state."""
        return self._telling.view

    @property
    def events(self) -> Sequence[MachineEvent]:
        """The newest events, oldest first."""
        return tuple(self._telling.events)

    async def run(self) -> None:
        """Look until `close`; a board that is away shows in `view`."""
        self._task = asyncio.current_task()
        wait = RETRY_FIRST
        while not self._closing:
            if self._board is None:
                self._telling.update(link=LinkState.UP)
                wait = IDLE
            else:
                try:
                    self._looked(await self._inputs(self._board))
                    wait = LOOK_EVERY
                except PortError as error:
                    lost = self.view.link is LinkState.UP
                    self._telling.failed(error)
                    wait = RETRY_FIRST if lost else min(RETRY_MAX, max(RETRY_FIRST, 2 * wait))
            await self._sleep(wait)

    async def close(self) -> None:
        """Let the port go."""
        self._closing = True
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._board is not None:
            self._board.drop()
        self._telling.close()

    @staticmethod
    async def _inputs(board: Line) -> Bits:
        if not board.is_open:
            await board.open()
        return await board.read(ReadInputs())

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

    async def recover(self, choice: Choice) -> Outcome:
        """Refuse.

        Raises:
            UsageError: another choice than the interface knows.
        """
        if choice not in CHOICES:
            raise UsageError(f"{choice!r} is no choice; use one of {', '.join(CHOICES)}.")
        return await self.execute(CHOICES[choice])

    async def resolve_open(self) -> tuple[Outcome, ...]:
        """None: nothing was ever asked."""
        return ()

    async def wait_ready(self) -> MachineView:
        """Wait until the machine is seen.

        Raises:
            BridgeError: closed meanwhile.
        """
        return await self.wait_for(lambda view: view.ready)

    async def wait_for(self, reached: Callable[[MachineView], bool]) -> MachineView:
        """Wait until the view is so.

        Raises:
            BridgeError: closed meanwhile.
        """
        return await self._telling.wait_for(reached)

    def hold(self) -> None:
        """Nothing: there is nothing to stop from here."""

    def estop(self) -> None:
        """Nothing: there is nothing to stop from here."""

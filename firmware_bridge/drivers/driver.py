"""What drivers of a relay board share: a loop that reaches the board and looks, and what anybody may ask."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from firmware_bridge.abstract import Choice, Machine
from firmware_bridge.bridge import CHOICES
from firmware_bridge.drivers.telling import Telling
from firmware_bridge.errors import PortError, UsageError
from firmware_bridge.machine import Capability, MachineEvent, MachineView, Outcome

LOOK_EVERY: Final = 0.1
"""Seconds between two looks at the inputs."""
RETRY_FIRST: Final = 0.25
RETRY_MAX: Final = 5.0
"""Seconds between tries to reach the board: doubling from the first to the last."""


class BoardDriver(Machine):
    """A machine behind a relay board. Subclasses say what a turn does and what they let go at the end.

    Args:
        telling: view and events, with whoever wants to know of them.
        sleep: waits so many seconds.
    """

    def __init__(self, telling: Telling, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._telling = telling
        self._sleep = sleep
        self._closing = False
        self._task: asyncio.Task[None] | None = None

    @property
    def capabilities(self) -> Capability:
        """What this wiring can do or tell."""
        return self._telling.view.capabilities

    @property
    def view(self) -> MachineView:
        """The last known state."""
        return self._telling.view

    @property
    def events(self) -> Sequence[MachineEvent]:
        """The newest events, oldest first."""
        return tuple(self._telling.events)

    @abstractmethod
    async def _turn(self) -> float:
        """Reach the board, or look at it; seconds until the next turn.

        Raises:
            PortError: the board is away.
        """

    async def _in_trouble(self, error: PortError, wait: float) -> float:
        """What is done all the same with a board in trouble; seconds until the next turn, else `wait`."""
        del error
        return wait

    @abstractmethod
    async def _let_go(self) -> None:
        """Let the port go, and whatever else is held."""

    async def run(self) -> None:
        """Look until `close`; a board that is away shows in `view`."""
        self._task = asyncio.current_task()
        wait = RETRY_FIRST
        while not self._closing:
            try:
                wait = await self._turn()
            except PortError as error:
                lost = self.view.ready
                self._telling.failed(error)
                wait = RETRY_FIRST if lost else min(RETRY_MAX, max(RETRY_FIRST, 2 * wait))
                wait = await self._in_trouble(error, wait)
            await self._sleep(wait)

    async def close(self) -> None:
        """Stop looking, and let everything go."""
        self._closing = True
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._let_go()
        self._telling.close()

    async def recover(self, choice: Choice) -> Outcome:
        """A person's choice after an unknown press, as the operation it stands for; see `execute`.

        Raises:
            UsageError: another choice than the interface knows.
        """
        if choice not in CHOICES:
            raise UsageError(f"{choice!r} is no choice; use one of {', '.join(CHOICES)}.")
        return await self.execute(CHOICES[choice])

    async def wait_ready(self) -> MachineView:
        """Wait until commands are taken, or, of a machine that is only watched, until it is seen.

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
        """Nothing: a press is over as soon as it is asked for, and the machine's own motion is its own."""

    def estop(self) -> None:
        """Nothing: a relay board can not stop a machine. The hardware loop can."""

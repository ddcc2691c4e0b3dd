"""The end of a long-running process: by signal, and told in its log."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable

import structlog

__all__ = ["Stop"]

_log = structlog.get_logger()


class Stop:
    """Whether the process was told to end, and how long that takes.

    Args:
        clock: seconds of a clock that never steps.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asked = asyncio.Event()
        self._at: float | None = None

    def listen(self) -> None:
        """Take SIGTERM and SIGINT from now on. Belongs to the running loop."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.ask, number.name)

    def ask(self, by: str) -> None:
        """End the process; what comes after the first time is not told again.

        Args:
            by: name of the signal.
        """
        if self._at is None:
            self._at = self._clock()
            _log.info("stopping", signal=by)
        self._asked.set()

    async def wait(self) -> None:
        """Wait until the process is told to end."""
        await self._asked.wait()

    def ended(self) -> None:
        """Tell that everything is closed, and how long it took."""
        if self._at is not None:
            _log.info("stopped", took_s=round(self._clock() - self._at, 3))

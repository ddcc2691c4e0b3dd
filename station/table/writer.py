"""The table's log and link as the runtime uses them: one thin layer over the link thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from station.clock import Clock
from station.link.connection import LinkState
from station.link.sockets import LinkSettings
from station.link.table_thread import LinkThread
from station.log.chain import Entry
from station.log.table_log import Log


class LogWriter:
    """Appends through the link thread; reads once at the start, before the thread owns the log."""

    def __init__(
        self, path: Path, link: LinkSettings | None, clock: Clock, on_status: Callable[[], None]
    ) -> None:
        self._path = path
        self._clock = clock
        self._thread = LinkThread(path, link, on_status=lambda _: on_status())

    async def start(self) -> None:
        """Open the log. Raises LogError."""
        await self._thread.start()

    async def stop(self) -> None:
        """Store what is queued and close."""
        await self._thread.stop()

    async def finished(self) -> None:
        """Wait for the thread's end; raises what ended it."""
        await self._thread.finished()

    def stored(self) -> Sequence[Entry]:
        """Return everything in the log."""
        with Log.open(self._path, read_only=True) as log:
            return log.entries()

    async def append(self, events: list[tuple[str, bytes]]) -> Sequence[Entry]:
        """Append in one transaction; returns after the commit. Raises LogError: nothing was stored."""
        return await self._thread.append(events, int(self._clock.wall() * 1000))

    def link_state(self) -> tuple[str, int]:
        """Return the link's code and how many events the central station has not acknowledged."""
        status = self._thread.status
        return status.code, 0 if status.state is LinkState.OFF else status.unsent

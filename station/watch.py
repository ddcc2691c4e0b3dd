"""Telling several listeners that something changed, without queues that could fill up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager


class Watch:
    """One listener's view of changes: a flag that is set by each change and cleared by looking."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def poke(self) -> None:
        """Note a change."""
        self._event.set()

    async def changed(self, timeout_s: float) -> bool:
        """Wait for a change; False if none came within ``timeout_s`` seconds."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._event.wait()
        except TimeoutError:
            return False
        self._event.clear()
        return True


class Broadcast:
    """Something that changes, and its listeners. Belongs to one asyncio loop."""

    def __init__(self) -> None:
        self.stopping = False
        self._watches: set[Watch] = set()

    @contextmanager
    def watch(self) -> Iterator[Watch]:
        """Give a listener that is told of every change while the block runs."""
        watch = Watch()
        self._watches.add(watch)
        try:
            yield watch
        finally:
            self._watches.discard(watch)

    def changed(self) -> None:
        """Tell all listeners."""
        for watch in self._watches:
            watch.poke()

    def stop(self) -> None:
        """End all streams."""
        self.stopping = True
        self.changed()

    async def stream(
        self, message: Callable[[], bytes], beat: bytes, *, beat_s: float, pause_s: float
    ) -> AsyncIterator[bytes]:
        """Yield a message now and after each change, and a beat when nothing changes.

        Args:
            message: makes the whole message; it is not asked more than once in ``pause_s`` seconds.
            beat: sent after ``beat_s`` seconds without a change, so that silence means a lost connection.
        """
        with self.watch() as changes:
            while not self.stopping:
                yield message()
                while not await changes.changed(beat_s):
                    yield beat
                if not self.stopping:
                    await asyncio.sleep(pause_s)

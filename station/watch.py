"""Telling several listeners that something changed, without queues that could fill up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Final

_REST: Final = 5.0
"""A message that takes long is made again after so many times as long at the earliest,"""
_REST_S: Final = 1.0
"""or after so many seconds: other work goes on."""


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
        self._changes = 0
        self._made: dict[Hashable, tuple[int, float, bytes]] = {}
        self._rests: dict[Hashable, float] = {}
        self._making = asyncio.Lock()
        """One message is made at a time: pages of a great hall take long, and requests come in between."""

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
        self._changes += 1
        for watch in self._watches:
            watch.poke()

    def stop(self) -> None:
        """End all streams."""
        self.stopping = True
        self.changed()

    async def stream(
        self,
        message: Callable[[], bytes | Awaitable[bytes]],
        beat: bytes,
        *,
        key: Hashable,
        beat_s: float,
        pause_s: float,
    ) -> AsyncIterator[bytes]:
        """Yield a message now and after each change, and a beat when nothing changes.

        Args:
            message: makes the whole message, at once or meanwhile; it is not asked more than once in
                ``pause_s`` seconds, and rests for `_REST` times what it took.
            key: listeners with the same key get the same message, made once for all of them.
            beat: sent after ``beat_s`` seconds without a change, so that silence means a lost connection.
        """
        with self.watch() as changes:
            while not self.stopping:
                made = self._known(key, pause_s)
                if made is None:
                    async with self._making:
                        made = await self._shared(key, message, pause_s)
                yield made
                while not await changes.changed(beat_s):
                    yield beat
                if not self.stopping:
                    await asyncio.sleep(max(pause_s, self._rests.get(key, 0.0)))

    async def _shared(
        self, key: Hashable, message: Callable[[], bytes | Awaitable[bytes]], fresh_s: float
    ) -> bytes:
        """Return the message that another listener just got, or make it: a hall full of pages costs one."""
        known = self._known(key, fresh_s)
        if known is not None:
            return known
        loop, changes = asyncio.get_running_loop(), self._changes
        began = loop.time()
        making = message()
        made = making if isinstance(making, bytes) else await making
        self._made[key] = (changes, began, made)
        self._rests[key] = min(_REST_S, _REST * (loop.time() - began))
        await asyncio.sleep(0)  # whoever waits to make another one comes in another turn of the loop
        return made

    def _known(self, key: Hashable, fresh_s: float) -> bytes | None:
        made = self._made.get(key)
        now = asyncio.get_running_loop().time()
        return None if made is None or made[0] != self._changes or now - made[1] > fresh_s else made[2]

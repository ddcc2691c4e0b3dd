"""Telling several listeners that something changed, without queues that could fill up."""

from __future__ import annotations

import asyncio


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

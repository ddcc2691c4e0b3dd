"""Lines that a person types while the loop goes on."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_LONGEST = 4096


class Typed:
    """The lines of standard input, one at a time; what was typed before it was asked for is dropped."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str] = asyncio.Queue()
        self._rest = b""

    async def line(self) -> str:
        """Wait for the next line; for ever once the input has ended."""
        while not self._lines.empty():
            self._lines.get_nowait()
        return await self._lines.get()

    def feed(self, fd: int) -> None:
        """Take what has been typed."""
        data = os.read(fd, _LONGEST)
        if not data:
            asyncio.get_running_loop().remove_reader(fd)
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[-_LONGEST:]
        for line in lines:
            self._lines.put_nowait(line.decode(errors="replace").strip())


@asynccontextmanager
async def typing() -> AsyncIterator[Typed]:
    """Read standard input while the block runs; where nobody can type, no line ever comes."""
    typed, loop = Typed(), asyncio.get_running_loop()
    try:
        fd = sys.stdin.fileno()
        loop.add_reader(fd, typed.feed, fd)
    except (AttributeError, OSError, ValueError):  # closed, or a file: nobody types there
        yield typed
        return
    try:
        yield typed
    finally:
        loop.remove_reader(fd)

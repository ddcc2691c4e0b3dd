"""Whether the table's disk takes what is to be stored: said on the screens, and looked at until it does."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path
from typing import Final

LOOK_EVERY_S: Final = 1.0
PIECE: Final = 512 * 1024
"""Bytes that have to fit before the disk counts as mended: an event with its pages, and some."""
FULL: Final = "log.full"
"""The refusal after which a person has to make room; after another one the disk has to be looked at."""


class DiskWatch:
    """Remembers that the disk refused something, until it takes something again.

    Args:
        folder: the table's home.
    """

    def __init__(self, folder: Path) -> None:
        self.code: str | None = None
        """``table.disk_full`` or ``table.disk_refuses``; None: nothing was refused of late."""
        self._refusals = 0
        self._probe = folder / "disk.probe"
        self._looked_at = float("-inf")

    def refused(self, code: str) -> bool:
        """Note a refusal by the code of its error; tell whether that is news."""
        self._refusals += 1
        before, self.code = self.code, "table.disk_full" if code == FULL else "table.disk_refuses"
        return self.code != before

    def took(self) -> bool:
        """Note that something was stored; tell whether that is news."""
        before, self.code = self.code, None
        return before is not None

    async def look(self, now: float) -> bool:
        """After a refusal, once a second, write a small file; tell whether that works again.

        Args:
            now: monotonic time in seconds.
        """
        if self.code is None or now - self._looked_at < LOOK_EVERY_S:
            return False
        self._looked_at, refusals = now, self._refusals
        fits = await asyncio.to_thread(self._fits)
        return fits and refusals == self._refusals and self.took()  # what was refused meanwhile is newer

    def _fits(self) -> bool:
        try:
            with self._probe.open("wb") as file:
                file.write(bytes(PIECE))
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            return False
        finally:
            with contextlib.suppress(OSError):  # gone read-only in between: the next look tells
                self._probe.unlink(missing_ok=True)
        return True

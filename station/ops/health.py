"""Whether a process is well: a few cheap questions, asked at most once a second."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

__all__ = ["FULL_BYTES", "LOW_BYTES", "Vitals", "disk_low", "disk_unusable", "free_bytes"]

Check = Callable[[], str | None]
"""Gives what is wrong in one word or code, or None."""

FRESH_S: Final = 1.0
FULL_BYTES: Final = 16 << 20
"""Less than this counts as full: the log's next checkpoint may not fit any more."""
LOW_BYTES: Final = 1 << 30
"""Less than this is a warning: an evening's photographs may not fit any more."""


class Vitals:
    """Vital checks and warnings of one process.

    Args:
        names: what the answer says besides, for example ``{"table": "T1"}``.
        vital: checks without which the process does not do its work.
        warnings: checks that somebody should know of.
        clock: monotonic time in seconds.
    """

    def __init__(
        self,
        names: Mapping[str, str],
        vital: Mapping[str, Check],
        warnings: Mapping[str, Check],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._names = dict(names)
        self._vital = vital
        self._warnings = warnings
        self._clock = clock
        self._asked_at: float | None = None
        self._told: dict[str, Any] = {}

    def report(self) -> dict[str, Any]:
        """Give ``{"ok", "checks", "warnings", "failing"}``: each check with ``"ok"`` or what is wrong."""
        now = self._clock()
        if self._asked_at is None or now - self._asked_at >= FRESH_S:
            self._asked_at = now
            checks = {name: check() or "ok" for name, check in self._vital.items()}
            failing = [name for name, told in checks.items() if told != "ok"]
            self._told = {
                "ok": not failing,
                **self._names,
                "checks": checks,
                "warnings": {name: check() or "ok" for name, check in self._warnings.items()},
                "failing": failing,
            }
        return self._told


def free_bytes(folder: Path) -> int | None:
    """Give the space left for us where a folder lies; None when it cannot be asked."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return None
    return disk.f_bavail * disk.f_frsize


def disk_unusable(folder: Path) -> str | None:
    """Say ``gone``, ``read_only`` or ``full`` when nothing can be stored in a folder."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return "gone"
    if disk.f_flag & os.ST_RDONLY or not os.access(folder, os.W_OK):
        return "read_only"
    return "full" if disk.f_bavail * disk.f_frsize < FULL_BYTES else None


def disk_low(folder: Path) -> str | None:
    """Say ``low`` when there is little space left where a folder lies."""
    left = free_bytes(folder)
    return None if left is None or left >= LOW_BYTES else "low"

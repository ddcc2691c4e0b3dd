"""Time as an argument: the clocks a process reads, behind one small type, and the run they belong to."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Clock", "boot_id", "steady"]


def steady() -> float:
    """Seconds since the machine was started, sleep included: never steps, and goes on while it is suspended.

    CLOCK_BOOTTIME of Linux, see clock_gettime(2).
    """
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@cache
def boot_id() -> str:
    """Id of this run of the machine: the same for every process until it is started anew (proc(5))."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:  # a container without /proc: then every process is a run of its own
        return uuid.uuid4().hex


@dataclass(frozen=True, slots=True)
class Clock:
    """Two sources of time, both in seconds, and the run of the machine that the first belongs to.

    Attributes:
        monotonic: for durations and deadlines; never steps.
        wall: Unix time; for display and for the log only.
        boot: gives the run.
    """

    monotonic: Callable[[], float] = steady
    wall: Callable[[], float] = time.time
    boot: Callable[[], str] = boot_id

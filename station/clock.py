"""Time as an argument: the two clocks a process reads, behind one small type."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """Two sources of time, both in seconds.

    Attributes:
        monotonic: for durations and deadlines; never steps.
        wall: Unix time; for display and for the log only.
    """

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time

"""How long something took of the time that the machine had for it: bounds hold on a busy machine as well."""

from __future__ import annotations

import os
import time
from pathlib import Path

_PRESSURE = Path("/proc/pressure/cpu")


def stalled_s() -> float | None:
    """Seconds in which somebody on this machine waited for a processor; None where the kernel does not tell.

    The line "some" of pressure stall information: docs.kernel.org/accounting/psi.html.
    """
    try:
        return int(_PRESSURE.read_text().splitlines()[0].rpartition("total=")[2]) / 1e6
    except (OSError, IndexError, ValueError):
        return None


def crowding() -> float:
    """How many want a processor for each there is, over the last minute; 1 at least."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


class Pace:
    """Counts from its making: ``took_s`` by the clock, ``own_s`` without waits for a processor.

    On an idle machine both are the same, so that a bound on ``own_s`` proves what one on the clock does. On a
    busy one timers run down while others wait too, so a fifth counts in any case: nothing takes for ever.
    Where the kernel does not tell who waited, the load of the machine says how large our share was.
    """

    def __init__(self) -> None:
        self._began, self._stalled = time.monotonic(), stalled_s()

    @property
    def took_s(self) -> float:
        """Seconds by the clock."""
        return time.monotonic() - self._began

    @property
    def own_s(self) -> float:
        """Seconds in which everybody who wanted a processor had one; a fifth of ``took_s`` at least."""
        took_s, stalled = self.took_s, stalled_s()
        if stalled is None or self._stalled is None:
            return took_s / min(crowding(), 5.0)
        return max(took_s - (stalled - self._stalled), took_s / 5)

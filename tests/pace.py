"""How long something took of the time that the machine had for it: bounds hold on a busy machine as well."""

from __future__ import annotations

import time
from pathlib import Path

_PRESSURE = Path("/proc/pressure/cpu")


def stalled_s() -> float:
    """Seconds in which somebody on this machine waited for a processor; 0.0 where the kernel does not tell.

    The line "some" of pressure stall information: docs.kernel.org/accounting/psi.html.
    """
    try:
        some = _PRESSURE.read_text().splitlines()[0]
    except (OSError, IndexError):
        return 0.0
    return int(some.rpartition("total=")[2]) / 1e6


class Pace:
    """Counts from its making: ``took_s`` by the clock, ``own_s`` without waits for a processor.

    On an idle machine both are the same, so that a bound on ``own_s`` proves what one on the clock does. On a
    busy one timers run down while others wait too, so a fifth counts in any case: nothing takes for ever.
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
        took_s = self.took_s
        return max(took_s - (stalled_s() - self._stalled), took_s / 5)

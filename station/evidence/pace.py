"""How fast photos may travel, so that they never take the line from events. Pure."""

from __future__ import annotations

__all__ = ["Pace"]


class Pace:
    """Spreads bytes evenly over time: after n bytes the next are due n / rate seconds later.

    Args:
        bytes_per_s: what may travel in the long run.
    """

    def __init__(self, bytes_per_s: float) -> None:
        self._rate = bytes_per_s
        self._free_at = float("-inf")

    def due(self, now: float) -> float:
        """Say from when on the next bytes may travel (monotonic seconds)."""
        return max(now, self._free_at)

    def spend(self, now: float, size: int) -> None:
        """Take note that bytes travel now."""
        self._free_at = self.due(now) + size / self._rate

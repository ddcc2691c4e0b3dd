"""Numbers that one thread counts and another reads, without a lock: for metrics, never for decisions."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

__all__ = ["BATCH_SIZES", "COMMIT_S", "Histogram", "Stats"]

COMMIT_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Upper bounds for the time of a commit, seconds."""
BATCH_SIZES: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
"""Upper bounds for the entries of one transaction."""


class Histogram:
    """How often a value fell under each bound. One thread observes, any reads.

    Args:
        bounds: upper bounds, ascending; the last, infinity, goes without saying.
    """

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.sum = 0.0
        self._counts = [0] * (len(bounds) + 1)

    def observe(self, value: float) -> None:
        """Take note of a value."""
        self._counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def cumulative(self) -> list[tuple[float, int]]:
        """Give (upper bound, values up to it) for each bound and for infinity."""
        counts, total, told = list(self._counts), 0, []
        for bound, count in zip((*self.bounds, float("inf")), counts, strict=True):
            total += count
            told.append((bound, total))
        return told


class Stats:
    """Counters by (name, label) and histograms by name."""

    def __init__(self, **histograms: Sequence[float]) -> None:
        self.histograms = {name: Histogram(bounds) for name, bounds in histograms.items()}
        self._counts: dict[tuple[str, str], int] = {}

    def count(self, name: str, label: str = "", by: int = 1) -> None:
        """Add to a counter."""
        key = (name, label)
        self._counts[key] = self._counts.get(key, 0) + by

    def observe(self, name: str, value: float) -> None:
        """Take note of a value in a histogram."""
        self.histograms[name].observe(value)

    def counts(self) -> dict[tuple[str, str], int]:
        """Give every counter as it is now."""
        return self._counts.copy()

"""How far the station's clock is ahead of the table's, from exchanges of four timestamps. Pure.

As NTP does it (https://www.rfc-editor.org/rfc/rfc5905, section 8): of the newest exchanges the one with the
shortest round trip is believed, since a delay can only lengthen it; the true offset then lies within half the
round trip, and each second since may add what the two clocks drift apart.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

__all__ = ["DRIFT", "Estimate", "OffsetFilter", "Sample"]

DRIFT: Final = 1e-4
"""Seconds a second that two crystal clocks may drift apart: 50 ppm each."""
_KEPT: Final = 16
_SLACK_S: Final = 0.005
"""Timestamps are rounded, and two reads of a clock are not one."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One exchange, seconds: the table's clock at sending and receipt (t1, t4), the station's (t2, t3)."""

    t1: float
    t2: float
    t3: float
    t4: float

    @property
    def round_trip(self) -> float:
        """Seconds on the line, both ways."""
        return (self.t4 - self.t1) - (self.t3 - self.t2)

    @property
    def offset(self) -> float:
        """Station's clock minus table's clock, if both ways took equally long."""
        return ((self.t2 - self.t1) + (self.t3 - self.t4)) / 2

    @property
    def possible(self) -> bool:
        """Whether clocks that do not step can have given it."""
        return self.t4 >= self.t1 and self.t3 >= self.t2 and self.round_trip >= -_SLACK_S


@dataclass(frozen=True, slots=True)
class Estimate:
    """``offset``: station's clock minus table's clock in seconds; ``error``: how far off it may be."""

    offset: float
    error: float


class OffsetFilter:
    """The newest exchanges with one station."""

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=_KEPT)

    def add(self, sample: Sample) -> None:
        """Take an exchange. One that cannot be is dropped; one that contradicts all others ends their time:
        a clock has begun anew, because its machine has.
        """
        if not sample.possible:
            return
        known = self.at(sample.t4)
        if known is not None and abs(sample.offset - known.offset) > known.error + _error(sample, sample.t4):
            self._samples.clear()
        self._samples.append(sample)

    def at(self, now: float) -> Estimate | None:
        """Give the best estimate at a moment of the table's clock; None before the first exchange."""
        if not self._samples:
            return None
        best = min(self._samples, key=lambda sample: _error(sample, now))
        return Estimate(best.offset, _error(best, now))


def _error(sample: Sample, now: float) -> float:
    return max(0.0, sample.round_trip) / 2 + _SLACK_S + DRIFT * abs(now - sample.t4)

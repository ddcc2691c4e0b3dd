"""The hall's clock as a table counts it along, with the station there or not. Pure: time comes in.

What is shown only ever counts down, except where an event says so: a correction of the offset is worked off
slowly. So a countdown never jumps back, and never stands still for longer than people believe.
"""

from __future__ import annotations

import math
from typing import Any, Final

import msgspec

from station.timing.hall_clock import ENDED, IDLE
from station.timing.offset import OffsetFilter, Sample

__all__ = ["SLEW", "TableClock"]

SLEW: Final = 0.1
"""Seconds a second by which the shown clock runs fast or slow while it comes back into line."""
_FAR_S: Final = 2.0
"""Further away than this is not the drift of a crystal: time lost is taken off at once, and for time won the
shown clock waits."""


class _Told(msgspec.Struct, frozen=True):
    """What `Countdown.to_json` gives."""

    state: str
    left_ms: int
    at_ms: int
    running: bool
    boot: str
    run: str
    n: int


class TableClock:
    """Remaining seconds at a table, from two things that the link brings: values and time exchanges."""

    def __init__(self) -> None:
        self._offsets = OffsetFilter()
        self._told: _Told | None = None
        self._run: str | None = None
        """Run of the station that spoke last, and with which the clock is compared."""
        self._shown: tuple[float, float] | None = None
        """Table's clock when it was last asked, and what was shown then."""
        self._jumps = True
        """Whether the next true value may be shown as it is: an event has come."""

    def on_value(self, key: str, body: bytes) -> None:
        """Take a value of the station; only ``clock`` is of interest. A damaged one is passed over.

        An event of the clock (another count, another run) may make it jump; a repetition may not. A second
        station, whose clock nobody has started, does not end one that goes on.
        """
        if key != "clock":
            return
        try:
            told = msgspec.json.decode(body, type=_Told)
        except (msgspec.DecodeError, RecursionError):
            return
        known = self._told
        if self._run not in (None, told.run):
            self._offsets = OffsetFilter()
        self._run = told.run
        if known is not None and _goes_on(known) and told.state == IDLE and told.run != known.run:
            return
        if known is None or (told.n, told.boot) != (known.n, known.boot):
            self._jumps = True
            if known is not None and not known.running:
                self._shown = None  # says nothing about a clock that now runs
        self._told = told

    def on_time(self, t1: float, t2: float, t3: float, t4: float) -> None:
        """Take one exchange of timestamps, seconds: see `Sample`."""
        self._offsets.add(Sample(t1, t2, t3, t4))

    @property
    def state(self) -> str | None:
        """State of the hall's clock (`station.timing.hall_clock`); None: the station has said nothing."""
        return None if self._told is None else self._told.state

    def remaining_s(self, now: float) -> float | None:
        """Give what is left; None when nothing is known.

        Args:
            now: the table's steady clock, seconds; never less than before.
        """
        if self._told is None:
            return None
        true, expected = self._true(now), self._expected(now)
        if true is None or expected is None:
            shown = expected if true is None else true
        elif self._jumps:
            shown = true
        else:
            shown = self._slewed(true, expected, now)
        if shown is not None:
            self._jumps = self._jumps and true is None
            self._shown = (now, shown)
        return shown

    def _expected(self, now: float) -> float | None:
        """Give what is left if the last word shown was right."""
        if self._told is None or self._shown is None:
            return None
        then, before = self._shown
        return max(0.0, before - max(0.0, now - then)) if self._told.running else before

    def _slewed(self, true: float, expected: float, now: float) -> float:
        """Give what is shown on the way from the expected to the true value: never more than before."""
        assert self._shown is not None
        then, before = self._shown
        gone = max(0.0, now - then)
        away = true - expected
        if away < -_FAR_S:
            return true
        most = gone if away > _FAR_S else SLEW * gone
        return max(0.0, min(before, expected + max(-most, min(most, away))))

    def to_json(self, now: float) -> dict[str, Any] | None:
        """Return the object of the table's state; None when nothing is known."""
        remaining = self.remaining_s(now)
        if remaining is None or self._told is None or self._told.state == IDLE:
            return None
        return {"state": self._told.state, "remaining_s": math.ceil(remaining), "running": self._told.running}

    def _true(self, now: float) -> float | None:
        """Give what is left by the newest word of the station and the best estimate of its clock."""
        if self._told is None:
            return None
        left = self._told.left_ms / 1000
        if not self._told.running:
            return left
        estimate = self._offsets.at(now)
        if estimate is None or not self._told.boot == self._told.run == self._run:
            return None
        return max(0.0, left - max(0.0, now + estimate.offset - self._told.at_ms / 1000))


def _goes_on(told: _Told) -> bool:
    return told.state not in (IDLE, ENDED)

"""The hall's clock as a table counts it along, with the station there or not. Pure: time comes in.

What is shown only ever counts down, except where an event says so: a correction of the offset is worked off
slowly. So a countdown never jumps back, and never stands still for longer than people believe.
"""

from __future__ import annotations

import math
from typing import Any, Final

import msgspec

from station.timing.hall_clock import ENDED, IDLE, UNCONFIRMED
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
        self._shown: tuple[float, float] | None = None
        """Table's clock when it was last asked, and what was shown then."""
        self._jumps = True
        """Whether the next true value may be shown as it is: an event has come."""
        self._standby = False
        self._spoke = True
        """Whether the station that is now connected has said its clock; before, exchanges of time are not
        about the one that is known."""
        self._seen: dict[bool, tuple[int, str]] = {}
        """The newest event known of the main station (False) and of the stand-by (True)."""

    def on_station(self, *, standby: bool) -> None:
        """Tell which station is connected, or tried, from now on: its clock is another one.

        What is shown goes on; coming to a station and back is no event.
        """
        if standby != self._standby:
            self._standby = standby
            self._spoke = False
            self._offsets = OffsetFilter()

    def on_value(self, key: str, body: bytes) -> None:
        """Take a value of the station; only ``clock`` is of interest. A damaged one is passed over.

        An event of the clock (another count, another run) may make it jump; a repetition may not. A stand-by
        station that does not know the clock changes nothing but that the head referee is waited for.
        """
        if key != "clock":
            return
        try:
            told = msgspec.json.decode(body, type=_Told)
        except (msgspec.DecodeError, RecursionError):
            return
        known, self._spoke = self._told, True
        if known is not None and told.run != known.run:
            self._offsets = OffsetFilter()
        if self._standby and told.state == IDLE and known is not None and known.state != IDLE:
            state = ENDED if known.state == ENDED else UNCONFIRMED
            self._told = msgspec.structs.replace(known, state=state, run=told.run)
            return
        event = (told.n, told.boot)
        if event != self._seen.get(self._standby):
            self._seen[self._standby] = event
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
        if remaining is None or self._told is None or self._told.state == "idle":
            return None
        return {"state": self._told.state, "remaining_s": math.ceil(remaining), "running": self._told.running}

    def _true(self, now: float) -> float | None:
        """Give what is left by the newest word of the station and the best estimate of its clock."""
        if self._told is None or not self._spoke:
            return None
        left = self._told.left_ms / 1000
        if not self._told.running:
            return left
        estimate = self._offsets.at(now)
        if estimate is None or self._told.boot != self._told.run:
            return None
        return max(0.0, left - max(0.0, now + estimate.offset - self._told.at_ms / 1000))

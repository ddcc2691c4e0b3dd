"""The numbered events of a machine: in order, each once, and what is done about a gap. Pure."""

from __future__ import annotations

from collections import deque
from typing import Final

from firmware_bridge import messages as m
from firmware_bridge.machine import MachineEvent

EVENTS_KEPT: Final = 256

GAP: Final = 1.0
"""Seconds for which an event may be missing while later ones come. A device repeats the oldest it keeps every
quarter of a second, so after that it keeps it no longer, and only a new session tells what it does keep."""


class EventLog:
    """The newest events, and which number comes next."""

    def __init__(self) -> None:
        self.kept: deque[MachineEvent] = deque(maxlen=EVENTS_KEPT)
        self._expected = 0
        self._gap_since: float | None = None

    @property
    def arrived(self) -> int:
        """Number up to which all events came."""
        return self._expected - 1

    def begin(self, first: int, *, new_run: bool) -> bool:
        """A session began with a device that keeps events from `first` on; whether some are lost."""
        self._gap_since = None
        lost = not new_run and 0 < self._expected < first
        if new_run or first > self._expected:
            self._expected = first
        return lost

    def number(self, no: int, now: float) -> bool:
        """Whether the event of this number, which came now, is the next one."""
        fresh = no == self._expected
        if fresh:
            self._expected += 1
            self._gap_since = None
        elif no > self._expected and self._gap_since is None:
            self._gap_since = now
        return fresh

    def deadline(self) -> float | None:
        """When a gap has lasted too long."""
        return None if self._gap_since is None else self._gap_since + GAP

    def close_gap(self, now: float) -> bool:
        """Whether a gap has lasted too long, so that only a new session helps."""
        due = self.deadline()
        if due is None or now < due:
            return False
        self._gap_since = None
        return True


def event_name(code: int) -> str:
    """Stable identifier of an event number."""
    try:
        return m.EventCode(code).name.lower()
    except ValueError:
        return f"event_{code}"

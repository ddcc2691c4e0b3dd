"""What the maker's lamps and the lid switch tell: levels of inputs and seconds in, meaning out. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise
from typing import Final, TypeAlias

from firmware_bridge.interlock import Lid, Magazine
from firmware_bridge.machine import FaultReport
from firmware_bridge.profiles import LAMPS, Lit, Profile

Bits: TypeAlias = "tuple[bool, ...]"

STEADY: Final = 2
"""Looks in a row that must show a change: lamps flicker and switches bounce."""

MAGAZINES: Final[Mapping[str, Magazine]] = {"ready": Magazine.READY, "building": Magazine.BUILDING}


class Happening(Enum):
    """A boundary that was seen."""

    LID_OPENED = auto()
    LID_CLOSED = auto()
    CYCLE_BEGUN = auto()
    """The ready lamp went off: the built set rises. Told only where no lid switch is wired."""


@dataclass(frozen=True, slots=True)
class Wired:
    """Which input is what, from 0; None: not wired. `lid_open`: the level of the switch at an open lid."""

    ready_input: int | None = None
    fault_input: int | None = None
    lid_input: int | None = None
    lid_open: bool = True

    def lamp(self, name: str) -> int | None:
        """The input of a lamp of `profiles.LAMPS`."""
        return {"ready": self.ready_input, "fault": self.fault_input}[name]


class _Lamp:
    """How one lamp burns. One that may blink counts as steady only after it stayed so for `blink_s`."""

    def __init__(self, blink_s: float | None) -> None:
        self.lit: Lit | None = None
        self._blink_s = blink_s
        self._level: bool | None = None
        self._same = 0
        self._changes: deque[float] = deque(maxlen=3)

    def feed(self, level: bool, now: float) -> None:
        if level is self._level:
            self._same += 1
        else:
            self._level, self._same = level, 1
            self._changes.append(now)
        steady = Lit.ON if level else Lit.OFF
        if self._blink_s is None:
            self.lit = steady if self._same >= STEADY else self.lit
        elif now - self._changes[-1] > self._blink_s:
            self.lit = steady
        elif self._blinks(self._blink_s):
            self.lit = Lit.BLINK

    def _blinks(self, longest: float) -> bool:
        times = list(self._changes)
        gaps = [later - earlier for earlier, later in pairwise(times)]
        return len(gaps) == 2 and max(gaps) <= longest


class Watch:
    """Lamps and lid of one machine over time."""

    def __init__(self, wired: Wired, profile: Profile) -> None:
        blinking = {lamp for rule in profile.lamps for lamp, lit in rule.when.items() if lit is Lit.BLINK}
        self._wired = wired
        self._rules = profile.lamps
        self._lamps = {
            name: _Lamp(profile.blink_s if name in blinking else None)
            for name in LAMPS
            if wired.lamp(name) is not None
        }
        self._level: bool | None = None
        self._same = 0
        self._was_ready = False
        self.lid: Lid | None = None
        """None: no switch is wired, or it was not read yet."""
        self.shows: str | None = None
        """What the lamps tell, as in `profiles.LampRule.shows`; None: nothing that is known."""

    @property
    def magazine(self) -> Magazine:
        """What lies beneath, as far as a lamp tells."""
        return MAGAZINES.get(self.shows or "", Magazine.UNKNOWN)

    @property
    def faults(self) -> tuple[FaultReport, ...]:
        """The fault that the lamps tell, if any."""
        told = next((rule.fault for rule in self._rules if rule.shows == self.shows), None)
        return () if told is None else (FaultReport(told),)

    def feed(self, inputs: Bits, now: float) -> tuple[Happening, ...]:
        """Take one look at all inputs in; the boundaries that it completes."""
        happened = self._feed_lid(inputs)
        for name, lamp in self._lamps.items():
            number = self._wired.lamp(name)
            assert number is not None
            lamp.feed(inputs[number], now)
        self.shows = next((rule.shows for rule in self._rules if self._fits(rule.when)), None)
        if self.shows == "ready":
            self._was_ready = True
        elif self.shows == "building" and self._was_ready:
            self._was_ready = False
            if self._wired.lid_input is None:
                happened = (*happened, Happening.CYCLE_BEGUN)
        return happened

    def _fits(self, when: Mapping[str, Lit]) -> bool:
        return all(name in self._lamps and self._lamps[name].lit is lit for name, lit in when.items())

    def _feed_lid(self, inputs: Bits) -> tuple[Happening, ...]:
        number = self._wired.lid_input
        if number is None:
            return ()
        level = inputs[number]
        self._same = self._same + 1 if level is self._level else 1
        self._level = level
        now = Lid.OPEN if level is self._wired.lid_open else Lid.CLOSED
        if self._same < STEADY or now is self.lid:
            return ()
        before, self.lid = self.lid, now
        if before is None:
            return ()
        return (Happening.LID_OPENED if now is Lid.OPEN else Happening.LID_CLOSED,)

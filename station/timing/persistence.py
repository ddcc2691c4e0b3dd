"""What a restart may know of the time: the last moment that was written down, and what follows from it. Pure.

The station writes each second which run of the machine it is in, and what its steady and its wall clock say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from station.timing.hall_clock import RUNNING, UNCONFIRMED, Change, Countdown

__all__ = ["LONGEST_GAP_S", "Moment", "after_restart", "decode", "encode"]

LONGEST_GAP_S: Final = 12 * 3600.0
"""A machine that says it was off for longer says so because its wall clock is wrong."""
_SLACK_S: Final = 2.0
_EARLIEST: Final = 1_704_067_200.0
"""2024-01-01: a wall clock before it was never set (a computer without a battery clock begins at 1970)."""


class Moment(msgspec.Struct, frozen=True):
    """``steady`` and ``wall`` (Unix) seconds, read together in the run ``boot`` of the machine."""

    steady: float
    wall: float
    boot: str


def encode(moment: Moment) -> bytes:
    """Return the file's bytes."""
    return msgspec.json.encode(moment) + b"\n"


def decode(data: bytes) -> Moment | None:
    """Read the file's bytes; None for a damaged file."""
    try:
        moment = msgspec.json.decode(data, type=Moment)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return moment if moment.boot else None


@dataclass(frozen=True, slots=True)
class Doubt:
    """What was left as far as anybody can tell, and how that is known."""

    left_s: float
    why: str


def after_restart(clock: Countdown, last: Moment | None, now: Moment) -> tuple[str, Change] | None:
    """Return the event with which a station that has just started says what it makes of the clock.

    In the same run of the machine nothing needs to be said: the steady clock went on. A clock that stood
    still says what it said. One that was counting when the machine went down is in doubt: what is left is
    proposed from the wall clock where that makes sense, else what was left when it was last known to run.

    Args:
        clock: after all events of the log.
        last: what was written down last; None: nothing.
        now: the clocks of now.
    """
    if clock.state not in (RUNNING, UNCONFIRMED) or clock.boot == now.boot or not clock.running:
        return None
    doubt = _proposal(clock, last, now)
    left_ms = round(1000 * max(0.0, doubt.left_s))
    return "clock.doubted", Change(1, left_ms, True, round(1000 * now.steady), now.boot, doubt.why)


def _proposal(clock: Countdown, last: Moment | None, now: Moment) -> Doubt:
    if last is None or last.boot != clock.boot:
        return Doubt(clock.left_s, "unknown")
    known = clock.remaining_s(last.steady)
    gap = now.wall - last.wall
    if last.wall < _EARLIEST or not -_SLACK_S <= gap <= LONGEST_GAP_S:
        return Doubt(known, "wall_clock")
    return Doubt(known - max(0.0, gap), "restart")

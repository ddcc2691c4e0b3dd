"""The hall's countdown as a fold over the station's clock events. Pure.

Each event says what is left after it at a moment of the station's steady clock, and which run of the machine
(``boot``) that clock belongs to. So a clock goes on exactly in the same run, and is known to be in doubt in
another one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import msgspec

from station.errors import StationError

__all__ = [
    "ACTIONS",
    "ENDED",
    "IDLE",
    "KINDS",
    "LONGEST_S",
    "PAUSED",
    "RUNNING",
    "UNCONFIRMED",
    "Change",
    "ClockRefused",
    "Countdown",
    "apply",
    "decide",
]

IDLE, RUNNING, PAUSED, UNCONFIRMED, ENDED = "idle", "running", "paused", "unconfirmed", "ended"
LONGEST_S: Final = 24 * 3600
_REASON: Final = 200
_KEYS: Final = 64


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """Body of a ``clock.*`` event: what holds after it.

    ``left_ms``: what is left at ``at_ms`` of the station's steady clock in the run ``boot``. ``running``:
    whether it counts down from there. ``reason``: why, where a person gave one or the program must. ``key``:
    of the request, so that one sent twice counts once.
    """

    v: int
    left_ms: int
    running: bool
    at_ms: int
    boot: str
    reason: str = ""
    key: str = ""


KINDS: Final[dict[str, str]] = {
    "clock.started": RUNNING,
    "clock.resumed": RUNNING,
    "clock.confirmed": RUNNING,
    "clock.paused": PAUSED,
    "clock.doubted": UNCONFIRMED,
    "clock.ended": ENDED,
    "clock.released": IDLE,
    "clock.extended": "",
    "clock.set": "",
}
"""Event kinds, and the state after each; empty: what ``running`` says. ``released``: a stand-by station does
not know the clock any more, since its tables have gone back."""


@dataclass(frozen=True, slots=True)
class Countdown:
    """The clock after so many events.

    ``left_s`` was left at ``at_s`` of the steady clock in the run ``boot``; ``events``: how many there were.
    """

    state: str = IDLE
    left_s: float = 0.0
    at_s: float = 0.0
    running: bool = False
    boot: str = ""
    events: int = 0
    keys: tuple[str, ...] = ()

    def remaining_s(self, steady: float) -> float:
        """Give what is left at a moment of the station's steady clock in the same run."""
        gone = max(0.0, steady - self.at_s) if self.running else 0.0
        return max(0.0, self.left_s - gone)

    def to_json(self, run: str) -> dict[str, object]:
        """Return what the tables are told: all that is needed to count along.

        Args:
            run: the run of the station's machine now, to which its steady clock belongs.
        """
        return {
            "state": self.state,
            "left_ms": round(1000 * self.left_s),
            "at_ms": round(1000 * self.at_s),
            "running": self.running,
            "boot": self.boot,
            "run": run,
            "n": self.events,
        }


def apply(clock: Countdown, kind: str, change: Change) -> Countdown:
    """Return the clock after an event; a kind of a newer version changes nothing but the count."""
    if kind not in KINDS:
        return replace(clock, events=clock.events + 1)
    state = KINDS[kind] or (RUNNING if change.running else PAUSED)
    keys = (*clock.keys, change.key)[-_KEYS:] if change.key else clock.keys
    return Countdown(
        state, change.left_ms / 1000, change.at_ms / 1000, change.running, change.boot, clock.events + 1, keys
    )


class ClockRefused(StationError):
    """What was asked of the clock is not possible now; ``code`` says why."""

    code = "clock.refused"
    exit_status = 2


def decide(
    clock: Countdown,
    action: str,
    *,
    steady: float,
    boot: str,
    seconds: int | None = None,
    reason: str = "",
    key: str = "",
) -> tuple[str, Change] | None:
    """Return the event for an action of a person; None when this request was taken before.

    Args:
        clock: as it is.
        action: one of `ACTIONS`.
        steady: the station's steady clock now, seconds.
        boot: the run that clock belongs to.
        seconds: for ``start`` and ``set`` what is left; for ``extend`` what is added (negative: taken).
        reason: why; ``set`` and ``extend`` need one.
        key: of the request.

    Raises:
        ClockRefused: with a code for the screens.
    """
    if action not in ACTIONS:
        raise _refused("clock.no_action", f"There is no action {action!r}.")
    if key and key in clock.keys:
        return None
    if clock.state not in ACTIONS[action]:
        raise _refused("clock.not_now", f"The clock is {clock.state}: {action} is not possible.")
    reason = " ".join(reason.split())
    if len(reason) > _REASON or (action in ("extend", "set") and not reason):
        raise _refused("clock.reason", f"{action} needs a reason of 1 to {_REASON} characters.")
    left = clock.remaining_s(steady)
    running = clock.running
    if action in ("start", "set", "extend"):
        if seconds is None or isinstance(seconds, bool) or not -LONGEST_S <= seconds <= LONGEST_S:
            raise _refused("clock.seconds", f"{action} needs seconds, at most {LONGEST_S}.")
        left = left + seconds if action == "extend" else float(seconds)
        if left < 0 or left > LONGEST_S or (action == "start" and left == 0):
            raise _refused("clock.seconds", f"{left:g} seconds cannot be left.")
    if action in ("start", "resume", "confirm"):
        running = True
    elif action == "pause":
        running = False
    elif clock.state == ENDED:  # more time after the end is played at once
        running = action == "extend"
    kind = {"start": "started", "pause": "paused", "resume": "resumed", "extend": "extended"}.get(
        action, "confirmed" if action == "confirm" else "set"
    )
    return f"clock.{kind}", Change(1, round(1000 * left), running, round(1000 * steady), boot, reason, key)


ACTIONS: Final[dict[str, frozenset[str]]] = {
    "start": frozenset({IDLE, ENDED}),
    "pause": frozenset({RUNNING}),
    "resume": frozenset({PAUSED}),
    "extend": frozenset({RUNNING, PAUSED, ENDED}),
    "confirm": frozenset({UNCONFIRMED}),
    "set": frozenset({RUNNING, PAUSED, UNCONFIRMED, ENDED}),
}
"""What a person may do, and in which states."""


def _refused(code: str, message: str) -> ClockRefused:
    return ClockRefused(message, code=code)

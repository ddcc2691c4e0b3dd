"""How long a table's session has been going on: counted, not read off the wall. Pure.

The wall clock is asked once, when the machine itself has been started anew since the session was opened.
"""

from __future__ import annotations

import msgspec

__all__ = ["Anchor", "anchored", "decode", "encode"]

LONGEST_S = 24 * 3600.0
"""A wall clock that says more is wrong: no session lasts a day."""


class Anchor(msgspec.Struct, frozen=True):
    """A session (by the wall-clock second of its opening) and the steady clock at its opening, in a run."""

    opened_at: float
    steady: float
    boot: str

    def elapsed(self, steady: float) -> float:
        """Seconds since the opening, at a moment of the steady clock of the same run."""
        return max(0.0, steady - self.steady)


def anchored(known: Anchor | None, opened_at: float, *, steady: float, wall: float, boot: str) -> Anchor:
    """Return the anchor of a session.

    Args:
        known: what was written down, if anything.
        opened_at: when the session was opened, Unix seconds, as the log says.
        steady, wall: the clocks of now. boot: the run of the machine.
    """
    if known is not None and known.opened_at == opened_at and known.boot == boot and known.steady <= steady:
        return known
    gone = min(LONGEST_S, max(0.0, wall - opened_at))
    return Anchor(opened_at, steady - gone, boot)


def encode(anchor: Anchor) -> bytes:
    """Return the file's bytes."""
    return msgspec.json.encode(anchor) + b"\n"


def decode(data: bytes) -> Anchor | None:
    """Read the file's bytes; None for a damaged file."""
    try:
        return msgspec.json.decode(data, type=Anchor)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None

"""Which messages the central station looks at: whose key may speak, within its limits. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec

from station.errors import WireError
from station.link.denials import Denials
from station.link.keys import Standing
from station.link.replicate.limits import Limits, Meter, Verdict
from station.link.said import Event, Hello, Message, Nack, Ping
from station.link.wire import Frames, decode, entries_in

__all__ = ["Admitted", "Dismissed", "Gate", "Incoming"]

_STANDING_S = 0.5
"""How long a look at the allow-list counts."""


class Incoming(msgspec.Struct, frozen=True, gc=False):
    """A message from a socket: routing id of the peer, its authenticated public key (Z85), and the frames."""

    peer: bytes
    key: str
    frames: Frames


class Admitted(msgspec.Struct, frozen=True, gc=False):
    """A message to look at; `table`: who sent it, by its key; `held`: its acknowledgement has to wait."""

    message: Message
    table: str
    held: bool


class Dismissed(msgspec.Struct, frozen=True, gc=False):
    """A message that is not looked at; `for_good`: nor is anything else of its peer; `answer`: to send."""

    for_good: bool = False
    answer: Nack | None = None


_DROPPED = Dismissed()


class Gate:
    """Judges messages by their key, and notes whom it turns away.

    Args:
        standing_of: gives what a public key (Z85) counts for.
        denials: the record of what was refused.
        limits: what one table may send.
    """

    def __init__(self, standing_of: Callable[[str], Standing], denials: Denials, limits: Limits) -> None:
        self._standing_of = standing_of
        self._denials = denials
        self._limits = limits
        self._meters: dict[str, Meter] = {}
        self._standings: dict[str, Standing] = {}
        self._asked_at = -math.inf
        self._round = 0

    def begin(self, now: float) -> None:
        """Begin a round: one batch of messages."""
        self._round += 1
        if now - self._asked_at > _STANDING_S:
            self._standings.clear()
            self._asked_at = now

    def admit(self, item: Incoming, now: float, wall_ms: int) -> Admitted | Dismissed:
        """Decode a message of a key that may speak."""
        key = item.key
        standing = self._standings.get(key)
        if standing is None:
            standing = self._standings[key] = self._standing_of(key)
        table = standing.table or standing.holder
        if not table:
            self._meters.pop(key, None)
            self._denials.note("not_enrolled", key=key, now=now, wall_ms=wall_ms)
            return Dismissed(for_good=True)
        meter = self._meters.get(key)
        if meter is None:
            meter = self._meters[key] = Meter(self._limits)
        frames = item.frames
        verdict = meter.judge(frames[0], len(frames[-1]), now, self._round, entries_in(frames))
        if verdict is not Verdict.TAKE:
            self.note("flood", key, table, now, wall_ms)
            if verdict is Verdict.DROP:
                return _DROPPED
        try:
            message = decode(frames)
        except WireError:
            self.note("bad_message", key, table, now, wall_ms)
            return _DROPPED
        if standing.table is None:
            self.note(standing.reason, key, table, now, wall_ms)
            return Dismissed(for_good=True, answer=_told(message, standing.reason))
        return Admitted(message, table, verdict is Verdict.HOLD)

    def free_at(self, key: str, now: float) -> float:
        """Give when acknowledgements to a key that was let in need not wait any more."""
        return self._meters[key].free_at(now)

    def note(self, reason: str, key: str, table: str, now: float, wall_ms: int) -> None:
        """Note that a table was refused."""
        self._denials.note(reason, key=key, table=table, now=now, wall_ms=wall_ms)


def _told(message: Message, reason: str) -> Nack | None:
    """Tell the author of a chain why its key counts no more."""
    if isinstance(message, Hello | Event | Ping):
        return Nack(message.session, message.log_id, reason)
    return None

"""What the two ends of the link say to each other, as values. Their bytes: `station.link.wire`."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from station.log.chain import Entry, Head

__all__ = [
    "MAX_VALUE",
    "PROTOCOL",
    "SESSION_SIZE",
    "Ack",
    "Chained",
    "Diverged",
    "Event",
    "Hello",
    "Message",
    "Nack",
    "Ping",
    "Resume",
    "Time",
    "Value",
]

PROTOCOL = 2
SESSION_SIZE = 8
"""Bytes that the table draws for each connection; both ends say them with everything they send on it."""
MAX_VALUE = 4096
"""Greatest size of the body of a value in bytes."""


class Hello(msgspec.Struct, frozen=True, gc=False):
    """The author of a chain presents itself and the chain's head."""

    session: bytes
    log_id: bytes
    head: Head
    name: str
    protocol: int = PROTOCOL


class Event(msgspec.Struct, frozen=True, gc=False):
    """Entries of a chain that follow each other, at least one; how many: see `station.link.run`."""

    session: bytes
    entries: tuple[Entry, ...]

    @property
    def log_id(self) -> bytes:
        """The chain that the entries belong to."""
        return self.entries[0].log_id


class Ping(msgspec.Struct, frozen=True, gc=False):
    """The author is still there; asks for the current acknowledgement."""

    session: bytes
    log_id: bytes
    seq: int


class Diverged(msgspec.Struct, frozen=True, gc=False):
    """The author's answer to a RESUME that does not fit: `fork`, or `rollback` (its chain is shorter)."""

    session: bytes
    log_id: bytes
    head: Head
    reason: str


class Resume(msgspec.Struct, frozen=True, gc=False):
    """Send from `next_seq` on; `hash` is that of the entry before it, as stored."""

    session: bytes
    log_id: bytes
    next_seq: int
    hash: bytes


class Ack(msgspec.Struct, frozen=True, gc=False):
    """Everything up to `seq` is committed."""

    session: bytes
    log_id: bytes
    seq: int


class Nack(msgspec.Struct, frozen=True, gc=False):
    """Refused; see `NackCode`."""

    session: bytes
    log_id: bytes
    code: str


class Value(msgspec.Struct, frozen=True, gc=False):
    """The newest state of something that has no history: a higher `number` replaces a lower one of its key.

    Args:
        session: of the connection.
        number: counts up within a session.
        at_ms: wall clock of the sender when it was set, milliseconds since 1970-01-01 UTC.
        key: what it is the state of.
        body: JSON bytes, opaque here.
    """

    session: bytes
    number: int
    at_ms: int
    key: str
    body: bytes


class Time(msgspec.Struct, frozen=True, gc=False):
    """Three of the four timestamps of a clock exchange, in microseconds of each end's monotonic clock.

    Args:
        session: of the connection.
        t1: when the asking end sent.
        t2: when the other end took it; 0 in the question.
        t3: when the other end answered; 0 in the question.
    """

    session: bytes
    t1: int
    t2: int = 0
    t3: int = 0


Chained: TypeAlias = Hello | Event | Ping | Diverged
"""What the author of a chain says about it."""
Message: TypeAlias = Chained | Resume | Ack | Nack | Value | Time

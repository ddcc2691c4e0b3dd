"""The hash chain of a log: pure functions on bytes.

``hash = blake2b-256(prev ‖ header(log_id, seq, kind, at_ms) ‖ body)``. The header is self-delimiting, so two
different entries never give the same input. The body goes in exactly as it was given: it is never parsed and
serialised again. The first entry of a log has `GENESIS` as its previous hash; the random log id in every
header keeps the chains of two logs apart.

A log file has a second chain, over its own columns: which entry it stored at which position, from whom and
when: ``store_hash = blake2b-256(store_prev ‖ header(pos, received_ms, source) ‖ hash)``.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable

import msgspec

__all__ = [
    "AUTHORED",
    "FORK",
    "GENESIS",
    "HASH_SIZE",
    "LOG_ID_SIZE",
    "MAX_BODY",
    "MAX_KIND",
    "REBUILT",
    "RELEASED",
    "ZERO_HEAD",
    "Entry",
    "Head",
    "Stored",
    "entry_hash",
    "first_broken",
    "header",
    "link",
    "store_hash",
]

HASH_SIZE = 32
LOG_ID_SIZE = 16
GENESIS = bytes(HASH_SIZE)
MAX_BODY = 192 * 1024
"""Greatest size of an event body in bytes: what the link to the central station carries in one message."""
MAX_KIND = 64
"""Greatest size of a kind in UTF-8 bytes."""

REBUILT = "log.rebuilt"
"""Kind of the own entry that says: up to entry `seq` this file was made anew from a copy of the chain. What
was signed before binds the chain, not the file's own columns, which are new."""
AUTHORED = "log.authored"
"""Kind of the own entry that says: its file also writes the chain `log_id`, addressed to `name`."""
FORK = "link.fork"
"""Kind of the own entry that says: a chain was put into quarantine."""
RELEASED = "link.released"
"""Kind of the own entry that says: a quarantine has ended."""

_ENTRY_MAGIC = b"QZ-entry-1"
_STORE_MAGIC = b"QZ-central-1"
_FIXED = struct.Struct(">QqH")


class Head(msgspec.Struct, frozen=True):
    """The last entry of a log: its `seq` (0 = empty log) and its hash (32 bytes)."""

    seq: int
    hash: bytes


ZERO_HEAD = Head(0, GENESIS)


class Entry(msgspec.Struct, frozen=True):
    """One entry of a log.

    Args:
        log_id: 16 random bytes, one per log file.
        seq: 1, 2, 3, … without gaps.
        kind: identifier of the event, for example ``hand.confirmed``.
        at_ms: wall clock at the writer, milliseconds since 1970-01-01 UTC.
        body: the event as JSON bytes, opaque here.
        prev: hash of the entry before (32 bytes).
        hash: hash of this entry (32 bytes).
    """

    log_id: bytes
    seq: int
    kind: str
    at_ms: int
    body: bytes
    prev: bytes
    hash: bytes

    @property
    def head(self) -> Head:
        """The head of a log that ends with this entry."""
        return Head(self.seq, self.hash)

    @property
    def intact(self) -> bool:
        """True when the hash is that of the content."""
        return self.hash == entry_hash(self.prev, self.log_id, self.seq, self.kind, self.at_ms, self.body)


class Stored(msgspec.Struct, frozen=True):
    """One entry as a log file holds it: the entry as its author wrote it, and the file's own columns.

    Args:
        pos: 1, 2, 3, … without gaps: the order in which the file got its entries.
        source: who sent it; empty for what the owner of the file wrote.
        received_ms: wall clock of the owner when it was stored, milliseconds since 1970-01-01 UTC.
        prev: store hash of the position before (32 bytes).
        hash: store hash of this position (32 bytes).
        entry: the entry, byte for byte.
    """

    pos: int
    source: str
    received_ms: int
    prev: bytes
    hash: bytes
    entry: Entry


def header(log_id: bytes, seq: int, kind: str, at_ms: int) -> bytes:
    """Give the canonical bytes of everything in an entry but its body.

    Raises:
        ValueError: the log id has not 16 bytes, or a number or the kind does not fit.
    """
    name = kind.encode()
    if len(log_id) != LOG_ID_SIZE:
        raise ValueError(f"a log id has {LOG_ID_SIZE} bytes, not {len(log_id)}")
    try:
        fixed = _FIXED.pack(seq, at_ms, len(name))
    except struct.error as error:
        raise ValueError(f"seq {seq}, at_ms {at_ms} or kind does not fit the header") from error
    return b"".join((_ENTRY_MAGIC, log_id, fixed, name))


def entry_hash(prev: bytes, log_id: bytes, seq: int, kind: str, at_ms: int, body: bytes) -> bytes:
    """Hash one entry (32 bytes)."""
    digest = hashlib.blake2b(prev, digest_size=HASH_SIZE)
    digest.update(header(log_id, seq, kind, at_ms))
    digest.update(body)
    return digest.digest()


def link(log_id: bytes, head: Head, events: Iterable[tuple[str, bytes]], at_ms: int) -> list[Entry]:
    """Chain new events, given as (kind, body), to a log that ends at `head`.

    Raises:
        ValueError: a kind or a body is too large; see `MAX_KIND` and `MAX_BODY`.
    """
    entries: list[Entry] = []
    for kind, body in events:
        if len(kind.encode()) > MAX_KIND or len(body) > MAX_BODY:
            raise ValueError(f"the event {kind[:MAX_KIND]!r} with {len(body)} bytes is too large for the log")
        seq, prev = head.seq + 1, head.hash
        entry = Entry(log_id, seq, kind, at_ms, body, prev, entry_hash(prev, log_id, seq, kind, at_ms, body))
        entries.append(entry)
        head = entry.head
    return entries


def store_hash(prev: bytes, pos: int, source: str, received_ms: int, entry: bytes) -> bytes:
    """Hash a file's own columns together with the hash of the entry that it stored (32 bytes).

    Raises:
        ValueError: a number or the source does not fit.
    """
    name = source.encode()
    digest = hashlib.blake2b(prev, digest_size=HASH_SIZE)
    digest.update(_STORE_MAGIC)
    try:
        digest.update(_FIXED.pack(pos, received_ms, len(name)))
    except struct.error as error:
        raise ValueError("a position, a time or a source does not fit") from error
    digest.update(name)
    digest.update(entry)
    return digest.digest()


def first_broken(entries: Iterable[Entry], head: Head = ZERO_HEAD) -> int | None:
    """Walk a chain that goes on from `head`; give the first seq that does not fit, or None."""
    for entry in entries:
        if entry.seq != head.seq + 1 or entry.prev != head.hash or not entry.intact:
            return head.seq + 1
        head = entry.head
    return None

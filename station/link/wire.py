"""Messages of the link, encoded to and decoded from the frames of a multi-part message. Pure.

Table → central::

    HELLO   protocol u8 · session 8 B · log id 16 B · head seq u64 · head hash 32 B · table id
    EVENT   session · log id · seq u64 · at_ms i64 · prev 32 B · hash 32 B · kind · body
    PING    session · log id · head seq u64
    DIVERGED  session · log id · head seq u64 · head hash 32 B · reason

Central → table::

    RESUME  session · log id · next seq u64 · hash at next seq - 1
    ACK     session · log id · seq u64              (cumulative: everything up to seq is committed)
    NACK    session · log id · code

The first frame is the kind. Numbers are big-endian. `session` is drawn by the table for each connection and
echoed, so that an answer to an earlier connection is recognized.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from station.errors import WireError
from station.log.chain import HASH_SIZE, LOG_ID_SIZE, MAX_BODY, MAX_KIND, Entry, Head

__all__ = [
    "PROTOCOL",
    "SESSION_SIZE",
    "Ack",
    "Diverged",
    "Event",
    "Frames",
    "FromCentral",
    "FromTable",
    "Hello",
    "Nack",
    "NackCode",
    "Ping",
    "Resume",
    "decode_from_central",
    "decode_from_table",
    "encode",
]

PROTOCOL = 1
SESSION_SIZE = 8
MAX_NAME = 64
"""Greatest size of a table id, a code or a reason in UTF-8 bytes."""

Frames: TypeAlias = list[bytes]


class NackCode:
    """Why the central station refuses a table; identifiers shown and logged."""

    HELLO = "hello"
    """Not an error: greet first."""
    VERSION = "version"
    WRONG_TABLE = "wrong_table"
    """The key belongs to another table than the one named."""
    FOREIGN_LOG = "foreign_log"
    """The log belongs to another table."""
    FORK = "fork"
    """The log contradicts what is stored, or is older than it; it is in quarantine."""
    BROKEN = "broken"
    """An entry's hash is not that of its content."""


class Hello(msgspec.Struct, frozen=True):
    """A table presents itself and the head of its log."""

    session: bytes
    log_id: bytes
    head: Head
    table_id: str
    protocol: int = PROTOCOL


class Event(msgspec.Struct, frozen=True):
    """One entry of a table's log."""

    session: bytes
    entry: Entry

    @property
    def log_id(self) -> bytes:
        """The log the entry belongs to."""
        return self.entry.log_id


class Ping(msgspec.Struct, frozen=True):
    """A table is still there; asks for the current acknowledgement."""

    session: bytes
    log_id: bytes
    seq: int


class Diverged(msgspec.Struct, frozen=True):
    """A table's answer to a RESUME that does not fit its log: `fork`, or `rollback` (its log is shorter)."""

    session: bytes
    log_id: bytes
    head: Head
    reason: str


class Resume(msgspec.Struct, frozen=True):
    """Send from `next_seq` on; `hash` is that of the entry before it, as stored."""

    session: bytes
    log_id: bytes
    next_seq: int
    hash: bytes


class Ack(msgspec.Struct, frozen=True):
    """Everything up to `seq` is committed."""

    session: bytes
    log_id: bytes
    seq: int


class Nack(msgspec.Struct, frozen=True):
    """Refused; see `NackCode`."""

    session: bytes
    log_id: bytes
    code: str


FromTable: TypeAlias = Hello | Event | Ping | Diverged
FromCentral: TypeAlias = Resume | Ack | Nack

_U64 = struct.Struct(">Q")
_SEQ_AT = struct.Struct(">Qq")


def encode(message: FromTable | FromCentral) -> Frames:
    """Give the frames of a message."""
    common = [message.session, message.log_id]
    match message:
        case Hello():
            head = [_U64.pack(message.head.seq), message.head.hash]
            return [b"HELLO", bytes([message.protocol]), *common, *head, message.table_id.encode()]
        case Event(entry=e):
            numbers = _SEQ_AT.pack(e.seq, e.at_ms)
            return [b"EVENT", *common, numbers, e.prev, e.hash, e.kind.encode(), e.body]
        case Ping():
            return [b"PING", *common, _U64.pack(message.seq)]
        case Diverged():
            head = [_U64.pack(message.head.seq), message.head.hash]
            return [b"DIVERGED", *common, *head, message.reason.encode()]
        case Resume():
            return [b"RESUME", *common, _U64.pack(message.next_seq), message.hash]
        case Ack():
            return [b"ACK", *common, _U64.pack(message.seq)]
        case Nack():
            return [b"NACK", *common, message.code.encode()]


def decode_from_table(frames: Sequence[bytes]) -> FromTable:
    """Decode what a table sent.

    Raises:
        WireError: unknown kind, or a frame that is missing, too many, of the wrong size or not UTF-8.
    """
    match list(frames):
        case [b"HELLO", protocol, session, log_id, seq, digest, table_id]:
            _common(session, log_id)
            _size(protocol, 1)
            return Hello(session, log_id, _head(seq, digest), _name(table_id), protocol[0])
        case [b"EVENT", session, log_id, numbers, prev, digest, kind, body]:
            return Event(session, _entry(session, log_id, numbers, prev, digest, kind, body))
        case [b"PING", session, log_id, seq]:
            _common(session, log_id)
            return Ping(session, log_id, _u64(seq))
        case [b"DIVERGED", session, log_id, seq, digest, reason]:
            _common(session, log_id)
            return Diverged(session, log_id, _head(seq, digest), _name(reason))
        case _:
            raise WireError("The message of the table is not of this protocol.")


def decode_from_central(frames: Sequence[bytes]) -> FromCentral:
    """Decode what the central station sent.

    Raises:
        WireError: unknown kind, or a frame that is missing, too many, of the wrong size or not UTF-8.
    """
    match list(frames):
        case [b"RESUME", session, log_id, seq, digest]:
            _common(session, log_id)
            _size(digest, HASH_SIZE)
            return Resume(session, log_id, _numbered(_u64(seq)), digest)
        case [b"ACK", session, log_id, seq]:
            _common(session, log_id)
            return Ack(session, log_id, _u64(seq))
        case [b"NACK", session, log_id, code]:
            _common(session, log_id)
            return Nack(session, log_id, _name(code))
        case _:
            raise WireError("The message of the central station is not of this protocol.")


def _entry(
    session: bytes, log_id: bytes, numbers: bytes, prev: bytes, digest: bytes, kind: bytes, body: bytes
) -> Entry:
    _common(session, log_id)
    _size(numbers, _SEQ_AT.size)
    _size(prev, HASH_SIZE)
    _size(digest, HASH_SIZE)
    if len(body) > MAX_BODY:
        raise WireError(f"An event has {len(body)} bytes; the limit is {MAX_BODY}.")
    seq, at_ms = _SEQ_AT.unpack(numbers)
    return Entry(log_id, _numbered(seq), _name(kind, MAX_KIND), at_ms, body, prev, digest)


def _common(session: bytes, log_id: bytes) -> None:
    _size(session, SESSION_SIZE)
    _size(log_id, LOG_ID_SIZE)


def _size(frame: bytes, size: int) -> None:
    if len(frame) != size:
        raise WireError(f"A frame has {len(frame)} bytes where {size} are needed.")


def _u64(frame: bytes) -> int:
    _size(frame, _U64.size)
    return _bounded(_U64.unpack(frame)[0])


def _bounded(seq: int) -> int:
    if seq >= 1 << 63:
        raise WireError("A sequence number is out of range.")
    return seq


def _numbered(seq: int) -> int:
    if seq == 0:
        raise WireError("A sequence number of an entry starts at 1.")
    return _bounded(seq)


def _head(seq: bytes, digest: bytes) -> Head:
    _size(digest, HASH_SIZE)
    return Head(_u64(seq), digest)


def _name(frame: bytes, limit: int = MAX_NAME) -> str:
    if len(frame) > limit:
        raise WireError(f"A name has {len(frame)} bytes; the limit is {limit}.")
    try:
        return frame.decode()
    except UnicodeDecodeError as error:
        raise WireError("A name is not UTF-8.") from error

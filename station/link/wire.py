"""Messages of the link, encoded to and decoded from the frames of a multi-part message. Pure.

The link is symmetric: each end may author a chain and send it to the other. A message is
``[kind, payload]``; only the greeting and the refusal keep the frames of protocol 1, so that two versions can
still tell each other that they differ::

    HELLO     [kind, protocol u8, session 8 B, log id 16 B, head seq u64, head hash 32 B, name]
    NACK      [kind, session, log id, code]

    EVENT     session · log id · ...                 (one entry or several: see `station.link.run`)
    PING      session · log id · head seq u64
    DIVERGED  session · log id · head seq u64 · head hash 32 B · reason
    RESUME    session · log id · next seq u64 · hash 32 B of the entry before it
    ACK       session · log id · seq u64             (cumulative: everything up to seq is committed)

    VALUE     session · number u64 · at_ms i64 · size of key u8 · key · body
    TIME      session · t1 i64 · t2 i64 · t3 i64     (microseconds; t2 = t3 = 0 asks)

Numbers are big-endian. `session` is drawn by the table for each connection and used by both ends, so that
what belongs to an earlier connection is recognized. `name` is the table's name in both directions: whom the
key has to be enrolled for, and whom a chain of the central station is addressed to.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TypeAlias

from station.errors import WireError
from station.link import run
from station.link.codes import NackCode
from station.link.said import (
    MAX_VALUE,
    PROTOCOL,
    SESSION_SIZE,
    Ack,
    Chained,
    Diverged,
    Event,
    Hello,
    Message,
    Nack,
    Ping,
    Resume,
    Time,
    Value,
)
from station.log.chain import HASH_SIZE, LOG_ID_SIZE, Head

__all__ = [
    "MAX_VALUE",
    "PROTOCOL",
    "SESSION_SIZE",
    "Ack",
    "Chained",
    "Diverged",
    "Event",
    "Frames",
    "Hello",
    "Message",
    "Nack",
    "NackCode",
    "Ping",
    "Resume",
    "Time",
    "Value",
    "decode",
    "encode",
    "entries_in",
]

MAX_NAME = 64
"""Greatest size of a table's name, a code, a reason or the key of a value in UTF-8 bytes."""

Frames: TypeAlias = list[bytes]

_U64 = struct.Struct(">Q")
_NUMBERED = struct.Struct(f">{SESSION_SIZE}s{LOG_ID_SIZE}sQ")
_HEADED = struct.Struct(f">{SESSION_SIZE}s{LOG_ID_SIZE}sQ{HASH_SIZE}s")
_VALUE = struct.Struct(f">{SESSION_SIZE}sQqB")
_TIME = struct.Struct(f">{SESSION_SIZE}sqqq")


def encode(message: Message) -> Frames:
    """Give the frames of a message."""
    match message:
        case Event(session, entries):
            return [b"EVENT", run.pack(session, entries)]
        case Ack(session, log_id, seq):
            return [b"ACK", _NUMBERED.pack(session, log_id, seq)]
        case Ping(session, log_id, seq):
            return [b"PING", _NUMBERED.pack(session, log_id, seq)]
        case Value(session, number, at_ms, key, body):
            named = key.encode()
            return [b"VALUE", b"".join((_VALUE.pack(session, number, at_ms, len(named)), named, body))]
        case Time(session, t1, t2, t3):
            return [b"TIME", _TIME.pack(session, t1, t2, t3)]
        case Resume(session, log_id, next_seq, digest):
            return [b"RESUME", _HEADED.pack(session, log_id, next_seq, digest)]
        case Diverged(session, log_id, head, reason):
            return [b"DIVERGED", _HEADED.pack(session, log_id, head.seq, head.hash) + reason.encode()]
        case Hello(session, log_id, head, name, protocol):
            at = _U64.pack(head.seq)
            return [b"HELLO", bytes([protocol]), session, log_id, at, head.hash, name.encode()]
        case Nack(session, log_id, code):
            return [b"NACK", session, log_id, code.encode()]


def decode(frames: Sequence[bytes]) -> Message:
    """Decode what the other end sent.

    Raises:
        WireError: unknown kind, or a part that is missing, too many, of the wrong size or not UTF-8.
    """
    if len(frames) == 2:
        known = _PAYLOADS.get(frames[0])
        if known is not None:
            try:
                return known(frames[1])
            except struct.error:
                raise WireError(f"A message has {len(frames[1])} bytes, which is not enough.") from None
    match list(frames):
        case [b"HELLO", protocol, session, log_id, seq, digest, name]:
            _sizes(session, log_id, digest)
            if len(protocol) != 1 or len(seq) != _U64.size:
                raise WireError("A frame of a greeting has the wrong size.")
            head = Head(_bounded(_U64.unpack(seq)[0]), digest)
            return Hello(session, log_id, head, _name(name), protocol[0])
        case [b"NACK", session, log_id, code]:
            _sizes(session, log_id)
            return Nack(session, log_id, _name(code))
        case _:
            raise WireError("The message is not of this protocol.")


def entries_in(frames: Sequence[bytes]) -> int:
    """Give how many entries a message says it has, before it is decoded; 1 for any other."""
    return run.announced(frames[1]) if len(frames) == 2 and frames[0] == b"EVENT" else 1


def _value(payload: bytes) -> Value:
    session, number, at_ms, size = _VALUE.unpack_from(payload)
    key, body = payload[_VALUE.size : _VALUE.size + size], payload[_VALUE.size + size :]
    if len(key) != size or len(body) > MAX_VALUE:
        raise WireError("A value has not the size that it may have.")
    return Value(session, _bounded(number), at_ms, _name(key), body)


def _diverged(payload: bytes) -> Diverged:
    session, log_id, seq, digest = _HEADED.unpack_from(payload)
    return Diverged(session, log_id, Head(_bounded(seq), digest), _name(payload[_HEADED.size :]))


def _resume(payload: bytes) -> Resume:
    session, log_id, seq, digest = _HEADED.unpack(payload)
    return Resume(session, log_id, _numbered(seq), digest)


def _ack(payload: bytes) -> Ack:
    session, log_id, seq = _NUMBERED.unpack(payload)
    return Ack(session, log_id, _bounded(seq))


def _ping(payload: bytes) -> Ping:
    session, log_id, seq = _NUMBERED.unpack(payload)
    return Ping(session, log_id, _bounded(seq))


_PAYLOADS: dict[bytes, Callable[[bytes], Message]] = {
    b"EVENT": lambda payload: Event(*run.unpack(payload)),
    b"ACK": _ack,
    b"PING": _ping,
    b"VALUE": _value,
    b"TIME": lambda payload: Time(*_TIME.unpack(payload)),
    b"RESUME": _resume,
    b"DIVERGED": _diverged,
}


def _sizes(session: bytes, log_id: bytes, digest: bytes | None = None) -> None:
    if len(session) != SESSION_SIZE or len(log_id) != LOG_ID_SIZE:
        raise WireError("A session or a log id has the wrong size.")
    if digest is not None and len(digest) != HASH_SIZE:
        raise WireError("A hash has the wrong size.")


def _bounded(seq: int) -> int:
    if seq >= 1 << 63:
        raise WireError("A sequence number is out of range.")
    return seq


def _numbered(seq: int) -> int:
    if seq == 0:
        raise WireError("A sequence number of an entry starts at 1.")
    return _bounded(seq)


def _name(frame: bytes) -> str:
    if len(frame) > MAX_NAME:
        raise WireError(f"A name has {len(frame)} bytes; the limit is {MAX_NAME}.")
    try:
        return frame.decode()
    except UnicodeDecodeError as error:
        raise WireError("A name is not UTF-8.") from error

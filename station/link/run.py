"""A run of entries of one chain as the bytes of one message. Pure.

::

    session 8 B · log id 16 B · seq u64 · prev 32 B · count u16 · count × entry
    entry: at_ms i64 · hash 32 B · size of kind u8 · size of body u32 · kind · body

`seq` and `prev` are those of the first entry. Each further one is numbered one higher, and the hash before it
is that of the one in front of it: a run has no gaps, and says nothing twice. Numbers are big-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from station.errors import WireError
from station.log.chain import HASH_SIZE, LOG_ID_SIZE, MAX_BODY, MAX_KIND, Entry

__all__ = ["MAX_ENTRIES", "RUN_BYTES", "announced", "pack", "runs", "size_of", "unpack"]

MAX_ENTRIES = 128
"""Most entries of one message."""
RUN_BYTES = 64 * 1024
"""What the entries of one message should not exceed; a greater single entry goes alone."""

_SESSION_SIZE = 8
_HEAD = struct.Struct(f">{_SESSION_SIZE}s{LOG_ID_SIZE}sQ{HASH_SIZE}sH")
_ENTRY = struct.Struct(f">q{HASH_SIZE}sBI")
_COUNT = struct.Struct(">H")
_COUNT_AT = _HEAD.size - _COUNT.size
_SEQ_END = 1 << 63


def size_of(entry: Entry) -> int:
    """Give how many bytes an entry takes in a message; a kind that is not ASCII takes a few more."""
    return _ENTRY.size + len(entry.kind) + len(entry.body)


def runs(entries: Sequence[Entry]) -> Iterator[tuple[tuple[Entry, ...], int]]:
    """Divide consecutive entries into what goes into one message each, with its bytes."""
    begin = size = 0
    for at, entry in enumerate(entries):
        more = size_of(entry)
        if at > begin and (size + more > RUN_BYTES or at - begin == MAX_ENTRIES):
            yield tuple(entries[begin:at]), size
            begin, size = at, 0
        size += more
    if entries:
        yield tuple(entries[begin:]), size


def pack(session: bytes, entries: Sequence[Entry]) -> bytes:
    """Give the bytes of consecutive entries, at least one and at most `MAX_ENTRIES`."""
    first = entries[0]
    parts = [_HEAD.pack(session, first.log_id, first.seq, first.prev, len(entries))]
    for entry in entries:
        kind, body = entry.kind.encode(), entry.body
        parts += (_ENTRY.pack(entry.at_ms, entry.hash, len(kind), len(body)), kind, body)
    return b"".join(parts)


def unpack(payload: bytes) -> tuple[bytes, tuple[Entry, ...]]:
    """Give session and entries.

    Raises:
        WireError: a part is missing, too many, out of range or not UTF-8. struct.error: there is too little.
    """
    session, log_id, first, prev, count = _HEAD.unpack_from(payload)
    if not 1 <= count <= MAX_ENTRIES or not 1 <= first <= _SEQ_END - count:
        raise WireError("A message has not the number of entries that it may have, or such a one of them.")
    entries: list[Entry] = []
    at = _HEAD.size
    for seq in range(first, first + count):
        at_ms, digest, kind_size, body_size = _ENTRY.unpack_from(payload, at)
        if kind_size > MAX_KIND or body_size > MAX_BODY:
            raise WireError("An entry has not the size that it may have.")
        at += _ENTRY.size
        middle, end = at + kind_size, at + kind_size + body_size
        try:
            kind = payload[at:middle].decode()
        except UnicodeDecodeError as error:
            raise WireError("A kind is not UTF-8.") from error
        entries.append(Entry(log_id, seq, kind, at_ms, payload[middle:end], prev, digest))
        prev, at = digest, end
    if at != len(payload):
        raise WireError("A message has not the size that its entries have.")
    return session, tuple(entries)


def announced(payload: bytes) -> int:
    """Give how many entries a message says it has, without looking at them; at least 1."""
    return _COUNT.unpack_from(payload, _COUNT_AT)[0] or 1 if len(payload) >= _HEAD.size else 1

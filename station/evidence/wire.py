"""Messages of the evidence channel: one MessagePack frame each, one answer to each message of a table.

    table                          central station
    Offer(name, size)       ->
                            <-     Want(name, at)      go on from this byte; after a break too
    Chunk(name, at, data)   ->
                            <-     Want(name, at) … Done(name)
                            <-     No(name, why)       instead of either

The name is the hash of the photo's bytes, so what arrived whole is checked against it.
"""

from __future__ import annotations

import hashlib
import re
from typing import TypeAlias

import msgspec

from station.errors import WireError

__all__ = [
    "CHUNK_BYTES",
    "LONGEST_BYTES",
    "Chunk",
    "Done",
    "No",
    "Offer",
    "ToStation",
    "ToTable",
    "Want",
    "encode",
    "from_station",
    "from_table",
    "is_name",
    "name_of",
]

CHUNK_BYTES = 64 * 1024
LONGEST_BYTES = 4 * 1024 * 1024
"""Most bytes of a photo."""
_NAME = re.compile(r"[0-9a-f]{32}\.jpg")


class _Message(msgspec.Struct, frozen=True, tag_field="t", forbid_unknown_fields=True):
    name: str


class Offer(_Message, frozen=True, tag="offer", kw_only=True):
    """A table has this photo of ``size`` bytes."""

    size: int


class Chunk(_Message, frozen=True, tag="chunk", kw_only=True):
    """Bytes of the photo offered last, from position ``at`` on."""

    at: int
    data: bytes


class Want(_Message, frozen=True, tag="want", kw_only=True):
    """The central station waits for the bytes from position ``at`` on."""

    at: int


class Done(_Message, frozen=True, tag="done"):
    """The photo lies on the central station's disk, or was removed there by rule: nothing is left to do."""


class No(_Message, frozen=True, tag="no", kw_only=True):
    """Not now, or never.

    ``why``: ``unknown`` (no stored event of this table names it), ``full`` (no space), ``too_large``,
    ``damaged`` (its bytes have another hash), ``not_offered``.
    """

    why: str


ToStation: TypeAlias = Offer | Chunk
ToTable: TypeAlias = Want | Done | No

_encoder = msgspec.msgpack.Encoder()
_to_station = msgspec.msgpack.Decoder(ToStation)
_to_table = msgspec.msgpack.Decoder(ToTable)


def encode(message: ToStation | ToTable) -> bytes:
    """Return the frame of a message."""
    return _encoder.encode(message)


def from_table(frame: bytes) -> ToStation:
    """Read what a table sent.

    Raises:
        WireError: it is no message of the protocol.
    """
    try:
        message = _to_station.decode(frame)
    except (msgspec.DecodeError, RecursionError) as error:
        raise WireError(f"Not a message of the evidence channel: {error}.") from None
    if not is_name(message.name):
        raise WireError("A photo is named by its hash.")
    if isinstance(message, Chunk) and (message.at < 0 or not 1 <= len(message.data) <= CHUNK_BYTES):
        raise WireError("A piece of a photo has 1 to 65536 bytes.")
    return message


def from_station(frame: bytes) -> ToTable:
    """Read what the central station sent.

    Raises:
        WireError: it is no message of the protocol.
    """
    try:
        return _to_table.decode(frame)
    except (msgspec.DecodeError, RecursionError) as error:
        raise WireError(f"Not a message of the evidence channel: {error}.") from None


def is_name(name: str) -> bool:
    """Tell whether a text is a photo's name: 32 hexadecimal digits and ``.jpg``."""
    return _NAME.fullmatch(name) is not None


def name_of(data: bytes) -> str:
    """Return the name of a photo: the BLAKE2b-128 hash of its bytes."""
    return f"{hashlib.blake2b(data, digest_size=16).hexdigest()}.jpg"

"""Messages of the pairing: small, bounded, strict. Pure.

A frame is a length (2 bytes, big-endian, at most `LARGEST`) and as many bytes of MessagePack.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import msgspec

from station.errors import PairingError

__all__ = [
    "LARGEST",
    "LENGTH_BYTES",
    "VERSION",
    "Answer",
    "Ask",
    "Message",
    "Name",
    "Opening",
    "Raw32",
    "Refused",
    "Sealed",
    "Start",
    "decode",
    "encode",
    "length_of",
    "table_name",
]

VERSION: Final = 1
LARGEST: Final = 1024
LENGTH_BYTES: Final = 2

Raw32: TypeAlias = Annotated[bytes, msgspec.Meta(min_length=32, max_length=32)]
Name: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{1,32}\Z")]
_Box: TypeAlias = Annotated[bytes, msgspec.Meta(min_length=40, max_length=LARGEST)]


class _Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    pass


class Ask(_Message, frozen=True, tag="ask"):
    """Table → station, with a ticket: who the table is, sealed with the ticket's secret."""

    v: int
    box: _Box


class Start(_Message, frozen=True, tag="start"):
    """Table → station, without a ticket: who the table is, and what it is bound to (`commitment`)."""

    v: int
    table: Name
    public: Raw32
    verify: Raw32
    commitment: Raw32


class Answer(_Message, frozen=True, tag="answer"):
    """Station → table: who the station is, and its number, drawn after it had the commitment."""

    public: Raw32
    verify: Raw32 | None
    nonce: Raw32


class Opening(_Message, frozen=True, tag="opening"):
    """Table → station: the table's number, which the commitment bound it to."""

    nonce: Raw32


class Sealed(_Message, frozen=True, tag="sealed"):
    """Either way: something that only the other one could have written."""

    box: _Box


class Refused(_Message, frozen=True, tag="refused"):
    """Station → table: a code of `protocol.REFUSALS`. Anybody on the line could have written it."""

    reason: Annotated[str, msgspec.Meta(max_length=32)]


Message: TypeAlias = Ask | Start | Answer | Opening | Sealed | Refused
_decoder = msgspec.msgpack.Decoder(Message)


def table_name(text: str) -> str:
    """Return a table's name as it is.

    Raises:
        PairingError: no table can be called so.
    """
    try:
        return msgspec.convert(text, Name)
    except msgspec.ValidationError:
        raise PairingError(
            f"{text!r} is no name of a table.", fix="Use letters, digits, - and _.", code="pairing.bad_name"
        ) from None


def encode(message: Message) -> bytes:
    """Return the whole frame."""
    body = msgspec.msgpack.encode(message)
    assert len(body) <= LARGEST
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def length_of(head: bytes) -> int:
    """Return the length that a frame's first bytes announce.

    Raises:
        PairingError: longer than any message may be.
    """
    length = int.from_bytes(head, "big")
    if not 1 <= length <= LARGEST:
        raise PairingError("The other side sent something that is no pairing.", code="pairing.bad_message")
    return length


def decode(body: bytes) -> Message:
    """Read the body of a frame.

    Raises:
        PairingError: it is no message.
    """
    try:
        message: Message = _decoder.decode(body)
    except (msgspec.DecodeError, RecursionError):
        raise PairingError(
            "The other side sent something that is no pairing.", code="pairing.bad_message"
        ) from None
    return message

"""The ticket that a person carries from the station to the table, as text or as a QR code. Pure.

``QZP1:`` and base32 (capital letters and digits: a QR code packs them densely) of MessagePack and a checksum.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Annotated, Final

import msgspec

from station.errors import PairingError
from station.pairing.wire import Raw32

__all__ = ["PREFIX", "SECRET_BYTES", "Ticket", "read_ticket"]

PREFIX: Final = "QZP1:"
SECRET_BYTES: Final = 16
"""128 bits: nobody guesses it while the window is open."""
_CHECK_BYTES: Final = 4
_LONGEST: Final = 600
_ADDRESS: Final = r"^[0-9A-Za-z.:\[\]_-]+:[0-9]{1,5}\Z"


class Ticket(msgspec.Struct, frozen=True, array_like=True):
    """Where the station listens, which key it has, and the secret that makes the ticket count once.

    ``station``: its CURVE key, 32 bytes. ``addresses``: ``host:port``, tried in turn. ``table``: the only
    table that may use it; empty: any.
    """

    station: Raw32
    secret: Annotated[bytes, msgspec.Meta(min_length=SECRET_BYTES, max_length=SECRET_BYTES)]
    addresses: Annotated[
        tuple[Annotated[str, msgspec.Meta(pattern=_ADDRESS, max_length=80)], ...],
        msgspec.Meta(min_length=1, max_length=4),
    ]
    table: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{0,32}\Z")] = ""

    def __repr__(self) -> str:
        return f"Ticket(addresses={self.addresses!r}, table={self.table!r}, …)"

    @property
    def text(self) -> str:
        """The ticket as text."""
        body = msgspec.msgpack.encode(self)
        return PREFIX + base64.b32encode(body + _check(body)).decode().rstrip("=")


def read_ticket(text: str) -> Ticket:
    """Read a ticket; spaces, line breaks and small letters do not matter.

    Raises:
        PairingError: it is none, or not whole.
    """
    packed = "".join(text.split()).upper()
    if not packed.startswith(PREFIX) or len(packed) > _LONGEST:
        raise PairingError(
            "This is no ticket.", fix=f"A ticket begins with {PREFIX}", code="pairing.bad_ticket"
        )
    packed = packed.removeprefix(PREFIX)
    try:
        raw = base64.b32decode(packed + "=" * (-len(packed) % 8))
        body, check = raw[:-_CHECK_BYTES], raw[-_CHECK_BYTES:]
        if check != _check(body):
            raise ValueError("checksum")
        return msgspec.msgpack.decode(body, type=Ticket)
    except (ValueError, binascii.Error, msgspec.DecodeError):
        raise PairingError(
            "The ticket is not whole.", fix="Copy all of it again.", code="pairing.bad_ticket"
        ) from None


def _check(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_CHECK_BYTES, person=b"qz-ticket").digest()

"""What table and station say to each other to learn each other's keys. Pure: numbers are drawn outside.

*With a ticket*, which a person carried over: the ticket holds the station's key and a secret of 128 bits. The
secret seals both messages; inside, NaCl's `crypto_box` (https://nacl.cr.yp.to/box.html) shows that each side
holds the secret key of the public key it names.

*With a code*, where nothing could be carried over: the table binds itself to a number before it sees the
station's number, then both derive six digits from everything that was said (S. Vaudenay, Secure
Communications over Insecure Channels Based on Short Authenticated Strings, CRYPTO 2005,
https://doi.org/10.1007/11535218_19; as numeric comparison in Bluetooth). Whoever sits between the two has to
choose his numbers before he can know either code, so both codes agree once in a million. A person compares
them: types the table's code at the station, and confirms at the table what the station says.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Final

import msgspec
from nacl.exceptions import CryptoError
from nacl.public import Box, PrivateKey, PublicKey

from station.errors import PairingError
from station.pairing.wire import Name, Raw32

__all__ = [
    "REFUSALS",
    "Candidate",
    "Identity",
    "Note",
    "Offer",
    "digest",
    "forged",
    "note_in",
    "refused",
]

_NEW_KEYS: Final = (
    "Move keys/TABLE.key and keys/TABLE.pub away at the table and pair again: it makes new ones."
)
REFUSALS: Final[dict[str, tuple[str, str]]] = {
    "bad_ticket": ("The station does not know this ticket.", "Make a new one: quezhuo pair at the station"),
    "other_table": ("The ticket is for another table.", "Correct `table` in the table's configuration."),
    "taken": (
        "The station has another key for a table of this name.",
        "Give this table its own name, or use `quezhuo pair --replace` at the station.",
    ),
    "key_elsewhere": ("The station has this key for another table.", _NEW_KEYS),
    "revoked": ("This table's key was revoked.", _NEW_KEYS),
    "not_stored": ("The station cannot write its allow-list.", "See the message at the station."),
    "wrong_code": ("The codes do not agree: somebody may sit between.", "Check the network; pair again."),
    "busy": ("The station is pairing another device.", "Wait until it has finished, or see who it is there."),
    "closed": ("The station pairs no more.", "Open the window again: quezhuo pair at the station"),
    "version": ("Station and table have different versions.", "Update the older one."),
}
"""Why a station refuses: code → sentence and what to do."""


_ENDPOINT: Final = r"^tcp://[0-9A-Za-z.:\[\]_-]+:[0-9]{1,5}\Z"


class Identity(msgspec.Struct, frozen=True):
    """Keys of one side as bytes: CURVE pair, and what its signatures are checked with."""

    public: bytes
    secret: bytes
    verify: bytes | None = None

    def __repr__(self) -> str:
        return "Identity(…)"

    def box_with(self, other: bytes) -> Box:
        """Return what seals between this side and another one.

        Raises:
            PairingError: the other side's key is none (libsodium refuses points of low order).
        """
        try:
            return Box(PrivateKey(self.secret), PublicKey(other))
        except CryptoError:
            raise forged() from None


class Candidate(msgspec.Struct, frozen=True):
    """A table that proved what it says."""

    table: Name
    public: Raw32
    verify: Raw32


class Offer(msgspec.Struct, frozen=True):
    """What the table gets: where to connect, and the keys of who answers there."""

    endpoint: Annotated[
        str, msgspec.Meta(pattern=r"^tcp://[0-9A-Za-z.:\[\]_-]+:[0-9]{1,5}\Z", max_length=100)
    ]
    public: Raw32
    verify: Raw32 | None


class Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is sealed: the step, what the whole conversation was up to then, and what the step says."""

    step: str
    bound_to: Raw32
    offer: Offer | None = None
    reason: str = ""


def refused(reason: str) -> PairingError:
    """Return the error for a code of `REFUSALS`."""
    message, fix = REFUSALS.get(reason, ("The station refused.", "See the message at the station."))
    return PairingError(message, fix=fix, code=f"pairing.{reason if reason in REFUSALS else 'refused'}")


def forged() -> PairingError:
    """Return the error for a message that is not from who it should be from."""
    return PairingError(
        "Somebody else answered in the station's or the table's place.",
        fix="Look who is in this network; pair again.",
        code="pairing.forged",
    )


def note_in(plain: bytes) -> Note:
    """Read an unsealed note.

    Raises:
        PairingError: it is none.
    """
    try:
        return msgspec.msgpack.decode(plain, type=Note)
    except msgspec.DecodeError:
        raise forged() from None


def digest(*parts: bytes) -> bytes:
    """Return 32 bytes in which no part can pass for a piece of another one."""
    state = hashlib.blake2b(digest_size=32, person=b"qz-pairing")
    for part in parts:
        state.update(len(part).to_bytes(4, "big") + part)
    return state.digest()

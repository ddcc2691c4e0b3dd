"""Pairing with a ticket that a person carried over; see `station.pairing.protocol`. Pure."""

from __future__ import annotations

import hashlib

import msgspec
from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

from station.pairing.protocol import Candidate, Identity, Note, Offer, digest, forged, note_in, refused
from station.pairing.ticket import Ticket
from station.pairing.wire import VERSION, Ask, Name, Raw32, Sealed

__all__ = ["answer", "ask", "read_answer", "read_ask", "refuse"]


class _Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    table: Name
    verify: Raw32


def ask(ticket: Ticket, me: Identity, table: str) -> Ask:
    """Return the table's message. `me` has to have the half that signs."""
    assert me.verify is not None
    inner = me.box_with(ticket.station).encrypt(msgspec.msgpack.encode(_Asked(table, me.verify)))
    return Ask(VERSION, bytes(_to_station(ticket.secret).encrypt(me.public + inner)))


def read_ask(ticket: Ticket, me: Identity, message: Ask) -> Candidate:
    """Read the table's message at the station.

    Raises:
        PairingError: it was not made with this ticket, or by who does not hold the key it names.
    """
    if message.v != VERSION:
        raise refused("version")
    try:
        plain = _to_station(ticket.secret).decrypt(message.box)
        public, inner = plain[:32], plain[32:]
        asked = msgspec.msgpack.decode(me.box_with(public).decrypt(inner), type=_Asked)
    except (CryptoError, ValueError, TypeError, msgspec.DecodeError):
        raise refused("bad_ticket") from None
    if ticket.table not in ("", asked.table):
        raise refused("other_table")
    return Candidate(asked.table, public, asked.verify)


def answer(ticket: Ticket, me: Identity, candidate: Candidate, message: Ask, endpoint: str) -> Sealed:
    """Return the station's message to a table that it has enrolled."""
    note = Note("enrolled", digest(message.box), Offer(endpoint, me.public, me.verify))
    inner = me.box_with(candidate.public).encrypt(msgspec.msgpack.encode(note))
    return Sealed(bytes(_to_table(ticket.secret).encrypt(inner)))


def refuse(ticket: Ticket, message: Ask, reason: str) -> Sealed:
    """Return the station's message to a holder of the ticket that it does not enrol."""
    note = Note("refused", digest(message.box), reason=reason)
    return Sealed(bytes(_to_table(ticket.secret).encrypt(msgspec.msgpack.encode(note))))


def read_answer(ticket: Ticket, me: Identity, sent: Ask, message: Sealed) -> Offer:
    """Read the station's message at the table.

    Raises:
        PairingError: the station refused, or it is not the ticket's station that speaks.
    """
    try:
        inner = _to_table(ticket.secret).decrypt(message.box)
    except (CryptoError, ValueError):
        raise forged() from None
    try:
        note = note_in(me.box_with(ticket.station).decrypt(inner))
    except (CryptoError, ValueError):
        note = note_in(inner)
        if note.step != "refused":
            raise forged() from None
    if note.bound_to != digest(sent.box):
        raise forged()
    if note.step == "refused":
        raise refused(note.reason)
    if note.step != "enrolled" or note.offer is None or note.offer.public != ticket.station:
        raise forged()
    return note.offer


def _to_station(secret: bytes) -> SecretBox:
    return SecretBox(hashlib.blake2b(secret, digest_size=32, person=b"qz-to-station").digest())


def _to_table(secret: bytes) -> SecretBox:
    return SecretBox(hashlib.blake2b(secret, digest_size=32, person=b"qz-to-table").digest())

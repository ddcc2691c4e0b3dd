"""Pairing with a code of six digits that a person compares; see `station.pairing.protocol`. Pure."""

from __future__ import annotations

import hashlib
from typing import Final

import msgspec
from nacl.exceptions import CryptoError
from nacl.public import Box

from station.pairing.protocol import Candidate, Identity, Note, Offer, digest, forged, note_in, refused
from station.pairing.wire import VERSION, Answer, Opening, Sealed, Start

__all__ = ["CODE_DIGITS", "StationRun", "TableRun", "code_of", "commitment"]

CODE_DIGITS: Final = 6


def commitment(candidate: Candidate, nonce: bytes) -> bytes:
    """Return what binds the table to its number and its keys."""
    return digest(b"commitment", candidate.table.encode(), candidate.public, candidate.verify, nonce)


def code_of(said: bytes) -> str:
    """Return the six digits that stand for everything that was said (its digest)."""
    number = int.from_bytes(hashlib.blake2b(said, digest_size=16, person=b"qz-pair-code").digest(), "big")
    return f"{number % 10**CODE_DIGITS:0{CODE_DIGITS}d}"


def _said(candidate: Candidate, binding: bytes, reply: Answer, nonce: bytes) -> bytes:
    """Return the digest of a whole conversation."""
    return digest(
        b"said",
        candidate.table.encode(),
        candidate.public,
        candidate.verify,
        binding,
        reply.public,
        reply.verify or b"",
        reply.nonce,
        nonce,
    )


class TableRun:
    """The table's side of one conversation with a code.

    Args:
        me: its keys, with the half that signs.
        table: its name.
        nonce: 32 random bytes, drawn for this conversation.
    """

    def __init__(self, me: Identity, table: str, nonce: bytes) -> None:
        assert me.verify is not None
        self._me, self._nonce = me, nonce
        self._candidate = Candidate(table, me.public, me.verify)
        self._binding = commitment(self._candidate, nonce)
        self._reply: Answer | None = None
        self._box: Box

    def start(self) -> Start:
        """Return the first message."""
        who = self._candidate
        return Start(VERSION, who.table, who.public, who.verify, self._binding)

    def answered(self, reply: Answer) -> Opening:
        """Take the station's answer; only now the number is told.

        Raises:
            PairingError: the station's key is none.
        """
        self._reply = reply
        self._box = self._me.box_with(reply.public)
        return Opening(self._nonce)

    @property
    def code(self) -> str:
        """The six digits to be typed at the station."""
        return code_of(self._all_said)

    def accepted(self, message: Sealed) -> Offer:
        """Read that the station's person found the codes to agree. A person has to confirm it at the table.

        Raises:
            PairingError: the station refused, or it is not who gave the answer that speaks.
        """
        note = _read(self._box, message, "accepted", self._all_said)
        reply = self._known
        if note.offer is None or (note.offer.public, note.offer.verify) != (reply.public, reply.verify):
            raise forged()
        return note.offer

    def confirm(self) -> Sealed:
        """Return the message that a person at the table confirmed."""
        return _sealed(self._box, Note("confirmed", self._all_said))

    def enrolled(self, message: Sealed) -> None:
        """Read that the station has written the table into its list.

        Raises:
            PairingError: it has not.
        """
        _read(self._box, message, "enrolled", self._all_said)

    @property
    def _known(self) -> Answer:
        assert self._reply is not None
        return self._reply

    @property
    def _all_said(self) -> bytes:
        return _said(self._candidate, self._binding, self._known, self._nonce)


class StationRun:
    """The station's side of one conversation with a code. Arguments as for `TableRun`.

    Raises:
        PairingError: the table has another version, or its key is none.
    """

    def __init__(self, me: Identity, start: Start, nonce: bytes) -> None:
        if start.v != VERSION:
            raise refused("version")
        self._me, self._box = me, me.box_with(start.public)
        self.candidate = Candidate(start.table, start.public, start.verify)
        self._binding = start.commitment
        self.reply = Answer(me.public, me.verify, nonce)
        self._all_said = b""

    def opened(self, message: Opening) -> None:
        """Take the table's number.

        Raises:
            PairingError: it is not the one that the table had bound itself to.
        """
        if commitment(self.candidate, message.nonce) != self._binding:
            raise refused("wrong_code")
        self._all_said = _said(self.candidate, self._binding, self.reply, message.nonce)

    @property
    def code(self) -> str:
        """The six digits that the table has to show."""
        assert self._all_said
        return code_of(self._all_said)

    def accept(self, endpoint: str) -> Sealed:
        """Return the message that the typed code was right."""
        return self._seal("accepted", Offer(endpoint, self._me.public, self._me.verify))

    def confirmed(self, message: Sealed) -> None:
        """Read that a person at the table confirmed; only now the table is to be enrolled.

        Raises:
            PairingError: it is not the table that speaks.
        """
        _read(self._box, message, "confirmed", self._all_said)

    def enrolled(self) -> Sealed:
        """Return the message that the table is enrolled."""
        return self._seal("enrolled")

    def refuse(self, reason: str) -> Sealed:
        """Return the message that the table is not enrolled."""
        return self._seal("refused", reason=reason)

    def _seal(self, step: str, offer: Offer | None = None, reason: str = "") -> Sealed:
        return _sealed(self._box, Note(step, self._all_said, offer, reason))


def _sealed(box: Box, note: Note) -> Sealed:
    return Sealed(bytes(box.encrypt(msgspec.msgpack.encode(note))))


def _read(box: Box, message: Sealed, step: str, all_said: bytes) -> Note:
    try:
        note = note_in(box.decrypt(message.box))
    except (CryptoError, ValueError):
        raise forged() from None
    if note.bound_to != all_said:
        raise forged()
    if note.step == "refused":
        raise refused(note.reason)
    if note.step != step:
        raise forged()
    return note

"""The central half of the protocol: a state machine without sockets, clocks or threads.

A table is who its CURVE key says it is. The routing id of a message only says where the answer goes; a peer
has to greet with its table's name, its log and a session before any of its entries is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from station.errors import WireError
from station.link.denials import Denials
from station.link.wire import (
    PROTOCOL,
    Ack,
    Diverged,
    Event,
    Frames,
    FromCentral,
    FromTable,
    Hello,
    Nack,
    NackCode,
    Ping,
    Resume,
    decode_from_table,
    encode,
)
from station.log.chain import Entry, Head
from station.log.reception import Receipt, Reception

__all__ = ["CentralStore", "Incoming", "Outgoing", "Receiver"]

_FORGET_PEER_S = 120.0


class CentralStore(Protocol):
    """What the receiver needs of the central log; `station.log.CentralLog` has it."""

    def accept(self, batch: Sequence[tuple[str, Entry]], received_ms: int) -> list[Receipt]:
        """Judge and store entries in one transaction."""

    def quarantine(self, table_id: str, log_id: bytes, reason: str, claimed: Head, received_ms: int) -> None:
        """Take nothing more from a log."""

    def append_own(self, events: Sequence[tuple[str, bytes]], at_ms: int) -> None:
        """Store events of the central station itself."""

    def head_of(self, log_id: bytes) -> Head:
        """Give how far a log is stored."""

    def owner_of(self, log_id: bytes) -> str | None:
        """Give the table a log belongs to."""

    def in_quarantine(self, log_id: bytes) -> bool:
        """Tell whether a log is in quarantine."""

    def hash_at(self, log_id: bytes, seq: int) -> bytes | None:
        """Give the hash of one stored entry."""


class Incoming(msgspec.Struct, frozen=True):
    """A message from a socket: routing id of the peer, its authenticated public key (Z85), and the frames."""

    peer: bytes
    key: str
    frames: Frames


class Outgoing(msgspec.Struct, frozen=True):
    """A message for a peer."""

    peer: bytes
    frames: Frames


class _Peer(msgspec.Struct):
    """A peer that has greeted."""

    key: str
    table_id: str
    session: bytes
    log_id: bytes
    seen: float


class _Sent(msgspec.Struct, frozen=True):
    """An entry to store, and who sent it."""

    peer: bytes
    key: str
    table_id: str
    event: Event


class _Round(msgspec.Struct):
    """What one batch of messages comes to: entries to store, then answers."""

    entries: list[_Sent] = []
    greeted: list[tuple[bytes, Hello]] = []
    pinged: dict[bytes, Ping] = {}
    refused: dict[bytes, Nack] = {}


_REFUSALS = {
    Reception.FORK: NackCode.FORK,
    Reception.QUARANTINED: NackCode.FORK,
    Reception.FOREIGN: NackCode.FOREIGN_LOG,
    Reception.BROKEN: NackCode.BROKEN,
}


class Receiver:
    """Takes the messages of all tables.

    Args:
        store: the central log.
        table_of: gives the table id that a public key (Z85) is enrolled for, or None.
        denials: the record of what was refused.
    """

    def __init__(self, store: CentralStore, table_of: Callable[[str], str | None], denials: Denials) -> None:
        self.last_seen: dict[str, float] = {}
        self._store = store
        self._table_of = table_of
        self._denials = denials
        self._peers: dict[bytes, _Peer] = {}
        self._pruned = 0.0

    def receive(self, batch: Sequence[Incoming], now: float, wall_ms: int) -> list[Outgoing]:
        """Take a batch: all its entries are stored in one transaction, and only then answered.

        Args:
            batch: messages in the order they came.
            now: monotonic time in seconds.
            wall_ms: wall clock, milliseconds since 1970-01-01 UTC.

        Raises:
            LogError: the entries could not be stored; there are no answers, and the tables send again.
        """
        todo = _Round()
        for item in batch:
            self._sort(item, todo, now, wall_ms)
        answers = self._store_entries(todo.entries, now, wall_ms)
        for peer, ping in todo.pinged.items():
            answers.setdefault(peer, Ack(ping.session, ping.log_id, self._store.head_of(ping.log_id).seq))
        for peer, hello in todo.greeted:
            head = self._store.head_of(hello.log_id)
            answers[peer] = Resume(hello.session, hello.log_id, head.seq + 1, head.hash)
        answers |= todo.refused
        self._prune(now)
        return [Outgoing(peer, encode(message)) for peer, message in answers.items()]

    def _sort(self, item: Incoming, todo: _Round, now: float, wall_ms: int) -> None:
        table_id = self._table_of(item.key)
        if table_id is None:
            self._peers.pop(item.peer, None)
            self._denials.note("not_enrolled", key=item.key, now=now, wall_ms=wall_ms)
            return
        try:
            message = decode_from_table(item.frames)
        except WireError:
            self._denials.note("bad_message", key=item.key, table=table_id, now=now, wall_ms=wall_ms)
            return
        code = self._handle(item, table_id, message, todo, now, wall_ms)
        if code == NackCode.HELLO:
            todo.refused.setdefault(item.peer, Nack(message.session, message.log_id, code))
        elif code is not None:
            todo.refused[item.peer] = Nack(message.session, message.log_id, code)
        elif isinstance(message, Hello):
            todo.refused.pop(item.peer, None)
        if code not in (None, NackCode.HELLO, NackCode.FORK):  # a fork has its own alarm
            self._denials.note(str(code), key=item.key, table=table_id, now=now, wall_ms=wall_ms)

    def _handle(
        self, item: Incoming, table_id: str, message: FromTable, todo: _Round, now: float, wall_ms: int
    ) -> str | None:
        """Take one message; give the code of a refusal, or None."""
        if isinstance(message, Hello):
            code = self._judge_hello(table_id, message, wall_ms)
            if code is None:
                peer = _Peer(item.key, table_id, message.session, message.log_id, now)
                self._peers[item.peer] = peer
                self.last_seen[table_id] = now
                todo.greeted.append((item.peer, message))
            return code
        known = self._peers.get(item.peer)
        claims = (item.key, table_id, message.session, message.log_id)
        if known is None or (known.key, known.table_id, known.session, known.log_id) != claims:
            return NackCode.HELLO
        known.seen = self.last_seen[table_id] = now
        match message:
            case Event():
                todo.entries.append(_Sent(item.peer, item.key, table_id, message))
            case Ping():
                todo.pinged[item.peer] = message
            case Diverged():
                reason = message.reason if message.reason in ("fork", "rollback") else "fork"
                self._store.quarantine(table_id, message.log_id, reason, message.head, wall_ms)
                return NackCode.FORK
        return None

    def _judge_hello(self, table_id: str, hello: Hello, wall_ms: int) -> str | None:
        if hello.protocol != PROTOCOL:
            return NackCode.VERSION
        if hello.table_id != table_id:
            return NackCode.WRONG_TABLE
        if self._store.owner_of(hello.log_id) not in (None, table_id):
            return NackCode.FOREIGN_LOG
        if self._store.in_quarantine(hello.log_id):
            return NackCode.FORK
        claimed, stored = hello.head, self._store.head_of(hello.log_id)
        if claimed.seq > stored.seq or self._store.hash_at(hello.log_id, claimed.seq) == claimed.hash:
            return None
        self._store.quarantine(table_id, hello.log_id, "fork", claimed, wall_ms)
        return NackCode.FORK

    def _store_entries(self, entries: list[_Sent], now: float, wall_ms: int) -> dict[bytes, FromCentral]:
        if not entries:
            return {}
        receipts = self._store.accept([(sent.table_id, sent.event.entry) for sent in entries], wall_ms)
        answers: dict[bytes, FromCentral] = {}
        for sent, receipt in zip(entries, receipts, strict=True):
            answer = _answer(sent.event, receipt)
            if not isinstance(answers.get(sent.peer), Nack):
                answers[sent.peer] = answer
            if isinstance(answer, Nack) and answer.code != NackCode.FORK:
                table = sent.table_id
                self._denials.note(answer.code, key=sent.key, table=table, now=now, wall_ms=wall_ms)
        return answers

    def _prune(self, now: float) -> None:
        """Forget peers that have been silent for long: every reconnect is a new peer."""
        if now - self._pruned < _FORGET_PEER_S:
            return
        self._pruned = now
        self._peers = {name: peer for name, peer in self._peers.items() if now - peer.seen < _FORGET_PEER_S}


def _answer(event: Event, receipt: Receipt) -> FromCentral:
    refusal = _REFUSALS.get(receipt.reception)
    if refusal is not None:
        return Nack(event.session, event.log_id, refusal)
    if receipt.reception is Reception.GAP:
        return Resume(event.session, event.log_id, receipt.head.seq + 1, receipt.head.hash)
    return Ack(event.session, event.log_id, receipt.head.seq)

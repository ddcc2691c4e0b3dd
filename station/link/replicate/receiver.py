"""The other half of replication: copies of chains of others, without sockets, clocks or threads.

Who a peer is, is said by whoever owns the socket, from the CURVE key. A peer has to greet with its name, its
chain and a session before any of its entries is looked at; entries of all peers of a batch go into one
transaction, and only then is anything acknowledged.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import islice
from typing import Any, TypeAlias

import msgspec

from station.errors import LogError
from station.link.codes import NackCode
from station.link.replicate.store import Copies
from station.link.said import PROTOCOL, Ack, Chained, Diverged, Event, Hello, Nack, Ping, Resume
from station.log.chain import Entry
from station.log.reception import Receipt, Reception

__all__ = ["Answer", "Arrived", "Receiver", "Taken"]

Answer: TypeAlias = Resume | Ack | Nack


class Arrived(msgspec.Struct, frozen=True, gc=False):
    """A message of a peer.

    Args:
        peer: where answers go.
        source: who the peer is, by its key; under this name its chains are stored.
        name: the name that its greeting has to say.
        message: what it said.
    """

    peer: Hashable
    source: str
    name: str
    message: Chained


class Taken(msgspec.Struct):
    """What became of a batch.

    Args:
        answers: at most one for each peer.
        stored: the new entries, in the order they were stored.
        greeted: peers whose greeting was accepted.
        refused: peers that were refused, as who, and why (never `NackCode.HELLO`).
        trouble: why the entries could not be stored; then they are not answered, and their peers send again.
    """

    answers: dict[Any, Answer] = {}
    stored: list[Entry] = []
    greeted: list[tuple[Any, Hello]] = []
    refused: list[tuple[Any, str, str]] = []
    trouble: LogError | None = None


class _Greeted(msgspec.Struct, frozen=True, gc=False):
    """What a peer's greeting bound it to."""

    source: str
    session: bytes
    log_id: bytes


_REFUSALS = {
    Reception.FORK: NackCode.FORK,
    Reception.QUARANTINED: NackCode.FORK,
    Reception.FOREIGN: NackCode.FOREIGN_LOG,
    Reception.BROKEN: NackCode.BROKEN,
}


class Receiver:
    """Takes chains of any number of peers.

    Args:
        log: where copies are kept.
    """

    def __init__(self, log: Copies) -> None:
        self._log = log
        self._greeted: dict[Hashable, _Greeted] = {}

    def forget(self, peer: Hashable) -> None:
        """Tell that a peer is gone: it has to greet again."""
        self._greeted.pop(peer, None)

    def receive(self, batch: Sequence[Arrived], wall_ms: int) -> Taken:
        """Take a batch: all its entries are stored in one transaction, and only then answered.

        Args:
            batch: messages in the order they came.
            wall_ms: wall clock, milliseconds since 1970-01-01 UTC.

        Raises:
            LogError: a quarantine, or its end, could not be stored; nothing is answered, and the peers send
                again.
        """
        taken = Taken()
        events: list[tuple[Arrived, Event]] = []
        pings: list[Arrived] = []
        refused: dict[Hashable, Nack] = {}
        for item in batch:
            code = self._sort(item, events, pings, taken, wall_ms)
            message = item.message
            if code == NackCode.HELLO:
                refused.setdefault(item.peer, Nack(message.session, message.log_id, code))
            elif code is not None:
                refused[item.peer] = Nack(message.session, message.log_id, code)
                taken.refused.append((item.peer, item.source, code))
            elif isinstance(message, Hello):
                refused.pop(item.peer, None)
        try:
            self._store(events, taken, wall_ms)
        except LogError as error:  # who greets or pings is answered all the same
            taken.trouble = error
        for item in pings:
            session, log_id = item.message.session, item.message.log_id
            taken.answers.setdefault(item.peer, Ack(session, log_id, self._log.head_of(log_id).seq))
        for peer, hello in taken.greeted:
            head = self._log.head_of(hello.log_id)
            if not isinstance(taken.answers.get(peer), Nack):
                taken.answers[peer] = Resume(hello.session, hello.log_id, head.seq + 1, head.hash)
        taken.answers |= refused
        return taken

    def _sort(
        self,
        item: Arrived,
        events: list[tuple[Arrived, Event]],
        pings: list[Arrived],
        taken: Taken,
        wall_ms: int,
    ) -> str | None:
        """Take one message; give the code of a refusal, or None."""
        message, known = item.message, self._greeted.get(item.peer)
        if isinstance(message, Hello):
            code = self._judge(item, message, wall_ms)
            if code is None:
                self._greeted[item.peer] = _Greeted(item.source, message.session, message.log_id)
                taken.greeted.append((item.peer, message))
            return code
        if (
            known is None
            or known.session != message.session
            or known.log_id != message.log_id
            or known.source != item.source
        ):
            return NackCode.HELLO
        if isinstance(message, Event):
            events.append((item, message))
        elif isinstance(message, Ping):
            pings.append(item)
        else:
            return self._diverged(item.source, message, wall_ms)
        return None

    def _judge(self, item: Arrived, hello: Hello, wall_ms: int) -> str | None:
        log = self._log
        if hello.protocol != PROTOCOL:
            return NackCode.VERSION
        if hello.name != item.name:
            return NackCode.WRONG_TABLE
        if log.owner_of(hello.log_id) not in (None, item.source):
            return NackCode.FOREIGN_LOG
        return self._judge_head(item.source, hello, wall_ms)

    def _judge_head(self, source: str, hello: Hello, wall_ms: int) -> str | None:
        """Compare the head that is claimed with what is stored; give the code of a refusal, or None.

        A rollback is over when the author holds all that is stored again. The same head proves that here; of
        a greater one the first entry behind what is stored will, see `station.log.reception.judge`.
        """
        log, log_id = self._log, hello.log_id
        claimed, stored, held = hello.head, log.head_of(log_id), log.quarantined(log_id)
        if held == NackCode.FORK:
            return NackCode.FORK
        if claimed.seq > stored.seq:
            return None
        if log.hash_at(log_id, claimed.seq) != claimed.hash:
            log.quarantine(source, log_id, NackCode.FORK, claimed, wall_ms)
            return NackCode.FORK
        if held and claimed.seq < stored.seq:
            return NackCode.FORK
        if held:
            log.release(log_id, "proof", "equal", wall_ms)
        return None

    def _diverged(self, source: str, message: Diverged, wall_ms: int) -> str:
        """Put a chain into quarantine; a rollback only if what its author still has is what is stored."""
        log, log_id, head = self._log, message.log_id, message.head
        older = head.seq < log.head_of(log_id).seq and log.hash_at(log_id, head.seq) == head.hash
        reason = NackCode.ROLLBACK if older and message.reason == NackCode.ROLLBACK else NackCode.FORK
        log.quarantine(source, log_id, reason, head, wall_ms)
        return NackCode.FORK

    def _store(self, events: list[tuple[Arrived, Event]], taken: Taken, wall_ms: int) -> None:
        if not events:
            return
        batch = [(item.source, entry) for item, message in events for entry in message.entries]
        receipts = iter(self._log.accept(batch, wall_ms))
        for item, message in events:
            entries = message.entries
            mine = list(islice(receipts, len(entries)))
            taken.stored += [
                entry
                for entry, receipt in zip(entries, mine, strict=True)
                if receipt.reception is Reception.STORED
            ]
            # The last one says how far it goes, unless one before it was refused.
            decisive = next((receipt for receipt in mine if receipt.reception in _REFUSALS), mine[-1])
            answer = _answer(message.session, message.log_id, decisive)
            if not isinstance(taken.answers.get(item.peer), Nack):
                taken.answers[item.peer] = answer
            if isinstance(answer, Nack):
                taken.refused.append((item.peer, item.source, answer.code))


def _answer(session: bytes, log_id: bytes, receipt: Receipt) -> Answer:
    reception, head = receipt.reception, receipt.head
    if reception is Reception.STORED or reception is Reception.DUPLICATE:
        return Ack(session, log_id, head.seq)
    if reception is Reception.GAP:
        return Resume(session, log_id, head.seq + 1, head.hash)
    return Nack(session, log_id, _REFUSALS[reception])

"""The central station's end of the link, for all tables. No sockets, no clocks, no threads.

A table is who its CURVE key says it is; the routing id of a message only says where the answer goes. Of the
connections of one key the newest counts. What one table may send is limited, so that it cannot hold up the
others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol, cast

import msgspec

from station.errors import LogError
from station.link.denials import Denials
from station.link.keys import Standing
from station.link.replicate.gate import Dismissed, Gate, Incoming
from station.link.replicate.limits import Limits
from station.link.replicate.receiver import Arrived, Receiver
from station.link.replicate.sender import SenderState, SenderTimes
from station.link.replicate.store import Copies
from station.link.replicate.tables import Commands, Peer, PeerId, Said, Tables
from station.link.said import Ack, Diverged, Event, Hello, Message, Ping, Time, Value
from station.link.wire import Frames, NackCode, encode
from station.log.chain import Entry

__all__ = ["CentralEnd", "CentralLog", "Incoming", "Outgoing"]

_MICRO = 1_000_000


class CentralLog(Copies, Commands, Protocol):
    """The central station's log."""

    def author(self, name: str) -> bytes:
        """Give the id of the own chain that is addressed to `name`."""

    def chains_of(self, source: str) -> list[bytes]:
        """Give the ids of the chains that a source sent."""

    def author_anew(self, name: str, at_ms: int) -> bytes:
        """Begin another own chain that is addressed to `name`; give its id. Raises LogError."""

    def append(
        self, events: Sequence[tuple[str, bytes]], at_ms: int, chain: bytes | None = None
    ) -> list[Entry]:
        """Store events in an own chain. Raises LogError."""


class Outgoing(msgspec.Struct, frozen=True, gc=False):
    """A message for a peer."""

    peer: PeerId
    frames: Frames


class CentralEnd:
    """Everything the central station says and hears on the link.

    Args:
        log: the central log.
        standing_of: gives what a public key (Z85) counts for.
        denials: the record of what was refused.
        limits: what one table may send.
        times: durations and window for commands.
        clock: monotonic time in seconds, for the timestamps alone.
        on_value: called with table, key and body of a value that is news.
    """

    def __init__(
        self,
        log: CentralLog,
        standing_of: Callable[[str], Standing],
        denials: Denials,
        *,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        times: SenderTimes = SenderTimes(),  # noqa: B008 - frozen
        clock: Callable[[], float],
        on_value: Callable[[str, str, bytes], None] = lambda *_: None,
    ) -> None:
        self.last_seen: dict[str, float] = {}
        self.tables = Tables(log, msgspec.structs.replace(times, ping_s=math.inf))
        self._log = log
        self._gate = Gate(standing_of, denials, limits)
        self._clock = clock
        self._on_value = on_value
        self._receiver = Receiver(log)
        self._new_logs: dict[str, bytes] = {}
        """Logs that tables have begun while they had others."""
        self.trouble: LogError | None = None
        """Why entries can not be stored; None: they can, as far as was tried."""

    def receive(self, batch: Sequence[Incoming], now: float, wall_ms: int) -> list[Outgoing]:
        """Take a batch: all its entries are stored in one transaction, and only then answered.

        Args:
            batch: messages in the order they came.
            now: monotonic time in seconds at which they were taken from the socket.
            wall_ms: wall clock, milliseconds since 1970-01-01 UTC.

        What could not be stored is not answered, so that the tables send it again; see `trouble`.
        """
        self._gate.begin(now)
        answers: list[Said] = []
        chained: list[Arrived] = []
        others: list[tuple[PeerId, Message]] = []
        held: set[PeerId] = set()
        for item in batch:
            peer, judged = (item.peer, item.key), self._gate.admit(item, now, wall_ms)
            if isinstance(judged, Dismissed):
                if judged.for_good:
                    self.gone(peer)
                if judged.answer is not None:
                    answers.append((peer, judged.answer))
                continue
            if judged.held:
                held.add(peer)
            message = judged.message
            if isinstance(message, Hello | Event | Ping | Diverged):
                chained.append(Arrived(peer, judged.table, judged.table, message))
            else:
                others.append((peer, message))
        if chained:
            try:
                self._take_chained(chained, held, answers, now, wall_ms)
            except LogError as error:
                self.trouble = error
        for peer, message in others:
            answers += [(peer, reply) for reply in self._take_other(peer, message, now, wall_ms)]
        return [*_outgoing(answers), *self.poll(now)]

    def poll(self, now: float) -> list[Outgoing]:
        """Give what is due: commands, values, and acknowledgements that had to wait."""
        return _outgoing(self.tables.poll(now))

    def next_deadline(self) -> float:
        """When `poll` has something to do even if nothing happens; infinity when never."""
        return self.tables.next_deadline()

    def command(self, table: str, kind: str, body: bytes, now: float, wall_ms: int) -> Entry:
        """Store a command for a table; it is sent until the table has stored it.

        Raises:
            LogError: it could not be stored. ValueError: it is too large.
        """
        (entry,) = self._log.append([(kind, body)], wall_ms, self._log.author(table))
        self.tables.commanded(table, entry, now)
        return entry

    def book(self, kind: str, body: bytes, wall_ms: int) -> Entry:
        """Store an event of the central station itself.

        Raises:
            LogError: it could not be stored.
        """
        (entry,) = self._log.append([(kind, body)], wall_ms)
        return entry

    def gone(self, peer: PeerId) -> None:
        """Tell that there is no connection to a peer any more."""
        self._receiver.forget(peer)
        self.tables.drop(peer)

    def _take_chained(
        self, chained: list[Arrived], held: set[PeerId], answers: list[Said], now: float, wall_ms: int
    ) -> None:
        taken = self._receiver.receive(chained, wall_ms)
        if taken.stored or taken.trouble is not None:
            self.trouble = taken.trouble
        for peer, hello in taken.greeted:
            self._turn_to_new_log(hello.name, hello.log_id, wall_ms)
            older = self.tables.greeted(Peer(peer, hello.name, hello.session, hello.log_id), now)
            if older is not None:
                self._receiver.forget(older)
        for item in chained:
            known = self.tables.of(cast(PeerId, item.peer))
            if known is not None and known.session == item.message.session:
                self._heard(known, now)
        for (_, key), source, code in taken.refused:
            if code != NackCode.FORK:  # a fork has an alarm of its own
                self._gate.note(code, key, source, now, wall_ms)
        for peer, answer in taken.answers.items():
            if peer in held and isinstance(answer, Ack):
                self.tables.hold(peer, answer.seq, self._gate.free_at(peer[1], now))
            else:
                answers.append((peer, answer))

    def _take_other(self, peer: PeerId, message: Message, now: float, wall_ms: int) -> list[Message]:
        """Take what is no entry: answers to commands, values, the question for the time."""
        known = self.tables.of(peer)
        if known is None or known.session != message.session:
            return []
        self._heard(known, now)
        if isinstance(message, Time):
            t2, t3 = round(_MICRO * now), round(_MICRO * self._clock())
            return [Time(message.session, message.t1, t2, t3)]
        if isinstance(message, Value):
            if known.inbox.takes(message):
                self._on_value(known.table, message.key, message.body)
            return []
        replies = self.tables.answered(known, message, now)
        if known.sender is not None and known.sender.state is SenderState.REFUSED:
            self._gate.note("not_followed", peer[1], known.table, now, wall_ms)
            if known.sender.diverged:
                self._begin_anew(known, now, wall_ms)
        return replies

    def _turn_to_new_log(self, table: str, log_id: bytes, wall_ms: int) -> None:
        """Begin another chain of commands for a table that begins a new log: its old log had those of before.

        The new one does not say which of them have taken effect, so they would happen once more.
        """
        new = not self._log.head_of(log_id).seq and self._new_logs.get(table) != log_id
        if new and self.tables.commands(table) and self._log.chains_of(table):
            self.tables.turn_to(table, self._log.author_anew(table, wall_ms))
            self._new_logs[table] = log_id

    def _begin_anew(self, peer: Peer, now: float, wall_ms: int) -> None:
        """Give up a chain of commands of which the table holds another history, or more than there is here.

        So it is after the station was restored from an older copy. What the table did stays as it is; what
        comes now goes on in a chain of its own. A chain without commands is not given up: a table that
        refuses everything makes nothing grow.
        """
        try:
            log_id = self._log.author_anew(peer.table, wall_ms)
        except LogError as error:  # the table is greeted and refuses again
            self.trouble = error
            return
        if peer.sender is not None and peer.sender.log_id != log_id:
            self.tables.begin_anew(peer, log_id, now)

    def _heard(self, peer: Peer, now: float) -> None:
        self.last_seen[peer.table] = now
        self.tables.heard(peer)


def _outgoing(messages: list[Said]) -> list[Outgoing]:
    return [Outgoing(peer, encode(message)) for peer, message in messages]

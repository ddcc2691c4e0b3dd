"""The table's end of the link: its own chain up, commands down, values and the clock. No sockets, no clocks.

Up goes the main chain of the table's log. Down come chains of the station whose key is pinned, and of these
only such as are addressed to this table; their entries are commands, stored before they are acknowledged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Protocol

from station.counting import Stats
from station.errors import LogError
from station.link.replicate.receiver import Arrived, Receiver
from station.link.replicate.sender import Sender, SenderState, SenderTimes
from station.link.replicate.store import Authoring, Copies
from station.link.replicate.values import Board, Inbox, Outbox
from station.link.said import Ack, Event, Message, Nack, Resume, Time, Value
from station.log.chain import Entry

__all__ = ["CENTRAL", "TableEnd", "TableLog"]

CENTRAL = "central"
"""The source under which the chains of the central station are stored."""
_PEER = b""
_MICRO = 1_000_000


class TableLog(Copies, Authoring, Protocol):
    """A table's log."""

    @property
    def log_id(self) -> bytes:
        """Id of its main chain."""


class TableEnd:
    """Everything a table says and hears on the link.

    Args:
        name: the table's name.
        log: its log.
        draw_session: gives 8 new bytes for each connection.
        times: durations and window.
        clock: monotonic time in seconds, for the timestamps alone.
        on_stored: called with new commands after their commit, in order.
        on_value: called with key and body of a value that is news.
        on_time: called with the four timestamps of a clock exchange, in seconds: t1 and t4 of this end's
            clock, t2 and t3 of the station's.
        stats: counts ``acks`` and ``resent`` entries, which went out before, perhaps on another connection.
    """

    def __init__(
        self,
        name: str,
        log: TableLog,
        draw_session: Callable[[], bytes],
        times: SenderTimes,
        *,
        clock: Callable[[], float],
        on_stored: Callable[[list[Entry]], None],
        on_value: Callable[[str, bytes], None],
        on_time: Callable[[float, float, float, float], None],
        stats: Stats | None = None,
    ) -> None:
        self.sender = Sender(name, log.log_id, log, draw_session, times)
        self.trouble: LogError | None = None
        """Why commands can not be stored; None: they can."""
        self.heard_at = -math.inf
        """When the station was last heard on this connection."""
        self._log = log
        self._name = name
        self._receiver = Receiver(log)
        self._clock = clock
        self._ask_s = times.ping_s
        self._on_stored = on_stored
        self._on_value = on_value
        self._on_time = on_time
        self._stats = stats or Stats()
        self._sent = 0
        self._board = Board()
        self._outbox = Outbox()
        self._inbox = Inbox()
        self._inbox_of = b""
        self._session = b""
        self._ask_at = math.inf
        self._asked: int | None = None

    def connected(self, now: float) -> None:
        """Tell that a connection came up."""
        self.heard_at = now
        self.sender.connected(now)

    def disconnected(self) -> None:
        """Tell that the connection is gone."""
        self.sender.disconnected()
        self._settle()

    def set_value(self, key: str, body: bytes, at_ms: int) -> None:
        """Set a value for the station; see `Board.set`."""
        self._board.set(key, body, at_ms)
        if self.sender.state is SenderState.STREAMING:
            self._outbox.put({key: self._board.values[key]})

    def next_deadline(self) -> float:
        """When `poll` has something to do even if nothing happens."""
        return min(self.sender.next_deadline(), self._ask_at)

    def poll(self, now: float) -> list[Message]:
        """Give the messages to send now."""
        messages: list[Message] = list(self.sender.poll(now))
        self._count(messages)
        self._settle()
        if self.sender.state is SenderState.STREAMING:
            if now >= self._ask_at:
                messages.append(self._ask(now))
            messages += self._outbox.take(self._session)
        return messages

    def received(self, messages: Iterable[Message], now: float, wall_ms: int) -> list[Message]:
        """Take what the station said; give the messages to send at once.

        Args:
            messages: in the order they came.
            now: monotonic time in seconds.
            wall_ms: wall clock, milliseconds since 1970-01-01 UTC.
        """
        replies: list[Message] = []
        batch: list[Arrived] = []
        for message in messages:
            if message.session != self.sender.session or not message.session:
                continue  # of an earlier connection
            self.heard_at = now
            match message:
                case Resume() | Ack() | Nack():
                    if isinstance(message, Ack):
                        self._stats.count("acks")
                    replies += self.sender.received(message, now)
                case Value():
                    self._take_value(message)
                case Time():
                    self._take_time(message, now)
                case _:
                    batch.append(Arrived(_PEER, CENTRAL, self._name, message))
        self._settle(now)
        if batch:
            replies += self._store(batch, wall_ms)
        return replies

    def _count(self, messages: Iterable[Message]) -> None:
        for message in messages:
            if isinstance(message, Event):
                again = sum(entry.seq <= self._sent for entry in message.entries)
                if again:
                    self._stats.count("resent", by=again)
                self._sent = max(self._sent, message.entries[-1].seq)

    def _store(self, batch: list[Arrived], wall_ms: int) -> list[Message]:
        try:
            taken = self._receiver.receive(batch, wall_ms)
        except LogError as error:  # not acknowledged: the station sends again
            self.trouble = error
            return []
        self.sender.appended(self._log.head_of(self._log.log_id))  # a quarantine is an entry of its own
        if taken.stored or taken.trouble is not None:
            self.trouble = taken.trouble
        if taken.stored:
            self._on_stored(taken.stored)
        return list(taken.answers.values())

    def _settle(self, now: float = math.inf) -> None:
        """Begin anew with every session that streams: all values once, the clock at once."""
        sender = self.sender
        session = sender.session if sender.state is SenderState.STREAMING else b""
        if session == self._session:
            return
        self._session = session
        self._asked = None
        self._outbox.clear()
        if session:
            self._receiver.forget(_PEER)
            self._outbox.put(self._board.values)
            self._ask_at = now
        else:
            self._ask_at = math.inf

    def _ask(self, now: float) -> Time:
        self._ask_at = now + self._ask_s
        self._asked = round(_MICRO * self._clock())
        return Time(self._session, self._asked)

    def _take_value(self, value: Value) -> None:
        if value.session != self._inbox_of:
            self._inbox, self._inbox_of = Inbox(), value.session
        if self._inbox.takes(value):
            self._on_value(value.key, value.body)

    def _take_time(self, message: Time, now: float) -> None:
        if message.t1 == self._asked and message.t3:  # the answer to the last question, once
            self._asked = None
            self._on_time(message.t1 / _MICRO, message.t2 / _MICRO, message.t3 / _MICRO, now)

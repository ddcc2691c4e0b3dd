"""The table's half of the protocol: a state machine without sockets, clocks or threads.

Up to `window` entries are under way; the acknowledgement is cumulative. Without progress for `resend_s` the
sender goes back to the first entry that is not acknowledged. What lies after the last acknowledged seq is
still to be sent: the log itself is the queue.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence

import msgspec

from station.link.wire import (
    Ack,
    Diverged,
    Event,
    FromCentral,
    FromTable,
    Hello,
    Nack,
    NackCode,
    Ping,
    Resume,
)
from station.log.chain import Entry, Head

__all__ = ["Sender", "SenderState", "SenderTimes", "Source"]


class Source(msgspec.Struct, frozen=True):
    """What the sender may ask of the log: entries after a seq (at most so many), and the hash at a seq."""

    entries: Callable[[int, int], Sequence[Entry]]
    hash_at: Callable[[int], bytes | None]


class SenderTimes(msgspec.Struct, frozen=True):
    """Durations of the protocol in seconds, and the window in entries."""

    window: int = 16
    resend_s: float = 1.5
    ping_s: float = 2.0
    refused_s: float = 30.0
    """How long to wait before greeting again after a refusal."""


class SenderState(enum.Enum):
    """Where the sender stands with the central station."""

    DOWN = "down"
    """No connection."""
    GREETING = "greeting"
    """Connected; waiting to hear from where to go on."""
    STREAMING = "streaming"
    REFUSED = "refused"
    """The central station takes nothing from this log; see `Sender.reason`."""


class Sender:
    """Sends one log to one central station.

    Args:
        table_id: the name under which the table's key is enrolled.
        log_id: id of the log.
        head: head of the log now; later heads come through `appended`.
        source: read access to the log.
        draw_session: gives 8 new bytes for each connection.
        times: durations and window.
    """

    def __init__(
        self,
        table_id: str,
        log_id: bytes,
        head: Head,
        source: Source,
        draw_session: Callable[[], bytes],
        times: SenderTimes = SenderTimes(),  # noqa: B008 - frozen
    ) -> None:
        self.state = SenderState.DOWN
        self.reason: str | None = None
        self.head = head
        self.acked = 0
        self._table_id = table_id
        self._log_id = log_id
        self._source = source
        self._draw_session = draw_session
        self._times = times
        self._session = b""
        self._next = 1
        self._deadline = math.inf
        self._rewound_at = -math.inf

    @property
    def unsent(self) -> int:
        """How many entries the central station has not acknowledged."""
        return self.head.seq - self.acked

    def connected(self, now: float) -> None:
        """Tell that a connection came up: greet at the next `poll`."""
        self.state, self.reason = SenderState.GREETING, None
        self._session = self._draw_session()
        self._deadline = now

    def disconnected(self) -> None:
        """Tell that the connection is gone; what is under way counts as lost."""
        self.state, self.reason, self._deadline = SenderState.DOWN, None, math.inf

    def appended(self, head: Head) -> None:
        """Tell that the log has grown."""
        self.head = head

    def next_deadline(self) -> float:
        """When `poll` has something to do even if nothing happens; infinity when never."""
        return self._deadline

    def poll(self, now: float) -> list[FromTable]:
        """Give the messages to send now."""
        due = now >= self._deadline
        if self.state in (SenderState.GREETING, SenderState.REFUSED):
            return [self._hello(now)] if due else []
        if self.state is not SenderState.STREAMING:
            return []
        if due and self._next > self.acked + 1:
            self._next = self.acked + 1
        messages = self._window(now)
        if due and not messages:
            messages = [Ping(self._session, self._log_id, self.head.seq)]
            self._deadline = now + self._times.ping_s
        return messages

    def received(self, message: FromCentral, now: float) -> list[FromTable]:
        """Take a message of the central station; give the messages to send at once."""
        if (message.session, message.log_id) != (self._session, self._log_id) or not self._session:
            return []
        match message:
            case Ack():
                self._on_ack(message.seq, now)
            case Resume():
                return self._on_resume(message, now)
            case Nack():
                self._on_nack(message.code, now)
        return []

    def _hello(self, now: float) -> Hello:
        self._deadline = now + self._times.resend_s
        self.state = SenderState.GREETING
        return Hello(self._session, self._log_id, self.head, self._table_id)

    def _window(self, now: float) -> list[FromTable]:
        room = min(self.acked + self._times.window, self.head.seq) - self._next + 1
        if room <= 0:
            return []
        if self._next == self.acked + 1:  # nothing under way yet
            self._deadline = now + self._times.resend_s
        entries = self._source.entries(self._next - 1, room)
        self._next += len(entries)
        return [Event(self._session, entry) for entry in entries]

    def _on_ack(self, seq: int, now: float) -> None:
        if self.state is not SenderState.STREAMING or not self.acked < seq <= self.head.seq:
            return
        self.acked = seq
        self._next = max(self._next, seq + 1)
        under_way = self._next > seq + 1
        self._deadline = now + (self._times.resend_s if under_way else self._times.ping_s)

    def _on_resume(self, message: Resume, now: float) -> list[FromTable]:
        stored = message.next_seq - 1
        if self.state is SenderState.STREAMING:
            self._rewind(stored, now)
            return []
        if self.state is not SenderState.GREETING:
            return []
        known = self._source.hash_at(stored) if stored <= self.head.seq else None
        if known != message.hash:
            reason = "rollback" if stored > self.head.seq else "fork"
            self._refuse(reason, now)
            return [Diverged(self._session, self._log_id, self.head, reason)]
        self.state, self.reason = SenderState.STREAMING, None
        self.acked, self._next = stored, message.next_seq
        self._rewound_at = -math.inf
        self._deadline = now + self._times.ping_s
        return []

    def _rewind(self, stored: int, now: float) -> None:
        """Go back because entries are missing there; once per `resend_s`, whatever is still under way."""
        if self.acked <= stored <= self.head.seq and now >= self._rewound_at + self._times.resend_s:
            self.acked, self._next = stored, stored + 1
            self._rewound_at = now

    def _on_nack(self, code: str, now: float) -> None:
        if code != NackCode.HELLO:
            self._refuse(code, now)
        elif self.state is SenderState.STREAMING:
            self.connected(now)

    def _refuse(self, reason: str, now: float) -> None:
        self.state, self.reason = SenderState.REFUSED, reason
        self._deadline = now + self._times.refused_s

"""The author's half of replication: one chain to one peer, without sockets, clocks or threads.

Some entries are under way, several in one message; the acknowledgement is cumulative. How many may be, and
how long to wait for progress, says `window`: then the sender goes back to the first entry that is not
acknowledged, and waits longer each time. What lies after the last acknowledged seq is still to be sent: the
log itself is the queue.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable

from station.link import run
from station.link.codes import NackCode
from station.link.replicate.store import Authoring
from station.link.replicate.window import SenderTimes, Window
from station.link.said import Ack, Chained, Diverged, Event, Hello, Nack, Ping, Resume
from station.log.chain import Head

__all__ = ["Sender", "SenderState", "SenderTimes"]


class SenderState(enum.Enum):
    """Where the sender stands with its peer."""

    DOWN = "down"
    """No connection."""
    GREETING = "greeting"
    """Connected; waiting to hear from where to go on."""
    STREAMING = "streaming"
    REFUSED = "refused"
    """The peer takes nothing of this chain; see `Sender.reason`."""


class Sender:
    """Sends one chain to one peer.

    Args:
        name: name of the table at one end of the link.
        log_id: id of the chain.
        log: where the chain lies.
        draw_session: gives the 8 bytes for a greeting: new ones at the table, those of the table's last
            greeting at the central station.
        times: durations and window.
    """

    def __init__(
        self,
        name: str,
        log_id: bytes,
        log: Authoring,
        draw_session: Callable[[], bytes],
        times: SenderTimes = SenderTimes(),  # noqa: B008 - frozen
    ) -> None:
        self.state = SenderState.DOWN
        self.reason: str | None = None
        self.head: Head = log.head_of(log_id)
        self.acked = 0
        self.session = b""
        self.log_id = log_id
        self._name = name
        self._log = log
        self._draw_session = draw_session
        self._times = times
        self._next = 1
        self._deadline = math.inf
        self._window = Window(times)
        self._rewound_at = -math.inf

    @property
    def diverged(self) -> bool:
        """Whether the peer holds another history of this chain, or more of it than there is here."""
        return self.state is SenderState.REFUSED and self.reason in (NackCode.FORK, NackCode.ROLLBACK)

    @property
    def unsent(self) -> int:
        """How many entries the peer has not acknowledged."""
        return self.head.seq - self.acked

    def connected(self, now: float) -> None:
        """Tell that a connection came up: greet at the next `poll`."""
        self.state, self.reason = SenderState.GREETING, None
        self.session = self._draw_session()
        self._window.begin()
        self._deadline = now

    def disconnected(self) -> None:
        """Tell that the connection is gone; what is under way counts as lost."""
        self.state, self.reason, self._deadline = SenderState.DOWN, None, math.inf
        self.session = b""

    def appended(self, head: Head) -> None:
        """Tell that the chain has grown."""
        self.head = head

    def next_deadline(self) -> float:
        """When `poll` has something to do even if nothing happens; infinity when never."""
        return self._deadline

    def poll(self, now: float) -> list[Chained]:
        """Give the messages to send now."""
        due = now >= self._deadline
        if self.state in (SenderState.GREETING, SenderState.REFUSED):
            return [self._hello(now)] if due else []
        if self.state is not SenderState.STREAMING:
            return []
        if due and self._next > self.acked + 1:
            self._next = self.acked + 1
            self._window.lost()
            self._window.wait_longer()
        messages = self._send(now)
        if due and not messages:
            self._deadline = now + self._times.ping_s
            return [Ping(self.session, self.log_id, self.head.seq)]
        return messages

    def received(self, message: Resume | Ack | Nack, now: float) -> list[Chained]:
        """Take a message of the peer; give the messages to send at once."""
        if message.log_id != self.log_id or message.session != self.session or not self.session:
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
        self._deadline = now + self._window.resend_s
        self._window.wait_longer()
        self.state = SenderState.GREETING
        return Hello(self.session, self.log_id, self.head, self._name)

    def _send(self, now: float) -> list[Chained]:
        window = self._window
        room = min(self.acked + window.entries, self.head.seq) - self._next + 1
        if room <= 0 or window.full():
            return []
        if self._next == self.acked + 1:  # nothing under way yet
            self._deadline = now + window.resend_s
        messages: list[Chained] = []
        for entries, size in run.runs(self._log.entries_of(self.log_id, self._next - 1, room)):
            if window.full():
                break
            window.sent(entries[-1].seq, size, now)
            messages.append(Event(self.session, entries))
            self._next += len(entries)
        return messages

    def _on_ack(self, seq: int, now: float) -> None:
        if self.state is not SenderState.STREAMING or seq > self.head.seq:
            return
        if seq > self.acked:
            self._window.acked(self.acked, seq, now)
            self.acked = seq
            self._next = max(self._next, seq + 1)
            under_way = self._next > seq + 1
            self._deadline = now + (self._window.resend_s if under_way else self._times.ping_s)

    def _on_resume(self, message: Resume, now: float) -> list[Chained]:
        stored = message.next_seq - 1
        if self.state is SenderState.STREAMING:
            self._rewind(stored, now)
            return []
        if self.state is not SenderState.GREETING:
            return []
        known = self._log.hash_at(self.log_id, stored) if stored <= self.head.seq else None
        if known != message.hash:
            reason = NackCode.ROLLBACK if stored > self.head.seq else NackCode.FORK
            self._refuse(reason, now)
            return [Diverged(self.session, self.log_id, self.head, reason)]
        self.state, self.reason = SenderState.STREAMING, None
        self._window.begin()
        self.acked, self._next = stored, message.next_seq
        self._rewound_at = -math.inf
        self._deadline = now + self._times.ping_s
        return []

    def _rewind(self, stored: int, now: float) -> None:
        """Go back because entries are missing there; once per `resend_s`, whatever is still under way."""
        if self.acked <= stored <= self.head.seq and now >= self._rewound_at + self._times.resend_s:
            self.acked, self._next = stored, stored + 1
            self._window.lost()
            self._rewound_at = now

    def _on_nack(self, code: str, now: float) -> None:
        if code != NackCode.HELLO:
            self._refuse(code, now)
        elif self.state is SenderState.STREAMING:
            self.connected(now)

    def _refuse(self, reason: str, now: float) -> None:
        self.state, self.reason = SenderState.REFUSED, reason
        self._window.begin()
        self._deadline = now + self._times.refused_s

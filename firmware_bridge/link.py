"""The reliable link to one device, without any port: bytes and the time in, bytes and events out.

The rules of this file. A session begins with HELLO and is named in every frame; what carries another
session's name is dropped, so nothing from before a reconnect can be obeyed or believed. Within a session
one request is outstanding at a time. It is repeated, the same bytes with the same sequence number, at most
twice; after that the link does not guess: it is SUSPECT, and a new session asks again. What a lost answer
means is decided elsewhere (`commands`).

All transitions of the link are in `TRANSITIONS`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final, TypeAlias

from firmware_bridge import messages as m
from firmware_bridge.codec import FROM_DEVICE, STOP, Frame, FrameDecoder, encode
from firmware_bridge.errors import MessageError
from firmware_bridge.machine import LinkStats


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds. The lease is what the machine grants itself to move after each PING."""

    rto_first: float = 0.25
    rto_min: float = 0.1
    """Above the 16 ms of USB adapters and a busy host's hiccups."""
    rto_max: float = 1.0
    hello_every: float = 0.5
    ping_idle: float = 0.5
    ping_motion: float = 0.25
    lease: float = 2.0
    suspect_idle: float = 1.5
    suspect_motion: float = 0.75
    """Without a valid frame for so long the link is SUSPECT."""
    down_after: float = 3.0
    """... and so long after the last valid frame, or after opening, DOWN."""


SENDS: Final = 3
"""The first try and at most two repetitions."""

WATCHED: Final = 400
"""Latest frames of which the share of disturbed ones is taken: three minutes of an idle line."""

NOISY: Final = 0.01
"""Share of disturbed frames above which a line counts as noisy, before it fails ..."""

CALM: Final = 0.005
"""... and up to which it counts as calm again."""


class Phase(Enum):
    """Where the conversation stands."""

    CLOSED = auto()
    CONNECTING = auto()
    UP = auto()
    SUSPECT = auto()
    DOWN = auto()


class Turn(Enum):
    """What moves a link from one phase to the next."""

    OPENED = auto()
    CLOSED = auto()
    WELCOMED = auto()
    UNANSWERED = auto()
    """A request was sent three times in vain."""
    SILENT = auto()
    DEAD = auto()


TRANSITIONS: Final[Mapping[tuple[Phase, Turn], Phase]] = {
    (Phase.CLOSED, Turn.OPENED): Phase.CONNECTING,
    (Phase.CONNECTING, Turn.WELCOMED): Phase.UP,
    (Phase.SUSPECT, Turn.WELCOMED): Phase.UP,
    (Phase.DOWN, Turn.WELCOMED): Phase.UP,
    (Phase.UP, Turn.UNANSWERED): Phase.SUSPECT,
    (Phase.UP, Turn.SILENT): Phase.SUSPECT,
    (Phase.CONNECTING, Turn.DEAD): Phase.DOWN,
    (Phase.SUSPECT, Turn.DEAD): Phase.DOWN,
    (Phase.CONNECTING, Turn.CLOSED): Phase.CLOSED,
    (Phase.UP, Turn.CLOSED): Phase.CLOSED,
    (Phase.SUSPECT, Turn.CLOSED): Phase.CLOSED,
    (Phase.DOWN, Turn.CLOSED): Phase.CLOSED,
}
"""Pairs that are not named change nothing."""


@dataclass(frozen=True, slots=True)
class Connected:
    """A session began."""

    welcome: m.Welcome


@dataclass(frozen=True, slots=True)
class Answered:
    """A request has its reply."""

    request: m.HostMessage
    reply: m.DeviceMessage


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Whether the device has seen this request is not known."""

    request: m.HostMessage


@dataclass(frozen=True, slots=True)
class Pushed:
    """Something the device sent by itself."""

    message: m.DeviceMessage


@dataclass(frozen=True, slots=True)
class Quality:
    """The line became noisy, or calm again; `disturbed` as in `LinkStats`."""

    noisy: bool
    disturbed: float


LinkEvent: TypeAlias = Connected | Answered | Unanswered | Pushed | Quality


@dataclass(slots=True)
class _Pending:
    request: m.HostMessage
    seq: int
    wire: bytes
    sends: int
    sent_at: float
    due: float


class HostLink:
    """The host's half.

    Args:
        numbers: gives a fresh random 32-bit number for sessions and nonces.
        timing: all time constants.
    """

    def __init__(self, numbers: Callable[[], int], timing: Timing | None = None) -> None:
        self.timing = timing or Timing()
        self.phase = Phase.CLOSED
        self.moving = False
        """Set by the owner while the machine moves: pings come faster and patience is shorter."""
        self.observing = False
        """Set by the owner when a wrong machine answers: nothing but HELLO is sent, which means the same in
        all versions, and its lease runs out. Each WELCOME is told then, since another machine may come."""
        self._numbers = numbers
        self._decoder = FrameDecoder()
        self._out = bytearray()
        self._events: list[LinkEvent] = []
        self._queue: deque[m.HostMessage] = deque()
        self._pending: _Pending | None = None
        self._session = numbers() & 0xFFFF
        self._nonce = 0
        self._seq = 0
        self._heard_at = 0.0
        self._ping_at = 0.0
        self._pinged = False
        self._hello_at = 0.0
        self._srtt: float | None = None
        self._rttvar = 0.0
        self._rto = self.timing.rto_first
        self._stats = LinkStats()
        self._watched: deque[bool] = deque(maxlen=WATCHED)
        self._noisy = False

    # -- the owner's side ---------------------------------------------------------------------------

    @property
    def stats(self) -> LinkStats:
        """Counters since the link was made."""
        return replace(
            self._stats,
            rx_bad=self._decoder.errors.total,
            srtt=self._srtt,
            rttvar=None if self._srtt is None else self._rttvar,
            rto=self._rto,
            disturbed=self._disturbed(),
        )

    def open(self, now: float) -> None:
        """The port is open."""
        self._decoder = FrameDecoder(self._decoder.errors)
        self._out.clear()
        self._heard_at = now
        self.observing = False
        self._stats = replace(self._stats, opens=self._stats.opens + 1)
        self._turn(Turn.OPENED)
        self._new_session(now)

    def close(self) -> None:
        """The port is gone."""
        self._turn(Turn.CLOSED)
        self._drop_requests()
        self._out.clear()

    def request(self, message: m.HostMessage) -> None:
        """Send a message that has a reply, in turn; ends in `Answered` or `Unanswered`."""
        if self.phase is Phase.UP:
            self._queue.append(message)
        else:
            self._events.append(Unanswered(message))

    def post(self, message: m.HostMessage) -> None:
        """Send a message that has no reply, once."""
        self._send(encode(Frame(message.KIND, 0, self._session, message.to_bytes())))

    def start_over(self, now: float) -> None:
        """Begin a new session, in which everything that is open is asked for."""
        if self.phase is Phase.UP:
            self._lose(Turn.UNANSWERED, now)

    def shout_stop(self) -> None:
        """ESTOP, three times, ahead of everything, whatever the phase; commands before it are withdrawn."""
        self.withdraw()
        self._out[:0] = STOP * 3
        self._sent(3, 3 * len(STOP))

    def withdraw(self) -> None:
        """Commands that wait, or wait for their answer, are not sent again: nobody wants them any more."""
        self._queue = deque(request for request in self._queue if not isinstance(request, m.Command))
        if self._pending is not None and isinstance(self._pending.request, m.Command):
            self._out = self._out.replace(self._pending.wire, b"")
            self._pending = None

    def take(self) -> bytes:
        """Bytes to send."""
        out = bytes(self._out)
        self._out.clear()
        return out

    def events(self) -> list[LinkEvent]:
        """What happened since the last call, in order."""
        events, self._events = self._events, []
        return events

    # -- time -----------------------------------------------------------------------------------------

    def poll(self, now: float) -> None:
        """Whatever is due at `now`."""
        if self.phase is Phase.CLOSED:
            return
        self._check_silence(now)
        if self.phase is not Phase.UP:
            if now >= self._hello_at:
                self._say_hello(now)
            return
        if self._pending is not None and now >= self._pending.due:
            self._repeat(self._pending, now)
        if now >= self._ping_at and self.phase is Phase.UP:
            self._ping_at = now + (self.timing.ping_motion if self.moving else self.timing.ping_idle)
            if self.observing:
                self._say_hello(now)
            elif not any(isinstance(waiting, m.Ping) for waiting in self._queue):
                lease_ms = round(self.timing.lease * 1000)
                ping = m.Ping(round(now * 1000) & 0xFFFFFFFF, lease_ms)
                # First in turn, but never twice in a row: on a line slower than the pings nothing else would
                # ever be sent.
                (self._queue.append if self._pinged else self._queue.appendleft)(ping)
        self._next_request(now)

    def deadline(self) -> float | None:
        """When `poll` is due next (None: when the port opens)."""
        if self.phase is Phase.CLOSED:
            return None
        if self.phase is not Phase.UP:
            return self._hello_at
        silent = self.timing.suspect_motion if self.moving else self.timing.suspect_idle
        times = [self._ping_at, self._heard_at + silent]
        if self._pending is not None:
            times.append(self._pending.due)
        return min(times)

    def mark(self) -> tuple[object, ...]:
        """Differs after a `poll` that did anything."""
        return self.phase, self._session, self._ping_at, self._hello_at, len(self._out)

    def _check_silence(self, now: float) -> None:
        silent = now - self._heard_at
        limit = self.timing.suspect_motion if self.moving else self.timing.suspect_idle
        if self.phase is Phase.UP and silent >= limit:
            self._lose(Turn.SILENT, now)
        if silent >= self.timing.down_after:
            self._turn(Turn.DEAD)

    def _lose(self, turn: Turn, now: float) -> None:
        self._turn(turn)
        self._drop_requests()
        self._new_session(now)

    def _drop_requests(self) -> None:
        lost = [self._pending.request] if self._pending is not None else []
        lost += self._queue
        self._pending = None
        self._queue.clear()
        self._events += [Unanswered(request) for request in lost if not isinstance(request, m.Ping)]

    def _turn(self, turn: Turn) -> None:
        self.phase = TRANSITIONS.get((self.phase, turn), self.phase)

    # -- out --------------------------------------------------------------------------------------------

    def _new_session(self, now: float) -> None:
        self._session = self._session % 0xFFFF + 1
        self._nonce = self._numbers()
        self._hello_at = now

    def _say_hello(self, now: float) -> None:
        self._hello_at = now + self.timing.hello_every
        hello = m.Hello(m.PROTOCOL, m.PROTOCOL, self._nonce)
        self._send(encode(Frame(hello.KIND, 0, self._session, hello.to_bytes())))

    def _next_request(self, now: float) -> None:
        if self._pending is not None or not self._queue or self.phase is not Phase.UP:
            return
        request = self._queue.popleft()
        self._pinged = isinstance(request, m.Ping)
        self._seq = self._seq % 255 + 1
        wire = encode(Frame(request.KIND, self._seq, self._session, request.to_bytes()))
        self._pending = _Pending(request, self._seq, wire, 1, now, now + self._rto)
        self._send(wire)

    def _repeat(self, pending: _Pending, now: float) -> None:
        if pending.sends >= SENDS:
            self._lose(Turn.UNANSWERED, now)
            return
        self._rto = min(self.timing.rto_max, 2 * self._rto)
        pending.sends += 1
        pending.due = now + self._rto
        self._stats = replace(self._stats, retransmits=self._stats.retransmits + 1)
        self._watch(disturbed=1)
        self._send(pending.wire)

    def _send(self, wire: bytes) -> None:
        self._out += wire
        self._sent(1, len(wire))

    def _sent(self, frames: int, size: int) -> None:
        stats = self._stats
        self._stats = replace(stats, tx_frames=stats.tx_frames + frames, tx_bytes=stats.tx_bytes + size)

    # -- in -----------------------------------------------------------------------------------------------

    def feed(self, data: bytes, now: float) -> None:
        """Take bytes from the port."""
        self._stats = replace(self._stats, rx_bytes=self._stats.rx_bytes + len(data))
        bad = self._decoder.errors.total
        frames = self._decoder.feed(data)
        self._watch(good=len(frames), disturbed=self._decoder.errors.total - bad)
        for frame in frames:
            message = self._checked(frame)
            if message is None:
                self._stats = replace(self._stats, rx_ignored=self._stats.rx_ignored + 1)
            else:
                self._stats = replace(self._stats, rx_frames=self._stats.rx_frames + 1)
                self._heard_at = now
                self._message(frame, message, now)
        self._next_request(now)

    def _watch(self, good: int = 0, disturbed: int = 0) -> None:
        """Count frames of a session; what a boot loader says before one is no sign of a bad line."""
        if self.phase is not Phase.UP:
            return
        self._watched.extend([False] * good + [True] * disturbed)
        share = self._disturbed()
        if self._noisy != (share > (CALM if self._noisy else NOISY)):
            self._noisy = not self._noisy
            self._events.append(Quality(self._noisy, share))

    def _disturbed(self) -> float:
        """Of a full window, however few frames came yet: one bad one among the first is no rate."""
        return sum(self._watched) / WATCHED

    def _checked(self, frame: Frame) -> m.DeviceMessage | None:
        """The message, or None for an echo of ours, another session's, or one that can not be read."""
        if not frame.kind & FROM_DEVICE or frame.session != self._session:
            return None
        try:
            message = m.parse(frame)
        except MessageError:
            return None
        greeting = isinstance(message, m.Welcome)
        if self.phase is Phase.CLOSED or greeting != (self.phase is not Phase.UP or self.observing):
            return None
        if isinstance(message, m.Welcome) and message.nonce != self._nonce:
            return None
        return message  # type: ignore[return-value]  # the direction bit was checked

    def _message(self, frame: Frame, message: m.DeviceMessage, now: float) -> None:
        if isinstance(message, m.Welcome) and self.phase is Phase.UP:
            self._events.append(Connected(message))
            return
        if isinstance(message, m.Welcome):
            self._turn(Turn.WELCOMED)
            self._ping_at = now
            self._srtt = None  # it may be another line than before
            self._rto = self.timing.rto_first
            self._stats = replace(self._stats, sessions=self._stats.sessions + 1)
            self._events.append(Connected(message))
            return
        pending = self._pending
        if pending is not None and pending.seq == frame.seq and m.REPLIES[pending.request.KIND] == frame.kind:
            self._pending = None
            if pending.sends == 1:
                self._measure(now - pending.sent_at)
            self._events.append(Answered(pending.request, message))
        elif frame.seq == 0:
            self._events.append(Pushed(message))

    def _measure(self, rtt: float) -> None:
        """Adapt the timeout as in RFC 6298, 2.2 and 2.3.

        Requests that were repeated are not measured (Karn); their doubled timeout (5.5) stays until one is
        measured: `_repeat` doubles, only this sets anew.
        """
        if self._srtt is None:
            self._srtt, self._rttvar = rtt, rtt / 2
        else:
            self._rttvar = 0.75 * self._rttvar + 0.25 * abs(self._srtt - rtt)
            self._srtt = 0.875 * self._srtt + 0.125 * rtt
        self._rto = min(self.timing.rto_max, max(self.timing.rto_min, self._srtt + 4 * self._rttvar))

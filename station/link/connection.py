"""A table's connection: the DEALER, its monitor and the sender, driven by whoever polls."""

from __future__ import annotations

import enum
import math
from typing import Any

import msgspec
import zmq
from zmq.utils.monitor import parse_monitor_message

from station.errors import WireError
from station.link.sender import Sender, SenderState
from station.link.sockets import LinkSettings, Socket, table_socket
from station.link.wire import FromTable, decode_from_central, encode

__all__ = ["Connection", "LinkState", "LinkStatus"]

_FAILED = (
    zmq.EVENT_HANDSHAKE_FAILED_AUTH
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
)
_WATCHED = zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED | _FAILED
_BACK_OFF_S = 1.0
_BACK_OFF_MAX_S = 30.0


class LinkState(enum.Enum):
    """Where the link stands, for people."""

    OFF = "off"
    """No central station is configured."""
    DOWN = "down"
    """The central station cannot be reached."""
    DENIED = "denied"
    """The central station does not know this table's key: the table is not enrolled."""
    REFUSED = "refused"
    """The central station knows the key but takes nothing from this log; see the reason."""
    UP = "up"


class LinkStatus(msgspec.Struct, frozen=True):
    """The link as it is now.

    Args:
        state: see `LinkState`.
        head: seq of the last entry of the log.
        acked: seq up to which the central station has committed, as far as known.
        reason: code of a refusal, for example ``fork`` or ``wrong_table``.
    """

    state: LinkState
    head: int = 0
    acked: int = 0
    reason: str | None = None

    @property
    def code(self) -> str:
        """Identifier for screens: ``central.none``, ``.down``, ``.denied``, ``.fork`` or ``.up``."""
        if self.state is LinkState.OFF:
            return "central.none"
        if self.state is LinkState.REFUSED:
            return "central.fork" if self.reason in ("fork", "rollback") else "central.denied"
        return f"central.{self.state.value}"

    @property
    def unsent(self) -> int:
        """Entries that the central station has not acknowledged."""
        return self.head - self.acked


class Connection:
    """Keeps a table connected to the central station.

    A DEALER that was denied never tries again by itself (libzmq 4.3.5): after a failed handshake the socket
    is closed and a new one is opened after a pause that doubles from 1 s to 30 s.

    Args:
        context: of the thread that drives this object.
        settings: where to connect, and the keys.
        sender: the protocol.
        now: monotonic time in seconds.
    """

    def __init__(
        self, context: zmq.Context[Socket], settings: LinkSettings, sender: Sender, now: float
    ) -> None:
        self._context = context
        self._settings = settings
        self._sender = sender
        self._socket: Socket | None = None
        self._monitor: Socket | None = None
        self._denied = False
        self._back_off_s = _BACK_OFF_S
        self._reopen_at = math.inf
        self._open()
        self.step(now)

    @property
    def sockets(self) -> list[Socket]:
        """What to poll for input. Changes when the socket is recreated."""
        return [socket for socket in (self._socket, self._monitor) if socket is not None]

    @property
    def status(self) -> LinkStatus:
        """The link as it is now."""
        sender = self._sender
        return LinkStatus(self._state(), sender.head.seq, sender.acked, sender.reason)

    def next_deadline(self) -> float:
        """When `step` has something to do even if nothing happens."""
        return min(self._reopen_at, self._sender.next_deadline())

    def step(self, now: float) -> None:
        """Take what has come in and send what is due; never blocks."""
        if now >= self._reopen_at:
            self._open()
        self._watch(now)
        self._receive(now)
        self._send(self._sender.poll(now))

    def close(self) -> None:
        """Close the sockets at once; what is under way is sent again after the next start."""
        socket, monitor = self._socket, self._monitor
        self._socket = self._monitor = None
        if socket is not None and monitor is not None:
            socket.disable_monitor()
            monitor.close(linger=0)  # an open one would keep the context from ending
            socket.close(linger=0)
        self._sender.disconnected()

    def _state(self) -> LinkState:
        if self._denied:
            return LinkState.DENIED
        if self._sender.reason is not None:
            return LinkState.REFUSED
        return LinkState.UP if self._sender.state is SenderState.STREAMING else LinkState.DOWN

    def _open(self) -> None:
        self._reopen_at = math.inf
        self._socket = table_socket(self._context, self._settings)
        self._monitor = self._socket.get_monitor_socket(_WATCHED)
        self._socket.connect(self._settings.endpoint)

    def _watch(self, now: float) -> None:
        while self._monitor is not None and self._monitor.poll(0):
            event: Any = parse_monitor_message(self._monitor.recv_multipart(zmq.NOBLOCK))
            kind = int(event["event"])
            if kind == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                self._denied, self._back_off_s = False, _BACK_OFF_S
                self._sender.connected(now)
            elif kind & _FAILED:
                self._denied = kind == zmq.EVENT_HANDSHAKE_FAILED_AUTH
                self._pause(now)
            else:
                self._sender.disconnected()

    def _pause(self, now: float) -> None:
        self.close()
        self._reopen_at = now + self._back_off_s
        self._back_off_s = min(2 * self._back_off_s, _BACK_OFF_MAX_S)

    def _receive(self, now: float) -> None:
        while self._socket is not None:
            try:
                frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            try:
                message = decode_from_central(frames)
            except WireError:
                continue
            self._send(self._sender.received(message, now))

    def _send(self, messages: list[FromTable]) -> None:
        for message in messages:
            try:
                if self._socket is not None:
                    self._socket.send_multipart(encode(message), zmq.NOBLOCK)
            except zmq.Again:
                return  # no connection or no room: the resend timer brings it again

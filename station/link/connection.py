"""A table's connection: the DEALER, its monitor and the table's end of the link, driven by whoever polls."""

from __future__ import annotations

import math
from typing import Any

import zmq
from zmq.utils.monitor import parse_monitor_message

from station.errors import WireError
from station.link.dialing import Dialing, Patience
from station.link.replicate import SenderState, TableEnd
from station.link.said import Message
from station.link.sockets import LinkSettings, Socket, table_socket
from station.link.status import LinkState, LinkStatus, state_of
from station.link.wire import decode, encode

__all__ = ["Connection", "LinkState", "LinkStatus"]

# Not EVENT_HANDSHAKE_FAILED_PROTOCOL: with it a damaged message can abort the process, see `strangers`.
_FAILED = zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
_WATCHED = zmq.EVENT_CONNECTED | zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED | _FAILED


class Connection:
    """Keeps a table connected to one of its stations.

    Args:
        context: of the thread that drives this object.
        settings: where to connect, and the keys.
        end: the table's end of the link.
        now: monotonic time in seconds.
        patience: when a socket is given up.
    """

    def __init__(
        self,
        context: zmq.Context[Socket],
        settings: LinkSettings,
        end: TableEnd,
        now: float,
        patience: Patience = Patience(),  # noqa: B008 - frozen
    ) -> None:
        self._context = context
        self._settings = settings
        self._end = end
        self._dialing = Dialing(len(settings.endpoints), patience)
        self._socket: Socket | None = None
        self._monitor: Socket | None = None
        self._open(now)

    @property
    def sockets(self) -> list[Socket]:
        """What to poll for input. Changes when the socket is recreated."""
        return [socket for socket in (self._socket, self._monitor) if socket is not None]

    @property
    def status(self) -> LinkStatus:
        """The link as it is now."""
        sender, address = self._end.sender, self._dialing.address
        trouble = self._end.trouble
        return LinkStatus(
            self._state(),
            sender.head.seq,
            sender.acked,
            sender.reason,
            self._settings.endpoints[address][0],
            address > 0,
            "" if trouble is None else trouble.code,
        )

    def next_deadline(self) -> float:
        """When `step` has something to do even if nothing happens."""
        return min(self._dialing.next_deadline(), self._end.next_deadline())

    def step(self, now: float, wall_ms: int) -> None:
        """Take what has come in and send what is due; never blocks.

        Args:
            now: monotonic time in seconds. wall_ms: wall clock, milliseconds since 1970-01-01 UTC.
        """
        if self._dialing.gives_up(now):
            self.close()
        if self._dialing.opens(now):
            self._open(now)
        self._watch(now)
        self._receive(now, wall_ms)
        sender = self._end.sender
        if sender.state is SenderState.STREAMING:
            self._dialing.well(self._end.heard_at)
        elif sender.state is SenderState.REFUSED:
            self._dialing.refused()
        self._send(self._end.poll(now))

    def close(self) -> None:
        """Close the sockets at once; what is under way is sent again after the next start."""
        socket, monitor = self._socket, self._monitor
        self._socket = self._monitor = None
        if socket is not None and monitor is not None:
            socket.disable_monitor()
            monitor.close(linger=0)  # an open one would keep the context from ending
            socket.close(linger=0)
        self._end.disconnected()

    def _state(self) -> LinkState:
        sender = self._end.sender
        if sender.reason is not None:
            return state_of(sender.reason)
        if sender.state is SenderState.STREAMING:
            return LinkState.UP
        return LinkState.DENIED if self._dialing.denied else LinkState.DOWN

    def _open(self, now: float) -> None:
        endpoint, server_key = self._settings.endpoints[self._dialing.address]
        self._socket = table_socket(self._context, self._settings.keys, server_key)
        self._monitor = self._socket.get_monitor_socket(_WATCHED)
        self._socket.connect(endpoint)
        self._dialing.opened(now)

    def _watch(self, now: float) -> None:
        while self._monitor is not None:
            try:
                frames = self._monitor.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            event: Any = parse_monitor_message(frames)
            kind = int(event["event"])
            if kind == zmq.EVENT_CONNECTED:
                self._dialing.reached(now)
            elif kind == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                self._end.connected(now)
            elif kind & _FAILED:
                self.close()
                self._dialing.failed(now, denied=kind == zmq.EVENT_HANDSHAKE_FAILED_AUTH)
            else:  # libzmq reconnects after some losses and not after others, and does not say which
                self.close()
                self._dialing.lost(now)

    def _receive(self, now: float, wall_ms: int) -> None:
        messages: list[Message] = []
        while self._socket is not None:
            try:
                frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                break
            try:
                messages.append(decode(frames))
            except WireError:
                continue  # of another version: the greeting says so
        if messages:
            self._send(self._end.received(messages, now, wall_ms))

    def _send(self, messages: list[Message]) -> None:
        for message in messages:
            try:
                if self._socket is not None:
                    self._socket.send_multipart(encode(message), zmq.NOBLOCK)
            except zmq.Again:
                return  # no connection or no room: the resend timer brings it again


def wait_ms(deadline: float, now: float) -> int | None:
    """Give how long to poll until a deadline, in whole milliseconds; None: until something happens."""
    return None if deadline == math.inf else max(0, math.ceil(1000 * (deadline - now)))

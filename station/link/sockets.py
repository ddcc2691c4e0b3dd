"""The two ZeroMQ sockets of the link with all their options, set before they connect or bind."""

from __future__ import annotations

from typing import TypeAlias

import msgspec
import zmq

from station.errors import LinkError
from station.link import zap
from station.link.keys import KeyPair

__all__ = ["LinkSettings", "Socket", "central_socket", "new_context", "table_socket"]

Socket: TypeAlias = "zmq.Socket[bytes]"

_MAX_MESSAGE = 256 * 1024
_HEARTBEAT_MS = 1500
_HEARTBEAT_TIMEOUT_MS = 4000
"""A dead connection is noticed after 5.5 s at most, a quarter of which is the time to the next heartbeat."""
_TABLE_HANDSHAKE_MS = 8000
_CENTRAL_HANDSHAKE_MS = 30_000
"""Longer than a table waits: at the start of a hall a thousand handshakes stand in line."""


class LinkSettings(msgspec.Struct, frozen=True):
    """How a table reaches the central station.

    Args:
        table_id: the name under which this table's key is enrolled there.
        endpoint: for example ``tcp://192.168.1.2:7700``.
        server_key: public key of the central station (Z85).
        keys: this table's own keys.
        standby: address and public key of a second station, tried when the first cannot be reached.
    """

    table_id: str
    endpoint: str
    server_key: str
    keys: KeyPair
    standby: tuple[str, str] | None = None

    @property
    def endpoints(self) -> tuple[tuple[str, str], ...]:
        """Address and public key of each station, the main one first."""
        main = (self.endpoint, self.server_key)
        return (main,) if self.standby is None else (main, self.standby)


def new_context() -> zmq.Context[Socket]:
    """Give a context for one thread, with room for a hall of tables."""
    context: zmq.Context[Socket] = zmq.Context()
    context.set(zmq.MAX_SOCKETS, 4096)
    return context


def table_socket(context: zmq.Context[Socket], keys: KeyPair, server_key: str) -> Socket:
    """Give a DEALER with the table's keys, for a station with a public key (Z85); not yet connected.

    It has no routing id of its own: the ROUTER then draws one for each connection, and nobody can take over
    that of somebody else. IMMEDIATE makes a send fail at once while there is no connection, not queue.
    """
    socket = context.socket(zmq.DEALER)
    _common(socket)
    socket.set(zmq.IMMEDIATE, 1)
    # A connection whose queue is full when it ends aborts the process at its next heartbeat (libzmq 4.3.5,
    # https://github.com/zeromq/libzmq/issues/4364). The one peer is the station with the pinned key.
    socket.set(zmq.RCVHWM, 0)
    socket.set(zmq.HEARTBEAT_IVL, _HEARTBEAT_MS)
    socket.set(zmq.RECONNECT_IVL, 200)
    socket.set(zmq.RECONNECT_IVL_MAX, 2000)
    socket.set(zmq.CONNECT_TIMEOUT, 2000)
    socket.set(zmq.HANDSHAKE_IVL, _TABLE_HANDSHAKE_MS)
    socket.set(zmq.CURVE_SERVERKEY, server_key.encode())
    socket.set(zmq.CURVE_PUBLICKEY, keys.public.encode())
    socket.set(zmq.CURVE_SECRETKEY, keys.secret.encode())
    return socket


def central_socket(context: zmq.Context[Socket], keys: KeyPair, endpoint: str) -> Socket:
    """Give a bound ROUTER that asks the ZAP handler of `context` about every key.

    It sends no heartbeats itself, only answers: those of the tables say how long their connection counts
    without the next one. Its queues have to be bounded, and with both libzmq aborts; see `table_socket`.

    Raises:
        LinkError: the endpoint cannot be bound.
    """
    socket = context.socket(zmq.ROUTER)
    _common(socket)
    socket.set(zmq.RCVHWM, 1000)
    socket.set(zmq.ROUTER_MANDATORY, 1)
    socket.set(zmq.BACKLOG, 1024)
    socket.set(zmq.HANDSHAKE_IVL, _CENTRAL_HANDSHAKE_MS)
    socket.set(zmq.ZAP_DOMAIN, zap.DOMAIN)
    socket.set(zmq.CURVE_SERVER, 1)
    socket.set(zmq.CURVE_SECRETKEY, keys.secret.encode())
    try:
        socket.bind(endpoint)
    except zmq.ZMQError as error:
        socket.close(linger=0)
        raise LinkError(
            f"The link endpoint {endpoint} cannot be used: {error.strerror}.",
            fix="Use a free port, for example tcp://127.0.0.1:0.",
        ) from None
    return socket


def _common(socket: Socket) -> None:
    socket.set(zmq.LINGER, 0)
    socket.set(zmq.SNDHWM, 1000)
    socket.set(zmq.MAXMSGSIZE, _MAX_MESSAGE)
    socket.set(zmq.HEARTBEAT_TIMEOUT, _HEARTBEAT_TIMEOUT_MS)
    socket.set(zmq.HEARTBEAT_TTL, _HEARTBEAT_TIMEOUT_MS)
    socket.set(zmq.TCP_KEEPALIVE, 1)

"""The ZeroMQ sockets of both channels with all their options, set before they connect or bind."""

from __future__ import annotations

import errno
from typing import Final, TypeAlias

import msgspec
import zmq

from station.errors import LinkError
from station.link import zap
from station.link.keys import KeyPair

__all__ = [
    "LINK",
    "Channel",
    "LinkSettings",
    "Socket",
    "bound_router",
    "central_socket",
    "dealer",
    "new_context",
    "table_socket",
]

Socket: TypeAlias = "zmq.Socket[bytes]"

WATCHED: Final = (
    zmq.EVENT_ACCEPTED
    | zmq.EVENT_DISCONNECTED
    | zmq.EVENT_HANDSHAKE_SUCCEEDED
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
    | zmq.EVENT_HANDSHAKE_FAILED_AUTH
)
"""What the monitor of a bound socket tells; why not more: `station.link.strangers`."""


class Channel(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between the channels; times in milliseconds.

    ``name``: for people. ``max_message``: bytes of the greatest frame. ``queue``: messages that may wait to
    be sent on one connection. ``heartbeat``: how often a table sends one; ``silence``: after how long without
    either end gives up. ``handshake``: how long the table waits for one; ``central_handshake``: the station.
    ``reconnect``, ``reconnect_most``: pause between two attempts; ``connect``: of one attempt.
    ``backlog``: connections that wait to be accepted.
    """

    name: str
    max_message: int
    queue: int
    heartbeat: int
    silence: int
    handshake: int
    central_handshake: int
    reconnect: int
    reconnect_most: int
    connect: int
    backlog: int


LINK: Final = Channel(
    name="link",
    max_message=256 * 1024,
    queue=1000,
    heartbeat=1500,
    silence=4000,  # a dead connection is noticed after 5.5 s at most, with the time to the next heartbeat
    handshake=8000,
    central_handshake=30_000,  # at the start of a hall a thousand handshakes stand in line
    reconnect=200,
    reconnect_most=2000,
    connect=2000,
    backlog=1024,
)
"""The channel of the events."""


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
    """Give the table's socket of the link, not yet connected; see `dealer`."""
    return dealer(context, keys, server_key, LINK)


def central_socket(context: zmq.Context[Socket], keys: KeyPair, endpoint: str) -> Socket:
    """Give the central station's socket of the link; see `bound_router`."""
    return bound_router(context, keys, endpoint, LINK)


def dealer(context: zmq.Context[Socket], keys: KeyPair, server_key: str, channel: Channel) -> Socket:
    """Give a DEALER with the table's keys, for a station with a public key (Z85); not yet connected.

    It has no routing id of its own: the ROUTER then draws one for each connection, and nobody can take over
    that of somebody else. IMMEDIATE makes a send fail at once while there is no connection, not queue.
    """
    socket = context.socket(zmq.DEALER)
    _common(socket, channel)
    socket.set(zmq.IMMEDIATE, 1)
    socket.set(zmq.HEARTBEAT_IVL, channel.heartbeat)
    socket.set(zmq.RECONNECT_IVL, channel.reconnect)
    socket.set(zmq.RECONNECT_IVL_MAX, channel.reconnect_most)
    socket.set(zmq.CONNECT_TIMEOUT, channel.connect)
    socket.set(zmq.HANDSHAKE_IVL, channel.handshake)
    socket.set(zmq.CURVE_SERVERKEY, server_key.encode())
    socket.set(zmq.CURVE_PUBLICKEY, keys.public.encode())
    socket.set(zmq.CURVE_SECRETKEY, keys.secret.encode())
    return socket


def bound_router(context: zmq.Context[Socket], keys: KeyPair, endpoint: str, channel: Channel) -> Socket:
    """Give a bound ROUTER that asks the ZAP handler of `context` about every key.

    It has to be watched (`station.link.watch`): libzmq itself does not bound what it takes in. Its monitor is
    there before the first connection can be. It sends no heartbeats, only answers: those of the tables say
    how long their connection counts without the next one.

    Raises:
        LinkError: the endpoint cannot be bound.
    """
    socket = context.socket(zmq.ROUTER)
    _common(socket, channel)
    socket.set(zmq.ROUTER_MANDATORY, 1)
    socket.set(zmq.BACKLOG, channel.backlog)
    socket.set(zmq.HANDSHAKE_IVL, channel.central_handshake)
    socket.set(zmq.ZAP_DOMAIN, zap.DOMAIN)
    socket.set(zmq.CURVE_SERVER, 1)
    socket.set(zmq.CURVE_SECRETKEY, keys.secret.encode())
    monitor = socket.get_monitor_socket(WATCHED)
    try:
        if not endpoint.startswith("tcp://"):
            raise zmq.ZMQError(errno.EPROTONOSUPPORT)
        socket.bind(endpoint)
    except zmq.ZMQError as error:
        socket.disable_monitor()
        monitor.close(linger=0)
        socket.close(linger=0)
        raise LinkError(
            f"The {channel.name} endpoint {endpoint} cannot be used: {error.strerror}.",
            fix="Use a free port, for example tcp://127.0.0.1:0.",
        ) from None
    return socket


def _common(socket: Socket, channel: Channel) -> None:
    socket.set(zmq.LINGER, 0)
    socket.set(zmq.SNDHWM, channel.queue)
    # A connection whose receive queue is full when it ends aborts the process with its next heartbeat, be it
    # the own one or that of the peer (libzmq 4.3.5, https://github.com/zeromq/libzmq/issues/4364). A queue
    # without a bound is never full. The table's one peer is the station with the pinned key; the station
    # watches what it takes in (`station.link.watch`).
    socket.set(zmq.RCVHWM, 0)
    socket.set(zmq.MAXMSGSIZE, channel.max_message)
    socket.set(zmq.HEARTBEAT_TIMEOUT, channel.silence)
    socket.set(zmq.HEARTBEAT_TTL, channel.silence)
    socket.set(zmq.TCP_KEEPALIVE, 1)

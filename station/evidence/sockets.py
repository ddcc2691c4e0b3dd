"""The two ZeroMQ sockets of the evidence channel: never those of the events, and never waited for."""

from __future__ import annotations

from typing import TypeAlias

import msgspec
import zmq

from station.errors import LinkError
from station.evidence.wire import CHUNK_BYTES
from station.link import zap
from station.link.keys import KeyPair

__all__ = ["EvidenceLink", "Socket", "bound_socket", "connected_socket", "new_context"]

Socket: TypeAlias = "zmq.Socket[bytes]"

_MAX_MESSAGE = CHUNK_BYTES + 1024
_QUEUE = 4
"""Messages that may wait: each table has one on its way."""


class EvidenceLink(msgspec.Struct, frozen=True):
    """How a table brings photos to the central station.

    ``server_key``: public key of the station (Z85); ``endpoint``: None while nobody has said where.
    """

    server_key: str
    keys: KeyPair
    endpoint: str | None = None


def new_context() -> zmq.Context[Socket]:
    """Give a context of its own: one thread for the line beside that of the events."""
    context: zmq.Context[Socket] = zmq.Context()
    context.set(zmq.MAX_SOCKETS, 4096)
    return context


def connected_socket(context: zmq.Context[Socket], keys: KeyPair, server_key: str, endpoint: str) -> Socket:
    """Give a DEALER on its way to the central station; a send fails at once while there is no connection.

    Raises:
        LinkError: that is no endpoint.
    """
    socket = context.socket(zmq.DEALER)
    _common(socket)
    socket.set(zmq.RCVHWM, 0)  # no bound, because of the heartbeats: see `station.link.sockets`
    socket.set(zmq.HEARTBEAT_IVL, 5000)
    socket.set(zmq.IMMEDIATE, 1)
    socket.set(zmq.RECONNECT_IVL, 500)
    socket.set(zmq.RECONNECT_IVL_MAX, 10_000)
    socket.set(zmq.CONNECT_TIMEOUT, 5000)
    socket.set(zmq.CURVE_SERVERKEY, server_key.encode())
    socket.set(zmq.CURVE_PUBLICKEY, keys.public.encode())
    socket.set(zmq.CURVE_SECRETKEY, keys.secret.encode())
    try:
        socket.connect(endpoint)
    except zmq.ZMQError as error:
        socket.close(linger=0)
        raise LinkError(
            f"The evidence endpoint {endpoint} cannot be used: {error.strerror}.",
            fix="Correct evidence_endpoint, for example tcp://192.168.1.2:7702.",
        ) from None
    return socket


def bound_socket(context: zmq.Context[Socket], keys: KeyPair, endpoint: str) -> Socket:
    """Give a bound ROUTER that asks the ZAP handler of `context` about every key.

    Raises:
        LinkError: the endpoint cannot be bound.
    """
    socket = context.socket(zmq.ROUTER)
    _common(socket)
    socket.set(zmq.RCVHWM, _QUEUE)  # so no heartbeats of its own, see `station.link.sockets`
    socket.set(zmq.ROUTER_MANDATORY, 1)
    socket.set(zmq.BACKLOG, 512)
    socket.set(zmq.ZAP_DOMAIN, zap.DOMAIN)
    socket.set(zmq.CURVE_SERVER, 1)
    socket.set(zmq.CURVE_SECRETKEY, keys.secret.encode())
    try:
        socket.bind(endpoint)
    except zmq.ZMQError as error:
        socket.close(linger=0)
        raise LinkError(
            f"The evidence endpoint {endpoint} cannot be used: {error.strerror}.",
            fix="Use a free port, for example tcp://127.0.0.1:0.",
        ) from None
    return socket


def _common(socket: Socket) -> None:
    socket.set(zmq.LINGER, 0)
    socket.set(zmq.SNDHWM, _QUEUE)
    socket.set(zmq.MAXMSGSIZE, _MAX_MESSAGE)
    socket.set(zmq.HANDSHAKE_IVL, 10_000)
    socket.set(zmq.HEARTBEAT_TIMEOUT, 15_000)
    socket.set(zmq.HEARTBEAT_TTL, 15_000)

"""The two ZeroMQ sockets of the evidence channel: never those of the events, and never waited for."""

from __future__ import annotations

from typing import Final

import msgspec
import zmq

from station.errors import LinkError
from station.evidence.wire import CHUNK_BYTES
from station.link.keys import KeyPair
from station.link.sockets import Channel, Socket, bound_router, dealer

__all__ = ["EVIDENCE", "EvidenceLink", "bound_socket", "connected_socket"]

EVIDENCE: Final = Channel(
    name="evidence",
    max_message=CHUNK_BYTES + 1024,
    queue=4,  # each table has one message on its way
    heartbeat=5000,
    silence=15_000,
    handshake=10_000,
    central_handshake=10_000,
    reconnect=500,
    reconnect_most=10_000,
    connect=5000,
    backlog=512,
)
"""The channel of the photos."""


class EvidenceLink(msgspec.Struct, frozen=True):
    """How a table brings photos to the central station.

    ``server_key``: public key of the station (Z85); ``endpoint``: None while nobody has said where.
    """

    server_key: str
    keys: KeyPair
    endpoint: str | None = None


def connected_socket(context: zmq.Context[Socket], keys: KeyPair, server_key: str, endpoint: str) -> Socket:
    """Give a DEALER on its way to the central station; a send fails at once while there is no connection.

    Raises:
        LinkError: that is no endpoint.
    """
    socket = dealer(context, keys, server_key, EVIDENCE)
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
    """Give the central station's ROUTER for photos; see `station.link.sockets.bound_router`.

    Raises:
        LinkError: the endpoint cannot be bound.
    """
    return bound_router(context, keys, endpoint, EVIDENCE)

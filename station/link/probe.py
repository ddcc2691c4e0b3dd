"""Trying keys and a central station from outside, for a self-test. Nothing is booked."""

from __future__ import annotations

import os
import socket
import time
from typing import Any, Final
from urllib.parse import urlsplit

import zmq
from nacl.signing import SigningKey
from zmq.utils.monitor import parse_monitor_message

from station.errors import WireError
from station.link.keys import KeyPair
from station.link.said import SESSION_SIZE, Nack, Ping
from station.link.sockets import Socket, new_context, table_socket
from station.link.wire import NackCode, decode, encode
from station.log.chain import LOG_ID_SIZE

__all__ = ["handshake", "pair_fits", "unreachable"]

_PATIENCE_S: Final = 2.0
_WATCHED: Final = (
    zmq.EVENT_HANDSHAKE_SUCCEEDED
    | zmq.EVENT_HANDSHAKE_FAILED_AUTH
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
    | zmq.EVENT_CONNECT_RETRIED
    | zmq.EVENT_DISCONNECTED
)
_LATE: Final = frozenset({NackCode.EXPIRED, NackCode.REVOKED})
"""Keys that are let in only to hear this."""


def pair_fits(pair: KeyPair) -> bool:
    """Whether the public halves are those of the secret ones."""
    signs = pair.signer is None or bytes(SigningKey(pair.signer).verify_key).hex() == pair.verify
    return signs and zmq.curve_public(pair.secret.encode()).decode() == pair.public


def unreachable(endpoint: str, timeout_s: float = _PATIENCE_S) -> str | None:
    """Give why no TCP connection to ``tcp://HOST:PORT`` comes about; None when it does."""
    try:
        address = urlsplit(endpoint)
        host, port = address.hostname, address.port
    except ValueError:
        host = port = None
    if not host or not port:
        return "that is no address"
    try:
        socket.create_connection((host, port), timeout_s).close()
    except TimeoutError:
        return "no answer"
    except OSError as error:
        return error.strerror or str(error)
    return None


def handshake(endpoint: str, server_key: str, keys: KeyPair, timeout_s: float = _PATIENCE_S) -> str:
    """Try the keys at a central station that can be reached.

    Args:
        endpoint: ``tcp://HOST:PORT``.
        server_key: public key of the station (Z85).
        keys: the table's own.
        timeout_s: how long to wait.

    Returns:
        ``up``; ``denied``: it does not know our key; ``expired`` or ``revoked``: it takes our key no more;
        ``silent``: within `timeout_s` no handshake came about, as with another server key or no station.
    """
    until = time.monotonic() + timeout_s
    context = new_context()
    dealer = table_socket(context, keys, server_key)
    monitor = dealer.get_monitor_socket(_WATCHED)
    try:
        try:
            dealer.connect(endpoint)
        except zmq.ZMQError:
            return "silent"
        if not monitor.poll(int(1000 * timeout_s)):
            return "silent"
        event: Any = parse_monitor_message(monitor.recv_multipart())
        if event["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED:
            return _standing(dealer, max(0.0, until - time.monotonic()))
        return "denied" if event["event"] == zmq.EVENT_HANDSHAKE_FAILED_AUTH else "silent"
    finally:
        dealer.disable_monitor()
        monitor.close(linger=0)
        dealer.close(linger=0)
        context.term()


def _standing(dealer: Socket, timeout_s: float) -> str:
    """Ask for an acknowledgement without a greeting: a key that counts is told to greet first, no more."""
    dealer.send_multipart(encode(Ping(os.urandom(SESSION_SIZE), bytes(LOG_ID_SIZE), 0)))
    if dealer.poll(int(1000 * timeout_s)):
        try:
            answer = decode(dealer.recv_multipart())
        except WireError:
            return "up"
        if isinstance(answer, Nack) and answer.code in _LATE:
            return answer.code
    return "up"

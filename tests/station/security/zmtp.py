"""A peer of ZeroMQ made by hand: it proves a real key, and then sends whatever bytes an attacker wants.

Sources: ZMTP 3.0 (https://rfc.zeromq.org/spec/23/), CURVE (https://rfc.zeromq.org/spec/26/), and for PING
ZMTP 3.1 (https://rfc.zeromq.org/spec/37/).
"""

from __future__ import annotations

import os
import socket
import struct
from itertools import count

from nacl.bindings import (
    crypto_box,
    crypto_box_afternm,
    crypto_box_beforenm,
    crypto_box_keypair,
    crypto_box_open,
)
from zmq.utils import z85

from station.link.keys import KeyPair

__all__ = ["RawPeer"]

_GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"CURVE".ljust(20, b"\0") + bytes(32)
_COMMAND, _MORE, _LONG = 0x04, 0x01, 0x02
_INNER_COMMAND = 0x02


class RawPeer:
    """A connection that is through its handshake.

    Args:
        port: of the station, on this machine. keys: its own. server_key: the station's public key (Z85).
        routing_id: under which it wants to be known.
    """

    def __init__(self, port: int, keys: KeyPair, server_key: str, routing_id: bytes = b"") -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self._nonces = count(1)
        server = z85.decode(server_key)
        public, self._secret = crypto_box_keypair()
        self.socket.sendall(_GREETING)
        self._read(64)
        box = crypto_box(bytes(64), b"CurveZMQHELLO---" + self._nonce(1), server, self._secret)
        self._command(b"\x05HELLO\x01\x00" + bytes(72) + public + self._nonce(next(self._nonces)) + box)
        welcome = self._frame()[8:]
        opened = crypto_box_open(welcome[16:], b"WELCOME-" + welcome[:16], server, self._secret)
        transient, cookie = opened[:32], opened[32:]
        random = os.urandom(16)
        vouch = crypto_box(public + server, b"VOUCH---" + random, transient, z85.decode(keys.secret))
        said = z85.decode(keys.public) + random + vouch + _property(b"Socket-Type", b"DEALER")
        said += _property(b"Identity", routing_id)
        number = self._nonce(next(self._nonces))
        box = crypto_box(said, b"CurveZMQINITIATE" + number, transient, self._secret)
        self._command(b"\x08INITIATE" + cookie + number + box)
        ready = self._frame()
        assert ready.startswith(b"\x05READY"), ready[:40]
        self._shared = crypto_box_beforenm(transient, self._secret)

    def part(self, body: bytes, *, more: bool = False) -> bytes:
        """Give the bytes of one frame of a message."""
        return self._sealed(_MORE if more else 0, body)

    def ping(self) -> bytes:
        """Give the bytes of a heartbeat."""
        return self._sealed(_INNER_COMMAND, b"\x04PING" + bytes(2))

    def reset(self) -> None:
        """End the connection at once, with what is not read yet."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def _sealed(self, flags: int, body: bytes) -> bytes:
        number = self._nonce(next(self._nonces))
        box = crypto_box_afternm(bytes([flags]) + body, b"CurveZMQMESSAGEC" + number, self._shared)
        return _framed(0, b"\x07MESSAGE" + number + box)

    def _command(self, body: bytes) -> None:
        self.socket.sendall(_framed(_COMMAND, body))

    def _frame(self) -> bytes:
        flags = self._read(1)[0]
        size = int.from_bytes(self._read(8)) if flags & _LONG else self._read(1)[0]
        return self._read(size)

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise ConnectionError("cut off")
            data += more
        return data

    @staticmethod
    def _nonce(number: int) -> bytes:
        return number.to_bytes(8)


def _framed(flags: int, body: bytes) -> bytes:
    if len(body) < 256:
        return bytes([flags, len(body)]) + body
    return bytes([flags | _LONG]) + len(body).to_bytes(8) + body


def _property(name: bytes, value: bytes) -> bytes:
    return bytes([len(name)]) + name + len(value).to_bytes(4) + value

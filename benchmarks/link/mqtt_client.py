"""Tables that publish each event with QoS 1, and learn on a topic of their own what is committed.

The least of MQTT 3.1.1 that this takes (https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/mqtt-v3.1.1.html): a
library in Python on this side would only make this contestant slower.
"""

from __future__ import annotations

import struct
import time

from benchmarks.link.events import pack
from benchmarks.link.stream import StreamClient

__all__ = ["MqttClient"]

WINDOW = 16
"""Events under way for each table, as many as with our own link."""

_CONNACK, _PUBLISH, _SUBACK = 2, 3, 9


def _packet(first: int, rest: bytes) -> bytes:
    """Give a control packet: its first byte, the length in sevens of bits, the rest."""
    length, left = bytearray(), len(rest)
    while True:
        left, seven = left >> 7, left & 127
        length.append(seven | 128 if left else seven)
        if not left:
            return bytes([first]) + length + rest


def _text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


class MqttClient(StreamClient):
    """MQTT 3.1.1 with QoS 1 and an acknowledgement of the application."""

    def connect(self) -> None:
        """Begin to connect all tables."""
        self._subscribed = 0
        super().connect()

    def ready(self) -> int:
        """Give how many tables are connected."""
        return self._subscribed

    def began(self, table: int) -> None:
        """Say what a connection begins with."""
        self.send(table, _packet(0x10, _text("MQTT") + b"\x04\x02\x00\x00" + _text(f"T{table}")))

    def kick(self, table: int) -> None:
        """Send what a table's window has room for."""
        peer, chain = self.peers[table], self.chains[table]
        until = min(chain.head.seq, self.meter.acked[table] + WINDOW)
        if peer.sent >= until:
            return
        topic, data = _text(f"ev/{table}"), bytearray()
        for entry in chain.entries_of(chain.log_id, peer.sent, until - peer.sent):
            number = struct.pack(">H", (entry.seq - 1) % 65535 + 1)
            data += _packet(0x32, topic + number + pack(entry))
        peer.sent = until
        self.send(table, bytes(data))

    def understood(self, table: int) -> None:
        """Take complete messages."""
        came, at = bytes(self.peers[table].came), 0
        while (whole := _next(came, at)) is not None:
            kind, body, at = whole
            self._take(table, kind, body)
        del self.peers[table].came[:at]

    def _take(self, table: int, kind: int, body: bytes) -> None:
        if kind == _CONNACK:
            if body[1]:
                raise ConnectionError(f"the broker refuses table {table}")
            self.send(table, _packet(0x82, b"\x00\x01" + _text(f"ack/{table}") + b"\x00"))
        elif kind == _SUBACK:
            self._subscribed += 1
        elif kind == _PUBLISH:
            (topic,) = struct.unpack_from(">H", body)
            self.meter.ack(table, int(body[2 + topic :]), time.perf_counter())
            if self.saturated:
                self.top_up(table)
            self.kick(table)


def _next(came: bytes, at: int) -> tuple[int, bytes, int] | None:
    """Give kind, body and end of the packet that begins at `at`, or None while it is not complete."""
    size, shift, pos = 0, 0, at + 1
    while True:
        if pos >= len(came):
            return None
        size |= (came[pos] & 127) << shift
        shift, pos = shift + 7, pos + 1
        if not came[pos - 1] & 128:
            break
    end = pos + size
    return (came[at] >> 4, came[pos:end], end) if end <= len(came) else None

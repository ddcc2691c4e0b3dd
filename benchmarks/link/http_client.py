"""Tables that POST each event and wait for the answer, over a connection that stays open."""

from __future__ import annotations

import time

from benchmarks.link.events import pack
from benchmarks.link.stream import StreamClient

__all__ = ["HttpClient"]

_HEAD = (
    b"POST /events HTTP/1.1\r\nHost: central\r\nContent-Type: application/octet-stream\r\n"
    b"Content-Length: %d\r\n\r\n"
)


class HttpClient(StreamClient):
    """HTTP/1.1, one request under way for each table."""

    def ready(self) -> int:
        """Give how many tables are connected."""
        return len(self.peers)

    def kick(self, table: int) -> None:
        """Send what a table's window has room for."""
        peer, chain = self.peers[table], self.chains[table]
        if peer.sent == self.meter.acked[table] and peer.sent < chain.head.seq:
            body = pack(chain.list[peer.sent])
            peer.sent += 1
            self.send(table, _HEAD % len(body) + body)

    def understood(self, table: int) -> None:
        """Take complete messages."""
        peer = self.peers[table]
        head, blank, rest = bytes(peer.came).partition(b"\r\n\r\n")
        if not blank:
            return
        lines = head.lower().split(b"\r\n")
        size = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
        if len(rest) < size:
            return
        if not lines[0].startswith(b"http/1.1 200"):
            raise ConnectionError(head.decode())
        del peer.came[:]
        self.meter.ack(table, int(rest[:size]), time.perf_counter())
        if self.saturated:
            self.top_up(table)
        self.kick(table)

"""A client whose tables each have one TCP connection of their own."""

from __future__ import annotations

import contextlib
import select
import socket
from functools import partial

from benchmarks.link.client import Client

__all__ = ["Peer", "StreamClient"]


class Peer:
    """One connection: what is still to be sent, and what came in and is not understood yet."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address, timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.out = bytearray()
        self.came = bytearray()
        self.sent = 0
        """Seq of the last event that was sent."""


class StreamClient(Client):
    """Tables with sockets. A contestant implements `began`, `understood` and `kick`."""

    def connect(self) -> None:
        """Begin to connect all tables."""
        host, port = self.address.split(":")
        self.peers = [Peer((host, int(port))) for _ in self.chains]
        for table, peer in enumerate(self.peers):
            fd = peer.socket.fileno()
            self.handlers[fd] = partial(self._moved, table)
            self.epoll.register(fd, select.EPOLLIN)
            self.began(table)

    def began(self, table: int) -> None:
        """Say what a connection begins with."""

    def understood(self, table: int) -> None:
        """Take complete messages out of `Peer.came`."""
        raise NotImplementedError

    def send(self, table: int, data: bytes) -> None:
        """Send, now or when there is room."""
        peer = self.peers[table]
        if not peer.out:
            with contextlib.suppress(BlockingIOError):
                data = data[peer.socket.send(data) :]
            if not data:
                return
            self.epoll.modify(peer.socket.fileno(), select.EPOLLIN | select.EPOLLOUT)
        peer.out += data

    def close(self) -> None:
        """Close every connection."""
        for peer in self.peers:
            peer.socket.close()

    def _moved(self, table: int, mask: int) -> None:
        peer = self.peers[table]
        if mask & select.EPOLLOUT and peer.out:
            del peer.out[: peer.socket.send(peer.out)]
            if not peer.out:
                self.epoll.modify(peer.socket.fileno(), select.EPOLLIN)
        if mask & ~select.EPOLLOUT:
            data = peer.socket.recv(65536)
            if not data:
                raise ConnectionError(f"the server has closed the connection of table {table}")
            peer.came += data
            self.understood(table)

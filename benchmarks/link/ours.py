"""The tables' half of our link without their disks: the real sender and connection, many in one thread."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

import zmq

from benchmarks.link.client import Client
from station.link.connection import Connection
from station.link.keys import KeyPair
from station.link.replicate import SenderTimes, TableEnd
from station.link.said import SESSION_SIZE
from station.link.sockets import LinkSettings, new_context
from station.link.status import LinkState

__all__ = ["OurClient", "draw_keys", "load_keys"]

TICK_S = 0.1


def draw_keys(path: Path, tables: int) -> dict[str, str]:
    """Draw keys for so many tables and keep them in a file; give table id → public key."""
    pairs = [tuple(key.decode() for key in zmq.curve_keypair()) for _ in range(tables)]
    path.write_text("\n".join(" ".join(pair) for pair in pairs))
    return {f"T{number}": public for number, (public, _) in enumerate(pairs)}


def load_keys(path: Path) -> list[KeyPair]:
    """Read what `draw_keys` has written."""
    return [KeyPair(*line.split(" ")) for line in path.read_text().splitlines()]


class OurClient(Client):
    """Tables of our link. `address`: endpoint and server key, with a blank between them."""

    def __init__(self, tables: int, address: str, keys: list[KeyPair]) -> None:
        super().__init__(tables, address)
        self._keys = keys
        self._context = new_context()
        self._context.set(zmq.MAX_SOCKETS, 4 * tables + 64)
        self._ends: list[TableEnd] = []
        self._connections: list[Connection] = []
        self._fds: list[list[int]] = []
        self._ticked = 0.0

    def connect(self) -> None:
        """Begin to connect all tables."""
        endpoint, server_key = self.address.split(" ")
        for table, chain in enumerate(self.chains):
            name = f"T{table}"
            end = TableEnd(
                name,
                chain,
                lambda: os.urandom(SESSION_SIZE),
                SenderTimes(),
                clock=time.monotonic,
                on_stored=_nothing,
                on_value=_nothing,
                on_time=_nothing,
            )
            settings = LinkSettings(name, endpoint, server_key, self._keys[table])
            self._ends.append(end)
            self._connections.append(Connection(self._context, settings, end, time.monotonic()))
            self._fds.append([])
            self._watch(table)

    def ready(self) -> int:
        """Give how many tables are connected."""
        return sum(connection.status.state is LinkState.UP for connection in self._connections)

    def kick(self, table: int) -> None:
        """Send what a table's window has room for."""
        self._ends[table].sender.appended(self.chains[table].head)
        self._step(table)

    def pump(self, timeout_s: float) -> None:
        """Take what has come in."""
        super().pump(timeout_s)
        now = time.monotonic()
        if now - self._ticked >= TICK_S:
            self._ticked = now
            for table, connection in enumerate(self._connections):
                if connection.next_deadline() <= now:
                    self._step(table)

    def close(self) -> None:
        """Close every connection."""
        for connection in self._connections:
            connection.close()
        self._context.destroy(linger=0)

    def _moved(self, table: int, _: int) -> None:
        self._step(table)

    def _step(self, table: int) -> None:
        connection, sender = self._connections[table], self._ends[table].sender
        while True:
            connection.step(time.monotonic(), int(1000 * time.time()))
            self.meter.ack(table, sender.acked, time.perf_counter())
            if self.saturated and self.top_up(table):
                sender.appended(self.chains[table].head)
                continue  # perhaps nothing is under way any more: nothing would come to wake us
            # A socket's descriptor tells only of what is new (https://zeromq.org/faq, ZMQ_FD): what came in
            # while we were sending has to be asked for.
            if not any(socket.get(zmq.EVENTS) & zmq.POLLIN for socket in connection.sockets):
                break
        self._watch(table)

    def _watch(self, table: int) -> None:
        fds = [socket.get(zmq.FD) for socket in self._connections[table].sockets]
        if fds == self._fds[table]:
            return
        for fd in self._fds[table]:
            if self.handlers.pop(fd, None):
                try:
                    self.epoll.unregister(fd)
                except OSError:
                    continue  # closed with its socket
        for fd in fds:
            self.handlers[fd] = partial(self._moved, table)
            self.epoll.register(fd, 1)
        self._fds[table] = fds


def _nothing(*_: object) -> None:
    """Hear what these tables have no use for."""

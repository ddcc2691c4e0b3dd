"""How much libzmq holds of each connection: what came in over the wire, less what it has handed over. Pure.

It matters because nothing in libzmq bounds it: a message is collected until its last part has come, and the
number of parts is not limited; nor does libzmq read a second connection that gives the routing id of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

__all__ = ["EACH_BYTES", "TOGETHER_BYTES", "Holding", "on_the_wire"]

EACH_BYTES = 4 * 1024 * 1024
"""Most that is held of one connection: four times what a table has under way."""
TOGETHER_BYTES = 64 * 1024 * 1024
"""Most that is held of all connections."""
_HEARTBEATS_PER_S = 100.0
"""Bytes a second that are never handed over."""


def on_the_wire(frames: Iterable[bytes]) -> int:
    """Give how many bytes the frames of a message took on the wire.

    CURVE adds 33 bytes, ZMTP 2, or 9 where the whole has more than 255
    (https://rfc.zeromq.org/spec/26/, https://rfc.zeromq.org/spec/23/).
    """
    size = 0
    for frame in frames:
        length = len(frame)
        size += length + (35 if length <= 222 else 42)
    return size


class _Connection:
    def __init__(self, now: float, taken: int) -> None:
        self.since = now
        self.taken_before = self.taken = taken
        self.received_then = 0
        self.key = ""


class Holding:
    """What is held of each connection, by the number of its file descriptor.

    One thread calls `took`, another everything else.

    Args:
        each: most bytes of one connection. together: most bytes of all.
    """

    def __init__(self, each: int = EACH_BYTES, together: int = TOGETHER_BYTES) -> None:
        self._each = each
        self._together = together
        self._open: dict[int, _Connection] = {}
        self._taken: dict[int, int] = {}
        self._before: dict[int, int] = {}
        """What was taken under a number when its last connection ended."""
        self._keys: dict[int, str] = {}

    def took(self, fd: int, size: int) -> None:
        """Take note that libzmq handed over a message of so many bytes on the wire."""
        self._taken[fd] = self._taken.get(fd, 0) + size

    def named(self, fd: int, key: str) -> None:
        """Take note of whose connection it is (public key, Z85)."""
        self._keys[fd] = key

    def opened(self, fd: int, now: float) -> None:
        """Take note of a new connection (monotonic seconds)."""
        self._keys.pop(fd, None)
        self._open[fd] = _Connection(now, self._before.get(fd, 0))

    def closed(self, fd: int) -> None:
        """Take note of the end of a connection."""
        self._open.pop(fd, None)
        self._before[fd] = self._taken.get(fd, 0)

    def __len__(self) -> int:
        """Return how many connections there are."""
        return len(self._open)

    def key_of(self, fd: int) -> str:
        """Give whose connection it is; empty when it has not said a whole message."""
        return self._keys.get(fd, "")

    def over(self, received: Callable[[int], int | None], now: float) -> list[int]:
        """Give the connections that are to be cut.

        Args:
            received: gives the bytes that came in over a connection since it was made; None: it has ended.
            now: monotonic seconds.
        """
        held: dict[int, float] = {}
        for fd, connection in self._open.items():
            size = received(fd)
            if size is not None:
                held[fd] = self._held(connection, fd, size, now)
        cut = [fd for fd, size in held.items() if size > self._each]
        left = sum(size for fd, size in held.items() if size <= self._each)
        for fd in sorted(held, key=held.__getitem__, reverse=True):
            if left <= self._together:
                break
            if held[fd] <= self._each:
                cut.append(fd)
                left -= held[fd]
        return cut

    def _held(self, connection: _Connection, fd: int, received: int, now: float) -> float:
        taken = self._taken.get(fd, 0)
        if taken != connection.taken:
            connection.taken, connection.received_then = taken, received
        # Heartbeats are never handed over; what comes after the last message is nearly all held.
        heartbeats = _HEARTBEATS_PER_S * (now - connection.since)
        all_in_all = received - (taken - connection.taken_before) - heartbeats
        return max(0.0, all_in_all, float(received - connection.received_then))

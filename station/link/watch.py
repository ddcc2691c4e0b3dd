"""A thread beside a bound socket that cuts whoever fills the memory, and counts whoever never proved a key.

libzmq reads on from every connection whatever happens: a bound on its receive queue (`RCVHWM`) counts whole
messages, so not the parts of one that has no end, and makes it abort when it is reached
(https://github.com/zeromq/libzmq/issues/4364). So the kernel is asked how many bytes came in over each
connection, and a connection is shut down when too many of them were not handed over. A table that keeps to
the protocol connects again and goes on where it was.

The thread is one of its own because a commit on a slow disk must not keep it from looking.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec
import zmq
from zmq.utils.monitor import parse_monitor_message

from station.link.holding import Holding, on_the_wire
from station.link.loop_thread import Waker
from station.link.sockets import Socket
from station.link.strangers import Strangers

__all__ = ["OVERRUN", "Cut", "Watch"]

OVERRUN = "overrun"
"""It sent more than can be taken in."""
_LOOK_MS = 100
_RECEIVED_AT = 128
"""Where `tcpi_bytes_received` lies in `struct tcp_info`, the same since Linux 4.1 (linux/tcp.h)."""
_RECEIVED = struct.Struct("=Q")
_ROUND = 1000
_PEERS = 4096


class Cut(msgspec.Struct, frozen=True):
    """A connection that was cut: the public key (Z85), where it is known, and the network address."""

    key: str
    address: str


class Watch:
    """Watches a socket of `station.link.sockets.bound_router`, from `start` to `close`.

    `took` and `news` belong to the socket's thread.

    Args:
        router: the socket.
        wake: called in the watching thread when there is news.
        holding: how much may be held.
    """

    def __init__(
        self, router: Socket, wake: Callable[[], object] = lambda: None, holding: Holding | None = None
    ) -> None:
        self._router = router
        self._monitor: Socket = router.get_monitor_socket()
        self._port = int(router.get_string(zmq.LAST_ENDPOINT).rpartition(":")[2])
        self._wake = wake
        self._holding = Holding() if holding is None else holding
        self._strangers = Strangers()
        self._ended: deque[int] = deque()
        self._cuts: deque[Cut] = deque()
        self._fds: dict[bytes, int] = {}
        self._stop = threading.Event()
        self._stopping = Waker()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._main, name="watch", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self) -> None:
        """End the thread and the monitor; the socket is closed after it."""
        self._stop.set()
        self._stopping.wake()
        if self._thread.is_alive():
            self._thread.join()
        self._stopping.close()
        self._router.disable_monitor()
        self._monitor.close(linger=0)

    def took(self, peer: bytes, frame: zmq.Frame, key: str, frames: list[bytes]) -> None:
        """Take note of a message that was taken from the socket.

        Args:
            peer: its routing id. frame: one of its frames, as an object. key: of the peer. frames: all of it.
        """
        fd = self._fds.get(peer)
        if fd is None:
            if len(self._fds) >= _PEERS:
                self._fds.clear()
            fd = self._fds[peer] = _descriptor(frame)
            self._holding.named(fd, key)
        self._holding.took(fd, on_the_wire(frames))

    def news(self) -> tuple[int, list[Cut]]:
        """Give how many connections ended without a proof, and which were cut, since the last call.

        Raises whatever ended the watching thread.
        """
        if self._error is not None:
            raise self._error
        ended = 0
        while self._ended:
            ended += self._ended.popleft()
        cuts = []
        while self._cuts:
            cuts.append(self._cuts.popleft())
        return ended, cuts

    # From here on: the watching thread.

    def _main(self) -> None:
        poller, look_at = zmq.Poller(), 0.0
        poller.register(self._monitor, zmq.POLLIN)
        poller.register(self._stopping.fd, zmq.POLLIN)
        try:
            while not self._stop.is_set():
                poller.poll(_LOOK_MS if len(self._holding) else None)
                self._follow()
                if time.monotonic() >= look_at:
                    self._look()
                    look_at = time.monotonic() + _LOOK_MS / 1000
        except BaseException as error:
            self._error = error
            self._wake()

    def _follow(self) -> None:
        """Take in which connections came and went."""
        ended = 0
        for _ in range(_ROUND):
            try:
                told: Any = parse_monitor_message(self._monitor.recv_multipart(zmq.NOBLOCK))
            except zmq.Again:
                break
            event, fd = int(told["event"]), int(told["value"])
            ended += self._strangers.take(event, fd)
            if event == zmq.EVENT_ACCEPTED:
                self._holding.opened(fd, time.monotonic())
            elif event == zmq.EVENT_DISCONNECTED:
                self._holding.closed(fd)
        if ended:
            self._ended.append(ended)
            self._wake()

    def _look(self) -> None:
        cut = self._holding.over(_received, time.monotonic())
        for fd in cut:
            address = _shut(fd, self._port)
            if address is not None:
                self._cuts.append(Cut(self._holding.key_of(fd), address))
            self._holding.closed(fd)
        if cut:
            self._wake()


def _descriptor(frame: zmq.Frame) -> int:
    """Give the file descriptor of the connection that a frame came over; -1 when libzmq does not know it."""
    try:
        return int(frame.get(zmq.SRCFD))
    except zmq.ZMQError:  # the peer was gone before libzmq asked for its address
        return -1


def _received(fd: int) -> int | None:
    """Give the bytes that came in over a connection of libzmq; None when it has ended."""
    try:
        borrowed = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=fd)
    except OSError:  # libzmq closed it just now
        return None
    try:
        info = borrowed.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RECEIVED_AT + _RECEIVED.size)
    except OSError:  # another kind of file has the number by now
        return None
    finally:
        borrowed.detach()
    if len(info) < _RECEIVED_AT + _RECEIVED.size:
        return None
    return int(_RECEIVED.unpack_from(info, _RECEIVED_AT)[0])


def _shut(fd: int, port: int) -> str | None:
    """Shut a connection down, and give the peer's address; None when it is none of the port (any more)."""
    try:
        borrowed = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=fd)
    except OSError:  # libzmq closed it just now
        return None
    try:
        if borrowed.getsockname()[1] != port:
            return None
        address = str(borrowed.getpeername()[0])
        # With this the close of libzmq, which follows, tells the peer at once, whatever is still under way.
        borrowed.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        borrowed.shutdown(socket.SHUT_RDWR)
    except OSError:  # it has ended by itself
        return None
    finally:
        borrowed.detach()
    return address

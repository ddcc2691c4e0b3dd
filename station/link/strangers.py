"""Connections that end before they have proved who they are, as the monitor of the central socket tells them.

The ZAP handler hears only of those that come as far as showing a key. Who speaks another mechanism, another
station's key, or no ZeroMQ at all, is cut off by libzmq before; without this nobody would know.

Why each was cut off is not asked: libzmq would tell it by ``ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL``, but in
4.3.5 telling it overwrites `errno` where a damaged message of a connection that is up is refused
(``curve_mechanism_base_t::decode``). The connection then counts as one that waits, and the next heartbeat
after its end aborts the process. No socket of ours watches that event.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import zmq
from zmq.utils.monitor import parse_monitor_message

from station.link.sockets import Socket

__all__ = ["NO_HANDSHAKE", "Knocks", "Strangers"]

NO_HANDSHAKE = "no_handshake"
"""It spoke without keys, with those of another station, or no ZeroMQ, or broke off."""

_WATCHED = (
    zmq.EVENT_ACCEPTED
    | zmq.EVENT_DISCONNECTED
    | zmq.EVENT_HANDSHAKE_SUCCEEDED
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
    | zmq.EVENT_HANDSHAKE_FAILED_AUTH
)
_ROUND = 1000


class Knocks:
    """Tells strangers from a table that stops, or loses its network, in its handshake: by how often.

    Args:
        least: so many connections without a handshake are strangers,
        within_s: when they end within this time, in seconds.
    """

    def __init__(self, least: int = 5, within_s: float = 60.0) -> None:
        self._within_s = within_s
        self._ended: deque[float] = deque(maxlen=least)

    def ended(self, count: int, now: float) -> bool:
        """Take how many connections ended without a handshake at `now`; tell whether these are strangers."""
        self._ended.extend([now] * min(count, self._ended.maxlen or 0))
        full = len(self._ended) == self._ended.maxlen
        return count > 0 and full and now - self._ended[0] <= self._within_s


class Strangers:
    """Reads the monitor of the central station's socket. Call `close` before the socket is closed."""

    def __init__(self, router: Socket) -> None:
        self.monitor: Socket = router.get_monitor_socket(_WATCHED)
        """What to poll for input."""
        self._router = router
        self._proved = 0
        self._fresh: dict[int, int] = {}

    def ended(self) -> int:
        """Give how many connections ended that never proved who they are, since the last call."""
        found = 0
        for _ in range(_ROUND):
            try:
                event: Any = parse_monitor_message(self.monitor.recv_multipart(zmq.NOBLOCK))
            except zmq.Again:
                break
            found += self._take(int(event["event"]), int(event["value"]))
        return found

    def close(self) -> None:
        """Close the monitor."""
        self._router.disable_monitor()
        self.monitor.close(linger=0)

    def _take(self, event: int, value: int) -> int:
        """Take one event; give 1 for the end of a stranger, else 0."""
        if event == zmq.EVENT_ACCEPTED:
            self._fresh[value] = self._proved
        elif event == zmq.EVENT_DISCONNECTED:
            # The event of a proof does not say whose it was: only a connection that saw none is sure.
            return int(self._fresh.pop(value, -1) == self._proved)
        elif event != zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL:  # its `EVENT_DISCONNECTED` follows
            self._proved += 1  # it came as far as showing a key
        return 0

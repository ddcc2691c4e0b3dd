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

import zmq

__all__ = ["NO_HANDSHAKE", "Knocks", "Strangers"]

NO_HANDSHAKE = "no_handshake"
"""It spoke without keys, with those of another station, or no ZeroMQ, or broke off."""


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
    """Tells from the monitor's events which connections ended that never proved who they are."""

    def __init__(self) -> None:
        self._proved = 0
        self._fresh: dict[int, int] = {}

    def take(self, event: int, value: int) -> int:
        """Take one event; give 1 for the end of a stranger, else 0."""
        if event == zmq.EVENT_ACCEPTED:
            self._fresh[value] = self._proved
        elif event == zmq.EVENT_DISCONNECTED:
            # The event of a proof does not say whose it was: only a connection that saw none is sure.
            return int(self._fresh.pop(value, -1) == self._proved)
        elif event != zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL:  # its `EVENT_DISCONNECTED` follows
            self._proved += 1  # it came as far as showing a key
        return 0

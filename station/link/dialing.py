"""Which station a table tries, when it gives up a socket, and when it opens the next one. Pure.

libzmq reconnects by itself after a connection that the network ended. It does not after a denied handshake
or a damaged message (libzmq 4.3.5), it never tries another address, and it backs off further the longer an
outage lasts. So a socket that lost its connection or does not get anywhere is closed, and a new one opened.
"""

from __future__ import annotations

import math

import msgspec

__all__ = ["Dialing", "Patience"]


class Patience(msgspec.Struct, frozen=True):
    """Durations in seconds.

    Args:
        connect_s: until a new socket has to be connected, where there is another address to try.
        alone_s: the same where there is none.
        greet_s: until a connected one has to be through handshake and greeting.
        silence_s: how long the station may say nothing at all, though it is pinged.
        again_s: before the next socket after a connection that was good.
        pause_s: before the next socket after any other one, the first time; it doubles.
        pause_most_s: see `pause_s`.
        asleep_s: a look that comes later than this after its time means that this machine slept, or that its
            thread waited for the disk: then silence says nothing about the station.
    """

    connect_s: float = 3.0
    alone_s: float = 8.0
    greet_s: float = 12.0
    silence_s: float = 10.0
    again_s: float = 0.2
    pause_s: float = 1.0
    pause_most_s: float = 5.0
    asleep_s: float = 1.0


class Dialing:
    """Keeps account of one socket after the other.

    Args:
        addresses: how many there are. patience: durations.
    """

    def __init__(self, addresses: int, patience: Patience = Patience()) -> None:  # noqa: B008 - frozen
        self.address = 0
        """Index of the address that is in use or tried."""
        self._addresses = addresses
        self._patience = patience
        self._denied: set[int] = set()
        self._pause_s = patience.pause_s
        self._open_at = -math.inf
        self._give_up_at = math.inf
        self._began_at = -math.inf
        self._well = False
        self._awake_at = -math.inf
        """When it was noticed last that this end had not looked."""

    @property
    def denied(self) -> bool:
        """Whether a station that could be reached does not know the key, and no other one took it."""
        return bool(self._denied)

    def next_deadline(self) -> float:
        """When `gives_up` or `opens` has something to do."""
        return min(self._open_at, self._give_up_at)

    def opens(self, now: float) -> bool:
        """Tell whether a socket has to be opened now."""
        return now >= self._open_at

    def opened(self, now: float) -> None:
        """Tell that a socket was opened at `address`."""
        patience = self._patience
        self._open_at = math.inf
        self._began_at, self._well = now, False
        self._give_up_at = now + (patience.connect_s if self._addresses > 1 else patience.alone_s)

    def reached(self, now: float) -> None:
        """Tell that something listens there: handshake and greeting may take longer, but not for ever."""
        if not self._well:
            self._give_up_at = max(now, self._began_at + self._patience.greet_s)

    def well(self, heard_at: float) -> None:
        """Tell that the station answered the greeting, and when it was last heard."""
        self._denied.clear()
        self._well = True
        self._pause_s = self._patience.pause_s
        self._give_up_at = max(heard_at, self._awake_at) + self._patience.silence_s

    def refused(self) -> None:
        """Tell that the station answered the greeting with a refusal: it is waited for."""
        self._denied.clear()
        self._well = True
        self._give_up_at = math.inf

    def lost(self, now: float) -> None:
        """Tell that the connection was lost, its socket closed: after a good one the same address is next."""
        if not self._well:
            self.failed(now, denied=False)
            return
        self._well = False
        self._give_up_at = math.inf
        self._open_at = now + self._patience.again_s

    def failed(self, now: float, *, denied: bool) -> None:
        """Tell that the handshake failed; the socket has been closed."""
        if denied:
            self._denied.add(self.address)
        self._next()
        self._open_at = now + self._pause_s
        self._pause_s = min(2 * self._pause_s, self._patience.pause_most_s)

    def gives_up(self, now: float) -> bool:
        """Tell whether the socket has to be closed now, for another one at the next address.

        A good connection is not given up for a silence in which this end did not look: it is asked once more.
        """
        late_s = now - self._give_up_at
        if late_s < 0:
            return False
        if self._well and late_s > self._patience.asleep_s:
            self._awake_at = now
            self.well(now)
            return False
        self._next()
        self._open_at = now
        return True

    def _next(self) -> None:
        self._give_up_at = math.inf
        self.address = (self.address + 1) % self._addresses

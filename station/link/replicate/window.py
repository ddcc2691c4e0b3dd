"""How much may be under way, and how long to wait for its acknowledgement. Pure.

The window grows with what is acknowledged, as long as it is full and acknowledgements come soon: where they
come late, more under way would only wait there. It halves when something was lost. The timer follows the
round trip that was measured, so that a busy peer is not sent everything twice.
"""

from __future__ import annotations

from collections import deque

import msgspec

__all__ = ["MOST_BYTES", "SenderTimes", "Window"]

MOST_BYTES = 1024 * 1024
"""Bytes under way from which on nothing more is sent."""
_LEAST = 8
"""Entries that the window does not shrink below."""
_SOON_S = 0.25
"""Round trip up to which the window grows."""
_PATIENCE = 3.0
"""How many round trips the timer waits."""


class SenderTimes(msgspec.Struct, frozen=True):
    """Durations of the protocol in seconds, and the window in entries.

    Args:
        window: greatest number of entries under way.
        first_window: how many may be at first.
        resend_s: how long to wait for an acknowledgement at least; it doubles up to `resend_most_s`.
        resend_most_s: see `resend_s`.
        ping_s: how often an idle connection is pinged; infinite: never.
        refused_s: how long to wait before greeting again after a refusal.
    """

    window: int = 256
    first_window: int = 16
    resend_s: float = 1.5
    resend_most_s: float = 6.0
    ping_s: float = 2.0
    refused_s: float = 30.0


class _Sent(msgspec.Struct, frozen=True, gc=False):
    """One message under way: its last entry, its bytes, when it was sent, and whether for the first time."""

    seq: int
    size: int
    at: float
    fresh: bool


class Window:
    """What one sender has under way.

    Args:
        times: durations and bounds.
    """

    def __init__(self, times: SenderTimes) -> None:
        self._times = times
        self.entries = min(times.first_window, times.window)
        """How many entries may be under way."""
        self.resend_s = times.resend_s
        """How long to wait for an acknowledgement."""
        self._sent: deque[_Sent] = deque()
        self._bytes = 0
        self._highest = 0
        self._round_trip_s: float | None = None

    def full(self) -> bool:
        """Tell whether so many bytes are under way that nothing more may be sent."""
        return self._bytes >= MOST_BYTES

    def begin(self) -> None:
        """Begin with a new connection: nothing is known of it."""
        self._clear()
        self._highest = 0
        self.entries = min(self._times.first_window, self._times.window)
        self._round_trip_s, self.resend_s = None, self._times.resend_s

    def sent(self, seq: int, size: int, now: float) -> None:
        """Note a message that goes out: its last entry and its bytes."""
        self._sent.append(_Sent(seq, size, now, seq > self._highest))
        self._highest = max(self._highest, seq)
        self._bytes += size

    def acked(self, before: int, seq: int, now: float) -> None:
        """Note that what follows entry `before` up to `seq` is acknowledged."""
        under_way = self._sent[-1].seq - before if self._sent else 0
        last: _Sent | None = None
        while self._sent and self._sent[0].seq <= seq:
            last = self._sent.popleft()
            self._bytes -= last.size
        if last is not None and last.fresh:  # else nobody knows which of the two was acknowledged
            self._measure(now - last.at)
        if under_way >= self.entries // 2 and (self._round_trip_s or 0.0) <= _SOON_S:
            self.entries = min(self.entries + seq - before, self._times.window)
        self.resend_s = self._patience_s()

    def lost(self) -> None:
        """Note that what is under way counts as lost."""
        self._clear()
        self.entries = min(self.entries, max(_LEAST, self.entries // 2))

    def wait_longer(self) -> None:
        """Double the pause, after one that was in vain."""
        self.resend_s = min(2 * self.resend_s, self._times.resend_most_s)

    def _clear(self) -> None:
        self._sent.clear()
        self._bytes = 0

    def _measure(self, took_s: float) -> None:
        known = self._round_trip_s
        self._round_trip_s = took_s if known is None else known + (took_s - known) / 4

    def _patience_s(self) -> float:
        times = self._times
        wanted = _PATIENCE * (self._round_trip_s or 0.0)
        return min(max(times.resend_s, wanted), max(times.resend_s, times.resend_most_s))

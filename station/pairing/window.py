"""How long and how often the station lets itself be paired. Pure: time comes in."""

from __future__ import annotations

from typing import Final

__all__ = ["AT_ONCE", "TRIES", "VALID_S", "Window"]

VALID_S: Final = 600.0
TRIES: Final = 3
"""Wrong codes until the window closes: somebody in between has three chances in a million."""
AT_ONCE: Final = 4
"""Connections at the same time."""
_BURST: Final = 8.0
_PER_S: Final = 2.0
"""New connections: so many at once, so many a second after that."""


class Window:
    """One time that the station pairs one table; the first success closes it.

    Args:
        now: monotonic time in seconds, as for all methods.
        valid_s: how long it stays open.
    """

    def __init__(self, now: float, valid_s: float = VALID_S) -> None:
        self.ends = now + valid_s
        self.tries_left = TRIES
        self._used = False
        self._connections = 0
        self._tokens, self._counted = _BURST, now

    def is_open(self, now: float) -> bool:
        """Whether a table may still be paired."""
        return not self._used and self.tries_left > 0 and now < self.ends

    def left_s(self, now: float) -> float:
        """Seconds until it closes by itself."""
        return max(0.0, self.ends - now)

    def use(self) -> None:
        """Close it: a table was paired."""
        self._used = True

    def wrong_code(self) -> None:
        """Count a code that does not agree."""
        self.tries_left -= 1

    def enter(self, now: float) -> bool:
        """Count a new connection; False: it is one too many now."""
        self._tokens = min(_BURST, self._tokens + (now - self._counted) * _PER_S)
        self._counted = now
        if self._tokens < 1 or self._connections >= AT_ONCE or not self.is_open(now):
            return False
        self._tokens -= 1
        self._connections += 1
        return True

    def leave(self) -> None:
        """Count a connection that has ended."""
        self._connections -= 1

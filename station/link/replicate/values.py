"""Latest-value messages: of each key only the newest counts, so nothing ever waits in a queue. Pure.

What was set is sent once to a peer, and once more on every new connection. It may be lost on the way; then
the next one replaces it. Keys are bounded, so that neither end can be made to remember without limit.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from station.link.said import MAX_VALUE, Value

__all__ = ["MAX_KEYS", "Board", "Inbox", "Outbox", "SetKeys", "Setting", "check"]

MAX_KEYS = 32
"""Most keys that one end sets for, or takes from, one peer."""


class Setting(msgspec.Struct, frozen=True):
    """What a key was set to, and when (milliseconds since 1970-01-01 UTC)."""

    body: bytes
    at_ms: int


class Board:
    """What was set, by key: the source of what is said to peers."""

    def __init__(self) -> None:
        self.values: dict[str, Setting] = {}

    def set(self, key: str, body: bytes, at_ms: int) -> None:
        """Set a key.

        Args:
            key: at most 64 bytes of UTF-8.
            body: JSON bytes, at most `MAX_VALUE`.
            at_ms: wall clock, milliseconds since 1970-01-01 UTC.

        Raises:
            ValueError: the key or the body is too large, or there are too many keys.
        """
        check(key, body)
        if key not in self.values and len(self.values) >= MAX_KEYS:
            raise ValueError(f"more than {MAX_KEYS} values are set")
        self.values[key] = Setting(body, at_ms)


class SetKeys:
    """Which keys were set, for whoever sets them from another thread than the board's: there nobody could be
    told any more that one is too many."""

    def __init__(self) -> None:
        self._keys: set[str] = set()

    def take(self, key: str, body: bytes) -> None:
        """Take note of a key that is to be set. Raises ValueError as `Board.set`."""
        check(key, body)
        if key not in self._keys and len(self._keys) >= MAX_KEYS:
            raise ValueError(f"more than {MAX_KEYS} values are set")
        self._keys.add(key)


def check(key: str, body: bytes) -> None:
    """Raise ValueError for a key or a body that does not fit into a message."""
    if not 0 < len(key.encode()) <= 64 or len(body) > MAX_VALUE:
        raise ValueError(f"the value {key[:64]!r} with {len(body)} bytes is too large for the link")


class Outbox:
    """What has still to be said to one peer on the present connection."""

    def __init__(self) -> None:
        self._number = 0
        self._due: dict[str, Setting] = {}

    def __bool__(self) -> bool:
        return bool(self._due)

    def put(self, values: Mapping[str, Setting]) -> None:
        """Say these; of a key that waits already the newer one replaces the older."""
        self._due.update(values)

    def clear(self) -> None:
        """Say nothing: the connection is gone."""
        self._due.clear()

    def take(self, session: bytes) -> list[Value]:
        """Give the messages for what is due; after that nothing is."""
        messages = []
        for key, setting in self._due.items():
            self._number += 1
            messages.append(Value(session, self._number, setting.at_ms, key, setting.body))
        self._due.clear()
        return messages


class Inbox:
    """What one peer has said on the present connection: only which of its messages is the newest."""

    def __init__(self) -> None:
        self._newest: dict[str, int] = {}

    def takes(self, value: Value) -> bool:
        """Tell whether a value is news: newer than what its key had, and not of one key too many."""
        known = self._newest.get(value.key)
        if known is None and len(self._newest) >= MAX_KEYS:
            return False
        if known is not None and value.number <= known:
            return False
        self._newest[value.key] = value.number
        return True

"""The record of refused devices and tables: each is logged, a flood of them is not."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

import msgspec

from station.counting import Stats
from station.errors import LogError

__all__ = ["Denial", "Denials"]

_AGAIN_S = 3600.0
_FULL_S = 5.0
"""Pause after the disk took nothing."""
_REMEMBERED = 256
_PER_HOUR = 120


class Denial(msgspec.Struct, frozen=True, omit_defaults=True):
    """Body of a ``link.denied`` event.

    Args:
        v: version of the body.
        reason: ``not_enrolled``, ``expired``, ``revoked``, ``no_handshake``, ``overrun``, ``bad_message`` or
            one of `station.link.wire.NackCode`.
        key: the public key (Z85) that the device proved to have; empty when it proved none.
        table: the table that the key is or was enrolled for; empty when it is for none.
        address: network address of the device, where known.
    """

    v: int
    reason: str
    key: str
    table: str = ""
    address: str = ""


class Denials:
    """Logs a refusal once an hour for each key and reason, and at most `_PER_HOUR` an hour in all.

    Args:
        append: stores (kind, body) events with a wall clock in milliseconds, as `Log.append` does.
        counted: under which name refusals are counted.
    """

    def __init__(
        self, append: Callable[[Sequence[tuple[str, bytes]], int], object], *, counted: str = "denials"
    ) -> None:
        self._append = append
        self._counted = counted
        self._logged: OrderedDict[tuple[str, str, str], float] = OrderedDict()
        self._hour_began = float("-inf")
        self._in_hour = 0
        self.stats = Stats()
        """Every refusal is counted here by reason, logged or not."""
        self._full_until = float("-inf")

    def note(
        self, reason: str, *, key: str, now: float, wall_ms: int, table: str = "", address: str = ""
    ) -> bool:
        """Note a refusal; give True when it was logged.

        Args:
            reason: why; see `Denial`.
            key: public key of the device (Z85).
            now: monotonic time in seconds.
            wall_ms: wall clock, milliseconds since 1970-01-01 UTC.
            table: table of the key, where there is one.
            address: network address, where known.
        """
        self.stats.count(self._counted, reason)
        what = (reason, key, table)
        if now - self._logged.get(what, float("-inf")) < _AGAIN_S or not self._room(now):
            return False
        if now < self._full_until:
            return False
        body = msgspec.json.encode(Denial(1, reason, key, table, address))
        try:
            self._append([("link.denied", body)], wall_ms)
        except LogError:  # disk full: tried again with a later refusal, not with each of a flood
            self._full_until = now + _FULL_S
            return False
        self._in_hour += 1
        self._logged[what] = now
        self._logged.move_to_end(what)
        while len(self._logged) > _REMEMBERED:
            self._logged.popitem(last=False)
        return True

    def _room(self, now: float) -> bool:
        if now - self._hour_began >= _AGAIN_S:
            self._hour_began, self._in_hour = now, 0
        return self._in_hour < _PER_HOUR

"""The allow-list as a running station sees it: who may connect at this moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from station.errors import KeyFileError
from station.link.register import REVOKED, Register, load_register

__all__ = ["NOT_ENROLLED", "AllowList", "Standing"]

NOT_ENROLLED = "not_enrolled"
"""Reason why a key that stands nowhere in the list is refused."""


class Standing(msgspec.Struct, frozen=True):
    """What a key counts for.

    ``table``: the table it speaks for; None when it is refused. ``reason``: empty, ``not_enrolled``,
    ``expired`` or ``revoked``. ``holder``: whose key it is or was, also when it is refused; empty: nobody's.
    """

    table: str | None
    reason: str = ""
    holder: str = ""


class AllowList:
    """The allow-list file as it is now: read again when it changes, so enrolling needs no restart.

    Args:
        path: the file. It must be good at the start; a damaged newer version is not taken over.
        wall: Unix time in seconds, for what expires.
    """

    def __init__(self, path: Path, wall: Callable[[], float] = time.time) -> None:
        self._path = path
        self._wall = wall
        self._stamp = self._stat()
        self._take(load_register(path))
        self._trouble: KeyFileError | None = None

    @property
    def trouble(self) -> KeyFileError | None:
        """Why the file as it is now is not in force; None: it is."""
        self._refresh()
        return self._trouble

    @property
    def tables(self) -> frozenset[str]:
        """The tables that may connect."""
        self._refresh()
        now = self._wall()
        return frozenset(table for table, entry in self._by_key.values() if not entry.why_not(now))

    def table_of(self, key: str) -> str | None:
        """Give the table that a public key (Z85) speaks for; None when it is refused."""
        return self.standing(key).table

    def standing(self, key: str) -> Standing:
        """Give what a public key (Z85) counts for, and why it is refused."""
        self._refresh()
        if key in self._gone:
            return Standing(None, REVOKED, self._gone[key])
        found = self._by_key.get(key)
        if found is None:
            return Standing(None, NOT_ENROLLED)
        table, entry = found
        reason = entry.why_not(self._wall())
        return Standing(None if reason else table, reason, table)

    def verify_key(self, table: str) -> str | None:
        """Give the Ed25519 key (hex) that a table's signatures are checked with; None: not known."""
        self._refresh()
        return next((entry.verify for name, entry in self._by_key.values() if name == table), None)

    def _take(self, register: Register) -> None:
        # First what is refused: other threads may ask in between.
        self._gone = {gone.key: gone.table for gone in register.replaced}
        self._by_key = {entry.key: (table, entry) for table, entry in register.tables.items()}

    def _refresh(self) -> None:
        stamp = self._stat()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._take(load_register(self._path))
            self._trouble = None
        except KeyFileError as error:
            self._trouble = error  # half-edited: the last good list stays in force

    def _stat(self) -> tuple[int, int, int] | None:
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_size, stat.st_mtime_ns

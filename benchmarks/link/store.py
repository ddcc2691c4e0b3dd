"""What the two baselines store events in: the same SQLite set-up and the same checks as ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

import msgspec

from station.log import Entry
from station.log.chain import ZERO_HEAD

__all__ = ["Store"]

_SCHEMA = """
CREATE TABLE entry (
    pos INTEGER PRIMARY KEY, log_id BLOB NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL,
    at_ms INTEGER NOT NULL, body BLOB NOT NULL, prev BLOB NOT NULL, hash BLOB NOT NULL,
    UNIQUE (log_id, seq)
) STRICT
"""
_INSERT = "INSERT INTO entry (log_id, seq, kind, at_ms, body, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?)"


class Store:
    """Entries of many chains; one commit for each batch."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute(_SCHEMA)
        self._heads: dict[bytes, tuple[int, bytes]] = {}

    def add(self, entries: Iterable[Entry]) -> dict[bytes, int]:
        """Store what goes on from the chains as they are; give how far each of them is stored."""
        stored: dict[bytes, int] = {}
        self._db.execute("BEGIN IMMEDIATE")
        for entry in entries:
            seq, digest = self._heads.get(entry.log_id, (ZERO_HEAD.seq, ZERO_HEAD.hash))
            if (entry.seq, entry.prev) == (seq + 1, digest) and entry.intact:
                self._db.execute(_INSERT, msgspec.structs.astuple(entry))
                self._heads[entry.log_id] = (entry.seq, entry.hash)
            stored[entry.log_id] = self._heads.get(entry.log_id, (0, b""))[0]
        self._db.execute("COMMIT")
        return stored

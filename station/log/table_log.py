"""The log of one table: append, read, verify."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from station.log import chain
from station.log.chain import ZERO_HEAD, Entry, Head
from station.log.database import Database, identity, plain_errors
from station.log.verification import Verification, anchor_hash, walk

__all__ = ["TABLE_LOG", "Log"]

TABLE_LOG = 0x515A4C31
"""`application_id` of a table's log: the letters QZL1."""

_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE entry (
    seq INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    body BLOB NOT NULL,
    prev BLOB NOT NULL,
    hash BLOB NOT NULL
) STRICT;
INSERT INTO meta VALUES ('log_id', randomblob(16));
CREATE TRIGGER entry_no_update BEFORE UPDATE ON entry
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER entry_in_order BEFORE INSERT ON entry
    WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM entry)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER meta_no_update BEFORE UPDATE ON meta
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER meta_no_delete BEFORE DELETE ON meta
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER meta_no_insert BEFORE INSERT ON meta
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
"""
_INSERT = "INSERT INTO entry (seq, kind, at_ms, body, prev, hash) VALUES (?, ?, ?, ?, ?, ?)"
_SELECT = "SELECT seq, kind, at_ms, body, prev, hash FROM entry WHERE seq > ? ORDER BY seq LIMIT ?"


class Log:
    """An append-only, hash-chained log in one SQLite file.

    One writer at a time (a lock file beside the log sees to it), any number of readers. An object is used by
    the thread that opened it, and by no other.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._db = database.connection
        self._log_id = identity(database)
        self._head = self._read_head() if database.writable else ZERO_HEAD

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> Self:
        """Open the log at `path`; without `read_only` it is created when missing, and locked for writing.

        Raises:
            LogInUse: another writer has it. NotALog: it is something else. LogError: the disk refuses.
        """
        database = Database(path, TABLE_LOG, _SCHEMA, read_only=read_only)
        try:
            with plain_errors(path):
                return cls(database)
        except BaseException:
            database.close()
            raise

    @property
    def path(self) -> Path:
        """Where the log lies."""
        return self._database.path

    @property
    def log_id(self) -> bytes:
        """The 16 random bytes of this log file."""
        return self._log_id

    @property
    def head(self) -> Head:
        """Seq and hash of the last entry; `ZERO_HEAD` for an empty log. A reader asks the disk."""
        return self._head if self._database.writable else self._read_head()

    def append(self, events: Sequence[tuple[str, bytes]], at_ms: int) -> list[Entry]:
        """Store events, given as (kind, body), in one transaction and give the entries they became.

        Args:
            events: kind and JSON bytes of each event; the bytes are stored as they are.
            at_ms: wall clock, milliseconds since 1970-01-01 UTC.

        Raises:
            LogFull: no space left. LogError: the disk refuses. In both cases nothing was stored.
            ValueError: a kind or a body is too large; nothing was stored.
        """
        entries = chain.link(self._log_id, self._head, events, at_ms)
        if not entries:
            return entries
        with self._database.transaction() as db:
            db.executemany(
                _INSERT,
                [(e.seq, e.kind, e.at_ms, e.body, e.prev, e.hash) for e in entries],
            )
        self._head = entries[-1].head
        return entries

    def entries(self, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Read the entries with a seq greater than `after`, at most `limit` of them."""
        with plain_errors(self.path):
            return list(self._read(after, -1 if limit is None else limit))

    def hash_at(self, seq: int) -> bytes | None:
        """Give the hash of one entry (32 bytes; `GENESIS` for 0), or None when there is no such entry."""
        if seq == 0:
            return ZERO_HEAD.hash
        with plain_errors(self.path):
            row = self._db.execute("SELECT hash FROM entry WHERE seq = ?", (seq,)).fetchone()
        return None if row is None else bytes(row[0])

    def verify(self, expect: bytes | str | None = None) -> Verification:
        """Walk the whole chain; see `Verification`. `expect` is a hash known from elsewhere.

        Raises:
            ConfigError: `expect` is no hash.
        """
        anchor = anchor_hash(expect)
        rows = ((e.seq, e.hash, chain.first_broken([e], head)) for e, head in _with_heads(self._read(0, -1)))
        return walk(rows, anchor)

    def close(self) -> None:
        """Close the file. Closing twice does nothing."""
        self._database.close()

    def _read(self, after: int, limit: int) -> Iterator[Entry]:
        for row in self._db.execute(_SELECT, (after, limit)):
            yield Entry(self._log_id, *row)

    def _read_head(self) -> Head:
        with plain_errors(self.path):
            row = self._db.execute("SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1").fetchone()
        return ZERO_HEAD if row is None else Head(*row)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _with_heads(entries: Iterator[Entry]) -> Iterator[tuple[Entry, Head]]:
    """Give each entry with the head of the chain before it."""
    head = ZERO_HEAD
    for entry in entries:
        yield entry, head
        head = entry.head

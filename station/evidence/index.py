"""What events say of photos, in a small SQLite file beside them.

What is known of photos is made from the log and can be made anew: of another log, or of one that was replaced
by an older copy of itself, it is forgotten, and a damaged file is thrown away. What a station acknowledged,
and the names of shelves, are hints alone: a photo offered twice is answered at once.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from station.evidence.folding import Book
from station.evidence.policy import Photo
from station.log.chain import Entry

__all__ = ["Index", "Line", "why_removed"]

Line = tuple[int, str, Entry, bytes]
"""Position in the log file, whose log it is ("" for the process's own), entry, hash of the log there."""

_VERSION = 2
_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value) STRICT, WITHOUT ROWID;
CREATE TABLE photo (
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    log_id BLOB NOT NULL,
    seq INTEGER NOT NULL,
    hand INTEGER NOT NULL,
    claim INTEGER,
    place INTEGER,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    standing TEXT NOT NULL,
    mended INTEGER NOT NULL DEFAULT 0,
    disputed INTEGER NOT NULL DEFAULT 0,
    appeals INTEGER NOT NULL DEFAULT 0,
    decided INTEGER,
    PRIMARY KEY (log_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX photo_name ON photo (name);
CREATE INDEX photo_hand ON photo (log_id, hand);
CREATE TABLE ended (
    log_id BLOB PRIMARY KEY, at_ms INTEGER NOT NULL, counted_s REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE removed (name TEXT PRIMARY KEY, why TEXT NOT NULL, at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE sent (name TEXT, station TEXT, PRIMARY KEY (name, station)) STRICT, WITHOUT ROWID;
""".replace("value)", "value ANY)")
_STANDINGS = """
SELECT name,
    group_concat(DISTINCT CASE
        WHEN appeals > 0 OR decided IS NULL THEN 'pending'
        WHEN disputed THEN 'disputed'
        ELSE standing END),
    max(photo.at_ms),
    CASE WHEN count(*) = count(ended.at_ms) THEN max(ended.at_ms) END,
    coalesce(max(ended.counted_s), 0.0)
FROM photo LEFT JOIN ended USING (log_id)
WHERE name NOT IN (SELECT name FROM removed)
GROUP BY name
"""


class Index:
    """The file. Belongs to one thread; readers open their own with `read_only`.

    Raises:
        sqlite3.Error: from every method, when the disk refuses.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file; it is made when missing, and made anew when it is damaged."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            return cls(_connected(path))
        except sqlite3.OperationalError:
            raise  # full, busy or not allowed: nothing is wrong with the file
        except sqlite3.DatabaseError:
            for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
                path.with_name(name).unlink(missing_ok=True)
            return cls(_connected(path))

    def catch_up(self, log_id: bytes, lines: Iterable[Line]) -> int:
        """Take the next lines of a log file; return how many.

        Args:
            log_id: of the file's own log; another one than last time begins anew.
            lines: from `position` on.
        """
        taken, at = 0, None
        with self._transaction():
            book = Book(self._db)
            for pos, source, entry, digest in lines:
                book.take(source, entry)
                taken, at = taken + 1, (pos, digest)
            if at is not None:
                self._set("pos", at[0])
                self._set("hash", at[1])
            self._set("log_id", log_id)
        return taken

    def position(self, log_id: bytes, hash_at: Callable[[int], bytes | None]) -> int:
        """Return up to which position the log was taken in; 0, and all is forgotten, for another log.

        Args:
            log_id: of the file's own log.
            hash_at: gives the hash of the log at a position; None where it has none.
        """
        pos = int(self._get("pos") or 0)
        known = self._get("log_id") in (None, log_id)
        if known and (pos == 0 or hash_at(pos) == self._get("hash")):
            return pos
        with self._transaction():
            for table in ("photo", "ended", "removed"):
                self._db.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names
            self._db.execute(
                "DELETE FROM meta WHERE name IN ('pos', 'hash', 'log_id', 'counted_s', 'counted_at')"
            )
        return 0

    def shelf(self) -> str:
        """Return the name that this file gave itself when it was made: 32 hexadecimal digits.

        A central station with another one has not what the one before acknowledged, whatever its key.
        """
        name = self._get("shelf")
        if name is None:
            with self._transaction():
                name = secrets.token_hex(16)
                self._set("shelf", name)
        return str(name)

    def names(self, source: str, name: str) -> bool:
        """Tell whether an event of a table's log names a photo."""
        row = self._db.execute("SELECT 1 FROM photo WHERE name = ? AND source = ?", (name, source))
        return row.fetchone() is not None

    def removed(self, name: str) -> str | None:
        """Return why a photo was removed by rule; None when it was not."""
        row = self._db.execute("SELECT why FROM removed WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def station(self, key: str, shelf: str) -> str:
        """Return the name under which a central station's acknowledgements are kept.

        Args:
            key: its public key (Z85).
            shelf: where it keeps photos, as it says; empty: it has not yet, and what it said last counts.
        """
        known = self._get(f"shelf of {key}")
        if shelf and shelf != known:
            with self._transaction():
                self._set(f"shelf of {key}", shelf)
            known = shelf
        return key if known is None else f"{key} {known}"

    def unsent(self, station: str) -> Iterator[str]:
        """Give photos that a central station (see `station`) has not acknowledged, the oldest first."""
        rows = self._db.execute(
            "SELECT name FROM photo WHERE name NOT IN (SELECT name FROM sent WHERE station = ?)"
            " AND name NOT IN (SELECT name FROM removed) GROUP BY name ORDER BY min(seq)",
            (station,),
        ).fetchall()
        return (str(name) for (name,) in rows)

    def unsent_count(self, station: str, but: Iterable[str] = ()) -> int:
        """Return how many photos a central station has not acknowledged, without some that never will be."""
        row = self._db.execute(
            "SELECT count(DISTINCT name) FROM photo WHERE name NOT IN (SELECT name FROM removed)"
            " AND name NOT IN (SELECT name FROM sent WHERE station = ?)"
            " AND name NOT IN (SELECT value FROM json_each(?))",
            (station, json.dumps(list(but))),
        )
        return int(row.fetchone()[0])

    def note_sent(self, name: str, station: str) -> None:
        """Take note that a central station has a photo."""
        with self._transaction():
            self._db.execute("INSERT OR IGNORE INTO sent VALUES (?, ?)", (name, station))

    def photos(self, sizes: Mapping[str, int], station: str | None = None) -> list[Photo]:
        """Return what is known of the photos that are there.

        Args:
            sizes: bytes of each photo on the disk, by name.
            station: the central station that has to have a photo before it may go; None: there is none.
        """
        sent = {
            str(name) for (name,) in self._db.execute("SELECT name FROM sent WHERE station = ?", (station,))
        }
        counted_s = self.counted()[0]
        return [
            Photo(
                name=name,
                size=sizes[name],
                standings=frozenset(standings.split(",")),
                at=at_ms / 1000,
                ended_at=None if ended_ms is None else ended_ms / 1000,
                safe=station is None or name in sent,
                counted_s=counted_s - since_s,
            )
            for name, standings, at_ms, ended_ms, since_s in self._db.execute(_STANDINGS)
            if name in sizes
        ]

    def counted(self) -> tuple[float, float | None]:
        """Return the seconds counted so far, and the Unix time when that was said last; None: never."""
        wall = self._get("counted_at")
        return float(self._get("counted_s") or 0.0), None if wall is None else float(wall)

    def count(self, seconds: float, wall: float) -> None:
        """Take note that time has passed, and of the Unix time now."""
        total = self.counted()[0] + seconds
        with self._transaction():
            self._set("counted_s", total)
            self._set("counted_at", wall)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _get(self, name: str) -> Any:
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if row is None else row[0]

    def _set(self, name: str, value: float | bytes | str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def why_removed(path: Path, name: str) -> str | None:
    """Look up in an index file why a photo was removed; None when it was not, or nobody can say."""
    try:
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1.0)
    except sqlite3.Error:
        return None
    try:
        return Index(db).removed(name)
    except sqlite3.Error:
        return None
    finally:
        db.close()


def _connected(path: Path) -> sqlite3.Connection:
    """Open the file with its tables. NORMAL is enough: what power loss takes is made anew from the log."""
    db = sqlite3.connect(path, isolation_level=None, timeout=2.0)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            raise sqlite3.DatabaseError("an index of another version")
        if db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("a damaged index")
        if version == 0:
            db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")
        path.chmod(0o600)
    except BaseException:
        db.close()
        raise
    return db

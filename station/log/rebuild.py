"""A log file made anew, or completed, from a copy of its chain that another process holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from station.errors import LogError
from station.log.chain import REBUILT, ZERO_HEAD, Entry, Head, link, store_hash
from station.log.database import plain_errors
from station.log.log import Log
from station.log.schema import APPLICATION_ID, INSERT, TABLES, TRIGGERS, VERSION

__all__ = ["CopiedChain", "chains_of", "rebuild"]

_CHUNK = 500


class CopiedChain:
    """A chain of one sender, as another log file has it.

    Attributes:
        log_id: its id.
        source: who sent it.
        head: its last entry.
        pos: where its last entry stands in that file.
    """

    def __init__(self, log: Log, log_id: bytes, source: str, pos: int) -> None:
        self.log_id, self.source, self.pos = log_id, source, pos
        self.head = log.head_of(log_id)
        self._log = log

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Give its entries behind a seq."""
        while chunk := self._log.entries_of(self.log_id, after, _CHUNK):
            yield from chunk
            after = chunk[-1].seq


def chains_of(log: Log, source: str) -> list[CopiedChain]:
    """Give the chains that a file holds of one sender, the one that was written last first."""
    last: dict[bytes, int] = {}
    after = 0
    while chunk := log.entries(after, _CHUNK):
        for stored in chunk:
            if stored.source == source and source:
                last[stored.entry.log_id] = stored.pos
        after = chunk[-1].pos
    return [CopiedChain(log, log_id, source, last[log_id]) for log_id in sorted(last, key=lambda i: -last[i])]


def rebuild(path: Path, log_id: bytes, entries: Iterable[Entry], at_ms: int) -> Head:
    """Write a log file whose main chain is this one: same id, same bytes, same hashes.

    What others sent to it (commands) is not among the entries and comes again by the link, so the file's own
    columns are new. One more entry, `REBUILT`, says so.

    Args:
        path: of the new file; there is none yet.
        log_id: of the chain.
        entries: all of them, from the first.
        at_ms: wall clock, milliseconds since 1970-01-01 UTC.

    Returns:
        the last of `entries`.

    Raises:
        LogError: the disk refuses, or an entry does not fit behind the one before; there is no file then.
    """
    head, prev = ZERO_HEAD, ZERO_HEAD.hash
    path.touch(mode=0o600, exist_ok=False)
    try:
        with plain_errors(path):
            db = sqlite3.connect(path, isolation_level=None)
            try:
                db.execute("PRAGMA journal_mode=WAL")
                db.execute("PRAGMA synchronous=FULL")
                db.execute(f"PRAGMA application_id={APPLICATION_ID}")
                db.execute(f"PRAGMA user_version={VERSION}")
                db.executescript(f"BEGIN; {_META.format(log_id.hex())}{TABLES}{TRIGGERS}")
                for entry in entries:
                    _check(entry, log_id, head)
                    head, prev = entry.head, _insert(db, prev, entry)
                said = msgspec.json.encode({"v": 1, "seq": head.seq})
                for entry in link(log_id, head, [(REBUILT, said)], at_ms):
                    _insert(db, prev, entry)
                db.execute("COMMIT")
            finally:
                db.close()
    except BaseException:
        for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
            path.with_name(name).unlink(missing_ok=True)
        raise
    return head


_META = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('log_id', x'{}');
"""


def _insert(db: sqlite3.Connection, prev: bytes, entry: Entry) -> bytes:
    """Store an entry behind the store hash `prev`; give its own."""
    digest = store_hash(prev, entry.seq, "", entry.at_ms, entry.hash)
    own = (entry.seq, "", entry.at_ms, prev, digest)
    db.execute(INSERT, (*own, *msgspec.structs.astuple(entry)))
    return digest


def _check(entry: Entry, log_id: bytes, head: Head) -> None:
    if (entry.log_id, entry.seq, entry.prev) != (log_id, head.seq + 1, head.hash) or not entry.intact:
        raise LogError(
            f"Entry {head.seq + 1} of that copy does not fit behind the one before.",
            fix="Check it with `quezhuo verify`, and take another copy.",
        )

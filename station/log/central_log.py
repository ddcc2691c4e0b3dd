"""The log of the central station: the same bytes of many table logs, in the order they were stored.

Every entry keeps its own place (log id, seq, hash) and gets a position in the central order, whose columns
are chained as well. What the central station itself has to say (a refused device, a fork) is one more log
among the others: its own, with an empty table id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from station.log.central_schema import SCHEMA, SELECT
from station.log.central_write import CentralTransaction
from station.log.chain import ZERO_HEAD, CentralEntry, Entry, Head, central_hash
from station.log.database import Database, identity, plain_errors
from station.log.reception import Known, Receipt
from station.log.verification import Verification, anchor_hash, walk

__all__ = ["CENTRAL_LOG", "CentralLog"]

CENTRAL_LOG = 0x515A4331
"""`application_id` of the central log: the letters QZC1."""


class CentralLog:
    """The append-only, hash-chained log of the central station in one SQLite file.

    One writer, any number of readers; an object is used by the thread that opened it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._db = database.connection
        self._log_id = identity(database)
        self._known: dict[bytes, Known] = {}
        self._head = ZERO_HEAD
        if database.writable:
            self._head = self._read_head()
            self._known = self._read_known()

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> Self:
        """Open the log at `path`; without `read_only` it is created when missing, and locked for writing.

        Raises:
            LogInUse: another writer has it. NotALog: it is something else. LogError: the disk refuses.
        """
        database = Database(path, CENTRAL_LOG, SCHEMA, read_only=read_only)
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
        """The id of the central station's own log."""
        return self._log_id

    @property
    def head(self) -> Head:
        """Position and central hash of the last entry. A reader asks the disk."""
        return self._head if self._database.writable else self._read_head()

    def head_of(self, log_id: bytes) -> Head:
        """Give how far a table's log is stored (writer only)."""
        known = self._known.get(log_id)
        return ZERO_HEAD if known is None else known.head

    def owner_of(self, log_id: bytes) -> str | None:
        """Give the table a log belongs to, or None when the log is unknown (writer only)."""
        known = self._known.get(log_id)
        return "" if log_id == self._log_id else None if known is None else known.table_id

    def in_quarantine(self, log_id: bytes) -> bool:
        """Tell whether a log is in quarantine (writer only)."""
        known = self._known.get(log_id)
        return known is not None and known.quarantined

    def hash_at(self, log_id: bytes, seq: int) -> bytes | None:
        """Give the hash of one stored entry of a table's log, or None when it is not there."""
        if seq == 0:
            return ZERO_HEAD.hash
        with plain_errors(self.path):
            row = self._db.execute(
                "SELECT hash FROM entry WHERE log_id = ? AND seq = ?", (log_id, seq)
            ).fetchone()
        return None if row is None else bytes(row[0])

    def accept(self, batch: Sequence[tuple[str, Entry]], received_ms: int) -> list[Receipt]:
        """Judge and store entries of tables, given as (table id, entry), in one transaction.

        Returns:
            one receipt for each; acknowledge only after this function returned.

        Raises:
            LogFull: no space left. LogError: the disk refuses. In both cases nothing of the batch was stored.
        """
        with self._writing(received_ms) as writing:
            return [writing.accept(table_id, entry) for table_id, entry in batch]

    def quarantine(self, table_id: str, log_id: bytes, reason: str, claimed: Head, received_ms: int) -> None:
        """Take nothing more from a log whose table claims a head that contradicts what is stored.

        Raises:
            LogError: the disk refuses; nothing was stored.
        """
        with self._writing(received_ms) as writing:
            writing.quarantine(table_id, log_id, reason, claimed)

    def append_own(self, events: Sequence[tuple[str, bytes]], at_ms: int) -> None:
        """Store events of the central station itself, given as (kind, body).

        Raises:
            LogError: the disk refuses; nothing was stored.
        """
        with self._writing(at_ms) as writing:
            writing.own(events)

    def entries(self, after: int = 0, limit: int | None = None) -> list[CentralEntry]:
        """Read the entries with a position greater than `after`, at most `limit` of them."""
        with plain_errors(self.path):
            return list(self._read(after, -1 if limit is None else limit))

    def verify(self, expect: bytes | str | None = None) -> Verification:
        """Walk the central chain and the chain of every table in it; see `Verification`.

        Raises:
            ConfigError: `expect` is no hash.
        """
        return walk(_checked(self._read(0, -1)), anchor_hash(expect))

    def close(self) -> None:
        """Close the file. Closing twice does nothing."""
        self._database.close()

    @contextmanager
    def _writing(self, now_ms: int) -> Iterator[CentralTransaction]:
        with self._database.transaction() as db:
            writing = CentralTransaction(db, self._log_id, self._head, self._known, now_ms)
            yield writing
        self._head = writing.head
        self._known.update(writing.changed)

    def _read(self, after: int, limit: int) -> Iterator[CentralEntry]:
        for row in self._db.execute(SELECT, (after, limit)):
            pos, table_id, received_ms, prev, digest, *entry = row
            yield CentralEntry(pos, table_id, received_ms, prev, digest, Entry(*entry))

    def _read_head(self) -> Head:
        with plain_errors(self.path):
            row = self._db.execute("SELECT pos, central_hash FROM entry ORDER BY pos DESC LIMIT 1").fetchone()
        return ZERO_HEAD if row is None else Head(*row)

    def _read_known(self) -> dict[bytes, Known]:
        known = {self._log_id: Known("")}
        # max(seq) makes SQLite take the other columns from that very row (https://www.sqlite.org/lang_select.html#bareagg).
        for log_id, table_id, seq, digest in self._db.execute(
            "SELECT log_id, table_id, max(seq), hash FROM entry GROUP BY log_id"
        ):
            known[log_id] = Known(table_id, Head(seq, digest))
        for log_id, table_id in self._db.execute("SELECT log_id, table_id FROM quarantine"):
            head = known[log_id].head if log_id in known else ZERO_HEAD
            known[log_id] = Known(table_id, head, quarantined=True)
        return known

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _checked(entries: Iterable[CentralEntry]) -> Iterator[tuple[int, bytes, int | None]]:
    """Give (position, central hash, first bad position or None) of each entry."""
    central, heads = ZERO_HEAD, dict[bytes, Head]()
    for item in entries:
        entry, head = item.entry, heads.get(item.entry.log_id, ZERO_HEAD)
        holds = (
            (item.pos, item.prev) == (central.seq + 1, central.hash)
            and (entry.seq, entry.prev) == (head.seq + 1, head.hash)
            and entry.intact
            and item.hash == central_hash(item.prev, item.pos, item.table_id, item.received_ms, entry)
        )
        yield item.pos, item.hash, None if holds else central.seq + 1
        central = Head(item.pos, item.hash)
        heads[entry.log_id] = entry.head

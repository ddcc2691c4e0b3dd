"""What happens inside one write transaction of a log."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from station.log import chain, checkpoint
from station.log.chain import AUTHORED, FORK, RELEASED, Entry, Head
from station.log.reception import FORKED, ROLLED_BACK, Known, Receipt, Reception, judge
from station.log.schema import INSERT

__all__ = ["Writing"]


class Writing:
    """Judge and insert inside an open transaction; the log takes over `head` and `changed` after the commit.

    Args:
        db: connection with the transaction open.
        main: id of the file's main own chain.
        head: position and store hash so far.
        known: what is known of each chain so far; not changed.
        now_ms: wall clock, milliseconds since 1970-01-01 UTC.
    """

    def __init__(
        self, db: sqlite3.Connection, main: bytes, head: Head, known: Mapping[bytes, Known], now_ms: int
    ) -> None:
        self.head = head
        self.changed: dict[bytes, Known] = {}
        self._db = db
        self._main = main
        self._known = known
        self._now_ms = now_ms
        self._rows: list[tuple[Any, ...]] = []

    def accept(self, source: str, entry: Entry) -> Receipt:
        """Judge one entry that somebody sent and store it, or put its chain into quarantine."""
        known = self._about(entry.log_id, source)
        reception = judge(known, source, entry, lambda seq: self._hash_at(entry.log_id, seq))
        if reception is Reception.STORED:
            if known.quarantined:
                self.release(entry.log_id, "proof", "continued", entry.head)
            self._insert(source, entry)
        elif reception is Reception.FORK:
            self._quarantine(
                source, entry.log_id, FORKED, entry.head, (entry.kind, entry.at_ms, entry.body, entry.prev)
            )
        return Receipt(reception, self._about(entry.log_id, source).head)

    def quarantine(self, source: str, log_id: bytes, reason: str, claimed: Head) -> None:
        """Put a chain into quarantine because of the head that its author claims.

        One that is there already stays there; but what was taken for a rollback may turn out to be a fork.
        """
        known = self._about(log_id, source)
        worse = known.quarantined == ROLLED_BACK and reason == FORKED
        if known.source == source and (worse or not known.quarantined):
            self._quarantine(source, log_id, reason, claimed, (None, None, None, None))

    def release(self, log_id: bytes, by: str, why: str, head: Head) -> bool:
        """End the quarantine of a chain; tell whether it was in one.

        Args:
            log_id: id of the chain.
            by: ``proof`` or ``person``.
            why: ``equal`` (the author has the same head), ``continued`` (it sent what follows), ``forked``
                (it is worse: a quarantine for a fork follows), or the words of the person.
            head: the head or the entry that is the proof; for a person what is stored.
        """
        known = self.changed.get(log_id) or self._known.get(log_id)
        if known is None or not known.quarantined:
            return False
        (number,) = self._db.execute("SELECT max(id) FROM quarantine WHERE log_id = ?", (log_id,)).fetchone()
        self._db.execute(
            "INSERT INTO release SELECT coalesce(max(id), 0) + 1, ?, ?, ?, ?, ?, ? FROM release",
            (number, self._now_ms, by, why, head.seq, head.hash),
        )
        self.changed[log_id] = Known(known.source, known.head)
        body = {
            "v": 1,
            "table": known.source,
            "log_id": log_id.hex(),
            "reason": known.quarantined,
            "quarantine": number,
            "by": by,
            "why": why,
            "seq": head.seq,
            "hash": head.hash.hex(),
        }
        self.append(self._main, [(RELEASED, msgspec.json.encode(body))])
        return True

    def append(self, log_id: bytes, events: Sequence[tuple[str, bytes]]) -> list[Entry]:
        """Store events, given as (kind, body), in an own chain."""
        entries = chain.link(log_id, self._about(log_id, "").head, events, self._now_ms)
        for entry in entries:
            self._insert("", entry)
        return entries

    def author(self, log_id: bytes, name: str) -> None:
        """Begin an own chain that is addressed to `name`."""
        self._db.execute(
            "INSERT INTO author SELECT coalesce(max(id), 0) + 1, ?, ? FROM author", (log_id, name)
        )
        body = msgspec.json.encode({"v": 1, "log_id": log_id.hex(), "name": name})
        self.append(self._main, [(AUTHORED, body)])

    def checkpoint(self, seed: bytes, why: str) -> Entry:
        """Sign what the file holds so far, in the main own chain."""
        head = self._about(self._main, "").head
        body = checkpoint.body_of(seed, self._main, head, self.head, why)
        return self.append(self._main, [(checkpoint.CHECKPOINT, body)])[0]

    def flush(self) -> None:
        """Hand to SQLite what waits to be inserted."""
        if self._rows:
            self._db.executemany(INSERT, self._rows)
            self._rows = []

    def _about(self, log_id: bytes, source: str) -> Known:
        return self.changed.get(log_id) or self._known.get(log_id) or Known(source)

    def _hash_at(self, log_id: bytes, seq: int) -> bytes | None:
        self.flush()
        row = self._db.execute(
            "SELECT hash FROM entry WHERE log_id = ? AND seq = ?", (log_id, seq)
        ).fetchone()
        return None if row is None else bytes(row[0])

    def _insert(self, source: str, entry: Entry) -> None:
        pos, prev = self.head.seq + 1, self.head.hash
        digest = chain.store_hash(prev, pos, source, self._now_ms, entry.hash)
        self._rows.append((pos, source, self._now_ms, prev, digest, *msgspec.structs.astuple(entry)))
        self.head = Head(pos, digest)
        self.changed[entry.log_id] = Known(source, entry.head)

    def _quarantine(
        self,
        source: str,
        log_id: bytes,
        reason: str,
        claimed: Head,
        evidence: tuple[str | None, int | None, bytes | None, bytes | None],
    ) -> None:
        known = self._about(log_id, source)
        if known.quarantined:
            self.release(log_id, "proof", "forked", claimed)
        self._db.execute(
            "INSERT INTO quarantine"
            " SELECT coalesce(max(id), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM quarantine",
            (source, self._now_ms, log_id, reason, claimed.seq, claimed.hash, *evidence),
        )
        self.changed[log_id] = Known(source, known.head, reason)
        body = {
            "v": 1,
            "table": source,
            "log_id": log_id.hex(),
            "reason": reason,
            "seq": claimed.seq,
            "hash": claimed.hash.hex(),
            "stored": known.head.seq,
            "kept": evidence[0] is not None,
        }
        self.append(self._main, [(FORK, msgspec.json.encode(body))])

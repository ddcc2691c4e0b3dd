"""What happens inside one write transaction of the central log."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

import msgspec

from station.log import chain
from station.log.central_schema import INSERT
from station.log.chain import Entry, Head
from station.log.reception import Known, Receipt, Reception, judge

__all__ = ["CentralTransaction"]


class CentralTransaction:
    """Judge and insert inside an open transaction; the log takes over `head` and `changed` after the commit.

    Args:
        db: connection with the transaction open.
        own_log_id: id of the central station's own log.
        head: position and central hash so far.
        known: what is known of each log so far; not changed.
        now_ms: wall clock, milliseconds since 1970-01-01 UTC.
    """

    def __init__(
        self, db: sqlite3.Connection, own_log_id: bytes, head: Head, known: Mapping[bytes, Known], now_ms: int
    ) -> None:
        self.head = head
        self.changed: dict[bytes, Known] = {}
        self._db = db
        self._own_log_id = own_log_id
        self._known = known
        self._now_ms = now_ms

    def accept(self, table_id: str, entry: Entry) -> Receipt:
        """Judge one entry of a table and store it, or put its log into quarantine."""
        known = self._about(entry.log_id, table_id)
        reception = judge(known, table_id, entry, lambda seq: self._hash_at(entry.log_id, seq))
        if reception is Reception.STORED:
            self._insert(table_id, entry)
        elif reception is Reception.FORK:
            self._quarantine(
                table_id, entry.log_id, "fork", entry.head, (entry.kind, entry.at_ms, entry.body, entry.prev)
            )
        return Receipt(reception, self._about(entry.log_id, table_id).head)

    def quarantine(self, table_id: str, log_id: bytes, reason: str, claimed: Head) -> None:
        """Put a log into quarantine because of the head its table claims; once is enough."""
        known = self._about(log_id, table_id)
        if known.table_id == table_id and not known.quarantined:
            self._quarantine(table_id, log_id, reason, claimed, (None, None, None, None))

    def own(self, events: Sequence[tuple[str, bytes]]) -> None:
        """Store events, given as (kind, body), in the central station's own log."""
        head = self._about(self._own_log_id, "").head
        for entry in chain.link(self._own_log_id, head, events, self._now_ms):
            self._insert("", entry)

    def _about(self, log_id: bytes, table_id: str) -> Known:
        return self.changed.get(log_id) or self._known.get(log_id) or Known(table_id)

    def _hash_at(self, log_id: bytes, seq: int) -> bytes | None:
        row = self._db.execute(
            "SELECT hash FROM entry WHERE log_id = ? AND seq = ?", (log_id, seq)
        ).fetchone()
        return None if row is None else bytes(row[0])

    def _insert(self, table_id: str, entry: Entry) -> None:
        pos, prev = self.head.seq + 1, self.head.hash
        digest = chain.central_hash(prev, pos, table_id, self._now_ms, entry)
        self._db.execute(
            INSERT,
            (pos, table_id, self._now_ms, prev, digest, *msgspec.structs.astuple(entry)),
        )
        self.head = Head(pos, digest)
        self.changed[entry.log_id] = Known(table_id, entry.head)

    def _quarantine(
        self,
        table_id: str,
        log_id: bytes,
        reason: str,
        claimed: Head,
        evidence: tuple[str | None, int | None, bytes | None, bytes | None],
    ) -> None:
        known = self._about(log_id, table_id)
        self._db.execute(
            "INSERT INTO quarantine"
            " (table_id, received_ms, log_id, reason, seq, hash, kind, at_ms, body, prev)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (table_id, self._now_ms, log_id, reason, claimed.seq, claimed.hash, *evidence),
        )
        self.changed[log_id] = Known(table_id, known.head, quarantined=True)
        body = {
            "v": 1,
            "table": table_id,
            "log_id": log_id.hex(),
            "reason": reason,
            "seq": claimed.seq,
            "hash": claimed.hash.hex(),
            "stored": known.head.seq,
        }
        self.own([("link.fork", msgspec.json.encode(body))])

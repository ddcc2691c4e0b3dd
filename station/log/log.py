"""The log of a process: one SQLite file with the chains it writes and copies of chains that others sent."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from station.log import reading
from station.log.chain import LOG_ID_SIZE, ZERO_HEAD, Entry, Head, Stored
from station.log.checkpoint import CHECKPOINT
from station.log.database import Database, identity, plain_errors
from station.log.reception import Known, Receipt, Reception
from station.log.schema import SELECT, SELECT_CHAIN
from station.log.verification import Verification
from station.log.verify import verify_database
from station.log.writing import Writing

__all__ = ["Log"]


class Log:
    """An append-only, hash-chained log in one SQLite file.

    It holds *chains* of entries: those the owner of the file writes (the main one, and one for each name that
    it addresses commands to), and copies of chains that others wrote. Every entry keeps the bytes and the
    place (log id, seq, hash) that its author gave it, and gets a position in the order of this file.

    One writer at a time (a lock file beside the log sees to it), any number of readers. An object is used by
    the thread that opened it, and by no other.
    """

    def __init__(self, database: Database, signer: bytes | None = None) -> None:
        self._database = database
        self._db = database.connection
        self._log_id = identity(database)
        self._signer = signer
        self._names: dict[bytes, str] = {}
        """Ids of the own chains that are addressed to somebody."""
        self._begun: set[bytes] = set()
        """Those of them that are in the file: the others have no entry yet."""
        self._known: dict[bytes, Known] = {}
        self._head = ZERO_HEAD
        if database.writable:
            self._head = reading.head(self._db)
            self._names = reading.names(self._db)
            self._begun = set(self._names)
            self._known = reading.known(self._db, (self._log_id, *self._names))

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False, signer: bytes | None = None) -> Self:
        """Open the log at `path`; without `read_only` it is created when missing, and locked for writing.

        A log of an older format is brought up to date; a reader does that to a copy in its memory.

        Args:
            path: the file.
            read_only: open beside the one writer.
            signer: secret (32 bytes) of the key that signs checkpoints; None: there are none.

        Raises:
            LogInUse: another writer has it. NotALog: it is something else. LogError: the disk refuses.
        """
        database = Database(path, read_only=read_only)
        try:
            with plain_errors(path):
                return cls(database, signer)
        except BaseException:
            database.close()
            raise

    @property
    def path(self) -> Path:
        """Where the log lies."""
        return self._database.path

    @property
    def log_id(self) -> bytes:
        """Id (16 random bytes) of the main own chain; new with every new file."""
        return self._log_id

    @property
    def head(self) -> Head:
        """Seq and hash of the last entry of the main own chain; `ZERO_HEAD` when it is empty."""
        return self.head_of(self._log_id)

    @property
    def pos_head(self) -> Head:
        """Position and store hash of the last entry of the file. A reader asks the disk."""
        if self._database.writable:
            return self._head
        with plain_errors(self.path):
            return reading.head(self._db)

    @property
    def authored(self) -> Mapping[bytes, str]:
        """The own chains besides the main one that have begun, by their ids: whom each is addressed to.

        They are in the order in which they began: of several with one name the last counts.
        """
        with plain_errors(self.path):
            return reading.names(self._db)

    def head_of(self, log_id: bytes) -> Head:
        """Give how far a chain is stored. A reader asks the disk."""
        if self._database.writable:
            known = self._known.get(log_id)
            return ZERO_HEAD if known is None else known.head
        with plain_errors(self.path):
            return reading.head_of(self._db, log_id)

    def owner_of(self, log_id: bytes) -> str | None:
        """Give who sends a chain (empty: the owner of the file), or None when it is unknown (writer only)."""
        known = self._known.get(log_id)
        return None if known is None else known.source

    def in_quarantine(self, log_id: bytes) -> bool:
        """Tell whether a chain is in quarantine (writer only)."""
        return bool(self.quarantined(log_id))

    def quarantined(self, log_id: bytes) -> str:
        """Give why a chain is in quarantine: ``fork`` or ``rollback``; empty: it is not (writer only)."""
        known = self._known.get(log_id)
        return "" if known is None else known.quarantined

    def chains_of(self, source: str) -> list[bytes]:
        """Give the ids of the chains that were copied from a source (writer only)."""
        return [log_id for log_id, known in self._known.items() if known.source == source]

    def hash_at(self, log_id: bytes, seq: int) -> bytes | None:
        """Give the hash of one stored entry (`GENESIS` for seq 0), or None when it is not there."""
        if seq == 0:
            return ZERO_HEAD.hash
        with plain_errors(self.path):
            row = self._db.execute(
                "SELECT hash FROM entry WHERE log_id = ? AND seq = ?", (log_id, seq)
            ).fetchone()
        return None if row is None else bytes(row[0])

    def store_hash_at(self, pos: int) -> bytes | None:
        """Give the store hash of a position (`GENESIS` for 0), or None when the file does not go so far."""
        if pos == 0:
            return ZERO_HEAD.hash
        with plain_errors(self.path):
            row = self._db.execute("SELECT store_hash FROM entry WHERE pos = ?", (pos,)).fetchone()
        return None if row is None else bytes(row[0])

    def author(self, name: str) -> bytes:
        """Give the id of the own chain that is addressed to `name` (writer only).

        The chain begins, and its id lasts, with the first `append` to it.
        """
        newest = self._newest(name)
        if newest is not None:
            return newest
        log_id = os.urandom(LOG_ID_SIZE)
        self._names[log_id] = name
        self._known[log_id] = Known("")
        return log_id

    def author_anew(self, name: str, at_ms: int) -> bytes:
        """Begin another own chain that is addressed to `name`; give its id, as `author` does from now on.

        Where the one before has no entry, it begins with the first `append` to it, and one that waits for
        that is given again: so whoever refuses each of them does not make the file grow.

        Raises:
            LogError: the disk refuses; nothing was stored.
        """
        newest = self._newest(name)
        if newest is not None and newest not in self._begun:
            return newest
        log_id = os.urandom(LOG_ID_SIZE)
        if newest is not None and self.head_of(newest).seq:
            with self._writing(at_ms) as writing:
                writing.author(log_id, name)
            self._begun.add(log_id)
        self._names[log_id] = name
        self._known[log_id] = Known("")
        return log_id

    def append(
        self,
        events: Sequence[tuple[str, bytes]],
        at_ms: int,
        chain: bytes | None = None,
        checkpoint: str | None = None,
    ) -> list[Entry]:
        """Store events, given as (kind, body), in one transaction and give the entries they became.

        Args:
            events: kind and JSON bytes of each event; the bytes are stored as they are.
            at_ms: wall clock, milliseconds since 1970-01-01 UTC.
            chain: id of an own chain, from `author`; None: the main one.
            checkpoint: sign what the file then holds, in the same transaction, because of this; None: don't.
                Without a signer nothing is signed. In the main chain the checkpoint is the last entry given.

        Raises:
            LogFull: no space left. LogError: the disk refuses. In both cases nothing was stored.
            ValueError: a kind or a body is too large, or the chain is none of ours; nothing was stored.
        """
        log_id = self._log_id if chain is None else chain
        if log_id != self._log_id and log_id not in self._names:
            raise ValueError("only an own chain can be appended to")
        if not events:
            return []
        begins = log_id != self._log_id and log_id not in self._begun
        with self._writing(at_ms) as writing:
            if begins:
                writing.author(log_id, self._names[log_id])
            entries = writing.append(log_id, events)
            if checkpoint is not None and self._signer is not None:
                signed = writing.checkpoint(self._signer, checkpoint)
                if log_id == self._log_id:
                    entries.append(signed)
        if begins:
            self._begun.add(log_id)
        return entries

    def checkpoint(self, why: str, at_ms: int) -> Entry | None:
        """Sign what the file holds, because of `why`; None without a signer.

        Raises:
            LogFull: no space left. LogError: the disk refuses. In both cases nothing was stored.
        """
        if self._signer is None:
            return None
        with self._writing(at_ms) as writing:
            return writing.checkpoint(self._signer, why)

    def accept(self, batch: Sequence[tuple[str, Entry]], received_ms: int) -> list[Receipt]:
        """Judge and store entries that others sent, given as (source, entry), in one transaction.

        When one of those stored is a checkpoint of its author, the file is signed as well.

        Returns:
            one receipt for each; acknowledge only after this function returned.

        Raises:
            LogFull: no space left. LogError: the disk refuses. In both cases nothing of the batch was stored.
            ValueError: a source without a name.
        """
        if any(not source for source, _ in batch):
            raise ValueError("a source has a name")
        with self._writing(received_ms) as writing:
            receipts = [writing.accept(source, entry) for source, entry in batch]
            if self._signer is not None and _has_checkpoint(batch, receipts):
                writing.checkpoint(self._signer, "table.checkpoint")
            return receipts

    def quarantine(self, source: str, log_id: bytes, reason: str, claimed: Head, received_ms: int) -> None:
        """Take nothing more from a chain whose author claims a head that contradicts what is stored.

        Raises:
            LogError: the disk refuses; nothing was stored.
        """
        with self._writing(received_ms) as writing:
            writing.quarantine(source, log_id, reason, claimed)

    def release(self, log_id: bytes, by: str, why: str, at_ms: int) -> bool:
        """End the quarantine of a chain; tell whether it was in one. What is stored stays as it is.

        Args:
            log_id: id of the chain.
            by: ``proof`` or ``person``.
            why: see `Writing.release`; of a person in its own words.
            at_ms: wall clock, milliseconds since 1970-01-01 UTC.

        Raises:
            LogError: the disk refuses; nothing was stored.
        """
        if not self.in_quarantine(log_id):
            return False
        with self._writing(at_ms) as writing:
            return writing.release(log_id, by, why, self.head_of(log_id))

    def entries(self, after_pos: int = 0, limit: int | None = None) -> list[Stored]:
        """Read what stands behind a position, at most `limit` entries, in the order of the file."""
        with plain_errors(self.path):
            return list(self._read(after_pos, -1 if limit is None else limit))

    def entries_of(self, log_id: bytes, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Read the entries of one chain with a seq greater than `after`, at most `limit` of them."""
        with plain_errors(self.path):
            rows = self._db.execute(SELECT_CHAIN, (log_id, after, -1 if limit is None else limit))
            return [Entry(*row) for row in rows]

    def verify(self, expect: bytes | str | None = None, key: bytes | None = None) -> Verification:
        """Walk the chain of the file's own columns and every chain in it; see `station.log.verify_file`.

        Raises:
            ConfigError: `expect` is no hash.
        """
        return verify_database(self._database, expect, key)

    def close(self) -> None:
        """Close the file. Closing twice does nothing."""
        self._database.close()

    @contextmanager
    def _writing(self, now_ms: int) -> Iterator[Writing]:
        with self._database.transaction() as db:
            writing = Writing(db, self._log_id, self._head, self._known, now_ms)
            yield writing
            writing.flush()
        self._head = writing.head
        self._known.update(writing.changed)

    def _newest(self, name: str) -> bytes | None:
        return next((log_id for log_id, other in reversed(self._names.items()) if other == name), None)

    def _read(self, after: int, limit: int) -> Iterator[Stored]:
        for row in self._db.execute(SELECT, (after, limit)):
            pos, source, received_ms, prev, digest, *entry = row
            yield Stored(pos, source, received_ms, prev, digest, Entry(*entry))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _has_checkpoint(batch: Sequence[tuple[str, Entry]], receipts: Sequence[Receipt]) -> bool:
    """Tell whether a checkpoint was among what was stored."""
    return any(
        entry.kind == CHECKPOINT and receipt.reception is Reception.STORED
        for (_, entry), receipt in zip(batch, receipts, strict=True)
    )

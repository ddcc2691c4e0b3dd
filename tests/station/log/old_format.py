"""Log files of format 1, as the program that wrote them made them; the schema text is that program's."""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from collections.abc import Sequence
from pathlib import Path

from station.log import Entry, Head, chain
from station.log.chain import ZERO_HEAD

_META = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
"""
_META_TRIGGERS = """
CREATE TRIGGER meta_no_update BEFORE UPDATE ON meta
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER meta_no_delete BEFORE DELETE ON meta
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER meta_no_insert BEFORE INSERT ON meta
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER entry_no_update BEFORE UPDATE ON entry
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
"""
_TABLE = """
CREATE TABLE entry (
    seq INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    body BLOB NOT NULL,
    prev BLOB NOT NULL,
    hash BLOB NOT NULL
) STRICT;
INSERT INTO meta VALUES ('log_id', randomblob(16));
CREATE TRIGGER entry_in_order BEFORE INSERT ON entry
    WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM entry)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
"""
_CENTRAL = """
CREATE TABLE entry (
    pos INTEGER PRIMARY KEY,
    table_id TEXT NOT NULL,
    received_ms INTEGER NOT NULL,
    log_id BLOB NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    body BLOB NOT NULL,
    prev BLOB NOT NULL,
    hash BLOB NOT NULL,
    central_prev BLOB NOT NULL,
    central_hash BLOB NOT NULL,
    UNIQUE (log_id, seq)
) STRICT;
CREATE TABLE quarantine (
    id INTEGER PRIMARY KEY,
    table_id TEXT NOT NULL,
    received_ms INTEGER NOT NULL,
    log_id BLOB NOT NULL UNIQUE,
    reason TEXT NOT NULL,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    kind TEXT,
    at_ms INTEGER,
    body BLOB,
    prev BLOB
) STRICT;
INSERT INTO meta VALUES ('log_id', randomblob(16));
CREATE TRIGGER quarantine_no_update BEFORE UPDATE ON quarantine
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER quarantine_no_delete BEFORE DELETE ON quarantine
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER entry_in_order BEFORE INSERT ON entry
    WHEN NEW.pos <> (SELECT coalesce(max(pos), 0) + 1 FROM entry)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER entry_once BEFORE INSERT ON entry
    WHEN EXISTS (SELECT 1 FROM entry WHERE log_id = NEW.log_id AND seq = NEW.seq)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER quarantine_once BEFORE INSERT ON quarantine
    WHEN EXISTS (SELECT 1 FROM quarantine WHERE log_id = NEW.log_id OR id = NEW.id)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
"""


def _new(path: Path, application_id: int, schema: str) -> tuple[sqlite3.Connection, bytes]:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.executescript(
        f"BEGIN; PRAGMA application_id = {application_id}; PRAGMA user_version = 1;"
        f"{_META}{schema}{_META_TRIGGERS} COMMIT;"
    )
    return db, db.execute("SELECT value FROM meta").fetchone()[0]


def table_file(path: Path, events: Sequence[tuple[str, bytes]]) -> list[Entry]:
    """Write a table's log of format 1 and give its entries."""
    db, log_id = _new(path, 0x515A4C31, _TABLE)
    entries: list[Entry] = []
    for i, event in enumerate(events):
        head = entries[-1].head if entries else ZERO_HEAD
        entries += chain.link(log_id, head, [event], 1000 + i)
    db.executemany(
        "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)",
        [(e.seq, e.kind, e.at_ms, e.body, e.prev, e.hash) for e in entries],
    )
    db.close()
    return entries


def central_file(path: Path, batch: Sequence[tuple[str, Entry]], fork: Entry) -> list[bytes]:
    """Write a central log of format 1 that stored a batch, then a fork; give its own columns' hashes.

    The hash of these columns is written out once more here, so that it can't change unnoticed.
    """
    db, log_id = _new(path, 0x515A4331, _CENTRAL)
    body = b'{"v":1,"table":"T1","log_id":"%s","reason":"fork","seq":%d,"hash":"%s","stored":%d}' % (
        fork.log_id.hex().encode(),
        fork.seq,
        fork.hash.hex().encode(),
        fork.seq,
    )
    own = chain.link(log_id, Head(0, bytes(32)), [("link.fork", body)], 9000)
    hashes = [bytes(32)]
    for pos, (table, entry) in enumerate([*batch, ("", own[0])], 1):
        received = 9000
        name = table.encode()
        data = b"QZ-central-1" + struct.pack(">QqH", pos, received, len(name)) + name + entry.hash
        hashes.append(hashlib.blake2b(hashes[-1] + data, digest_size=32).digest())
        row = (pos, table, received, entry.log_id, entry.seq, entry.kind, entry.at_ms, entry.body)
        db.execute(
            "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, entry.prev, entry.hash, hashes[-2], hashes[-1]),
        )
    evidence = (fork.seq, fork.hash, fork.kind, fork.at_ms, fork.body, fork.prev)
    db.execute(
        "INSERT INTO quarantine VALUES (1, 'T1', 9000, ?, 'fork', ?, ?, ?, ?, ?, ?)", (fork.log_id, *evidence)
    )
    db.close()
    return hashes[1:]

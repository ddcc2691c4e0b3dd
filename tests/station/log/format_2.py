"""Log files of format 2; the schema text is that of the program that wrote them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('log_id', randomblob(16));

CREATE TABLE entry (
    pos INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    received_ms INTEGER NOT NULL,
    log_id BLOB NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    body BLOB NOT NULL,
    prev BLOB NOT NULL,
    hash BLOB NOT NULL,
    store_prev BLOB NOT NULL,
    store_hash BLOB NOT NULL,
    UNIQUE (log_id, seq)
) STRICT;
CREATE TABLE author (log_id BLOB PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT, WITHOUT ROWID;
CREATE TABLE quarantine (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
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

CREATE TRIGGER meta_no_update BEFORE UPDATE ON meta
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER meta_no_delete BEFORE DELETE ON meta
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

CREATE TRIGGER entry_no_update BEFORE UPDATE ON entry
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

CREATE TRIGGER author_no_update BEFORE UPDATE ON author
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER author_no_delete BEFORE DELETE ON author
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

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
CREATE TRIGGER author_once BEFORE INSERT ON author
    WHEN EXISTS (SELECT 1 FROM author WHERE log_id = NEW.log_id OR name = NEW.name)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER quarantine_once BEFORE INSERT ON quarantine
    WHEN EXISTS (SELECT 1 FROM quarantine WHERE log_id = NEW.log_id OR id = NEW.id)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER meta_no_insert BEFORE INSERT ON meta
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
"""


def as_format_2(new: Path, old: Path) -> None:
    """Write what a log of today holds as the program of format 2 wrote it; there is no release in it."""
    source = sqlite3.connect(f"file:{new}?mode=ro", uri=True)
    db = sqlite3.connect(old, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    (log_id,) = source.execute("SELECT value FROM meta").fetchone()
    schema = SCHEMA.replace("randomblob(16)", f"x'{log_id.hex()}'")
    db.executescript(f"BEGIN; PRAGMA application_id = {0x515A4C47}; PRAGMA user_version = 2;{schema} COMMIT;")
    for table, columns in (("entry", "*"), ("author", "log_id, name"), ("quarantine", "*")):
        for row in source.execute(f"SELECT {columns} FROM {table} ORDER BY 1").fetchall():
            db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    assert source.execute("SELECT count(*) FROM release").fetchone() == (0,)
    source.close()
    db.close()

"""Tables and triggers of a log file: format 2."""

from __future__ import annotations

__all__ = ["APPLICATION_ID", "INSERT", "SCHEMA", "SELECT", "SELECT_CHAIN", "TABLES", "TRIGGERS", "VERSION"]

APPLICATION_ID = 0x515A4C47
"""`application_id` of a log file: the letters QZLG."""
VERSION = 2

TABLES = """
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
"""
_META = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('log_id', randomblob(16));
"""
_GUARD = """
CREATE TRIGGER #_no_update BEFORE UPDATE ON #
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER #_no_delete BEFORE DELETE ON #
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
"""
# INSERT OR REPLACE deletes without a DELETE trigger (https://www.sqlite.org/lang_conflict.html), so what is
# there already is refused before.
_ORDER = """
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
_GUARDED = ("meta", "entry", "author", "quarantine")
TRIGGERS = "".join(_GUARD.replace("#", name) for name in _GUARDED) + _ORDER
SCHEMA = _META + TABLES + TRIGGERS

INSERT = (
    "INSERT INTO entry (pos, source, received_ms, store_prev, store_hash,"
    " log_id, seq, kind, at_ms, body, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_COLUMNS = (
    "SELECT pos, source, received_ms, store_prev, store_hash, log_id, seq, kind, at_ms, body, prev, hash"
)
SELECT = f"{_COLUMNS} FROM entry WHERE pos > ? ORDER BY pos LIMIT ?"
"""The first five columns are the file's own, the others those of the entry."""
SELECT_CHAIN = (
    "SELECT log_id, seq, kind, at_ms, body, prev, hash FROM entry"
    " WHERE log_id = ? AND seq > ? ORDER BY seq LIMIT ?"
)

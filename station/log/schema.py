"""Tables and triggers of a log file: format 3."""

from __future__ import annotations

__all__ = [
    "APPLICATION_ID",
    "BESIDE",
    "INSERT",
    "QUARANTINES",
    "SCHEMA",
    "SELECT",
    "SELECT_CHAIN",
    "TABLES",
    "TRIGGERS",
    "VERSION",
]

APPLICATION_ID = 0x515A4C47
"""`application_id` of a log file: the letters QZLG."""
VERSION = 3

_ENTRIES = """
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
"""
BESIDE = """
CREATE TABLE author (id INTEGER PRIMARY KEY, log_id BLOB NOT NULL UNIQUE, name TEXT NOT NULL) STRICT;
CREATE TABLE quarantine (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    received_ms INTEGER NOT NULL,
    log_id BLOB NOT NULL,
    reason TEXT NOT NULL,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    kind TEXT,
    at_ms INTEGER,
    body BLOB,
    prev BLOB
) STRICT;
CREATE TABLE release (
    id INTEGER PRIMARY KEY,
    quarantine INTEGER NOT NULL UNIQUE,
    received_ms INTEGER NOT NULL,
    released_by TEXT NOT NULL,
    why TEXT NOT NULL,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;
"""
"""What stands beside the entries; each row has an own entry that says the same."""
TABLES = _ENTRIES + BESIDE
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
CREATE TRIGGER author_in_order BEFORE INSERT ON author
    WHEN NEW.id <> (SELECT coalesce(max(id), 0) + 1 FROM author)
        OR EXISTS (SELECT 1 FROM author WHERE log_id = NEW.log_id)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER quarantine_in_order BEFORE INSERT ON quarantine
    WHEN NEW.id <> (SELECT coalesce(max(id), 0) + 1 FROM quarantine)
        OR EXISTS (
            SELECT 1 FROM quarantine
            WHERE log_id = NEW.log_id AND id NOT IN (SELECT quarantine FROM release)
        )
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER release_in_order BEFORE INSERT ON release
    WHEN NEW.id <> (SELECT coalesce(max(id), 0) + 1 FROM release)
        OR NOT EXISTS (SELECT 1 FROM quarantine WHERE id = NEW.quarantine)
        OR EXISTS (SELECT 1 FROM release WHERE quarantine = NEW.quarantine)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER meta_no_insert BEFORE INSERT ON meta
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
"""
_GUARDED = ("meta", "entry", "author", "quarantine", "release")
TRIGGERS = "".join(_GUARD.replace("#", name) for name in _GUARDED) + _ORDER
SCHEMA = _META + TABLES + TRIGGERS

QUARANTINES = (
    "SELECT q.log_id, q.source, CASE WHEN r.id IS NULL THEN q.reason ELSE '' END"
    " FROM quarantine q LEFT JOIN release r ON r.quarantine = q.id ORDER BY q.id"
)
"""Of each quarantine in its order: chain, source, and the reason while it is open."""
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

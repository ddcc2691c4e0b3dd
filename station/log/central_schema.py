"""Tables and triggers of the central log."""

from __future__ import annotations

__all__ = ["INSERT", "SCHEMA", "SELECT"]

_GUARD = """
CREATE TRIGGER #_no_update BEFORE UPDATE ON #
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER #_no_delete BEFORE DELETE ON #
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
"""
_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
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
"""
_ORDER = """
CREATE TRIGGER entry_in_order BEFORE INSERT ON entry
    WHEN NEW.pos <> (SELECT coalesce(max(pos), 0) + 1 FROM entry)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER entry_once BEFORE INSERT ON entry
    WHEN EXISTS (SELECT 1 FROM entry WHERE log_id = NEW.log_id AND seq = NEW.seq)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER quarantine_once BEFORE INSERT ON quarantine
    WHEN EXISTS (SELECT 1 FROM quarantine WHERE log_id = NEW.log_id OR id = NEW.id)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER meta_no_insert BEFORE INSERT ON meta
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
"""
SCHEMA = _TABLES + "".join(_GUARD.replace("#", name) for name in ("meta", "entry", "quarantine")) + _ORDER

INSERT = (
    "INSERT INTO entry (pos, table_id, received_ms, central_prev, central_hash,"
    " log_id, seq, kind, at_ms, body, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
SELECT = (
    "SELECT pos, table_id, received_ms, central_prev, central_hash,"
    " log_id, seq, kind, at_ms, body, prev, hash FROM entry WHERE pos > ? ORDER BY pos LIMIT ?"
)
"""The first five columns are the central station's, the others those of the table's entry."""

"""Bringing a log file of an older format up to date, in one transaction.

Format 1 knew two kinds of file: a table's log, with nothing but its own chain (QZL1), and the log of the
central station, with copies of many chains (QZC1). Both become one kind. The entries keep their bytes and
hashes, the central station's also its own columns and their hashes; a table's file gets such columns.

Format 2 took a chain into quarantine for ever, and knew one chain of the owner for each name. Its entries
stay where they are; the small tables beside them are made anew.
"""

from __future__ import annotations

import sqlite3

from station.log.chain import GENESIS, LOG_ID_SIZE, store_hash
from station.log.schema import APPLICATION_ID, BESIDE, TABLES, TRIGGERS, VERSION

__all__ = ["OLD_CENTRAL", "OLD_TABLE", "is_old", "migrate"]

OLD_TABLE = 0x515A4C31
"""`application_id` of a table's log of format 1: the letters QZL1."""
OLD_CENTRAL = 0x515A4331
"""`application_id` of a central log of format 1: the letters QZC1."""

_FROM_CENTRAL = """
INSERT INTO entry SELECT pos, table_id, received_ms, log_id, seq, kind, at_ms, body, prev, hash,
    central_prev, central_hash FROM entry_1 ORDER BY pos;
INSERT INTO quarantine SELECT id, table_id, received_ms, log_id, reason, seq, hash, kind, at_ms, body, prev
    FROM quarantine_1 ORDER BY id;
DROP TABLE quarantine_1;
"""
_FROM_2 = """
INSERT INTO author SELECT row_number() OVER (ORDER BY (
        SELECT pos FROM entry WHERE entry.log_id = author_2.log_id AND entry.seq = 1
    )), log_id, name FROM author_2;
INSERT INTO quarantine SELECT * FROM quarantine_2 ORDER BY id;
DROP TABLE author_2;
DROP TABLE quarantine_2;
"""
_FROM_TABLE = (
    "INSERT INTO entry SELECT seq, '', at_ms, ?, seq, kind, at_ms, body, prev, hash, ?, ?"
    " FROM entry_1 WHERE seq = ?"
)


def is_old(application_id: int, version: int) -> bool:
    """Tell whether a file is a log of format 1 or 2."""
    return (version == 1 and application_id in (OLD_TABLE, OLD_CENTRAL)) or (
        version == 2 and application_id == APPLICATION_ID
    )


def migrate(db: sqlite3.Connection, application_id: int) -> None:
    """Bring an older log to today's format; a transaction that is cut leaves the old file as it was.

    The hashes are copied, not checked: what did not fit before does not fit afterwards, at the same place.

    Args:
        db: the file.
        application_id: that of the file, which says its format: see `is_old`.

    Raises:
        sqlite3.Error: the disk refuses, or the file is damaged; nothing has changed.
    """
    db.execute("BEGIN IMMEDIATE")
    try:
        triggers = db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            quoted = str(name).replace('"', '""')
            db.execute(f'DROP TRIGGER "{quoted}"')
        if application_id == APPLICATION_ID:
            _from_2(db)
        else:
            _from_1(db, application_id)
        _run(db, TRIGGERS)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _from_1(db: sqlite3.Connection, application_id: int) -> None:
    db.execute("ALTER TABLE entry RENAME TO entry_1")
    if application_id == OLD_CENTRAL:
        db.execute("ALTER TABLE quarantine RENAME TO quarantine_1")
    _run(db, TABLES)
    if application_id == OLD_CENTRAL:
        _run(db, _FROM_CENTRAL)
    else:
        _table_entries(db)
    db.execute("DROP TABLE entry_1")


def _from_2(db: sqlite3.Connection) -> None:
    db.execute("ALTER TABLE author RENAME TO author_2")
    db.execute("ALTER TABLE quarantine RENAME TO quarantine_2")
    _run(db, BESIDE)
    _run(db, _FROM_2)


def _run(db: sqlite3.Connection, script: str) -> None:
    """Run statements one by one: `executescript` would commit the transaction that is open."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""


def _table_entries(db: sqlite3.Connection) -> None:
    """Copy the one chain of a table's log; what an entry says stays in SQL, readable or not."""
    row = db.execute("SELECT value FROM meta WHERE name = 'log_id'").fetchone()
    log_id = row[0] if row is not None else bytes(LOG_ID_SIZE)
    prev = GENESIS
    for seq, at_ms, digest in db.execute("SELECT seq, at_ms, hash FROM entry_1 ORDER BY seq").fetchall():
        try:
            store = store_hash(prev, seq, "", at_ms, digest)
        except (TypeError, ValueError) as error:
            raise sqlite3.DatabaseError(f"entry {seq}: {error}") from error
        db.execute(_FROM_TABLE, (log_id, prev, store, seq))
        prev = store

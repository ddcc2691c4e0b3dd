"""Verifying a log file: its entries, and what stands in it besides them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from station.errors import NotALog
from station.log import quarantines
from station.log.anchor import expected
from station.log.chain import Entry, Stored
from station.log.database import Database, identity, plain_errors
from station.log.schema import SCHEMA, SELECT
from station.log.verification import Misfit, Verification, Walk

__all__ = ["verify_database", "verify_file"]

_OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
_TEXTS = {
    "quarantine": "The quarantine is not what the entries say of it.",
    "release": "The releases from quarantine are not what the entries say of them.",
}
_TABLES = ("entry", "author", "quarantine", "release", "meta")
_ROW = (int, str, int, bytes, bytes, bytes, int, str, int, bytes, bytes, bytes)
"""Types of the columns of an entry, as they are read: a table that was made anew may hold others."""


def verify_file(path: Path, expect: bytes | str | None = None, key: bytes | None = None) -> dict[str, Any]:
    """Verify a log, also beside its running writer, and one of an older format without changing it.

    Args:
        path: the file.
        expect: a hash known from elsewhere: of an entry, of a position, or the text of a sheet's QR code.
        key: public key (32 bytes) that has to have signed the log.

    Returns:
        the fields of `station.log.Verification`, ready for JSON.

    Raises:
        NotALog: no log at `path`. ConfigError: `expect` is no hash. LogError: the file cannot be read.
    """
    with Database(path, read_only=True) as database:
        found = verify_database(database, expect, key)
    return dict(msgspec.to_builtins(found))


def verify_database(
    database: Database, expect: bytes | str | None = None, key: bytes | None = None
) -> Verification:
    """Verify an open log; see `verify_file`."""
    wanted, db = expected(expect), database.connection
    with plain_errors(database.path):
        _no_views(database)
        walk = Walk(identity(database), wanted)
        db.execute("BEGIN")  # one state of the file, whatever its writer does meanwhile
    try:
        walk.through(_stored(db))
        misfits = [*_before_the_first(db), *walk.misfits]
        if not walk.broken:  # else what the entries say of the rest is not known
            misfits += _tables(db, walk)
        misfits += _file(db)
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
    binding = [
        anchor.pos for anchor in walk.anchors.values() if anchor.by == "expected" or anchor.key == _hex(key)
    ]
    signed = key is None or ("checkpoint", key.hex()) in walk.anchors
    matched = None if wanted is None else walk.matched is not None
    return Verification(
        ok=not misfits and signed and matched is not False,
        entries=walk.store.seq,
        head=walk.store.hash.hex(),
        anchored_to=max(binding, default=None),
        first_bad=min((found.pos for found in misfits if found.pos is not None), default=None),
        expected=matched,
        misfits=misfits,
        checkpoints=walk.checkpoints,
        anchors=list(walk.anchors.values()),
        chains=walk.chains,
    )


def _hex(key: bytes | None) -> str:
    return "" if key is None else key.hex()


def _no_views(database: Database) -> None:
    """Refuse a file with a view in the place of a table: reading it may never end."""
    views = "SELECT lower(name) FROM sqlite_master WHERE type = 'view'"
    for (name,) in database.connection.execute(views).fetchall():
        if name in _TABLES:
            raise NotALog(
                f"The file {database.path} has a view where a log has its table {name}.",
                fix="Restore it from a backup.",
            )


def _before_the_first(db: sqlite3.Connection) -> list[Misfit]:
    """Look for rows that the walk, which begins at position 1, does not meet, and readers of a chain do."""
    with suppress(sqlite3.DatabaseError):  # then the walk has said so
        (least,) = db.execute("SELECT min(pos) FROM entry").fetchone()
        if least is not None and least < 1:
            return [Misfit("order", "positions are counted from 1", least)]
    return []


def _stored(db: sqlite3.Connection) -> Iterator[Stored]:
    for row in db.execute(SELECT, (0, -1)):
        if tuple(map(type, row)) != _ROW:
            raise TypeError("a column holds something else than it should")
        pos, source, received_ms, prev, digest, *entry = row
        yield Stored(pos, source, received_ms, prev, digest, Entry(*entry))


def _tables(db: sqlite3.Connection, walk: Walk) -> list[Misfit]:
    """Compare the small tables with what the entries say of them."""
    misfits = []
    try:
        if db.execute("SELECT count(*) FROM meta").fetchone()[0] != 1:
            misfits.append(Misfit("identity", "The file has more than one identity."))
        if db.execute("SELECT id, log_id, name FROM author ORDER BY id").fetchall() != [
            (number, *chain) for number, chain in enumerate(walk.authored.items(), 1)
        ]:
            misfits.append(Misfit("author", "The list of the file's own chains is not what its entries say."))
        misfits += [Misfit(what, _TEXTS[what]) for what in quarantines.misfits(db, walk.quarantines)]
    except (sqlite3.DatabaseError, KeyError, TypeError, ValueError, UnicodeError):
        misfits.append(Misfit("unreadable", "A table beside the entries cannot be read."))
    return misfits


@cache
def _objects_of_a_new_file() -> list[tuple[str, str, str, str | None]]:
    with closing(sqlite3.connect(":memory:")) as new:
        new.executescript(SCHEMA)
        return new.execute(_OBJECTS).fetchall()


def _file(db: sqlite3.Connection) -> list[Misfit]:
    """Look whether the triggers that forbid changes are there, and whether SQLite finds the file sound."""
    misfits = []
    try:
        if db.execute(_OBJECTS).fetchall() != _objects_of_a_new_file():
            misfits.append(Misfit("schema", "The tables or the triggers that forbid changes were altered."))
        (found,) = db.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            misfits.append(Misfit("file", f"SQLite finds the file damaged: {str(found).splitlines()[0]}."))
    except (sqlite3.DatabaseError, UnicodeError, TypeError):
        misfits.append(Misfit("file", "SQLite cannot read the whole file."))
    return misfits

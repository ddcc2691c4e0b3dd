"""Copying an SQLite file, whoever writes it meanwhile, to one file that any medium can hold."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from station.log.database import plain_errors
from station.log.log import Log
from station.ops.manifest import BackupError

__all__ = ["copy_database", "damage_of"]

_BUSY_S: Final = 1.0
_TRIES: Final = 10
_WAL_HEADER: Final = 32
"""Bytes; new ones whenever the write-ahead log begins anew. Source: https://www.sqlite.org/fileformat2.html#walformat"""


def copy_database(path: Path, to: Path) -> None:
    """Copy one state of an SQLite file.

    The copy has no write-ahead log, so that it can be read where nothing can be written.

    Args:
        path: the file; it may be in use.
        to: the new file; mode 0600.

    Raises:
        BackupError: it is damaged, or changes all the time. LogError: it cannot be read.
        OSError: the copy cannot be written.
    """
    to.touch(mode=0o600)
    with plain_errors(path):
        try:
            _by_sqlite(path, to)
        except sqlite3.OperationalError as error:
            code = error.sqlite_errorcode & 0xFF
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):  # its owner lets nobody read: the ledger
                _as_files(path, to)
            elif code == sqlite3.SQLITE_CANTOPEN and not _wal(path).exists():  # on a disk that is read-only
                _by_sqlite(path, to, "&immutable=1")
            else:
                raise
        with closing(sqlite3.connect(to)) as copy:
            copy.execute("PRAGMA journal_mode = DELETE")
            if copy.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise BackupError(
                    f"{path} is damaged.", fix="Keep the earlier backups, and copy the home as it is."
                )


def damage_of(log: Log) -> str | None:
    """Say what does not fit in a log; None where all of it does.

    A signature that does not hold is none: a table may send the station what it likes, and the entries behind
    it are as good as ever. `quezhuo verify` tells of it.

    Raises:
        LogError: the log cannot be read.
    """
    bad = next((misfit for misfit in log.verify().misfits if misfit.what != "signature"), None)
    if bad is None:
        return None
    return bad.text if bad.pos is None else f"entry {bad.pos}: {bad.text}"


def _by_sqlite(path: Path, to: Path, how: str = "") -> None:
    uri = f"{path.absolute().as_uri()}?mode=ro{how}"
    with (
        closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_S, isolation_level=None)) as source,
        closing(sqlite3.connect(to)) as copy,
    ):
        # Read first: `backup` waits without end for a file that another process holds.
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        source.backup(copy, pages=-1)  # one step: a writer in between would make it begin again


def _as_files(path: Path, to: Path) -> None:
    """Copy file and write-ahead log, until nothing was moved from one into the other meanwhile.

    What is only appended to the write-ahead log does no harm: half a transaction at its end does not count.
    """
    for _ in range(_TRIES):
        before = _shape(path)
        _wal(to).unlink(missing_ok=True)
        if _wal(path).exists():
            shutil.copyfile(_wal(path), _wal(to))
        shutil.copyfile(path, to)
        if _shape(path) == before:
            return
    raise BackupError(f"{path} changes all the time.", fix="Try again when the table rests.")


def _shape(path: Path) -> tuple[int, int, bytes]:
    info = path.stat()
    try:
        with _wal(path).open("rb") as file:
            header = file.read(_WAL_HEADER)
    except FileNotFoundError:
        header = b""
    return info.st_mtime_ns, info.st_size, header


def _wal(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")

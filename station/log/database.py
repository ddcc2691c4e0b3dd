"""One SQLite file of a log: opening it, transactions, and plain errors.

Write-ahead log with ``synchronous=FULL``: a transaction is on the disk when COMMIT returns. Source:
https://www.sqlite.org/pragma.html#pragma_synchronous and https://www.sqlite.org/wal.html.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from station.errors import LogError, LogFull, LogInUse, NotALog
from station.log.chain import LOG_ID_SIZE

__all__ = ["Database", "application_id_of", "identity", "plain_errors"]

_BUSY_TIMEOUT_S = 2.0
_VERSION = 1


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the operating system into `LogError` with one plain sentence."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translated(error, path) from error
    except UnicodeError as error:  # damage inside a name of the schema
        raise _unreadable(path) from error
    except OSError as error:
        raise LogError(
            f"The log {path} cannot be used: {error.strerror or error}.",
            fix="Check the folder, its permissions and the disk.",
        ) from error


def _unreadable(path: Path) -> NotALog:
    return NotALog(
        f"The file {path} is not a readable log.", fix="Check the path, or restore it from a backup."
    )


def _translated(error: sqlite3.Error, path: Path) -> LogError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return LogFull(
            f"The disk with the log {path} is full, so nothing was stored.",
            fix="Free some space; recording goes on by itself.",
        )
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return _unreadable(path)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LogInUse(
            f"Another program holds the log {path}.", fix="Close that program, then try once more."
        )
    return LogError(
        f"The log {path} cannot be read or written ({error}).",
        fix="Check the disk and the permissions of the folder.",
    )


def application_id_of(path: Path) -> int:
    """Read which kind of log a file is, without changing it.

    Raises:
        NotALog: no such file, or not an SQLite database.
    """
    if not path.is_file():
        raise NotALog(f"There is no log at {path}.", fix="Check the path.")
    with plain_errors(path):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            return _pragma(connection, "application_id")
        finally:
            connection.close()


class Database:
    """The one connection of a log object; used by one thread only.

    Args:
        path: the file; created with its schema when it does not exist (not when `read_only`).
        application_id: marks the kind of log in the file's header.
        schema: SQL that creates tables and triggers.
        read_only: open for reading beside the one writer.

    Raises:
        LogInUse: another writer has the file open.
        NotALog: the file exists but is something else.
        LogError: the file cannot be opened or created.
    """

    def __init__(self, path: Path, application_id: int, schema: str, *, read_only: bool = False) -> None:
        self.path = path
        self._lock_fd: int | None = None
        self._closed = False
        if read_only:
            _check_kind(application_id_of(path), application_id, path)
        with plain_errors(path):
            if not read_only:
                self._lock_fd = _take_writer_lock(path)
            try:
                self.connection = self._connect(application_id, schema, read_only=read_only)
            except BaseException:
                self._unlock()
                raise

    @property
    def writable(self) -> bool:
        """True for the one writer."""
        return self._lock_fd is not None

    def _connect(self, application_id: int, schema: str, *, read_only: bool) -> sqlite3.Connection:
        if not read_only:
            self.path.touch(mode=0o600, exist_ok=True)
        mode = "ro" if read_only else "rw"
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            uri=True,
            isolation_level=None,
            timeout=_BUSY_TIMEOUT_S,
        )
        try:
            if not read_only:
                _prepare(connection, application_id, schema, self.path)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the block in one ``BEGIN IMMEDIATE`` transaction: all of it is stored, or nothing.

        Raises:
            LogFull: no space left. LogError: any other failure of the disk. In both cases nothing was stored.
        """
        with plain_errors(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                # SQLite itself rolls back after some disk errors; then there is nothing left to roll back.
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the connection and let another writer in. Closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            with plain_errors(self.path):
                self.connection.close()
        finally:
            self._unlock()

    def _unlock(self) -> None:
        if self._lock_fd is not None:
            os.close(self._lock_fd)
            self._lock_fd = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_kind(found: int, wanted: int, path: Path) -> None:
    if found != wanted:
        raise NotALog(f"The file {path} is not a log of the expected kind.", fix="Check the path.")


def _take_writer_lock(path: Path) -> int:
    """Lock a file beside the log: the log's own file must not be opened twice (POSIX locks of SQLite)."""
    lock_path = path.with_name(path.name + ".lock")
    fd = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise LogInUse(
            f"Another program already writes the log {path}.", fix="Stop that program, or use another --home."
        ) from None
    return fd


def _prepare(connection: sqlite3.Connection, application_id: int, schema: str, path: Path) -> None:
    """Create the schema in an empty file; otherwise check that the file is of the expected kind."""
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables:
        _check_kind(_pragma(connection, "application_id"), application_id, path)
        _check_version(_pragma(connection, "user_version"), path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    if not tables:
        connection.executescript(
            f"BEGIN IMMEDIATE; PRAGMA application_id={application_id}; PRAGMA user_version={_VERSION};"
            f"{schema} COMMIT;"
        )


def _check_version(found: int, path: Path) -> None:
    if found != _VERSION:
        raise NotALog(
            f"The log {path} has format {found}; this program reads format {_VERSION}.",
            fix="Use the version of the program that wrote it.",
        )


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def identity(database: Database) -> bytes:
    """Read the random id (16 bytes) that the log got when its file was created.

    Raises:
        NotALog: it has none.
    """
    try:
        row = database.connection.execute("SELECT value FROM meta WHERE name = 'log_id'").fetchone()
    except sqlite3.OperationalError:
        row = None
    if row is None or not isinstance(row[0], bytes) or len(row[0]) != LOG_ID_SIZE:
        raise NotALog(f"The log {database.path} has no identity.", fix="Restore it from a backup.")
    return row[0]

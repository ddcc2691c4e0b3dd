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
from station.log import migration
from station.log.chain import LOG_ID_SIZE
from station.log.schema import APPLICATION_ID, SCHEMA, VERSION

__all__ = ["Database", "identity", "plain_errors"]

_BUSY_TIMEOUT_S = 2.0
_CHECKPOINT_PAGES = 4000
"""Pages (of 4 KiB) in the write-ahead log at which it goes into the file: rarely enough that fast storing
does not wait for it all the time. Source: https://www.sqlite.org/pragma.html#pragma_wal_autocheckpoint
"""


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
    extended = getattr(error, "sqlite_errorcode", 0)
    code = extended & 0xFF
    # A log that was closed cleanly gets its shared memory anew, and SQLite has a code of its own for "no room
    # for it" (https://www.sqlite.org/rescode.html#ioerr_shmsize).
    if code == sqlite3.SQLITE_FULL or extended == sqlite3.SQLITE_IOERR_SHMSIZE:
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


class Database:
    """The one connection of a log object; used by one thread only.

    Args:
        path: the file; created with its schema when it does not exist (not when `read_only`), brought up to
            date when its format is an older one.
        read_only: open for reading beside the one writer; a file of an older format is copied into memory.

    Raises:
        LogInUse: another writer has the file open.
        NotALog: the file exists but is something else.
        LogError: the file cannot be opened or created.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._lock_fd: int | None = None
        self._closed = False
        if read_only and not path.is_file():
            raise NotALog(f"There is no log at {path}.", fix="Check the path.")
        with plain_errors(path):
            if not read_only:
                self._lock_fd = _take_writer_lock(path)
                path.touch(mode=0o600, exist_ok=True)
            try:
                self.connection = _connect(path, read_only=read_only)
            except BaseException:
                self._unlock()
                raise

    @property
    def writable(self) -> bool:
        """True for the one writer."""
        return self._lock_fd is not None

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


def _connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    connection = _connected(path, "mode=ro" if read_only else "mode=rw")
    try:
        if not read_only:
            _prepare(connection, path)
            return connection
        try:
            return _readable(connection, path)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CANTOPEN or not _at_rest(path):
                raise
        # Where nothing can be written, SQLite can't make the file that readers share, and nobody writes.
        connection.close()
        connection = _connected(path, "mode=ro&immutable=1")
        return _readable(connection, path)
    except BaseException:
        connection.close()
        raise


def _connected(path: Path, how: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{how}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=_BUSY_TIMEOUT_S)


def _at_rest(path: Path) -> bool:
    """Whether all of a log is in its file, and nothing beside it."""
    beside = (path.with_name(path.name + ending) for ending in ("-wal", "-journal"))
    return not any(other.exists() and other.stat().st_size for other in beside)


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Create the schema in an empty file, or bring a file of an older format up to date."""
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    old = _check_format(connection, path) if tables else None
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute(f"PRAGMA wal_autocheckpoint={_CHECKPOINT_PAGES}")
    if not tables:
        connection.executescript(
            f"BEGIN IMMEDIATE; PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={VERSION};"
            f"{SCHEMA} COMMIT;"
        )
    elif old is not None:
        migration.migrate(connection, old)


def _readable(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """Give the connection itself, or, for a file of an older format, one to a copy that is up to date."""
    old = _check_format(connection, path)
    if old is None:
        return connection
    copy = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.backup(copy)
        migration.migrate(copy, old)
    except BaseException:
        copy.close()
        raise
    connection.close()
    return copy


def _check_format(connection: sqlite3.Connection, path: Path) -> int | None:
    """Give the `application_id` of a file of an older format, None for one of today's."""
    kind, version = _pragma(connection, "application_id"), _pragma(connection, "user_version")
    if (kind, version) == (APPLICATION_ID, VERSION):
        return None
    if migration.is_old(kind, version):
        return kind
    if kind not in (APPLICATION_ID, migration.OLD_TABLE, migration.OLD_CENTRAL):
        raise NotALog(f"The file {path} is not a log of this program.", fix="Check the path.")
    raise NotALog(
        f"The log {path} has format {version}; this program reads formats up to {VERSION}.",
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

"""The command ledger: what was asked of the machine, written down before it is asked.

Append-only, in one SQLite file; each entry is on the disk (synchronous FULL) when the call returns. One
process owns a ledger at a time: two owners would hand out the same ids.

A disk that is full or refuses to be written holds new commands back, and nothing else: ends that can not be
written down are kept, and written in their order as soon as they can be.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firmware_bridge.errors import LedgerError, UnwrittenError
from firmware_bridge.machine import Outcome
from firmware_bridge.ops import Op

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS entries (
    no INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    cmd_id INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('intent', 'outcome')),
    body TEXT NOT NULL,
    UNIQUE (cmd_id, kind)
) STRICT;
CREATE TRIGGER IF NOT EXISTS entries_keep BEFORE UPDATE ON entries
    BEGIN SELECT RAISE(ABORT, 'the command ledger is append-only'); END;
CREATE TRIGGER IF NOT EXISTS entries_stay BEFORE DELETE ON entries
    BEGIN SELECT RAISE(ABORT, 'the command ledger is append-only'); END;
"""


@dataclass(frozen=True, slots=True)
class Intent:
    """One command that was, or was about to be, sent to the board `uid` in its run `boot_id`."""

    cmd_id: int
    op: Op
    args: bytes
    uid: int
    boot_id: int


class Ledger:
    """The file. Not thread-safe; a write takes as long as the disk needs.

    Args:
        path: file to create or continue, or ":memory:" for tests.
        wall: seconds since 1970, for the reader of the file only.

    Raises:
        LedgerError: it can not be opened, or another process owns it.
    """

    def __init__(self, path: Path | str, wall: Callable[[], float] = time.time) -> None:
        self._path = str(path)
        self._wall = wall
        self._owed: deque[Outcome] = deque()
        self._refused = False
        try:
            self._db = sqlite3.connect(self._path, timeout=1.0, isolation_level=None)
        except sqlite3.Error as error:
            raise LedgerError(f"The command ledger {path} can not be opened ({error}).") from None
        try:
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.executescript(_SCHEMA)
            self._db.execute("BEGIN IMMEDIATE")  # take the lock now, not at the first command
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            self._db.close()
            raise LedgerError(f"The command ledger {path} {_why(error)}.") from None

    def close(self) -> None:
        """Let the file go, after a last try to write what is owed."""
        if self._owed:
            self.settle()
        self._db.close()

    @property
    def sound(self) -> bool:
        """False while the disk refuses: as the last try to write found it."""
        return not self._refused

    def settle(self) -> bool:
        """Write down what is owed, or try whether the disk can be written again; tell whether it can.

        Never raises: a disk that refuses is tried again with the next call.
        """
        try:
            self._pay()
            if self._refused:
                self._write("PRAGMA user_version = 0")  # changes nothing, and goes to the disk all the same
        except LedgerError:
            return False
        return True

    def last_id(self) -> int:
        """The highest id ever used (0: none).

        Raises:
            LedgerError: the file can not be read.
        """
        row = self._read("SELECT max(cmd_id) FROM entries")[0]
        return int(row[0] or 0)

    def intend(self, intent: Intent) -> None:
        """Write a command down. Only after this returns may it be sent.

        Raises:
            UnwrittenError: it is not on the disk; nothing may be sent.
        """
        self._pay()
        body = {
            "op": intent.op.name,
            "args": intent.args.hex(),
            "uid": f"{intent.uid:016x}",
            "boot_id": intent.boot_id,
        }
        self._append(intent.cmd_id, "intent", body)

    def conclude(self, outcome: Outcome) -> None:
        """Write down how a command ended, now or as soon as the disk can be written.

        Should this process die before, the command is open in the ledger, and its end is asked for again.
        """
        self._owed.append(outcome)
        with suppress(UnwrittenError):
            self._pay()

    def _pay(self) -> None:
        while self._owed:
            try:
                self._put_end(self._owed[0])
            except UnwrittenError:
                raise
            except LedgerError:
                self._owed.popleft()  # a second end of one command: our own mistake, which trying can't mend
                raise
            self._owed.popleft()

    def _put_end(self, outcome: Outcome) -> None:
        body = {
            "status": outcome.status.value,
            "code": outcome.code,
            "result": dict(outcome.result),
            "seconds": outcome.seconds,
        }
        self._append(outcome.cmd_id, "outcome", body)

    def open_intents(self) -> tuple[Intent, ...]:
        """Commands without a known end, oldest first.

        Raises:
            LedgerError: the file can not be read.
        """
        rows = self._read(
            "SELECT cmd_id, body FROM entries WHERE kind = 'intent' AND cmd_id NOT IN"
            " (SELECT cmd_id FROM entries WHERE kind = 'outcome') ORDER BY cmd_id"
        )
        return tuple(_intent(cmd_id, json.loads(body)) for cmd_id, body in rows)

    def _read(self, question: str) -> list[tuple[int, str]]:
        try:
            return self._db.execute(question).fetchall()
        except sqlite3.Error as error:
            raise LedgerError(f"The command ledger {self._path} can not be read ({error}).") from None

    def _append(self, cmd_id: int, kind: str, body: Mapping[str, object]) -> None:
        self._write(
            "INSERT INTO entries (at, cmd_id, kind, body) VALUES (?, ?, ?, ?)",
            (self._wall(), cmd_id, kind, json.dumps(body, sort_keys=True)),
        )

    def _write(self, statement: str, values: tuple[object, ...] = ()) -> None:
        try:
            self._db.execute(statement, values)
        except sqlite3.IntegrityError as error:
            raise LedgerError(f"The command ledger {self._path} can not be written ({error}).") from None
        except sqlite3.Error as error:
            self._refused = True
            raise UnwrittenError(
                f"The command ledger {self._path} can not be written ({error}); make room on the disk."
            ) from None
        self._refused = False


def _intent(cmd_id: int, body: dict[str, object]) -> Intent:
    boot_id = body["boot_id"]
    return Intent(
        cmd_id,
        Op.of(str(body["op"])),
        bytes.fromhex(str(body["args"])),
        int(str(body["uid"]), 16),
        boot_id if isinstance(boot_id, int) else 0,
    )


def _why(error: sqlite3.Error) -> str:
    if "locked" in str(error):
        return "is in use by another process; end that one first"
    return f"can not be used ({error})"

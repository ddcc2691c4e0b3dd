"""At most once: what is known of every command that has been sent, and what may be said about it.

The rules of this file. An id is written into the ledger before its frame leaves. A lost acknowledgement is
cured by QUERY, never by sending again; NEVER_SEEN, from the same run of the same board, is the only answer
after which the same id may be sent again. If the board was reset, or has forgotten, the outcome is UNKNOWN
and stays so. An id that is given up as never seen is closed at the device, so that a late copy of the frame
can not be obeyed either.

Messages to send are returned, ended commands are collected in `finished`; time is passed in (seconds).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from firmware_bridge import messages as m
from firmware_bridge.errors import LedgerError, MessageError
from firmware_bridge.interlock import Fault, Reason
from firmware_bridge.ledger import Intent
from firmware_bridge.machine import Outcome, Status
from firmware_bridge.ops import Op, pack_args, unpack_result

FRESH: Final = 2.0
"""Seconds for which a command that never arrived may still be sent: an older wish of a person is stale."""


LAST_ID: Final = 0xFFFF_FFFF

TRY_AGAIN: Final = 1.0
"""Seconds between two tries to write a ledger that the disk refused."""


class Book(Protocol):
    """What is needed of a ledger."""

    def last_id(self) -> int:
        """The highest id ever used."""

    def intend(self, intent: Intent) -> None:
        """Write a command down."""

    def conclude(self, outcome: Outcome) -> None:
        """Write down how it ended."""

    def open_intents(self) -> tuple[Intent, ...]:
        """Commands without a known end."""

    @property
    def sound(self) -> bool:
        """False while the disk refuses to be written."""

    def settle(self) -> bool:
        """Try again to write what is owed; whether the disk takes it."""


@dataclass(slots=True)
class OpenCommand:
    """A command whose end is not known yet. `born` None: of a former process, or withdrawn."""

    intent: Intent
    rev: int
    born: float | None
    accepted: bool = False
    since: float | None = None
    """Seconds; when the host first heard that it runs."""
    overdue: bool = False
    ask_at: float | None = None
    """Seconds; when it is asked for again."""


@dataclass(frozen=True, slots=True)
class Ended:
    """`rev` is the device's state revision when it ended (None: not told)."""

    outcome: Outcome
    rev: int | None


class CommandDesk:
    """Bookkeeping of all commands of one machine."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._last_id = book.last_id()
        self.open: dict[int, OpenCommand] = {
            intent.cmd_id: OpenCommand(intent, m.ANY_REV, None) for intent in book.open_intents()
        }
        self.finished: list[Ended] = []
        self._board = (0, 0)
        self._try_at: float | None = None

    def memory(self) -> dict[str, object]:
        """What the book knew, for a recording."""
        known = [
            [i.cmd_id, i.op.name, i.args.hex(), i.uid, i.boot_id]
            for i in (command.intent for command in self.open.values())
        ]
        return {"last_id": self._last_id, "open": known}

    @property
    def last_id(self) -> int:
        """The highest id in use."""
        return self._last_id

    # -- sending --------------------------------------------------------------------------------------

    def submit(self, op: Op, args: dict[str, object], rev: int | None, now: float) -> tuple[int, m.Command]:
        """Write a new command down; its id, and the message that may now be sent.

        Raises:
            UsageError: impossible arguments.
            UnwrittenError: the disk refuses it now; nothing may be sent.
            LedgerError: no number is left; nothing may be sent.
        """
        packed = pack_args(op, args)
        cmd_id = self._last_id + 1
        if cmd_id > LAST_ID:
            raise LedgerError("All command numbers of this machine are used up; its memory must be erased.")
        intent = Intent(cmd_id, op, packed, *self._board)
        self._book.intend(intent)
        self._last_id = cmd_id
        command = OpenCommand(intent, m.ANY_REV if rev is None else rev, now)
        self.open[cmd_id] = command
        return cmd_id, _message(command)

    # -- what the link tells ----------------------------------------------------------------------------

    def connected(self, welcome: m.Welcome, now: float, apart: int = 0) -> list[m.Query]:
        """A session began: ask for everything open, or declare it UNKNOWN after a reset.

        A board that has seen higher ids than this ledger had another host. The ids that one may still ask for
        are avoided by a leap of `apart`, or it would be told that ours were its own.
        """
        self._board = (welcome.uid, welcome.boot_id)
        if welcome.last_cmd > self._last_id:
            self._last_id = min(LAST_ID, welcome.last_cmd + apart)
        queries = []
        for command in list(self.open.values()):
            if (command.intent.uid, command.intent.boot_id) != self._board:
                self._end(command, Status.UNKNOWN, "rebooted")
            else:
                queries.append(self._ask(command, now))
        return queries

    def acknowledged(self, ack: m.CommandAck, now: float) -> list[m.Query]:
        """CMD_ACK: running, refused, or a repeat of something already decided."""
        command = self.open.get(ack.cmd_id)
        if command is None:
            return []
        if ack.verdict is m.Verdict.REJECTED:
            self._end(command, Status.REJECTED, code_name(ack.code), rev=ack.state_rev)
        elif ack.result is m.Result.RUNNING:
            _runs(command, now)
        else:
            return [self._ask(command, now)]
        return []

    def answered(self, query: m.Query, outcome: m.CommandOutcome, now: float) -> list[m.Command | m.Query]:
        """OUTCOME: the device's last word, or its permission to send the same id again."""
        command = self.open.get(outcome.cmd_id)
        if command is None:
            return []
        if outcome.result is m.Result.RUNNING:
            _runs(command, now)
        elif outcome.result is not m.Result.NEVER_SEEN:
            self._conclude(command, outcome)
        elif command.accepted:
            self._end(command, Status.UNKNOWN, "contradiction")
        elif query.close:
            self._end(command, Status.REJECTED, "never_seen")
        elif self._stale(command, now):
            return [self._ask(command, now)]
        else:
            return [_message(command)]
        return []

    def withdraw(self) -> list[m.Query]:
        """Send nothing again that is not known to run: questions that close ids the device has not seen."""
        queries = []
        for cmd_id, command in self.open.items():
            if not command.accepted:
                command.born = None
                queries.append(m.Query(cmd_id, close=True))
        return queries

    def done(self, message: m.CommandDone) -> None:
        """CMD_DONE; harmless when repeated."""
        command = self.open.get(message.cmd_id)
        if command is not None:
            self._conclude(command, message)

    def told(self, outcome: Outcome) -> None:
        """Write an end down, just before it is told: a crash before leaves it to be asked for again."""
        self._book.conclude(outcome)

    # -- the disk ---------------------------------------------------------------------------------------

    @property
    def sound(self) -> bool:
        """False while the disk refuses to be written: no command is sent then."""
        return self._book.sound

    def mend(self, now: float) -> None:
        """Try the disk again if it refused, once in a while."""
        if self._book.sound:
            self._try_at = None
        elif self._try_at is None or now >= self._try_at:
            self._book.settle()
            self._try_at = now + TRY_AGAIN

    def deadline(self) -> float | None:
        """When `mend` is due; None: nothing is wrong."""
        return None if self._book.sound else self._try_at

    # -- inside -----------------------------------------------------------------------------------------

    def _ask(self, command: OpenCommand, now: float) -> m.Query:
        return m.Query(command.intent.cmd_id, close=self._stale(command, now))

    def _stale(self, command: OpenCommand, now: float) -> bool:
        return command.born is None or now - command.born > FRESH

    def _conclude(self, command: OpenCommand, told: m.CommandDone | m.CommandOutcome) -> None:
        if told.result is m.Result.RUNNING or told.result is m.Result.NEVER_SEEN:
            return
        status, code = _VERDICTS[told.result]
        self._end(command, status, code or code_name(told.code), told)

    def _end(
        self,
        command: OpenCommand,
        status: Status,
        code: str,
        told: m.CommandDone | m.CommandOutcome | None = None,
        rev: int | None = None,
    ) -> None:
        intent = command.intent
        outcome = Outcome(status, code, intent.cmd_id, intent.op)
        if told is not None:
            rev = told.state_rev
            try:
                result = unpack_result(intent.op, told.values)
            except MessageError:
                result = {}
            outcome = Outcome(status, code, intent.cmd_id, intent.op, result, told.duration_ms / 1000)
        del self.open[intent.cmd_id]
        self.finished.append(Ended(outcome, rev))


_VERDICTS: Final[dict[m.Result, tuple[Status, str]]] = {
    m.Result.DONE: (Status.DONE, "ok"),
    m.Result.FAILED: (Status.FAILED, ""),
    m.Result.ABORTED: (Status.FAILED, ""),
    m.Result.REJECTED: (Status.REJECTED, ""),
    m.Result.INTERRUPTED: (Status.UNKNOWN, "interrupted"),
    m.Result.EXPIRED: (Status.UNKNOWN, "expired"),
}
"""Status of each result, and its code (empty: the one the device told)."""


def code_name(number: int) -> str:
    """Stable identifier of a refusal or fault number: `interlock`, `jam`, or `code_99` for a newer one."""
    names: list[Callable[[int], Reason | Fault]] = [Reason, Fault]
    for enum in names:
        try:
            return enum(number).name.lower()
        except ValueError:
            continue
    return f"code_{number}"


def _runs(command: OpenCommand, now: float) -> None:
    command.accepted = True
    command.since = now if command.since is None else command.since


def _message(command: OpenCommand) -> m.Command:
    intent = command.intent
    return m.Command(intent.cmd_id, intent.op, command.rev, intent.args)

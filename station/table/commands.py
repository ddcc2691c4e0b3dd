"""Commands of the central station: each takes effect at most once, and the log says which have.

The link stores a command before it is handed over. Its effect and `command.done`, which names the command's
log and seq, are booked in one transaction. After a restart whatever is not named yet is handed over again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import structlog

from station import messages as m
from station.errors import StationError
from station.log.chain import Entry
from station.session import Session
from station.table.acting import RETRY_S
from station.table.runtime import Table

__all__ = ["Commands", "Handler", "applied"]

log = structlog.get_logger()

Handler = Callable[[Session, bytes], Sequence[m.Body]]
"""Gives the events by which a command, given by its body, takes effect on a session; none: nothing to do."""


def applied(session: Session) -> dict[bytes, int]:
    """Give for each chain of commands the highest seq that has taken effect."""
    return {bytes.fromhex(log_id): seq for log_id, seq in session.commands}


class Commands:
    """Carries out commands in the order they come.

    Args:
        handlers: what each kind of command does; another kind is booked as ``unknown``.
    """

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._handlers = handlers
        self._waiting: asyncio.Queue[Entry] = asyncio.Queue()

    def take(self, entry: Entry) -> None:
        """Take a command that the link has stored."""
        self._waiting.put_nowait(entry)

    async def run(self, table: Table) -> None:
        """Carry out commands on a table for ever; while its disk takes nothing, they wait in their order."""
        waits: Entry | None = None
        while True:
            command = waits or await self._waiting.get()
            try:
                await self._carry_out(table, command)
                waits = None
            except StationError as error:
                log.warning("command not booked", command=command.kind, error=str(error))
                waits = command
                await asyncio.sleep(RETRY_S)

    async def _carry_out(self, table: Table, entry: Entry) -> None:
        """Book a command together with its effect."""
        handler = self._handlers.get(entry.kind)
        effect = () if handler is None else handler(table.session, entry.body)
        outcome = "unknown" if handler is None else "done"
        done = m.CommandDone(log=entry.log_id.hex(), seq=entry.seq, command=entry.kind, outcome=outcome)
        await table.book(*effect, done)
        log.info("command", command=entry.kind, seq=entry.seq, outcome=outcome)

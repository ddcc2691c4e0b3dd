"""The table's side of pairing: connects to the station."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from station.errors import PairingError
from station.pairing import with_ticket
from station.pairing.protocol import Identity, Offer
from station.pairing.stream import STEP_S, Conversation
from station.pairing.ticket import Ticket
from station.pairing.window import VALID_S
from station.pairing.wire import Answer, Sealed
from station.pairing.with_code import TableRun

__all__ = ["pair_with_code", "pair_with_ticket"]


async def pair_with_ticket(ticket: Ticket, me: Identity, table: str) -> Offer:
    """Pair with the ticket's station; it has enrolled the table when this returns.

    Raises:
        PairingError: it cannot be reached, or refuses.
    """
    async with _connected(ticket.addresses) as station:
        message = with_ticket.ask(ticket, me, table)
        await station.send(message)
        return with_ticket.read_answer(ticket, me, message, await station.next(Sealed))


async def pair_with_code(
    addresses: Sequence[str],
    me: Identity,
    table: str,
    show: Callable[[str], None],
    confirm: Callable[[], Awaitable[bool]],
) -> Offer:
    """Pair by a code that a person types at the station; it has enrolled the table when this returns.

    Args:
        addresses: ``host:port``, tried in turn; nothing is believed of them.
        me: the table's keys.
        table: its name.
        show: called with the six digits.
        confirm: asks the person whether the station says that the codes agree.

    Raises:
        PairingError: it cannot be reached or refuses, or the person does not confirm.
    """
    run = TableRun(me, table, secrets.token_bytes(32))
    async with _connected(addresses) as station:
        await station.send(run.start())
        await station.send(run.answered(await station.next(Answer)))
        show(run.code)
        offer = run.accepted(await station.next(Sealed, VALID_S))
        if not await confirm():
            raise PairingError("Not confirmed; nothing was changed.", fix="Pair again.")
        await station.send(run.confirm())
        run.enrolled(await station.next(Sealed))
        return offer


@asynccontextmanager
async def _connected(addresses: Sequence[str]) -> AsyncIterator[Conversation]:
    conversation = None
    for address in addresses:
        host, _, port = address.rpartition(":")
        try:
            async with asyncio.timeout(STEP_S / 2):
                conversation = Conversation(*await asyncio.open_connection(host.strip("[]"), int(port)))
            break
        except (OSError, OverflowError, TimeoutError, UnicodeError):
            continue
    if conversation is None:
        raise PairingError(
            f"No station answers at {', '.join(addresses)}.",
            fix="Is `quezhuo pair` running there, and both in one network?",
            code="pairing.no_answer",
        )
    try:
        yield conversation
    finally:
        await conversation.close()

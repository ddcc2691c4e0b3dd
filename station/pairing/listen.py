"""The station's side of pairing: listens while the window is open, on a port of its own."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from station.errors import PairingError
from station.pairing import with_ticket
from station.pairing.protocol import Candidate, Identity, forged, refused
from station.pairing.stream import STEP_S, Conversation
from station.pairing.ticket import Ticket
from station.pairing.window import Window
from station.pairing.wire import Ask, Opening, Refused, Sealed, Start
from station.pairing.with_code import StationRun

__all__ = ["Desk", "Person"]


@dataclass(frozen=True)
class Person:
    """Who sits at the station.

    ``code``: asks for the code that this table (at that address) shows; ``tell``: says a line.
    """

    code: Callable[[Candidate, str], Awaitable[str]]
    tell: Callable[[str], None]


class Desk:
    """Pairs one table, while its window is open.

    Args:
        me: the station's keys.
        ticket: what a table may show instead of a code.
        link_port: where tables connect afterwards.
        enrol: writes a table into the allow-list; raises `PairingError` with a reason of the protocol.
        person: who types the code.
        window: how long.
        clock: monotonic time in seconds.
    """

    def __init__(
        self,
        me: Identity,
        ticket: Ticket,
        link_port: int,
        enrol: Callable[[Candidate], None],
        person: Person,
        window: Window,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._me, self._ticket, self._link_port = me, ticket, link_port
        self._enrol, self._person = enrol, person
        self._window, self._clock = window, clock
        self._paired: asyncio.Future[Candidate] = asyncio.get_running_loop().create_future()
        self._with_code = False
        self._talks: set[asyncio.Task[None]] = set()

    async def paired(self) -> Candidate:
        """Wait until a table is paired.

        Raises:
            PairingError: the window has closed before.
        """
        try:
            async with asyncio.timeout(self._window.left_s(self._clock())):
                return await asyncio.shield(self._paired)
        except TimeoutError:
            raise PairingError(
                "No table came while the window was open.", fix="Pair again.", code="pairing.closed"
            ) from None

    async def drained(self) -> None:
        """Wait a moment for conversations that are ending; nobody is kept waiting for long."""
        if self._talks:
            await asyncio.wait(self._talks, timeout=1)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Talk with whoever connected."""
        task = asyncio.current_task()
        assert task is not None
        self._talks.add(task)
        task.add_done_callback(self._talks.discard)
        talk = Conversation(reader, writer)
        try:
            if self._window.enter(self._clock()):
                try:
                    await self._talk(talk, str(writer.get_extra_info("peername")[0]))
                finally:
                    self._window.leave()
        except PairingError:
            pass  # told the other side where it makes sense; the person was told what matters
        finally:
            await talk.close()

    async def _talk(self, talk: Conversation, address: str) -> None:
        first = await talk.any()
        try:
            if not self._window.is_open(self._clock()):
                raise refused("closed")
            if isinstance(first, Ask):
                await self._by_ticket(talk, first, address)
            elif isinstance(first, Start):
                await self._by_code(talk, first, address)
            else:
                raise forged()
        except PairingError as error:
            self._person.tell(f"{address}: {error.message}")
            await talk.send(Refused(error.code.removeprefix("pairing.")))
            raise

    async def _by_ticket(self, talk: Conversation, message: Ask, address: str) -> None:
        candidate = with_ticket.read_ask(self._ticket, self._me, message)
        try:
            self._enrol(candidate)
        except PairingError as error:
            self._person.tell(f"{candidate.table} at {address}: {error}")
            await talk.send(with_ticket.refuse(self._ticket, message, error.code.removeprefix("pairing.")))
            return
        self._window.use()
        endpoint = self._endpoint(talk)
        await self._done(
            talk, with_ticket.answer(self._ticket, self._me, candidate, message, endpoint), candidate
        )

    async def _by_code(self, talk: Conversation, message: Start, address: str) -> None:
        if self._with_code:
            raise refused("busy")
        self._with_code = True
        try:
            run = StationRun(self._me, message, secrets.token_bytes(32))
            if self._ticket.table not in ("", run.candidate.table):
                raise refused("other_table")
            await talk.send(run.reply)
            run.opened(await talk.next(Opening))
            if not await self._codes_agree(talk, run, address):
                await talk.send(run.refuse("wrong_code"))
                return
            await talk.send(run.accept(self._endpoint(talk)))
            self._person.tell("The codes agree. Confirm it at the table.")
            run.confirmed(await talk.next(Sealed, self._window.left_s(self._clock()) + STEP_S))
            await self._enrolled(talk, run)
        finally:
            self._with_code = False

    async def _enrolled(self, talk: Conversation, run: StationRun) -> None:
        try:
            if not self._window.is_open(self._clock()):
                raise refused("closed")
            self._enrol(run.candidate)
        except PairingError as error:
            self._person.tell(str(error))
            await talk.send(run.refuse(error.code.removeprefix("pairing.")))
            return
        self._window.use()
        await self._done(talk, run.enrolled(), run.candidate)

    async def _codes_agree(self, talk: Conversation, run: StationRun, address: str) -> bool:
        """Have the table's code typed, again after a slip; every wrong one counts for the whole window."""
        while self._window.is_open(self._clock()):
            typed = await self._typed(talk, run.candidate, address)
            if secrets.compare_digest("".join(typed.split()).encode(), run.code.encode()):
                return True
            self._window.wrong_code()
            left = self._window.tries_left
            self._person.tell(
                f"That is not this station's code; {left} more." if left else "Three wrong codes."
            )
            if not left and not self._paired.done():
                self._paired.set_exception(refused("wrong_code"))
                self._paired.exception()  # counts as looked at, should nobody wait for it
        return False

    async def _typed(self, talk: Conversation, candidate: Candidate, address: str) -> str:
        """Wait for the person; a table that goes away meanwhile is told to the person.

        Raises:
            PairingError: the table has gone.
        """
        typing = asyncio.ensure_future(self._person.code(candidate, address))
        leaving = asyncio.ensure_future(talk.broken_off())
        try:
            async with asyncio.timeout(self._window.left_s(self._clock())):
                await asyncio.wait({typing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            raise refused("closed") from None
        finally:
            answered = typing.done()
            for task in (typing, leaving):
                task.cancel()
            await asyncio.gather(typing, leaving, return_exceptions=True)
        if not answered:
            raise PairingError(f"{candidate.table} has gone.", code="pairing.no_answer")
        return typing.result()

    async def _done(self, talk: Conversation, last: Sealed, candidate: Candidate) -> None:
        """Send the last message; the table is enrolled whether it comes through or not."""
        try:
            await talk.send(last)
        except PairingError:
            self._person.tell(f"{candidate.table} is enrolled, but went before it heard so: pair it again.")
        finally:
            if not self._paired.done():
                self._paired.set_result(candidate)

    def _endpoint(self, talk: Conversation) -> str:
        """Return where the table reaches the link: the address by which it has reached this port."""
        host = str(talk.writer.get_extra_info("sockname")[0])
        return f"tcp://{f'[{host}]' if ':' in host else host}:{self._link_port}"

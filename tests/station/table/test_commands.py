"""Commands of the central station at a table: each takes effect once, and the log says which have."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from station import messages as m
from station.errors import LogFull
from station.health import TableHealth, decode, encode
from station.log.chain import ZERO_HEAD, Entry, link
from station.session import Event, Session, apply, replay
from station.table.commands import Commands, applied
from station.table.health import health_of

LOG = b"C" * 16


class Books:
    """A table that keeps what it books; its disk can refuse."""

    def __init__(self) -> None:
        self.session = Session()
        self.refusals = 0
        self.booked: list[tuple[m.Body, ...]] = []

    async def book(self, *bodies: m.Body) -> None:
        if self.refusals:
            self.refusals -= 1
            raise LogFull("full")
        self.booked.append(bodies)
        for body in bodies:
            self.session = apply(self.session, Event(self.session.seq + 1, 0.0, body))


def commands(n: int, kind: str = "call") -> list[Entry]:
    return link(LOG, ZERO_HEAD, [(kind, b"%d" % i) for i in range(n)], 1)


def carry_out(books: Books, entries: list[Entry]) -> None:
    async def main() -> None:
        handlers = {"call": lambda _, body: [m.RefereeCalled(place=int(body))]}
        todo = Commands(handlers)
        for entry in entries:
            todo.take(entry)
        running = asyncio.create_task(todo.run(books))  # type: ignore[arg-type]
        async with asyncio.timeout(30):
            while len(books.booked) < len(entries):
                await asyncio.sleep(0)
        running.cancel()

    asyncio.run(main())


def done(seq: int, outcome: str = "done", kind: str = "call") -> m.CommandDone:
    return m.CommandDone(log=LOG.hex(), seq=seq, command=kind, outcome=outcome)


def test_a_command_is_booked_together_with_its_effect_in_the_order_they_came() -> None:
    books = Books()
    carry_out(books, commands(2))
    assert books.booked == [(m.RefereeCalled(place=0), done(1)), (m.RefereeCalled(place=1), done(2))]
    assert applied(books.session) == {LOG: 2}


def test_what_the_disk_refuses_waits_and_nothing_overtakes_it() -> None:
    books = Books()
    books.refusals = 1
    carry_out(books, commands(2))
    assert [bodies[-1] for bodies in books.booked] == [done(1), done(2)]


def test_a_command_of_a_newer_version_is_booked_as_unknown() -> None:
    books = Books()
    carry_out(books, commands(1, "later"))
    assert books.booked == [(done(1, "unknown", "later"),)]
    assert applied(books.session) == {LOG: 1}


def test_which_commands_have_taken_effect_is_part_of_the_state_and_moves_no_revision() -> None:
    other = m.CommandDone(log="ab" * 16, seq=7, command="call", outcome="done")
    bodies = [m.RefereeCalled(place=0), done(1), done(2), other]
    session = replay([Event(seq, 0.0, body) for seq, body in enumerate(bodies, 1)])
    assert applied(session) == {LOG: 2, b"\xab" * 16: 7}
    assert session.rev == 0
    assert m.decode(*m.encode(other)) == other


def test_a_table_tells_its_health_in_one_small_value() -> None:
    state = {
        "phase": "play",
        "machine": {"code": "m"},
        "camera": {"code": "c"},
        "central": {"code": "central.up"},
        "log_pos": 5,
        "claim": "x" * 9000,
    }
    health = health_of(state)
    assert health == TableHealth(phase="play", machine="m", camera="c", log_pos=5)
    assert len(encode(health)) < 200
    assert decode(encode(health)) == health
    assert health_of({**state, "machine": None}).machine is None
    assert health_of({**state, "central": {"code": "central.standby"}}).standby
    with pytest.raises(msgspec.DecodeError):
        decode(b'{"phase":"' + b"x" * 99 + b'","machine":null,"camera":"c","log_pos":5}')

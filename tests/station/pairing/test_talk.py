"""Both sides over real sockets on loopback, with a person at each."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from station.errors import PairingError
from station.link.register import load_register
from station.pairing.call import pair_with_code, pair_with_ticket
from station.pairing.files import enrol
from station.pairing.listen import Desk, Person
from station.pairing.protocol import Candidate, Identity, Offer
from station.pairing.stream import Conversation
from station.pairing.ticket import Ticket
from station.pairing.window import TRIES, Window
from station.pairing.wire import Answer, Opening, Sealed, Start
from station.pairing.with_code import StationRun, TableRun


class Hall:
    """A station with an open window, and what its person saw and will type."""

    def __init__(self, folder: Path, station: Identity) -> None:
        self.list = folder / "tables.toml"
        self.station = station
        self.window = Window(0.0)
        self.now = 0.0
        self.told: list[str] = []
        self.asked: asyncio.Queue[Candidate] = asyncio.Queue()
        self.typed: asyncio.Queue[str] = asyncio.Queue()

    async def __aenter__(self) -> "Hall":
        self.desk: Desk
        self.server = await asyncio.start_server(lambda r, w: self.desk.serve(r, w), "127.0.0.1", 0)
        self.address = f"127.0.0.1:{self.server.sockets[0].getsockname()[1]}"
        self.ticket = Ticket(self.station.public, b"s" * 16, (self.address,))
        self.desk = Desk(
            self.station,
            self.ticket,
            7700,
            lambda candidate: enrol(self.list, candidate, replace=False),
            Person(self._code, self.told.append),
            self.window,
            clock=lambda: self.now,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.desk.drained()
        self.server.close()

    async def _code(self, candidate: Candidate, _: str) -> str:
        await self.asked.put(candidate)
        return await self.typed.get()

    @property
    def tables(self) -> set[str]:
        return set(load_register(self.list).tables) if self.list.exists() else set()


def run(work: Callable[[Hall], Awaitable[None]], folder: Path, station: Identity) -> None:
    async def whole() -> None:
        async with asyncio.timeout(30), Hall(folder, station) as hall:
            await work(hall)

    asyncio.run(whole())


async def yes() -> bool:
    return True


def test_a_ticket_pairs_one_table_once(tmp_path: Path, station: Identity, table: Identity) -> None:
    async def work(hall: Hall) -> None:
        offer = await pair_with_ticket(hall.ticket, table, "T1")
        assert offer == Offer("tcp://127.0.0.1:7700", station.public, station.verify)
        assert (await hall.desk.paired()).table == "T1"
        assert hall.tables == {"T1"}
        with pytest.raises(PairingError):
            await pair_with_ticket(hall.ticket, table, "T1")

    run(work, tmp_path, station)


def test_the_second_address_of_a_ticket_is_tried(tmp_path: Path, station: Identity, table: Identity) -> None:
    async def work(hall: Hall) -> None:
        addresses = ("127.0.0.1:1", hall.address)
        ticket = Ticket(hall.ticket.station, hall.ticket.secret, addresses)
        await pair_with_ticket(ticket, table, "T1")
        with pytest.raises(PairingError, match=r"No station answers at 127.0.0.1:1\."):
            await pair_with_ticket(Ticket(station.public, b"s" * 16, addresses[:1]), table, "T1")

    run(work, tmp_path, station)


def test_a_wrong_ticket_is_refused_and_told_at_the_station(
    tmp_path: Path, station: Identity, table: Identity
) -> None:
    async def work(hall: Hall) -> None:
        wrong = Ticket(station.public, b"x" * 16, (hall.address,))
        with pytest.raises(PairingError, match="does not know this ticket"):
            await pair_with_ticket(wrong, table, "T1")
        assert "127.0.0.1: The station does not know this ticket." in hall.told
        assert hall.tables == set()

    run(work, tmp_path, station)


def test_a_late_ticket_is_refused(tmp_path: Path, station: Identity, table: Identity) -> None:
    async def work(hall: Hall) -> None:
        hall.now = 601.0
        with pytest.raises(PairingError):
            await pair_with_ticket(hall.ticket, table, "T1")
        with pytest.raises(PairingError, match="No table came"):
            await hall.desk.paired()

    run(work, tmp_path, station)


def test_a_code_pairs_after_a_slip_of_the_typist(tmp_path: Path, station: Identity, table: Identity) -> None:
    async def work(hall: Hall) -> None:
        shown: list[str] = []
        pairing = asyncio.create_task(pair_with_code([hall.address], table, "T1", shown.append, yes))
        assert (await hall.asked.get()).table == "T1"
        await hall.typed.put("12345")
        await hall.asked.get()
        await hall.typed.put(f"{shown[0][:3]} {shown[0][3:]}")
        assert (await pairing).public == station.public
        await hall.desk.paired()
        assert hall.tables == {"T1"}
        assert hall.window.tries_left == TRIES - 1

    run(work, tmp_path, station)


def test_nobody_is_enrolled_whom_the_person_at_the_table_does_not_confirm(
    tmp_path: Path, station: Identity, table: Identity
) -> None:
    async def work(hall: Hall) -> None:
        async def no() -> bool:
            return False

        shown: list[str] = []
        pairing = asyncio.create_task(pair_with_code([hall.address], table, "T1", shown.append, no))
        await hall.asked.get()
        await hall.typed.put(shown[0])
        with pytest.raises(PairingError, match="Not confirmed"):
            await pairing
        await hall.desk.drained()
        assert hall.tables == set()

    run(work, tmp_path, station)


def test_three_wrong_codes_close_the_window(tmp_path: Path, station: Identity, table: Identity) -> None:
    async def work(hall: Hall) -> None:
        shown: list[str] = []
        pairing = asyncio.create_task(pair_with_code([hall.address], table, "T1", shown.append, yes))
        for _ in range(TRIES):
            await hall.asked.get()
            await hall.typed.put("0000000")
        with pytest.raises(PairingError, match="codes do not agree"):
            await pairing
        with pytest.raises(PairingError, match="codes do not agree"):
            await hall.desk.paired()
        assert not hall.window.is_open(0.0)
        assert hall.tables == set()

    run(work, tmp_path, station)


async def sit_between(hall: Hall, eve: Identity, table: Conversation) -> None:
    """Play the station to the table and a table to the station, in the middle of the socket."""
    host, port = hall.address.split(":")
    station = Conversation(*await asyncio.open_connection(host, int(port)))
    try:
        start = await table.next(Start)
        as_table = TableRun(eve, start.table, b"f" * 32)
        await station.send(as_table.start())
        await station.send(as_table.answered(await station.next(Answer)))
        as_station = StationRun(eve, start, b"e" * 32)
        await table.send(as_station.reply)
        as_station.opened(await table.next(Opening))
        while True:  # as long as the station lets her
            await table.send(await station.next(Sealed, 20.0))
    except PairingError:
        return
    finally:
        await table.close()
        await station.close()


def test_who_sits_in_the_middle_of_the_socket_shows_another_code_and_gets_nothing(
    tmp_path: Path, station: Identity, table: Identity, eve: Identity
) -> None:
    async def work(hall: Hall) -> None:
        between = await asyncio.start_server(
            lambda r, w: sit_between(hall, eve, Conversation(r, w)), "127.0.0.1", 0
        )
        address = f"127.0.0.1:{between.sockets[0].getsockname()[1]}"
        shown: asyncio.Queue[str] = asyncio.Queue()
        pairing = asyncio.create_task(pair_with_code([address], table, "T1", shown.put_nowait, yes))
        code = await shown.get()  # what the real table shows
        for _ in range(TRIES):
            asker = await hall.asked.get()
            assert asker.public == eve.public
            await hall.typed.put(code)
        with pytest.raises(PairingError):
            await pairing
        with pytest.raises(PairingError, match="codes do not agree"):
            await hall.desk.paired()
        assert hall.tables == set()
        between.close()

    run(work, tmp_path, station)


def test_one_table_at_a_time_is_paired_by_code(
    tmp_path: Path, station: Identity, table: Identity, eve: Identity
) -> None:
    async def work(hall: Hall) -> None:
        first = asyncio.create_task(pair_with_code([hall.address], table, "T1", lambda _: None, yes))
        await hall.asked.get()
        with pytest.raises(PairingError, match="another device"):
            await pair_with_code([hall.address], eve, "T2", lambda _: None, yes)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await hall.desk.drained()
        again = asyncio.create_task(pair_with_code([hall.address], eve, "T2", lambda _: None, yes))
        assert (await hall.asked.get()).table == "T2"
        again.cancel()
        await asyncio.gather(again, return_exceptions=True)

    run(work, tmp_path, station)


@pytest.mark.parametrize("sent", [b"\xff\xff", b"\x00\x05hello", b"GET / HTTP/1.1\r\n\r\n", b"\x00"])
def test_rubbish_ends_the_connection_and_harms_nobody(
    sent: bytes, tmp_path: Path, station: Identity, table: Identity
) -> None:
    async def work(hall: Hall) -> None:
        host, port = hall.address.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(sent)
        writer.write_eof()
        assert len(await reader.read()) < 100
        writer.close()
        await pair_with_ticket(hall.ticket, table, "T1")

    run(work, tmp_path, station)

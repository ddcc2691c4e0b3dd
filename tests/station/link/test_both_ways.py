"""Commands, values and the clock with real sockets; two stations; what a table shows when it is refused."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
import zmq

from station.link.central_thread import CentralThread
from station.link.keys import AllowList
from station.link.register import Enrolment, Register, write_register
from station.link.replicate import Limits
from station.link.said import Event, Hello, Nack, Resume
from station.link.sockets import LinkSettings, Socket, new_context, table_socket
from station.link.status import LinkState
from station.link.table_thread import LinkThread
from station.link.wire import decode, encode
from station.log import Entry, Log, chain
from station.log.chain import ZERO_HEAD

EVENT = ("hand.confirmed", b'{"v":1}')


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def wrapped() -> None:
        await main()

    asyncio.run(wrapped())


class Heard:
    """What the threads reported, and a way to wait for it."""

    def __init__(self, place: Any) -> None:
        self.place = place
        self.commands: list[Entry] = []
        self.values: list[tuple[Any, ...]] = []
        self.times: list[tuple[float, ...]] = []

    def central(
        self, endpoint: str = "tcp://127.0.0.1:0", name: str = "central", **more: Any
    ) -> CentralThread:
        place = self.place
        return CentralThread(
            place.folder / f"{name}.log",
            endpoint,
            place.central,
            AllowList(place.allow_list),
            on_commit=place._committed,
            on_trouble=place._troubled,
            on_value=lambda *value: self.tell(self.values, value),
            **more,
        )

    def table(self, link: LinkSettings | None, **more: Any) -> LinkThread:
        return LinkThread(
            self.place.folder / "T1.log",
            link,
            on_status=self.place._told,
            on_command=lambda entry: self.tell(self.commands, entry),
            on_value=lambda *value: self.tell(self.values, value),
            on_time=lambda *stamps: self.tell(self.times, stamps),
            **more,
        )

    def tell(self, where: list[Any], what: Any) -> None:
        where.append(what)
        self.place._tell()


@pytest.fixture
def heard(place: Any) -> Heard:
    return Heard(place)


@asynccontextmanager
async def by_hand(place: Any, heard: Heard) -> AsyncIterator[tuple[Socket, LinkThread]]:
    """A table, and the socket of a station with the pinned key that says what a test makes it say."""
    context = new_context()
    router = context.socket(zmq.ROUTER)
    router.set(zmq.CURVE_SERVER, 1)
    router.set(zmq.CURVE_SECRETKEY, place.central.secret.encode())
    table = heard.table(place.settings(f"tcp://127.0.0.1:{router.bind_to_random_port('tcp://127.0.0.1')}"))
    await table.start()
    try:
        yield router, table
    finally:
        await table.stop()
        context.destroy(linger=0)


def test_a_command_reaches_the_table_over_restarts_of_both_and_takes_effect_once(place, heard: Heard) -> None:
    async def main() -> None:
        central = heard.central()
        endpoint = await central.start()
        first = await central.command("T1", "clock.paused", b"1")
        await central.stop()  # before the table was there at all
        central = heard.central(endpoint)
        await central.start()
        table = heard.table(place.settings(endpoint))
        await table.start()
        await place.until(lambda: table.status.state is LinkState.UP)
        second = await central.command("T1", "clock.resumed", b"2")
        assert heard.commands == []  # stored at most: nobody follows yet
        table.follow_commands({})
        await place.until(lambda: heard.commands == [first, second])
        await table.append([("command.done", b"names the first")], 1)
        await table.stop()

        table = heard.table(None)  # plays on alone: what was stored is still handed over
        await table.start()
        table.follow_commands({first.log_id: first.seq})
        await place.until(lambda: heard.commands == [first, second, second])
        await table.stop()
        await central.stop()
        with Log.open(place.folder / "T1.log") as log:
            assert log.entries_of(first.log_id) == [first, second]
            assert log.head.seq == 1
            assert log.verify().ok

    run(main)


def test_a_command_that_took_effect_is_not_handed_over_again_to_a_log_that_lost_its_copy(
    place, heard: Heard
) -> None:
    """So it is after a log was rebuilt: its own chain is whole, and says what is done."""

    async def main() -> None:
        central = heard.central()
        endpoint = await central.start()
        commands = [await central.command("T1", "clock.paused", b"%d" % n) for n in range(3)]
        table = heard.table(place.settings(endpoint))
        await table.start()
        table.follow_commands({commands[0].log_id: 2})
        await place.until(lambda: heard.commands == commands[2:])
        later = await central.command("T1", "clock.resumed", b"{}")
        await place.until(lambda: heard.commands == [commands[2], later])
        await table.stop()
        await central.stop()

    run(main)


def test_a_command_that_cannot_be_stored_fails_in_the_future_alone(place, heard: Heard) -> None:
    async def main() -> None:
        central = heard.central()
        await central.start()
        with pytest.raises(ValueError, match="too large"):
            await central.command("T1", "c", bytes(1_000_000))
        assert (await central.command("T1", "c", b"{}")).seq == 1
        await central.stop()

    run(main)


def test_values_go_both_ways_and_again_after_a_restart(place, heard: Heard) -> None:
    async def main() -> None:
        central = heard.central()
        endpoint = await central.start()
        central.set_value(None, "clock", b"1")
        table = heard.table(place.settings(endpoint))
        await table.start()
        table.set_value("health", b"2", 5)
        await place.until(lambda: set(heard.values) == {("clock", b"1"), ("T1", "health", b"2")})
        central.set_value("T1", "clock", b"3")
        await place.until(lambda: ("clock", b"3") in heard.values)
        await central.stop()
        heard.values.clear()
        central = heard.central(endpoint)
        await central.start()
        await place.until(lambda: heard.values == [("T1", "health", b"2")])
        with pytest.raises(ValueError, match="too large"):
            table.set_value("health", bytes(5000), 5)
        with pytest.raises(ValueError, match="too large"):
            central.set_value(None, "clock", bytes(5000))
        await table.stop()
        await central.stop()

    run(main)


def test_the_clock_is_asked_as_soon_as_there_is_a_connection(place, heard: Heard) -> None:
    async def main() -> None:
        central = heard.central(clock=lambda: 5000.0)
        table = heard.table(place.settings(await central.start()))
        await table.start()
        await place.until(lambda: len(heard.times) > 0)
        t1, t2, t3, t4 = heard.times[0]
        assert t1 <= t4 < t1 + 5
        assert (t2, t3) == (5000.0, 5000.0)
        await table.stop()
        await central.stop()

    run(main)


@pytest.mark.slow
def test_a_table_goes_over_to_the_second_station_and_says_so(place, heard: Heard) -> None:
    async def main() -> None:
        main_station, standby = heard.central(), heard.central(name="standby")
        endpoint, other = await main_station.start(), await standby.start()
        link = LinkSettings(
            "T1", endpoint, place.central.public, place.keys["T1"], (other, place.central.public)
        )
        table = heard.table(link)
        await table.start()
        await table.append([EVENT], 1)
        await place.until(lambda: table.status.acked == 1)
        assert (table.status.endpoint, table.status.code) == (endpoint, "central.up")
        await main_station.stop()
        await place.until(lambda: table.status.state is LinkState.UP and table.status.endpoint == other)
        assert table.status.code == "central.standby"
        await table.append([EVENT], 2)
        await place.until(lambda: table.status.acked == 2)
        await table.stop()
        await standby.stop()
        with Log.open(place.folder / "standby.log") as log, Log.open(place.folder / "T1.log") as own:
            assert log.entries_of(own.log_id) == own.entries_of(own.log_id)

    run(main)


def test_a_table_that_slept_stays_with_its_first_station(place, heard: Heard) -> None:
    """A machine that was suspended, or whose disk held up the thread, has not heard the station for long."""
    slept_s = 0.0

    async def main() -> None:
        nonlocal slept_s
        main_station, standby = heard.central(), heard.central(name="standby")
        endpoint, other = await main_station.start(), await standby.start()
        link = LinkSettings(
            "T1", endpoint, place.central.public, place.keys["T1"], (other, place.central.public)
        )
        table = heard.table(link, clock=lambda: time.monotonic() + slept_s)
        await table.start()
        await table.append([EVENT], 1)
        await place.until(lambda: table.status.acked == 1)
        slept_s = 100.0
        await table.append([EVENT], 2)
        await place.until(lambda: table.status.acked == 2)
        assert (table.status.endpoint, table.status.code) == (endpoint, "central.up")
        assert table.stats.counts()["connects", ""] == 1
        await table.stop()
        await main_station.stop()
        await standby.stop()

    run(main)


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"expires": datetime(2020, 1, 1, tzinfo=UTC)}, LinkState.EXPIRED),
        ({"revoked": datetime(2020, 1, 1, tzinfo=UTC), "reason": "stolen"}, LinkState.REVOKED),
    ],
    ids=["expired", "revoked"],
)
def test_a_table_shows_why_its_key_counts_no_more(
    place, heard: Heard, changes: dict[str, Any], state: LinkState
) -> None:
    async def main() -> None:
        entry = Enrolment(place.keys["T1"].public, **changes)
        write_register(place.allow_list, Register({"T1": entry}))
        central = heard.central()
        table = heard.table(place.settings(await central.start()))
        await table.start()
        await table.append([EVENT], 1)
        await place.until(lambda: table.status.state is state)
        assert table.status.code == f"central.{state.value}"
        await place.until(lambda: place.positions == 1)
        await table.stop()
        await central.stop()
        (denied,) = place.stored()
        assert denied.entry.kind == "link.denied"
        assert f'"{state.value}"'.encode() in denied.entry.body

    run(main)


def test_a_station_of_another_version_is_shown_as_that(place, heard: Heard) -> None:
    async def main() -> None:
        async with by_hand(place, heard) as (router, table):
            assert await asyncio.to_thread(router.poll, 10_000)
            peer, kind, _, session, log_id, *_ = router.recv_multipart()
            assert kind == b"HELLO"
            router.send_multipart([peer, b"NACK", session, log_id, b"version"])
            await place.until(lambda: table.status.state is LinkState.VERSION)
            assert table.status.code == "central.version"

    run(main)


def test_a_table_takes_no_chain_that_is_addressed_to_another(place, heard: Heard) -> None:
    """The station of the pinned key sends T1 a chain for T2, and T1's own log as a chain of its own."""

    async def main() -> None:
        async with by_hand(place, heard) as (router, table):
            table.follow_commands({})

            async def refusal() -> Nack:
                """Give the next one; that the entries were not greeted for may come as well."""
                while True:
                    assert await asyncio.to_thread(router.poll, 10_000)
                    message = decode(router.recv_multipart()[1:])
                    if isinstance(message, Nack) and message.code != "hello":
                        return message

            assert await asyncio.to_thread(router.poll, 10_000)
            peer, *frames = router.recv_multipart()
            hello = decode(frames)
            assert isinstance(hello, Hello)
            router.send_multipart([peer, *encode(Resume(hello.session, hello.log_id, 1, bytes(32)))])
            for log_id, name, code in ((b"C" * 16, "T2", "wrong_table"), (hello.log_id, "T1", "foreign_log")):
                forged = chain.link(log_id, ZERO_HEAD, [("clock.paused", b"{}")], 1)
                router.send_multipart([peer, *encode(Hello(hello.session, log_id, forged[0].head, name))])
                router.send_multipart([peer, *encode(Event(hello.session, (forged[0],)))])
                assert await refusal() == Nack(hello.session, log_id, code)
        assert heard.commands == []

    run(main)


@pytest.mark.slow
def test_a_flooding_table_is_logged_and_the_other_goes_on(place, heard: Heard) -> None:
    async def main() -> None:
        limits = Limits(events_per_s=50, burst=100, messages_per_s=20, message_burst=20)
        central = heard.central(limits=limits)
        endpoint = await central.start()
        table = heard.table(place.settings(endpoint))
        await table.start()
        await place.until(lambda: table.status.state is LinkState.UP)
        context = new_context()
        rogue = table_socket(context, place.keys["T2"], place.central.public)
        rogue.connect(endpoint)
        assert await asyncio.to_thread(rogue.poll, 10_000, zmq.POLLOUT)
        forged = chain.link(b"F" * 16, ZERO_HEAD, [EVENT] * 3000, 1)
        began = time.monotonic()
        rogue.send_multipart(encode(Hello(b"8 bytes.", b"F" * 16, forged[-1].head, "T2")))
        for entry in forged:
            rogue.send_multipart(encode(Event(b"8 bytes.", (entry,))))
        for n in range(20):
            await table.append([EVENT], n)
        await place.until(lambda: table.status.acked == 20)
        context.destroy(linger=0)
        await table.stop()
        await central.stop()
        took_s = time.monotonic() - began
        stored = [item.source for item in place.stored()]
        assert stored.count("T1") == 20
        # What it may send at once, overdrawn by the share of one round, and what came free since.
        assert stored.count("T2") <= limits.burst + limits.round_quota + took_s * limits.events_per_s
        (denied,) = [item for item in place.stored() if item.entry.kind == "link.denied"]
        assert b'"flood"' in denied.entry.body
        assert b'"table":"T2"' in denied.entry.body

    run(main)

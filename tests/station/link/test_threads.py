"""Both threads with real sockets, in one process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import zmq

from station.errors import LinkError, LogError, LogFull, LogInUse
from station.link.connection import LinkState, LinkStatus
from station.link.keys import KeyPair
from station.link.said import Event, Hello, Message, Nack
from station.link.sockets import LinkSettings, Socket, new_context, table_socket
from station.link.table_thread import LinkThread
from station.link.wire import NackCode, decode, encode
from station.log import Entry, Log, chain
from station.log.chain import ZERO_HEAD
from tests.pace import Pace

SESSION = b"8 bytes."
EVENT = ("hand.confirmed", b'{"v":1}')


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def wrapped() -> None:
        await main()

    asyncio.run(wrapped())


@contextmanager
def rogue_socket(
    make: Callable[[zmq.Context[Socket], KeyPair, str], Socket], settings: LinkSettings
) -> Iterator[Socket]:
    context = new_context()
    socket = make(context, settings.keys, settings.server_key)
    try:
        yield socket
    finally:
        context.destroy(linger=0)


async def answer_to(socket: Socket) -> Message:
    assert await asyncio.to_thread(socket.poll, 10_000)
    return decode(socket.recv_multipart())


def up(table: LinkThread, head: int, acked: int) -> bool:
    status = table.status
    return (status.state, status.head, status.acked) == (LinkState.UP, head, acked)


# ---- a table on its own ----


def test_a_table_on_its_own_stores_and_says_so(place) -> None:
    async def main() -> None:
        table = place.table_thread(None)
        assert await table.start() == ZERO_HEAD
        entries = await table.append([EVENT, EVENT], 1000)
        assert [e.seq for e in entries] == [1, 2]
        assert table.status == LinkStatus(LinkState.OFF, head=2)
        assert table.status.code == "central.none"
        await table.stop()
        with Log.open(place.folder / "T1.log") as log:
            assert log.entries_of(log.log_id) == entries

    run(main)


def test_what_is_queued_is_stored_before_the_thread_stops(place) -> None:
    async def main() -> None:
        table = place.table_thread(None)
        await table.start()
        futures = [table.append([EVENT], 1000) for _ in range(50)]
        await table.stop()
        assert [entry.seq for future in futures for entry in await future] == list(range(1, 51))

    run(main)


@pytest.mark.parametrize("linked", [False, True])
def test_a_thread_that_is_stopped_while_it_starts_ends_and_lets_the_log_go(
    place, monkeypatch: pytest.MonkeyPatch, linked: bool
) -> None:
    """Opening takes long where an old log is brought up to date."""
    opening, go_on, real, long_s = threading.Event(), threading.Event(), Log.open, 20.0

    def slow(*args: Any, **more: Any) -> Log:
        opening.set()
        assert go_on.wait(long_s)
        return real(*args, **more)

    async def main() -> None:
        table = place.table_thread(place.settings("tcp://127.0.0.1:9") if linked else None)
        with monkeypatch.context() as patched:
            patched.setattr(Log, "open", slow)
            starting = asyncio.create_task(table.start())
            assert await asyncio.to_thread(opening.wait, long_s)
            queued = table.append([EVENT], 1)
            stopping = asyncio.create_task(table.stop())
            await asyncio.sleep(0)
            go_on.set()
            await stopping
        assert await starting == ZERO_HEAD
        assert [entry.seq for entry in await queued] == [1]
        with Log.open(place.folder / "T1.log") as log:
            assert log.head.seq == 1

    run(main)


def test_after_the_stop_an_append_fails_in_plain_words(place) -> None:
    async def main() -> None:
        table = place.table_thread(None)
        with pytest.raises(LogError, match="closed"):
            await table.append([EVENT], 1)
        await table.start()
        await table.stop()
        with pytest.raises(LogError, match="closed"):
            await table.append([EVENT], 1)

    run(main)


def test_a_failed_append_tells_and_the_next_one_works(place, monkeypatch: pytest.MonkeyPatch) -> None:
    real, failures = Log.append, [LogFull("The disk is full."), ValueError("too large")]

    def append(self: Log, events: Sequence[tuple[str, bytes]], at_ms: int, **_: object) -> list[Entry]:
        if failures:
            raise failures.pop(0)
        return real(self, events, at_ms)

    monkeypatch.setattr(Log, "append", append)

    async def main() -> None:
        table = place.table_thread(None)
        await table.start()
        with pytest.raises(LogFull):
            await table.append([EVENT], 1)
        with pytest.raises(ValueError, match="too large"):
            await table.append([EVENT], 1)
        assert [e.seq for e in await table.append([EVENT], 1)] == [1]
        await table.stop()

    run(main)


def test_a_bug_in_the_thread_cannot_go_unnoticed(place, monkeypatch: pytest.MonkeyPatch) -> None:
    def append(*_: object, **__: object) -> list[Entry]:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Log, "append", append)

    async def main() -> None:
        table = place.table_thread(None)
        await table.start()
        first, second = table.append([EVENT], 1), table.append([EVENT], 1)
        with pytest.raises(RuntimeError, match="a bug"):
            await first
        with pytest.raises(RuntimeError, match="a bug"):
            await table.finished()
        with pytest.raises(LogError, match="closed"):
            await second
        with pytest.raises(LogError, match="closed"):
            await table.append([EVENT], 1)
        await table.stop()

    run(main)


def test_an_append_that_nobody_waits_for_any_more_is_stored_all_the_same(place) -> None:
    async def main() -> None:
        table = place.table_thread(None)
        await table.start()
        table.append([EVENT], 1).cancel()
        assert [e.seq for e in await table.append([EVENT], 1)] == [2]
        await table.stop()

    run(main)


def test_a_log_in_use_keeps_the_thread_from_starting(place) -> None:
    async def main() -> None:
        with Log.open(place.folder / "T1.log"), pytest.raises(LogInUse):
            await place.table_thread(None).start()

    run(main)


def test_too_many_waiting_appends_fail_at_once(place, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        table = place.table_thread(None)
        await table.start()
        results = await asyncio.gather(
            *(table.append([EVENT], 1) for _ in range(2000)), return_exceptions=True
        )
        await table.stop()
        stored = [result for result in results if isinstance(result, list)]
        failed = [result for result in results if isinstance(result, LogError)]
        assert len(stored) + len(failed) == 2000
        assert failed
        assert "too slow" in str(failed[0])
        with Log.open(place.folder / "T1.log") as log:
            assert log.head.seq == len(stored)

    run(main)


# ---- with a central station ----


def test_events_arrive_and_are_acknowledged(place) -> None:
    async def main() -> None:
        central = place.central_thread()
        endpoint = await central.start()
        table = place.table_thread(place.settings(endpoint))
        await table.start()
        for i in range(5):
            await table.append([EVENT] * 10, 1000 + i)
        await place.until(lambda: up(table, 50, 50))
        await place.until(lambda: place.positions == 50)
        assert table.status.code == "central.up"
        assert central.silence_s()["T1"] < 10
        await table.stop()
        await central.stop()
        with Log.open(place.folder / "T1.log") as log:
            assert [stored.entry for stored in place.stored()] == log.entries_of(log.log_id)
        assert {stored.source for stored in place.stored()} == {"T1"}

    run(main)


def test_a_table_plays_on_without_the_central_station_and_catches_up(place) -> None:
    async def main() -> None:
        central = place.central_thread()
        endpoint = await central.start()
        table = place.table_thread(place.settings(endpoint))
        await table.start()
        await table.append([EVENT], 1)
        await place.until(lambda: table.status.acked == 1)
        await central.stop()
        await place.until(lambda: table.status.state is LinkState.DOWN)
        for i in range(40):
            await table.append([EVENT], i)
        assert table.status.unsent == 40
        central = place.central_thread(endpoint)
        await central.start()
        await place.until(lambda: table.status.unsent == 0)
        await table.stop()
        await central.stop()
        assert [stored.entry.seq for stored in place.stored()] == list(range(1, 42))

    run(main)


@pytest.mark.slow
def test_an_unknown_key_is_denied_logged_and_admitted_once_enrolled(place) -> None:
    async def main() -> None:
        central = place.central_thread()
        endpoint = await central.start()
        table = place.table_thread(place.settings(endpoint, "T3", place.keys["stranger"]), "T3")
        await table.start()
        await table.append([EVENT], 1)
        await place.until(lambda: table.status.state is LinkState.DENIED)
        assert table.status.code == "central.denied"
        await place.until(lambda: place.positions == 1)
        (denied,) = place.stored()
        assert denied.entry.kind == "link.denied"
        assert b'"not_enrolled"' in denied.entry.body
        assert place.keys["stranger"].public.encode() in denied.entry.body
        assert b'"127.0.0.1"' in denied.entry.body
        place.keys["T3"] = place.keys["stranger"]
        place.enrol("T1", "T3")
        await place.until(lambda: up(table, 1, 1))
        await table.stop()
        await central.stop()
        assert [stored.source for stored in place.stored()] == ["", "T3"]

    run(main)


def test_the_right_key_under_another_name_is_refused_and_logged(place) -> None:
    async def main() -> None:
        central = place.central_thread()
        endpoint = await central.start()
        table = place.table_thread(place.settings(endpoint, "T2", place.keys["T1"]), "T2")
        await table.start()
        await table.append([EVENT], 1)
        await place.until(lambda: table.status.state is LinkState.REFUSED)
        assert (table.status.reason, table.status.code) == (NackCode.WRONG_TABLE, "central.wrong_table")
        await table.stop()
        await central.stop()
        (denied,) = place.stored()
        assert b'"wrong_table"' in denied.entry.body
        assert b'"table":"T1"' in denied.entry.body

    run(main)


@pytest.mark.slow
def test_an_enrolled_table_cannot_take_over_another_by_its_routing_id(place) -> None:
    """T2 with routing id "T1" greets as T1, and once as itself with T1's log; T1 goes on undisturbed."""

    async def main() -> None:
        central = place.central_thread()
        endpoint = await central.start()
        table = place.table_thread(place.settings(endpoint))
        await table.start()
        (first,) = await table.append([EVENT], 1)
        await place.until(lambda: table.status.acked == 1)
        forged = chain.link(first.log_id, first.head, [("hand.confirmed", b"forged")], 2)
        with rogue_socket(table_socket, place.settings(endpoint, "T2")) as rogue:
            rogue.set(zmq.ROUTING_ID, b"T1")
            rogue.connect(endpoint)
            assert await asyncio.to_thread(rogue.poll, 10_000, zmq.POLLOUT)
            for name, code in (("T1", NackCode.WRONG_TABLE), ("T2", NackCode.FOREIGN_LOG)):
                rogue.send_multipart(encode(Hello(SESSION, first.log_id, first.head, name)))
                assert await answer_to(rogue) == Nack(SESSION, first.log_id, code)
                rogue.send_multipart(encode(Event(SESSION, (forged[0],))))
                assert await answer_to(rogue) == Nack(SESSION, first.log_id, NackCode.HELLO)
        await table.append([EVENT], 3)
        await place.until(lambda: up(table, 2, 2))
        await table.stop()
        await central.stop()
        assert [s.entry.body for s in place.stored() if s.source == "T1"] == [EVENT[1]] * 2
        assert all(s.entry.kind == "link.denied" for s in place.stored() if s.source != "T1")
        with Log.open(place.central_log) as log:
            assert not log.in_quarantine(first.log_id)

    run(main)


@pytest.mark.parametrize("curve", [True, False], ids=["wrong server key", "no CURVE at all"])
def test_without_the_right_keys_nothing_reaches_the_log(place, curve: bool) -> None:
    async def main() -> None:
        central = place.central_thread()
        endpoint = await central.start()
        wrong = place.settings(endpoint, server_key=place.keys["T2"].public)
        make = table_socket if curve else lambda context, *_: context.socket(zmq.DEALER)
        with rogue_socket(make, wrong) as socket:
            monitor = socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
            socket.connect(endpoint)
            assert await asyncio.to_thread(monitor.poll, 15_000)
            assert not socket.poll(0)
            socket.disable_monitor()
            monitor.close(linger=0)
        await central.stop()
        assert {(s.source, s.entry.kind) for s in place.stored()} <= {("", "link.denied")}

    run(main)


def test_a_rolled_back_log_is_seen_and_put_into_quarantine(place) -> None:
    """The card of a table is replaced by an older image of itself."""

    async def main() -> None:
        central = place.central_thread()
        endpoint = await central.start()
        table = place.table_thread(place.settings(endpoint))
        await table.start()
        await table.append([EVENT], 1)
        await table.stop()
        image = (place.folder / "T1.log").read_bytes()
        table = place.table_thread(place.settings(endpoint))
        await table.start()
        await table.append([EVENT], 2)
        await place.until(lambda: up(table, 2, 2))
        await table.stop()
        (place.folder / "T1.log").write_bytes(image)
        table = place.table_thread(place.settings(endpoint))
        await table.start()
        await place.until(lambda: table.status.state is LinkState.REFUSED)
        assert table.status.code == "central.fork"
        await place.until(lambda: any(s.entry.kind == "link.fork" for s in place.stored()))
        await table.append([("hand.confirmed", b"other")], 3)
        await table.stop()
        await central.stop()
        # The first table stopped at once, perhaps amid its handshake; that is noted as a stranger's.
        stored = [s.entry for s in place.stored() if s.entry.kind != "link.denied"]
        assert [entry.kind for entry in stored] == ["hand.confirmed"] * 2 + ["link.fork"]
        assert b'"rollback"' in stored[2].body

    run(main)


@pytest.mark.slow
def test_a_full_disk_at_the_central_station_holds_back_acknowledgements_only(
    place, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, failures = Log.accept, [LogFull("full")]

    def accept(self: Log, batch: Sequence[tuple[str, Entry]], received_ms: int) -> object:
        if failures:
            raise failures.pop()
        return real(self, batch, received_ms)

    monkeypatch.setattr(Log, "accept", accept)

    async def main() -> None:
        central = place.central_thread()
        table = place.table_thread(place.settings(await central.start()))
        await table.start()
        await table.append([EVENT], 1)
        await place.until(lambda: len(place.troubles) == 1)
        await place.until(lambda: up(table, 1, 1))
        await table.stop()
        await central.stop()
        assert isinstance(place.troubles[0], LogFull)
        assert place.troubles[1:] == [None]
        assert len(place.stored()) == 1

    run(main)


def test_an_address_that_is_taken_is_one_plain_sentence(place) -> None:
    async def main() -> None:
        central = place.central_thread()
        endpoint = await central.start()
        place.central_log = place.folder / "other.log"
        with pytest.raises(LinkError, match="cannot be used"):
            await place.central_thread(endpoint).start()
        await central.stop()

    run(main)


def test_both_threads_stop_within_two_seconds_whatever_the_link_does(place) -> None:
    async def main() -> None:
        central = place.central_thread()
        endpoint = await central.start()
        tables = [
            place.table_thread(place.settings(endpoint)),
            place.table_thread(place.settings("tcp://127.0.0.1:9"), "T2"),
        ]
        for table in tables:
            await table.start()
            for _ in range(100):
                await table.append([EVENT], 1)
        pace = Pace()
        for thread in (*tables, central):
            await thread.stop()
        assert pace.own_s < 2

    run(main)

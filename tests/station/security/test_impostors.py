"""Enrolled tables that claim to be another one, or bring a history that is not theirs any more."""

from __future__ import annotations

import asyncio
import sqlite3
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
import zmq

from station.link.register import Enrolment, Register, write_register
from station.link.sockets import Socket, new_context, table_socket
from station.link.status import LinkState, LinkStatus
from station.link.table_thread import LinkThread
from station.link.wire import Ack, Event, Hello, Message, Nack, NackCode, Resume, decode, encode
from station.log import Entry, Log, chain
from tests.pace import Pace
from tests.station.security.conftest import EVENT, SESSION, Scene, rogue

OTHER_SESSION = b"another."


def ask(socket: Socket, *messages: Message) -> Message:
    """Send, and give the first answer."""
    for message in messages:
        socket.send_multipart(encode(message))
    assert socket.poll(10_000)
    return decode(socket.recv_multipart())


async def honest(scene: Scene, endpoint: str, events: int = 3) -> tuple[LinkThread, list[Entry]]:
    """T1 with events that the station has."""
    table = scene.table_thread(scene.settings(endpoint))
    await table.start()
    entries = await table.append([EVENT] * events, 1)
    await scene.until(lambda: table.status == LinkStatus(LinkState.UP, events, events))
    return table, entries


async def goes_on(scene: Scene, table: LinkThread) -> None:
    """Show that the honest table was not disturbed."""
    (entry,) = await table.append([EVENT], 9)
    await scene.until(lambda: table.status == LinkStatus(LinkState.UP, entry.seq, entry.seq))


def test_another_tables_name_is_refused_logged_and_shown(scene: Scene) -> None:
    async def main() -> None:
        central = scene.central_thread()
        endpoint = await central.start()
        table, entries = await honest(scene, endpoint)
        with rogue(scene.settings(endpoint, "T1", scene.keys["T2"])) as socket:
            hello = Hello(SESSION, entries[-1].log_id, entries[-1].head, "T1")
            assert await asyncio.to_thread(ask, socket, hello) == Nack(
                SESSION, hello.log_id, NackCode.WRONG_TABLE
            )
            forged = chain.link(hello.log_id, hello.head, [EVENT], 2)[0]
            assert isinstance(await asyncio.to_thread(ask, socket, Event(SESSION, (forged,))), Nack)
        await goes_on(scene, table)
        await table.stop()
        await central.stop()

    asyncio.run(main())
    assert [stored.source for stored in scene.of_tables()] == ["T1"] * 4
    assert scene.alarms() == [("link.denied", "T2", "wrong_table")]


@pytest.mark.parametrize("routing_id", [b"T1", b"T2", b"central", b"x" * 255])
def test_a_routing_id_is_nobodys_name(scene: Scene, routing_id: bytes) -> None:
    """T2 calls its socket as it likes, and brings T1's log: answered, refused, and T1 goes on."""

    async def main() -> None:
        central = scene.central_thread()
        endpoint = await central.start()
        table, entries = await honest(scene, endpoint)
        context = new_context()
        with table_socket(context, scene.keys["T2"], scene.central.public) as socket:
            socket.set(zmq.ROUTING_ID, routing_id)
            socket.connect(endpoint)
            hello = Hello(SESSION, entries[-1].log_id, entries[-1].head, "T2")
            assert await asyncio.to_thread(socket.poll, 10_000, zmq.POLLOUT)
            answer = await asyncio.to_thread(ask, socket, hello)
            assert answer == Nack(SESSION, hello.log_id, NackCode.FOREIGN_LOG)
        context.term()
        await goes_on(scene, table)
        await table.stop()
        await central.stop()

    asyncio.run(main())
    assert [stored.source for stored in scene.of_tables()] == ["T1"] * 4
    assert scene.alarms() == [("link.denied", "T2", "foreign_log")]


def test_recorded_messages_bring_nothing_twice(scene: Scene) -> None:
    """T1's own messages again: under the old session they are not looked at, in a new one they are known."""

    async def main() -> None:
        central = scene.central_thread()
        endpoint = await central.start()
        table, entries = await honest(scene, endpoint)
        await table.stop()
        log_id = entries[0].log_id
        with rogue(scene.settings(endpoint)) as socket:
            old = [Event(OTHER_SESSION, (entry,)) for entry in entries]
            answer = await asyncio.to_thread(ask, socket, *old)
            assert answer == Nack(OTHER_SESSION, log_id, NackCode.HELLO)
        with rogue(scene.settings(endpoint)) as socket:
            answer = await asyncio.to_thread(ask, socket, Hello(SESSION, log_id, entries[0].head, "T1"))
            assert answer == Resume(SESSION, log_id, 4, entries[-1].hash)
            answer = await asyncio.to_thread(ask, socket, *(Event(SESSION, (entry,)) for entry in entries))
            assert answer == Ack(SESSION, log_id, 3)
        await central.stop()

    asyncio.run(main())
    assert len(scene.of_tables()) == 3


def test_a_changed_history_is_put_into_quarantine_and_shown(scene: Scene) -> None:
    """A table that rewrote its own past, every hash made anew."""

    async def main() -> None:
        central = scene.central_thread()
        endpoint = await central.start()
        table, entries = await honest(scene, endpoint)
        await table.stop()
        log_id, better = entries[0].log_id, (EVENT[0], EVENT[1].replace(b"1", b"2"))
        rewritten = chain.link(log_id, entries[0].head, [better, EVENT, EVENT], 1)
        with rogue(scene.settings(endpoint)) as socket:
            hello = Hello(SESSION, log_id, rewritten[-1].head, "T1")
            assert isinstance(await asyncio.to_thread(ask, socket, hello), Resume)
            answer = await asyncio.to_thread(ask, socket, Event(SESSION, (rewritten[-1],)))
            assert answer == Nack(SESSION, log_id, NackCode.FORK)
        await scene.until(lambda: scene.positions == 4)
        await central.stop()

    asyncio.run(main())
    assert len(scene.of_tables()) == 3
    assert [(code, table) for code, table, _ in scene.alarms()] == [("link.fork", "T1")]


def test_an_old_disk_image_is_put_into_quarantine_and_shown(scene: Scene) -> None:
    """The card is replaced by an older copy of itself, and the table plays on from there."""

    async def main() -> None:
        central = scene.central_thread()
        endpoint = await central.start()
        table, _ = await honest(scene, endpoint, 1)
        await table.stop()
        image = (scene.folder / "T1.log").read_bytes()
        table = scene.table_thread(scene.settings(endpoint))
        await table.start()
        await goes_on(scene, table)
        await table.stop()
        (scene.folder / "T1.log").write_bytes(image)
        table = scene.table_thread(scene.settings(endpoint))
        await table.start()
        await scene.until(lambda: table.status.code == "central.fork" and scene.positions == 3)
        await table.append([EVENT], 3)
        await table.stop()
        await central.stop()

    asyncio.run(main())
    assert [stored.entry.seq for stored in scene.of_tables()] == [1, 2]
    assert scene.alarms() == [("link.fork.rollback", "T1", "rollback")]


def test_a_cut_tail_is_found_by_the_hash_on_the_result_sheet(scene: Scene) -> None:
    """What a chain alone cannot see: the last entries are gone, and all that is left fits together."""
    path = scene.folder / "T1.log"
    with Log.open(path) as log:
        anchor = log.append([EVENT] * 5, 1)[-1].hash
        assert log.verify(anchor).ok
    with sqlite3.connect(path) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        db.execute("DELETE FROM entry WHERE seq > 3")
    db.close()
    with Log.open(path, read_only=True) as log:
        assert log.verify().entries == 3
        assert not log.verify(anchor).ok


@pytest.mark.parametrize("how", ["revoked", "expired", "removed"])
def test_a_key_that_stops_counting_stops_within_two_seconds(scene: Scene, how: str) -> None:
    """A live connection too; the table's screen says why, and so does the head referee's."""
    entries = {name: Enrolment(scene.keys[name].public) for name in ("T1", "T2")}
    now = datetime.now(UTC)
    ended = {
        "revoked": {"revoked": now, "reason": "stolen"},
        "expired": {"expires": now - timedelta(seconds=1)},
    }
    write_register(scene.allow_list, Register(entries))

    async def main() -> None:
        central = scene.central_thread()
        table, _ = await honest(scene, await central.start())
        if how == "removed":
            del entries["T1"]
        else:
            entries["T1"] = msgspec.structs.replace(entries["T1"], **ended[how])
        write_register(scene.allow_list, Register(entries))
        pace = Pace()
        while not scene.alarms() and pace.took_s < 30:
            await table.append([EVENT], 2)
            await asyncio.sleep(0.05)
        assert pace.own_s < 2
        if how != "removed":  # of a key that stands nowhere, nobody is answered
            await scene.until(lambda: table.status.state is LinkState[how.upper()])
        before = len(scene.of_tables())
        await table.append([EVENT], 3)
        await asyncio.sleep(0.2)
        assert len(scene.of_tables()) == before < table.status.head
        await table.stop()
        await central.stop()

    asyncio.run(main())
    (alarm,) = scene.alarms()
    assert alarm[0] == "link.denied"
    assert alarm[2] == ("not_enrolled" if how == "removed" else how)

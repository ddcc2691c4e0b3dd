"""Who has no key, or one that counts for nothing: cut off, written down once, shown to the head referee."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import msgspec
import pytest
import zmq

from station.link.central_thread import CentralThread
from station.link.keys import AllowList
from station.link.register import Enrolment, Register, write_register
from station.link.sockets import Socket, new_context
from station.link.status import LinkState
from station.link.strangers import Knocks
from tests.pace import Pace
from tests.station.security.conftest import EVENT, Scene

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00%s" + bytes(32)
"""A greeting of ZMTP 3.0 with a mechanism of 20 bytes (https://rfc.zeromq.org/spec/23/)."""
KNOCKS = 5
"""So many within a minute are strangers; fewer may be a table that stops in its handshake."""
PAST = datetime(2026, 1, 31, tzinfo=UTC)


def enrolment(scene: Scene, **changes: object) -> None:
    """Enrol T1, and T2 with changes."""
    entries = {name: Enrolment(scene.keys[name].public) for name in ("T1", "T2")}
    entries["T2"] = msgspec.structs.replace(entries["T2"], **changes)
    write_register(scene.allow_list, Register(entries))


@pytest.mark.parametrize(
    ("name", "changes", "reason", "state"),
    [
        ("stranger", {}, "not_enrolled", LinkState.DENIED),
        ("T2", {"expires": PAST}, "expired", LinkState.EXPIRED),
        ("T2", {"revoked": PAST, "reason": "stolen"}, "revoked", LinkState.REVOKED),
    ],
    ids=["unknown", "expired", "revoked"],
)
def test_a_key_that_does_not_count_is_refused_logged_and_shown(
    scene: Scene, name: str, changes: dict[str, object], reason: str, state: LinkState
) -> None:
    enrolment(scene, **changes)

    async def main() -> None:
        central = scene.central_thread()
        link = scene.settings(await central.start(), "T2", scene.keys[name])
        refused = scene.table_thread(link, "T2")
        await refused.start()
        await refused.append([EVENT], 1)
        await scene.until(lambda: refused.status.state is state and scene.positions == 1)
        await refused.stop()
        await central.stop()

    asyncio.run(main())
    assert scene.of_tables() == []
    assert scene.alarms() == [("link.denied", None if name == "stranger" else name, reason)]


def without_keys(_: Socket, __: Scene) -> None:
    """NULL, the mechanism of a socket that was told nothing."""


def with_a_password(client: Socket, _: Scene) -> None:
    client.set(zmq.PLAIN_USERNAME, b"T1")
    client.set(zmq.PLAIN_PASSWORD, b"secret")


def for_another_station(client: Socket, scene: Scene) -> None:
    client.set(zmq.CURVE_SERVERKEY, scene.keys["T2"].public.encode())
    client.set(zmq.CURVE_PUBLICKEY, scene.keys["T1"].public.encode())
    client.set(zmq.CURVE_SECRETKEY, scene.keys["T1"].secret.encode())


@pytest.mark.parametrize(
    "prepare",
    [without_keys, with_a_password, for_another_station],
    ids=["NULL", "PLAIN", "another station's key"],
)
def test_another_mechanism_is_cut_off_logged_and_shown(
    scene: Scene, prepare: Callable[[Socket, Scene], None]
) -> None:
    async def main() -> None:
        central = scene.central_thread()
        endpoint = await central.start()
        context = new_context()
        clients = [context.socket(zmq.DEALER) for _ in range(KNOCKS)]
        for client in clients:
            client.linger = 0
            prepare(client, scene)
            client.connect(endpoint)
            client.send_multipart([b"HELLO", b"let me in"])
        await scene.until(lambda: scene.positions == 1)
        for client in clients:
            client.close()
        context.term()
        await central.stop()

    asyncio.run(main())
    assert scene.of_tables() == []
    assert scene.alarms() == [("link.denied", None, "no_handshake")]


@pytest.mark.parametrize(
    "said",
    [
        b"GET / HTTP/1.1\r\nHost: central\r\n\r\n" + b"x" * 64,
        b"\xff" * 200,
        GREETING % b"NULL".ljust(20, b"\0") + b"\x04\x26" + b"\x05READY" + b"j" * 32,
        GREETING % b"CURVE".ljust(20, b"\0") + b"\x04\xc8" + b"\x05HELLO" + b"j" * 194,
        GREETING % b"CURVE".ljust(20, b"\0") + b"\x04\x05\x04JUNK",
        GREETING % b"CURVE".ljust(20, b"\0") + b"\x06" + b"\xff" * 8 + b"j" * 300,
    ],
    ids=["HTTP", "noise", "ready without keys", "forged hello", "no command", "endless command"],
)
def test_bytes_of_no_table_are_cut_off_logged_and_shown(scene: Scene, said: bytes) -> None:
    async def main() -> None:
        central = scene.central_thread()
        port = scene.port(await central.start())
        for _ in range(KNOCKS):
            await knock(port, said)
        await scene.until(lambda: scene.positions == 1)
        await central.stop()

    asyncio.run(main())
    assert scene.of_tables() == []
    assert scene.alarms() == [("link.denied", None, "no_handshake")]


def test_a_device_that_breaks_off_a_few_times_is_no_alarm(scene: Scene) -> None:
    """A table whose power fails in its handshake, and again, and again."""

    async def main() -> None:
        central = scene.central_thread()
        port = scene.port(await central.start())
        for _ in range(KNOCKS - 1):
            await knock(port, b"\xff" * 200)
        table = scene.table_thread(scene.settings(f"tcp://127.0.0.1:{port}"))
        await table.start()
        await table.append([EVENT], 1)
        await scene.until(lambda: table.status.acked == 1)
        await table.stop()
        await central.stop()

    asyncio.run(main())
    assert scene.alarms() == []


def test_only_many_in_a_short_time_are_strangers() -> None:
    rare, many = Knocks(least=3, within_s=60), Knocks(least=3, within_s=60)
    assert not any(rare.ended(1, 31.0 * n) for n in range(20))
    assert [many.ended(count, float(n)) for n, count in enumerate((1, 0, 1, 1, 0))] == [
        False,
        False,
        False,
        True,
        False,
    ]
    assert Knocks(least=3).ended(1000, 0.0)


async def knock(port: int, said: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(said)
        await asyncio.to_thread(until_closed, client)


def until_closed(client: socket.socket) -> None:
    """Read until the other end has closed; no matter how."""
    try:
        while client.recv(4096):
            pass
    except ConnectionResetError:
        pass


def test_half_open_connections_and_slow_ones_hold_nobody_up(scene: Scene) -> None:
    """A hundred that say nothing, and a hundred that say their greeting byte by byte, beside a table."""

    async def main() -> None:
        central = scene.central_thread()
        endpoint = await central.start()
        crowd = [socket.create_connection(("127.0.0.1", scene.port(endpoint))) for _ in range(200)]
        greeting = GREETING % b"CURVE".ljust(20, b"\0")
        table = scene.table_thread(scene.settings(endpoint))
        await table.start()
        took = []
        for n in range(40):
            for client in crowd[:100]:
                client.send(greeting[n : n + 1])
            pace = Pace()
            await table.append([EVENT], n)
            await scene.until(lambda n=n: table.status.acked == n + 1)
            took.append(pace.own_s)
        for client in crowd:
            client.close()
        await table.stop()
        await central.stop()
        assert sorted(took)[20] < 0.2

    asyncio.run(main())
    assert len(scene.of_tables()) == 40


class Tap:
    """A wire in the middle: passes everything on, and keeps what the table said."""

    def __init__(self, port: int) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self.said = bytearray()
        self._to = port
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        self._threads[0].start()

    def _serve(self) -> None:
        try:
            client, _ = self._server.accept()
        except OSError:
            return
        station = socket.create_connection(("127.0.0.1", self._to))
        back = threading.Thread(target=self._carry, args=(station, client, bytearray()), daemon=True)
        back.start()
        self._carry(client, station, self.said)
        back.join()
        client.close()
        station.close()

    @staticmethod
    def _carry(source: socket.socket, sink: socket.socket, kept: bytearray) -> None:
        try:
            while data := source.recv(65536):
                kept += data
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self) -> None:
        self._server.close()
        self._threads[0].join(5)


@contextmanager
def tapped(port: int) -> Iterator[Tap]:
    tap = Tap(port)
    try:
        yield tap
    finally:
        tap.close()


def test_recorded_bytes_of_a_table_are_worth_nothing_on_a_new_connection(scene: Scene) -> None:
    async def main() -> None:
        central = scene.central_thread()
        port = scene.port(await central.start())
        with tapped(port) as tap:
            table = scene.table_thread(scene.settings(f"tcp://127.0.0.1:{tap.port}"))
            await table.start()
            await table.append([EVENT, EVENT], 1)
            await scene.until(lambda: table.status.acked == 2)
            await table.stop()
        recording = bytes(tap.said)
        assert len(recording) > 500
        assert EVENT[1] not in recording
        for _ in range(KNOCKS):
            await knock(port, recording)
        await scene.until(lambda: scene.positions == 3)
        await central.stop()

    asyncio.run(main())
    assert len(scene.of_tables()) == 2
    assert scene.alarms() == [("link.denied", None, "no_handshake")]


def test_strangers_by_the_thousand_are_one_line_an_hour(scene: Scene) -> None:
    """The log must not be filled by knocking: the same refusal is written down once an hour."""
    clock = [1000.0]

    async def main() -> None:
        central = CentralThread(
            scene.central_log,
            "tcp://127.0.0.1:0",
            scene.central,
            AllowList(scene.allow_list),
            clock=lambda: clock[0],
            on_commit=scene._committed,
        )
        port = scene.port(await central.start())

        for _ in range(100):
            await knock(port, b"\xff" * 200)
        await scene.until(lambda: scene.positions == 1)
        clock[0] += 3601
        for _ in range(KNOCKS):
            await knock(port, b"\xff" * 200)
        await scene.until(lambda: scene.positions == 2)
        await central.stop()

    asyncio.run(main())
    assert len(scene.stored()) == 2

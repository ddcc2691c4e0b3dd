"""Messages that are none, too large, or too many: an enrolled table gone wrong disturbs nobody else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
import zmq
from hypothesis import given
from hypothesis import strategies as st

from station.errors import WireError
from station.link import said
from station.link.denials import Denials
from station.link.keys import Standing
from station.link.replicate import CentralEnd, Incoming, Limits
from station.link.said import SESSION_SIZE, Hello, Message
from station.link.status import LinkState
from station.link.wire import decode, encode
from station.log import Log, chain
from station.log.chain import HASH_SIZE, LOG_ID_SIZE, MAX_BODY, ZERO_HEAD, Head
from tests.station.link.runs import runs
from tests.station.security.conftest import EVENT, SESSION, Scene, rogue

LOG_ID = b"L" * LOG_ID_SIZE
ENTRY = chain.link(LOG_ID, ZERO_HEAD, [EVENT], 1)[0]

bytes_of = st.binary(min_size=HASH_SIZE, max_size=HASH_SIZE)
sessions = st.binary(min_size=SESSION_SIZE, max_size=SESSION_SIZE)
log_ids = st.binary(min_size=LOG_ID_SIZE, max_size=LOG_ID_SIZE)
seqs = st.integers(0, 2**63 - 1)
numbers = st.integers(1, 2**63 - 1)
names = st.text(max_size=16)
bodies = st.binary(max_size=64)
heads = st.builds(Head, seqs, bytes_of)
messages = st.one_of(
    st.builds(said.Hello, sessions, log_ids, heads, names, st.integers(0, 255)),
    st.builds(said.Event, sessions, runs()),
    st.builds(said.Ping, sessions, log_ids, seqs),
    st.builds(said.Diverged, sessions, log_ids, heads, names),
    st.builds(said.Resume, sessions, log_ids, numbers, bytes_of),
    st.builds(said.Ack, sessions, log_ids, seqs),
    st.builds(said.Nack, sessions, log_ids, names),
    st.builds(said.Value, sessions, seqs, seqs, names, st.binary(max_size=64)),
    st.builds(said.Time, sessions, seqs, seqs, seqs),
)
"""Every kind of message, well formed, with anything in it."""


@st.composite
def spoilt(draw: st.DrawFn) -> list[bytes]:
    """A message with a part cut, grown, changed, dropped or doubled; or no message at all."""
    if draw(st.integers(0, 4)) == 0:
        return draw(st.lists(st.binary(max_size=80), min_size=1, max_size=9))
    frames = encode(draw(messages))
    at = draw(st.integers(0, len(frames) - 1))
    frame = frames[at]
    how = draw(st.integers(0, 4))
    where = draw(st.integers(0, len(frame)))
    if how == 0:
        return [*frames[:at], frame[:where], *frames[at + 1 :]]
    if how == 1:
        return [*frames[:at], frame[:where] + draw(st.binary(max_size=9)) + frame[where:], *frames[at + 1 :]]
    if how == 2 and frame:
        changed = bytearray(frame)
        changed[min(where, len(frame) - 1)] ^= draw(st.integers(1, 255))
        return [*frames[:at], bytes(changed), *frames[at + 1 :]]
    return [*frames[:at], *frames[at + 1 :]] or [b""] if how == 3 else [*frames[: at + 1], *frames[at:]]


@given(messages)
def test_every_well_formed_message_comes_back_as_it_was(message: Message) -> None:
    assert decode(encode(message)) == message


@given(spoilt())
def test_spoilt_frames_are_a_message_or_an_error_of_the_wire(frames: list[bytes]) -> None:
    try:
        message = decode(frames)
    except WireError:
        return
    assert decode(encode(message)) == message


@pytest.fixture(scope="module")
def end(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A central end over a real log, where T1 has greeted; the peers can be anybody."""
    with Log.open(tmp_path_factory.mktemp("fuzz") / "central.log") as log:
        standings = {
            "key of T1": Standing("T1"),
            "key of T2": Standing("T2"),
            "old": Standing(None, "revoked", "T3"),
        }
        central = CentralEnd(
            log,
            lambda key: standings.get(key, Standing(None, "not_enrolled")),
            Denials(log.append),
            clock=lambda: 0.0,
            on_value=lambda *_: None,
        )
        yield central, log


incoming = st.builds(
    Incoming,
    st.sampled_from([b"peer 1", b"peer 2"]),
    st.sampled_from(["key of T1", "key of T2", "old", "unknown", ""]),
    st.one_of(spoilt(), messages.map(encode)),
)


@given(st.lists(incoming, max_size=12), st.floats(0, 10))
def test_whatever_a_table_says_the_station_goes_on(end: Any, batch: list[Incoming], later: float) -> None:
    """And nothing gets into the log under a table's name that does not go on from what is there."""
    central, log = end
    central.now = getattr(central, "now", 0.0) + later
    for answer in central.receive(batch, central.now, 1):
        decode(answer.frames)
    assert all(stored.entry.intact for stored in log.entries() if stored.source)
    assert log.verify().ok


def noise(count: int) -> Callable[[Any], None]:
    def send(socket: Any) -> None:
        for n in range(count):
            socket.send_multipart([b"EVENT", bytes([n % 256]) * (n % 300)])

    return send


def parts(socket: Any) -> None:
    socket.send_multipart([b"HELLO"] + [b"x"] * 20_000)


def large_body(socket: Any) -> None:
    entry = msgspec.structs.replace(ENTRY, body=b"x" * (MAX_BODY + 1))
    socket.send_multipart(encode(said.Hello(SESSION, LOG_ID, ENTRY.head, "T2")))
    socket.send_multipart(encode(said.Event(SESSION, (entry,))))


@pytest.mark.parametrize("send", [noise(50), parts, large_body], ids=["noise", "20,000 parts", "large body"])
def test_what_is_no_message_is_dropped_logged_and_shown(scene: Scene, send: Callable[[Any], None]) -> None:
    async def main() -> None:
        central = scene.central_thread()
        endpoint = await central.start()
        with rogue(scene.settings(endpoint, "T2")) as socket:
            send(socket)
            await scene.until(lambda: scene.positions >= 1)
            table = scene.table_thread(scene.settings(endpoint))
            await table.start()
            await table.append([EVENT], 1)
            await scene.until(lambda: table.status.state is LinkState.UP and table.status.acked == 1)
            await table.stop()
        await central.stop()

    asyncio.run(main())
    assert [stored.source for stored in scene.of_tables()] == ["T1"]
    assert scene.alarms() == [("link.denied", "T2", "bad_message")]


@pytest.mark.slow
def test_a_message_beyond_all_measure_ends_the_connection_before_it_is_in(scene: Scene) -> None:
    """libzmq does not say whose connection it ended: who goes on like that is known by its many greetings."""

    async def main() -> None:
        central = scene.central_thread()
        endpoint = await central.start()
        with rogue(scene.settings(endpoint, "T2")) as socket:
            monitor = socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
            ended = 0
            while scene.positions == 0:
                assert await asyncio.to_thread(socket.poll, 10_000, zmq.POLLOUT)
                socket.send_multipart(encode(Hello(SESSION, LOG_ID, ZERO_HEAD, "T2")))
                socket.send_multipart([b"EVENT", b"x" * (1 << 20)])
                if await asyncio.to_thread(monitor.poll, 1000):  # else it went into the connection that ended
                    monitor.recv_multipart()
                    ended += 1
            socket.disable_monitor()
            monitor.close(linger=0)
        await central.stop()
        assert ended <= 3 * Limits().greeting_burst

    asyncio.run(main())
    assert scene.of_tables() == []
    assert scene.alarms() == [("link.denied", "T2", "flood")]


def test_a_greeting_of_another_version_is_answered_so_that_the_screen_can_say_so(scene: Scene) -> None:
    async def main() -> None:
        central = scene.central_thread()
        endpoint = await central.start()
        with rogue(scene.settings(endpoint, "T2")) as socket:
            socket.send_multipart(encode(Hello(SESSION, LOG_ID, ZERO_HEAD, "T2", protocol=1)))
            assert await asyncio.to_thread(socket.poll, 10_000)
            assert decode(socket.recv_multipart()) == said.Nack(SESSION, LOG_ID, "version")
        await central.stop()

    asyncio.run(main())
    assert scene.alarms() == [("link.denied", "T2", "version")]

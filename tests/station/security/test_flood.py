"""One table that sends far more than it may: held back, written down, shown; the others go on.

How long the others wait beside it is measured by `benchmarks.link.flood`; here it only must not be long.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest
import zmq

from station.link import said
from station.link.central_thread import CentralThread
from station.link.keys import AllowList
from station.link.replicate import Limits
from station.link.sockets import Socket
from station.link.wire import Frames, encode
from station.log import chain
from station.log.chain import ZERO_HEAD
from tests.pace import Pace
from tests.station.security.conftest import EVENT, SESSION, Scene, rogue

LOG_ID = b"2" * 16
SECONDS = 1.5
LIMITS = Limits(events_per_s=200, burst=200, messages_per_s=50, message_burst=50)


def entries() -> Iterator[Frames]:
    """A chain without end, each entry once, whatever is answered."""
    head = ZERO_HEAD
    while True:
        for entry in chain.link(LOG_ID, head, [EVENT] * 100, 1):
            yield encode(said.Event(SESSION, (entry,)))
            head = entry.head


def the_same() -> Iterator[Frames]:
    """One entry over and over."""
    (entry,) = chain.link(LOG_ID, ZERO_HEAD, [EVENT], 1)
    while True:
        yield encode(said.Event(SESSION, (entry,)))


def pings() -> Iterator[Frames]:
    while True:
        yield encode(said.Ping(SESSION, LOG_ID, 1))


def noise() -> Iterator[Frames]:
    while True:
        yield [b"NOISE", b"x" * 2000]


def greetings() -> Iterator[Frames]:
    while True:
        yield encode(said.Hello(SESSION, LOG_ID, ZERO_HEAD, "T2"))


def flood(socket: Socket, what: Iterator[Frames]) -> int:
    """Send as fast as the socket takes it; how many."""
    socket.send_multipart(encode(said.Hello(SESSION, LOG_ID, ZERO_HEAD, "T2")))
    end, sent = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        try:
            socket.send_multipart(next(what), zmq.NOBLOCK)
            sent += 1
        except zmq.Again:
            time.sleep(0.001)
    return sent


@pytest.mark.parametrize("what", [entries, the_same, pings, noise, greetings])
def test_a_flood_is_held_back_logged_and_shown_and_holds_nobody_up(scene: Scene, what) -> None:
    async def main() -> int:
        central = CentralThread(
            scene.central_log,
            "tcp://127.0.0.1:0",
            scene.central,
            AllowList(scene.allow_list),
            on_commit=scene._committed,
            limits=LIMITS,
        )
        endpoint = await central.start()
        table = scene.table_thread(scene.settings(endpoint))
        await table.start()
        waits: list[float] = []
        with rogue(scene.settings(endpoint, "T2")) as socket:
            flooding = asyncio.create_task(asyncio.to_thread(flood, socket, what()))
            while not flooding.done():
                pace = Pace()
                (entry,) = await table.append([EVENT], 1)
                await scene.until(lambda entry=entry: table.status.acked >= entry.seq)
                waits.append(pace.own_s)
                await asyncio.sleep(0.05)
            sent = await flooding
        await table.stop()
        await central.stop()
        assert len(waits) >= 3
        assert sorted(waits)[len(waits) // 2] < 0.25
        return sent

    sent = asyncio.run(main())
    assert sent > 10 * LIMITS.messages_per_s * SECONDS
    assert ("link.denied", "T2", "flood") in scene.alarms()
    stored = sum(stored.source == "T2" for stored in scene.stored())
    assert stored <= LIMITS.burst + 2 * SECONDS * LIMITS.events_per_s + LIMITS.round_quota

"""An enrolled key with a program of its own: it can neither end the station nor fill its memory."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from station.demo.layout import free_port
from tests.station.drills.hall import Node
from tests.station.security.conftest import Scene
from tests.station.security.zmtp import RawPeer

pytestmark = [pytest.mark.system, pytest.mark.slow]
MOST_MB = 250.0
"""By how much the station may grow: four times what it holds in all at most, since small parts take more
memory than they took on the wire. Without a bound it was 3,500 MB after five seconds."""
PIECE = bytes(60_000)


@dataclass
class Station:
    """A central station as a process, and an attacker's way to it."""

    scene: Scene
    node: Node
    ports: dict[str, int]

    def peer(self, channel: str, routing_id: bytes = b"") -> RawPeer:
        return RawPeer(self.ports[channel], self.scene.keys["T2"], self.scene.central.public, routing_id)

    @property
    def memory_mb(self) -> float:
        pages = int(Path(f"/proc/{self.node.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def flood(self, channel: str, message: Callable[[RawPeer], bytes], routing_id: bytes = b"") -> bool:
        """Send until the connection is cut; whether it was before half a minute was over."""
        peer = self.peer(channel, routing_id)
        peer.socket.settimeout(10)
        end = time.monotonic() + 30
        try:
            while time.monotonic() < end:
                peer.socket.sendall(message(peer))
        except ConnectionError:
            return True
        finally:
            peer.socket.close()
        return False

    def goes_on(self) -> bool:
        """Whether the process that was started takes an event of an honest table."""
        table = Node(
            self.scene.folder,
            "table",
            "T1",
            endpoint=f"tcp://127.0.0.1:{self.ports['link']}",
            table_id="T1",
            write=False,
        )
        table.start()
        try:
            return "drained" in table.wait_for("drained") and not self.node.dead
        finally:
            table.kill()


@pytest.fixture
def station(scene: Scene) -> Iterator[Station]:
    ports = {"link": free_port(), "evidence": free_port()}
    node = Node(
        scene.folder,
        "central",
        "central",
        log="central.log",
        endpoint=f"tcp://127.0.0.1:{ports['link']}",
        evidence=f"tcp://127.0.0.1:{ports['evidence']}",
    )
    node.start()
    yield Station(scene, node, ports)
    node.kill()


def heartbeats(peer: RawPeer) -> bytes:
    return b"".join(peer.part(b"NOISE") + peer.ping() for _ in range(4000))


def great_parts(peer: RawPeer) -> bytes:
    return b"".join(peer.part(PIECE, more=True) for _ in range(8))


def empty_parts(peer: RawPeer) -> bytes:
    return b"".join(peer.part(b"", more=True) for _ in range(2000))


def whole_messages(peer: RawPeer) -> bytes:
    return b"".join(peer.part(PIECE) for _ in range(8))


@pytest.mark.parametrize("channel", ["link", "evidence"])
def test_heartbeats_and_a_reset_do_not_end_the_station(station: Station, channel: str) -> None:
    """A bounded queue that is full when its connection ends made libzmq abort at once."""
    for _ in range(5):
        peer = station.peer(channel)
        peer.socket.settimeout(0.5)
        with suppress(TimeoutError, ConnectionError):  # it does not read any more, or has cut it
            peer.socket.sendall(heartbeats(peer))
        peer.reset()
    assert station.goes_on()
    assert station.node.stop() == 0


@pytest.mark.parametrize("channel", ["link", "evidence"])
@pytest.mark.parametrize("parts", [great_parts, empty_parts])
def test_a_message_without_an_end_is_cut(
    station: Station,
    channel: str,
    parts: Callable[[RawPeer], bytes],
    record_property: Callable[[str, object], None],
) -> None:
    before = station.memory_mb
    began = time.monotonic()
    assert station.flood(channel, parts)
    took, grown = time.monotonic() - began, station.memory_mb - before
    record_property("figure", f"{channel}, {parts.__name__}: cut after {took:.1f} s, {grown:.0f} MB more")
    assert grown < MOST_MB
    assert station.goes_on()
    assert station.node.stop() == 0
    if channel == "link":
        assert ("link.denied", None, "overrun") in station.scene.alarms()


def test_a_second_connection_with_the_same_routing_id_is_cut(station: Station) -> None:
    """libzmq does not read from it, whatever it sends."""
    first = station.peer("link", b"the same")
    first.socket.sendall(first.part(b"NOISE"))
    before = station.memory_mb
    assert station.flood("link", whole_messages, b"the same")
    assert station.memory_mb - before < MOST_MB
    first.reset()
    assert station.goes_on()
    assert station.node.stop() == 0

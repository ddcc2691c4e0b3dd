"""Thousands of connections with damaged bytes, in their handshake and after it: the hall goes on."""

from __future__ import annotations

import random
import select
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import zmq

from station.demo.layout import free_port
from station.link.keys import load_pair, load_public
from station.link.sockets import new_context, table_socket
from tests.station.drills.hall import Node, enrol

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(120)]
LEAST = 200
"""Connections of real handshakes; a talk of its own each, so they take time."""
RAW = 3_000
"""Connections that say what a table said before, cut off and changed."""
LASTS_S = 10.0
REACH = 1400
"""Bytes of a connection in which a bit is turned: a handshake has about 530, each message about 80."""


class Damage:
    """A wire to the station that turns one bit of each connection, at one place after the other."""

    def __init__(self, target: int, seed: int) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._server.getsockname()[1])
        self.turned: list[int] = []
        """The places."""
        self.said = b""
        """What was said on the longest connection, undamaged."""
        self._target, self._rng, self._seed = target, random.Random(seed), seed
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._thread.join(10)
        self._server.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            with client, socket.create_connection(("127.0.0.1", self._target)) as station, suppress(OSError):
                self._pass(client, station)
                if self._rng.random() < 0.5:  # a reset, not an end
                    station.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _pass(self, client: socket.socket, station: socket.socket) -> None:
        place, passed, said = (37 * len(self.turned) + self._seed) % REACH, 0, b""
        deadline = time.monotonic() + 2.0
        while time.monotonic() < deadline:
            for ready in select.select([client, station], [], [], 0.1)[0]:
                data = ready.recv(65536)
                if not data:
                    return
                if ready is station:
                    client.sendall(data)
                    continue
                said += data
                self.said = max(self.said, said, key=len)
                at = place - passed
                passed += len(data)
                if 0 <= at < len(data):
                    data = data[:at] + bytes([data[at] ^ 1 << self._rng.randrange(8)]) + data[at + 1 :]
                    self.turned.append(place)
                    deadline = time.monotonic() + self._rng.choice((0.0, 0.0, 0.005, 0.02))
                station.sendall(data)


def _talk(folder: Path, port: int, until: float) -> None:
    """Connect as T1 time and again, and say something each time."""
    context = new_context()
    keys, station = load_pair(folder / "keys" / "T1.key"), load_public(folder / "keys" / "central.pub")
    while time.monotonic() < until:
        with table_socket(context, keys, station) as client:
            client.connect(f"tcp://127.0.0.1:{port}")
            ends = time.monotonic() + 0.03
            while (left := ends - time.monotonic()) > 0:
                if not client.poll(int(1000 * left), zmq.POLLOUT):
                    break
                with suppress(zmq.Again):
                    client.send_multipart([b"PING", bytes(32)], zmq.NOBLOCK)
                time.sleep(0.002)
    context.destroy(linger=0)


def _raw(port: int, said: bytes, rng: random.Random) -> None:
    """Say what a table said, cut off somewhere, with some bytes changed."""
    data = bytearray(said[: rng.randrange(1, len(said))])
    for _ in range(rng.randrange(4)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    with socket.create_connection(("127.0.0.1", port)) as client, suppress(OSError):
        client.sendall(data)
        if rng.random() < 0.5:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def test_damaged_bytes_stop_nobody(tmp_path: Path, figure: Callable[[str], None]) -> None:
    rng, port = random.Random(5), free_port()
    endpoint = f"tcp://127.0.0.1:{port}"
    enrol(tmp_path, ("T1", "T2"))
    central = Node(tmp_path, "central", "central", endpoint=endpoint)
    table = Node(tmp_path, "table", "T2", endpoint=endpoint, table_id="T2", write=True, pause_s=0.05)
    wires = [Damage(port, 350 * n) for n in range(4)]
    try:
        central.start()
        table.start()
        table.wait_until(lambda line: line.get("code") == "central.up", what="up")
        until = time.monotonic() + LASTS_S
        talkers = [
            threading.Thread(target=_talk, args=(tmp_path, wire.port, until), daemon=True) for wire in wires
        ]
        for talker in talkers:
            talker.start()
        for talker in talkers:
            talker.join()
        said = max((wire.said for wire in wires), key=len)
        for _ in range(RAW):
            _raw(port, said, rng)
        time.sleep(3.0)  # two heartbeats: what libzmq took badly shows then
        assert not central.dead
        mark = table.mark
        table.wait_until(lambda line: "seq" in line, mark, "an event")
        told = [line["code"] for line in table.said() if "code" in line]
        assert told[-1] == "central.up"
        table.stop()
        table.start(write=False)
        assert table.wait_for("drained", mark)
        assert [table.stop(), central.stop()] == [0, 0]
    finally:
        for wire in wires:
            wire.close()
        table.kill()
        central.kill()
    turned = sorted(place for wire in wires for place in wire.turned)
    figure(f"{len(turned)} connections damaged at {len(set(turned))} places, {RAW} more cut off and changed")
    assert len(turned) >= LEAST
    assert len(set(turned)) > LEAST / 2
    assert told.count("central.up") == 1

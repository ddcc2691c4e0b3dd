"""Slow, stalled, reset, cut off and disturbed connections: nothing is lost, and tables are back in time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from station.demo.layout import free_port
from tests.station.drills import books
from tests.station.drills.hall import Node, enrol
from tests.station.drills.proxy import Proxy

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(150)]
BACK_WITHIN_S = 10.0
STALLED = ("both", "up", "back")
STORMY = ("reset", "turned", "ungreeted")
GREETING = 150
"""Bytes after which a connection breaks in its handshake."""
NAMES = ("slow", *STALLED, *STORMY)


def test_bad_connections_lose_nothing_and_come_back_in_time(
    tmp_path: Path, figure: Callable[[str], None]
) -> None:
    """One table each: late and narrow; stalled both ways, one way, the other; reset; with bits turned; cut in
    every handshake."""
    rng, port = random.Random(9), free_port()
    enrol(tmp_path, NAMES)
    central = Node(tmp_path, "central", "central", endpoint=f"tcp://127.0.0.1:{port}")
    central.start()
    with ExitStack() as stack:
        proxies = {name: stack.enter_context(Proxy(port, seed)) for seed, name in enumerate(NAMES)}
        tables = {name: _table(tmp_path, name, proxy) for name, proxy in proxies.items()}
        nodes = [*tables.values(), central]
        stack.callback(lambda: [node.kill() for node in nodes])
        for way in (proxies["slow"].to_central, proxies["slow"].to_table):
            way.delay_s, way.rate = 0.2, 15_000.0
        for table in tables.values():
            table.start()
        for table in tables.values():
            assert table.wait_until(lambda line: line.get("code") == "central.up", what="up")
        marks = {name: table.mark for name, table in tables.items()}
        _stall(proxies, stalled=True)
        proxies["ungreeted"].most = GREETING
        proxies["ungreeted"].reset()
        storm_ends = time.monotonic() + 9.0
        while time.monotonic() < storm_ends:
            time.sleep(rng.uniform(0.05, 0.5))
            proxies["reset"].reset()
            way = rng.choice((proxies["turned"].to_central, proxies["turned"].to_table))
            way.turn_bits = 1
        for name in STALLED:
            assert tables[name].wait_until(
                lambda line: line.get("code") == "central.down", marks[name], "down"
            )
        assert not [line for line in tables["slow"].said(marks["slow"]) if "code" in line]
        marks |= {name: tables[name].mark for name in STALLED}
        proxies["turned"].to_central.turn_bits = proxies["turned"].to_table.turn_bits = 0
        proxies["ungreeted"].most = None
        healed_at = time.monotonic()
        _stall(proxies, stalled=False)
        back = {name: _well(tables[name], marks[name], healed_at) for name in (*STALLED, *STORMY)}
        reconnections = {name: proxies[name].connections - 1 for name in STORMY}
        for table in tables.values():
            table.stop()
            table.start(write=False)
        for name, table in tables.items():
            assert table.wait_for("drained", marks[name]), name
        assert [node.stop() for node in nodes] == [0] * len(nodes)
    said = {n: [(w["seq"], w["body"]) for w in t.said() if "seq" in w] for n, t in tables.items()}
    events = books.check(tmp_path / "central.log", {n: tmp_path / f"{n}.log" for n in NAMES}, said, cut=True)
    for name, seconds in back.items():
        what = f"stalled {name}" if name in STALLED else f"{name}, {reconnections[name]} new connections"
        figure(f"{what}: up {1_000 * seconds:.0f} ms after")
    figure(f"{events} events on both sides")
    assert max(back.values()) <= BACK_WITHIN_S
    assert min(reconnections.values()) >= 3


def _table(folder: Path, name: str, proxy: Proxy) -> Node:
    endpoint = f"tcp://127.0.0.1:{proxy.port}"
    return Node(folder, "table", name, endpoint=endpoint, table_id=name, write=True, pause_s=0.05)


def _stall(proxies: dict[str, Proxy], *, stalled: bool) -> None:
    for name in ("both", "up"):
        proxies[name].to_central.stalled = stalled
    for name in ("both", "back"):
        proxies[name].to_table.stalled = stalled


def _well(table: Node, mark: int, since: float) -> float:
    """Seconds from `since` until the table was up to stay; 0.0 when it was up already."""
    deadline = time.monotonic() + 3 * BACK_WITHIN_S
    while time.monotonic() < deadline:
        told = [line for line in table.said(mark) if "code" in line]
        if told and told[-1]["code"] == "central.up":
            return max(0.0, float(told[-1]["at"]) - since)
        time.sleep(0.02)
    raise AssertionError(f"{table.words.stem} did not come back: {table.said(mark)[-3:]}")

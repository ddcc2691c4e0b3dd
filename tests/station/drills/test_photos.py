"""Photos over kills, resets and a dead line: all arrive whole, each once, and no event waits for one."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from station.demo.layout import free_port
from station.evidence.wire import name_of
from station.log import Log
from tests.station.drills.hall import Node, enrol
from tests.station.drills.proxy import Proxy

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(180)]
NAMES = ("T1", "T2")
ARRIVED_WITHIN_S = 30.0
DELAYED_MS = 1000.0


class Place:
    """A central station, two tables that bring photos, and the line on which these travel."""

    def __init__(self, folder: Path, proxy: Proxy, ports: tuple[int, int]) -> None:
        self.folder, self.proxy = folder, proxy
        link, evidence = (f"tcp://127.0.0.1:{port}" for port in ports)
        self.central = Node(folder, "central", "central", endpoint=link, evidence=evidence)
        through = f"tcp://127.0.0.1:{proxy.port}"
        self.tables = {
            name: Node(folder, "camera", name, endpoint=link, evidence=through, table_id=name, write=True)
            for name in NAMES
        }

    def named(self) -> list[str]:
        """The photos that the tables said they had booked."""
        return [line["photo"] for table in self.tables.values() for line in table.said() if "photo" in line]

    def on_the_shelf(self) -> dict[str, Path]:
        return {path.name: path for path in (self.folder / "evidence").glob("??/*.jpg")}

    def end(self) -> float:
        """Let everything arrive, and stop; seconds until the last photo was there."""
        marks = {}
        for name, table in self.tables.items():
            if not table.dead:
                table.stop()
            table.bury()
            marks[name] = table.mark
            table.start(write=False)
        for name, table in self.tables.items():
            assert table.wait_for("drained", marks[name]), name
        began = time.monotonic()
        while (missing := set(self.named()) - set(self.on_the_shelf())) or not self.named():
            assert time.monotonic() - began < ARRIVED_WITHIN_S, f"{len(missing)} photos are missing"
            time.sleep(0.02)
        took = time.monotonic() - began
        assert [node.stop() for node in (*self.tables.values(), self.central)] == [0] * 3
        return took

    def check(self) -> int:
        """Both logs are equal, every photo that was named is there whole, and nothing else; how many."""
        named: set[str] = set()
        with Log.open(self.folder / "central.log", read_only=True) as central:
            assert central.verify().ok
            for name in NAMES:
                with Log.open(self.folder / f"{name}.log", read_only=True) as own:
                    entries = own.entries_of(own.log_id)
                    assert central.entries_of(own.log_id) == entries
                named |= {name for entry in entries for name in _photos(entry.body)}
        shelf = self.on_the_shelf()
        assert set(self.named()) <= named
        assert set(shelf) == named
        assert all(name_of(path.read_bytes()) == name for name, path in shelf.items())
        assert not list((self.folder / "evidence" / "parts").glob("*"))
        return len(named)


def _photos(body: bytes) -> list[str]:
    return [json.loads(body)["photo"]]


@contextmanager
def place(folder: Path) -> Iterator[Place]:
    enrol(folder, NAMES)
    ports = free_port(), free_port()
    with Proxy(ports[1], 3) as proxy:
        here = Place(folder, proxy, ports)
        try:
            here.central.start()
            for table in here.tables.values():
                table.start()
            yield here
        finally:
            for node in (*here.tables.values(), here.central):
                node.kill()


def test_photos_survive_kills_and_resets(tmp_path: Path, figure: Callable[[str], None]) -> None:
    _kill(tmp_path, 10, figure)


@pytest.mark.soak
def test_photos_survive_two_hundred_kills_and_resets(tmp_path: Path, figure: Callable[[str], None]) -> None:
    _kill(tmp_path, 200, figure)


def _kill(folder: Path, rounds: int, figure: Callable[[str], None]) -> None:
    rng, kills = random.Random(11), 0
    with place(folder) as here:
        for _ in range(rounds):
            time.sleep(rng.uniform(0.05, 0.4))
            node = rng.choice((*here.tables.values(), here.central, None))
            if node is None:
                here.proxy.reset()
                continue
            assert node.kill()
            kills += 1
            node.start(wait=node is here.central)
        took = here.end()
    photos = here.check()
    figure(
        f"{kills} kills and {rounds - kills} resets: {photos} photos arrived whole, each once,"
        f" the last {1000 * took:.0f} ms after the events"
    )


def test_a_dead_line_of_photos_delays_no_event(tmp_path: Path, figure: Callable[[str], None]) -> None:
    _cut(tmp_path, 1.5, figure)


@pytest.mark.soak
@pytest.mark.parametrize("held_s", [10.0, 25.0])
def test_a_line_of_photos_that_is_dead_for_long_delays_no_event(
    tmp_path: Path, held_s: float, figure: Callable[[str], None]
) -> None:
    """Longer than the heartbeats allow: the connection ends, and is made anew."""
    _cut(tmp_path, held_s, figure)


def _cut(folder: Path, held_s: float, figure: Callable[[str], None]) -> None:
    with place(folder) as here:
        for table in here.tables.values():
            assert table.wait_for("ms")
        here.proxy.to_central.stalled = here.proxy.to_table.stalled = True
        time.sleep(0.2)
        marks = {name: table.mark for name, table in here.tables.items()}
        had = len(here.on_the_shelf())
        time.sleep(held_s)
        waits = sorted(
            line["ms"]
            for name, table in here.tables.items()
            for line in table.said(marks[name])
            if "ms" in line
        )
        assert len(here.on_the_shelf()) <= had + len(NAMES)
        here.proxy.to_central.stalled = here.proxy.to_table.stalled = False
        took = here.end()
    photos = here.check()
    assert len(waits) > 5
    assert waits[-1] < DELAYED_MS
    figure(
        f"no photo for {held_s:.0f} s: {len(waits)} events meanwhile, p50 {waits[len(waits) // 2]:.0f} ms,"
        f" slowest {waits[-1]:.0f} ms; then {photos} photos in {took:.1f} s"
    )

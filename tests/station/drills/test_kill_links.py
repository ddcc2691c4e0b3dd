"""kill -9 of tables and of the central station, at random and at chosen moments: nothing is lost or doubled.

Processes of log and link alone, with real sockets and CURVE. Besides the kills from outside, a process dies
by itself between commit and acknowledgement, with a greeting sent or a greeting unanswered, and in the middle
of a commit, which leaves half a frame in the write-ahead log.
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.station.drills.books import check
from tests.station.drills.hall import Node, enrol

pytestmark = [pytest.mark.system, pytest.mark.slow]
TABLES = ("T1", "T2", "T3", "T4")
AT_CENTRAL = ("RESUME", "ACK")
AT_TABLE = ("HELLO", "EVENT")
BOTH = ("HELLO", "RESUME", "EVENT", "ACK")
"""Commands go the other way."""


class Reaper:
    """Kills the nodes of a hall, and counts how they died."""

    def __init__(self, folder: Path, seed: int) -> None:
        enrol(folder, TABLES)
        self.folder, self.rng = folder, random.Random(seed)
        self.deaths: Counter[str] = Counter()
        self.nodes: dict[str, Node] = {}
        probe = Node(folder, "central", "probe", endpoint="tcp://127.0.0.1:0", log="probe.log")
        probe.start()
        endpoint = probe.wait_for("link")["link"]
        probe.stop()
        self.nodes["central"] = Node(folder, "central", "central", endpoint=endpoint)
        for name in TABLES:
            self.nodes[name] = Node(folder, "table", name, endpoint=endpoint, table_id=name, write=True)
        self._armed: dict[str, str] = {}

    def start(self, name: str) -> None:
        """Start a node; every third carries a death of its own."""
        fault = self._fault(name) if self.rng.random() < 0.35 else None
        self._armed[name] = "" if fault is None else f"{name[0]} {' '.join(map(str, fault[:-1]))}"
        changes: dict[str, Any] = {"fault": fault}
        if name == "central":
            changes |= {"command": TABLES, "seed": self.nodes[name].starts, "crash": 0.005}
        self.nodes[name].start(**changes)

    def _fault(self, name: str) -> list[Any]:
        if self.rng.random() < 0.4:
            return ["write", self.rng.randrange(1, 20_000)]
        usual = AT_CENTRAL if name == "central" else AT_TABLE
        kinds = (*usual, *usual, *BOTH)
        kind, when = self.rng.choice(kinds), self.rng.choice(("before", "after"))
        greets = kind in ("HELLO", "RESUME")
        return ["frame", kind, when, 1 if greets and name != "central" else self.rng.randrange(1, 6)]

    def run(self, wanted: int) -> None:
        """Go on until so many were killed from outside; those that die by themselves come on top."""
        for name in self.nodes:
            self.start(name)
        while self.deaths["kill"] < wanted:
            time.sleep(self.rng.uniform(0.01, 0.12))
            for name, node in self.nodes.items():
                if node.dead:
                    self._bury(name)
                    self.start(name)
            victim = "central" if self.rng.random() < 0.2 else self.rng.choice(TABLES)
            if self.nodes[victim].kill():
                self.deaths["kill"] += 1
                self.deaths[f"kill {victim[0]}"] += 1
            self.start(victim)

    def _bury(self, name: str) -> None:
        ended = self.nodes[name].bury()
        assert ended in (-signal.SIGKILL, -signal.SIGXFSZ), f"{name} ended with {ended}"
        torn = ended == -signal.SIGXFSZ
        self.deaths["torn" if torn else "own"] += 1
        self.deaths[f"at: {self._armed[name] or 'between commit and ACK'}"] += 1

    def settle(self) -> None:
        """Start all without deaths, wait until the tables have nothing to send, and end all."""
        for node in self.nodes.values():
            node.kill()
        self.nodes["central"].start(fault=None)
        for name in TABLES:
            self.nodes[name].start(fault=None, write=False)
        given = Counter[str]()
        for line in self.nodes["central"].said():
            if "command" in line:
                given[line["to"]] = max(given[line["to"]], line["command"])
        for name in TABLES:
            node, last = self.nodes[name], given[name]
            assert node.wait_until(lambda line: "drained" in line), name
            assert node.wait_until(lambda line, last=last: line.get("got", 0) >= last), name  # type: ignore[misc]
        assert [node.stop() for node in self.nodes.values()] == [0] * len(self.nodes)

    def check(self) -> int:
        said = {
            name: [(line["seq"], line["body"]) for line in self.nodes[name].said() if "seq" in line]
            for name in TABLES
        }
        assert all(len(lines) > 20 for lines in said.values())
        logs = {name: self.folder / f"{name}.log" for name in TABLES}
        return check(self.folder / "central.log", logs, said)


@pytest.fixture
def reaper(tmp_path: Path) -> Iterator[Callable[[int], Reaper]]:
    made: list[Reaper] = []

    def make(seed: int) -> Reaper:
        folder = tmp_path / str(seed)
        folder.mkdir()
        made.append(Reaper(folder, seed))
        return made[-1]

    yield make
    for one in made:
        for node in one.nodes.values():
            node.kill()


def _drill(reaper: Callable[[int], Reaper], seed: int, kills: int, figure: Callable[[str], None]) -> None:
    one, began = reaper(seed), time.monotonic()
    one.run(kills)
    one.settle()
    events = one.check()
    deaths, took = one.deaths, time.monotonic() - began
    figure(
        f"{deaths['kill']} kills from outside ({deaths['kill c']} of the central station),"
        f" {deaths['own']} at a chosen moment, {deaths['torn']} in mid-write;"
        f" {events} events on both sides, {took:.0f} s"
    )
    for moment in sorted(word for word in deaths if word.startswith("at: ")):
        figure(f"  {moment.removeprefix('at: ')}: {deaths[moment]}")
    assert deaths["kill c"] >= kills // 20
    assert deaths["own"] >= kills // 20
    assert deaths["torn"] >= kills // 100


@pytest.mark.timeout(240)
def test_two_hundred_kills_leave_both_sides_with_the_same_bytes(
    reaper: Callable[[int], Reaper], figure: Callable[[str], None]
) -> None:
    _drill(reaper, 20, 200, figure)


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", range(1, 6))
def test_a_thousand_kills_leave_both_sides_with_the_same_bytes(
    reaper: Callable[[int], Reaper], seed: int, figure: Callable[[str], None]
) -> None:
    _drill(reaper, seed, 220, figure)

"""kill -9 of tables and of the central station at random moments: nothing is lost, doubled or changed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from station.log import CentralLog, Log

pytestmark = [pytest.mark.system, pytest.mark.slow]
ROOT = Path(__file__).parents[3]
NODES = Path(__file__).with_name("nodes.py")
KILLS = 24
DEADLINE_S = 30.0


class Node:
    """One process that can be killed and started again; what it says goes to a file."""

    def __init__(self, folder: Path, kind: str, name: str, **arguments: Any) -> None:
        self.words = folder / f"{name}.out"
        self.kind, self.arguments = kind, {"folder": str(folder), **arguments}
        self.process: subprocess.Popen[bytes] | None = None
        self.starts = 0

    def start(self, **changes: Any) -> None:
        self.starts += 1
        arguments = {**self.arguments, **changes}
        if self.kind == "central":
            arguments["seed"] = self.starts
        before = len(self.said())
        with self.words.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, str(NODES), self.kind, json.dumps(arguments)],
                stdout=out,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        self.wait_for("ready", before)

    def said(self) -> list[dict[str, Any]]:
        if not self.words.exists():
            return []
        return [json.loads(line) for line in self.words.read_bytes().splitlines()]

    def wait_for(self, word: str, after: int = 0) -> None:
        """Poll until the process says a word; a process that died on its own is not waited for."""
        deadline = time.monotonic() + DEADLINE_S
        while not any(word in line for line in self.said()[after:]):
            assert time.monotonic() < deadline, f"{self.kind} did not say {word}"
            if self.dead:
                return
            time.sleep(0.01)

    @property
    def dead(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def stop(self) -> int:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(5)


@pytest.fixture
def nodes(place) -> Iterator[dict[str, Node]]:
    """A central station and two tables; the central one also dies by itself between commit and ack."""
    probe = Node(place.folder, "central", "probe", endpoint="tcp://127.0.0.1:0", crash=0.0)
    probe.start()
    endpoint = next(line["link"] for line in probe.said() if "link" in line)
    probe.stop()
    nodes = {"central": Node(place.folder, "central", "central", endpoint=endpoint, crash=0.02)}
    for name in ("T1", "T2"):
        nodes[name] = Node(place.folder, "table", name, endpoint=endpoint, table_id=name, write=True)
    yield nodes
    for node in nodes.values():
        node.kill()


def test_every_event_is_there_once_after_many_kills(place, nodes: dict[str, Node]) -> None:
    rng = random.Random(20)
    kills = dict.fromkeys(nodes, 0)
    between_commit_and_ack = 0
    for node in nodes.values():
        node.start()
    while sum(kills.values()) < KILLS:
        time.sleep(rng.uniform(0.02, 0.3))
        for node in nodes.values():
            if node.dead:
                between_commit_and_ack += 1
                node.start()
        victim = rng.choice(list(nodes))
        nodes[victim].kill()
        kills[victim] += 1
        nodes[victim].start()
    for node in nodes.values():
        node.kill()
    nodes["central"].start(crash=0.0)
    for name in ("T1", "T2"):
        nodes[name].start(write=False)
    for name in ("T1", "T2"):
        nodes[name].wait_for("drained")
    assert [node.stop() for node in nodes.values()] == [0, 0, 0]

    assert sum(kills.values()) >= 20
    assert min(kills.values()) >= 1
    assert between_commit_and_ack >= 1
    with CentralLog.open(place.folder / "central.log", read_only=True) as central:
        assert central.verify().ok
        stored = central.entries()
    assert {item.entry.kind for item in stored} == {"e"}
    for name in ("T1", "T2"):
        with Log.open(place.folder / f"{name}.log", read_only=True) as log:
            assert log.verify().ok
            entries = log.entries()
        committed = {line["seq"]: line["body"] for line in nodes[name].said() if "seq" in line}
        assert len(committed) > 20
        assert [item.entry for item in stored if item.table_id == name] == entries
        assert committed.items() <= {e.seq: e.body.decode() for e in entries}.items()
        assert [int(e.body) for e in entries] == list(range(1, len(entries) + 1))

"""`kill -9` of table and central processes in the middle of a demo: nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from station.demo.layout import Settings
from station.demo.run import Demo
from station.log import Log
from station.log.verify import verify_file

PATIENCE_S = 240.0


@dataclass
class Killer:
    """Kills processes of a demo; keeps count of what the kills interrupted."""

    demo: Demo
    rng: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    unacknowledged: int = 0
    commands_open: int = 0

    async def run(self, wanted: int) -> None:
        """Kill ``wanted`` times; each at a moment of another kind."""
        moments: list[Callable[[], Awaitable[str]]] = [self._after_commit, self._after_command, self._anytime]
        for number in range(wanted):
            name = await moments[number % len(moments)]()
            pid = self.demo.children[name].pid
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                self.kills[name] += 1
                self._look_at_the_dead(name)
            self._signal_central(signal.SIGCONT)
            await asyncio.sleep(self.rng.uniform(1.0, 2.0))

    def _signal_central(self, number: signal.Signals) -> None:
        pid = self.demo.children["central"].pid
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    async def _anytime(self) -> str:
        await asyncio.sleep(self.rng.uniform(0.0, 1.0))
        return self.rng.choice(["central", *(t.name for t in self.demo.layout.tables)])

    async def _after_commit(self) -> str:
        """Just after a table committed an event; the central station is held so that it can't acknowledge."""
        table = self.rng.choice(self.demo.layout.tables)
        self._signal_central(signal.SIGSTOP)
        await self._written(table.log.with_name("table.db-wal"))
        # The first page of a transaction was seen; let it commit, which the kill must not come before.
        await asyncio.sleep(0.02)
        return self.rng.choice([table.name, table.name, "central"])

    async def _after_command(self) -> str:
        """Just after a table wrote a command into its ledger, before the machine can have answered."""
        table = self.rng.choice(self.demo.layout.tables)
        await self._written(*table.home.glob("commands.db*"))
        return table.name

    async def _written(self, *paths: Path) -> None:
        before = [_stamp(path) for path in paths]
        deadline = asyncio.get_running_loop().time() + 10
        while [_stamp(path) for path in paths] == before:
            if asyncio.get_running_loop().time() > deadline:
                return
            await asyncio.sleep(0)

    def _look_at_the_dead(self, name: str) -> None:
        table = next((t for t in self.demo.layout.tables if t.name == name), None)
        if table is None:
            return
        with Log.open(table.log, read_only=True) as log:
            head, log_id = log.head.seq, log.log_id
        with Log.open(self.demo.layout.central_log, read_only=True) as central:
            arrived = sum(item.entry.log_id == log_id for item in central.entries())
        self.unacknowledged += arrived < head
        self.commands_open += open_commands(table.home / "commands.db") > 0


def _stamp(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except OSError:
        return (0, 0)
    return stat.st_size, stat.st_mtime_ns


def open_commands(ledger: Path) -> int:
    """Return how many commands have an intent but no outcome in a ledger."""
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as db:
        kinds = Counter(kind for (kind,) in db.execute("SELECT kind FROM entries"))
    return kinds["intent"] - kinds["outcome"]


async def _run(home: Path, hands: int, kills: int, seed: int) -> tuple[Demo, Killer]:
    settings = Settings(
        tables=2, hands=hands, ruleset="zhenjiang", seed=seed, mend=True, referee=True, speed=6.0, model=None
    )
    demo = Demo(home, settings)
    killer = Killer(demo, random.Random(seed))
    async with asyncio.timeout(PATIENCE_S), demo:
        killing = asyncio.create_task(killer.run(kills))
        await demo.play()
        if killing.done():
            killing.result()
        killing.cancel()
        await asyncio.gather(killing, return_exceptions=True)
        await demo.delivered()
    return demo, killer


def check(demo: Demo, result: dict[str, Any], hands: int) -> None:
    """Assert that nothing was lost, doubled or moved twice."""
    assert result["verdicts_agree"], result["disagreements"]
    assert result["hands_played"] == 2 * hands
    for table, row in zip(demo.layout.tables, result["tables"], strict=True):
        assert row["events"] == row["central_events"]
        assert sum(row["chips"].values()) + row["bank"] == 200
        assert verify_file(table.log)["ok"]
        motions = [(m["boot_id"], m["cmd_id"]) for m in json.loads(table.pulses.read_text())["motions"]]
        assert len(motions) == len(set(motions))
    assert verify_file(demo.layout.central_log)["ok"]


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_killed_processes_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    demo, killer = asyncio.run(_run(tmp_path, hands=2, kills=6, seed=11))
    check(demo, demo.summary(), hands=2)
    assert sum(killer.kills.values()) >= 4


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_twenty_kills_some_between_commit_and_acknowledgement(tmp_path: Path) -> None:
    kills: Counter[str] = Counter()
    unacknowledged = commands_open = 0
    for seed in range(1, 5):
        demo, killer = asyncio.run(_run(tmp_path / str(seed), hands=6, kills=12, seed=seed))
        check(demo, demo.summary(), hands=6)
        kills += killer.kills
        unacknowledged += killer.unacknowledged
        commands_open += killer.commands_open
        print(
            f"seed {seed}: {dict(killer.kills)}, {killer.unacknowledged} between commit and acknowledgement,"
        )
        print(f"  {killer.commands_open} between command and its outcome")
    assert sum(kills.values()) >= 20
    assert unacknowledged >= 4
    assert commands_open >= 1

"""The interlock end to end: real processes, real bytes; tiles stay on the table until the ruling."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from engine import rulesets
from firmware_bridge.bridge import Bridge
from firmware_bridge.machine import Outcome, Status
from station.demo.client import TableClient
from station.demo.layout import Settings, prepare
from station.demo.script import Script
from station.demo.supervisor import Child

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(120)]
SETTINGS = Settings(
    tables=1, hands=1, ruleset="zhenjiang", seed=3, mend=True, referee=True, speed=50.0, model=None
)


class Hesitant(Script):
    """Players and a referee who rules only once he is told to."""

    decided = False

    async def _judge(self, state: dict[str, Any]) -> bool:
        return self.decided and await super()._judge(state)


class Venue:
    """One machine and one table as processes of their own."""

    def __init__(self, home: Path) -> None:
        self.layout = prepare(home, SETTINGS)
        self.files = self.layout.tables[0]
        self._state = home / "tiles.json"
        self.table: Child | None = None
        self.machine: Child | None = None
        self.http = httpx.AsyncClient()
        self.client = TableClient(self.http, self.files.http)
        self.script = Hesitant(
            self.client, rulesets.load("zhenjiang"), self.files.scene, table=0, hands=1, seed=3, mend=True
        )

    async def start_machine(self) -> None:
        words = ["machine-sim", "--pty-link", str(self.files.pty), "--pulses", str(self.files.pulses)]
        words += ["--seed", "3", "--speed", "50", "--state", str(self._state)]
        self.machine = Child("machine", words, self.layout.folder)
        await self.machine.start()

    async def start_table(self) -> None:
        self.table = Child("table", ["table", "--config", str(self.files.config)], self.layout.folder)
        await self.table.start()

    async def stop(self, child: Child | None) -> None:
        if child is not None:
            await child.stop()

    async def until(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait for a state of the table."""
        async with asyncio.timeout(40):
            while not condition(state := await self.client.state()):
                await asyncio.sleep(0.05)
            return state

    async def to_verdict(self) -> None:
        """Play a hand up to a claim that was read."""
        self.script.lay_out()
        await self._play(lambda state: state["phase"] == "verdict")

    async def to_confirm(self) -> None:
        """Let the referee look at the claim and confirm it."""
        self.script.decided = True
        await self._play(lambda state: state["phase"] in ("ruled", "closed"))
        state = await self.client.state()
        assert state["last"]["outcome"] == "win"

    async def _play(self, condition: Callable[[dict[str, Any]], bool]) -> None:
        playing = asyncio.create_task(self.script.play())
        await self.until(condition)
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)

    async def ask_machine(self, tmp: Path, op: str) -> Outcome:
        """Say one thing to the machine over its own line (the table must not hold it)."""
        async with Bridge(f"pty:{self.files.pty}", tmp / f"{os.urandom(4).hex()}.db") as bridge:
            async with asyncio.timeout(10):
                await bridge.wait_ready()
                return await bridge.execute(op)


def test_with_a_verdict_pending_taking_tiles_in_is_refused_until_the_ruling(tmp_path: Path) -> None:
    async def play() -> None:
        venue = Venue(tmp_path)
        try:
            await venue.start_machine()
            await venue.start_table()
            await venue.to_verdict()

            # The table process dies; the machine's own lock stands.
            assert venue.table is not None
            assert venue.table.pid is not None
            os.kill(venue.table.pid, signal.SIGKILL)
            await venue.table.stop()
            refused = await venue.ask_machine(tmp_path, "OPEN_LID")
            assert (refused.status, refused.code) == (Status.REJECTED, "interlock")

            # The machine is switched off and on: still locked, and it wants to be told whose hand it has.
            await venue.stop(venue.machine)
            await venue.start_machine()
            refused = await venue.ask_machine(tmp_path, "OPEN_LID")
            assert refused.status is Status.REJECTED
            assert refused.code in ("interlock", "not_started")
            await venue.start_table()
            state = await venue.until(lambda state: state["phase"] == "recovery")
            assert state["recovery"]["choices"] == ["adopt"]
            assert await venue.client.post("recovery", {"choice": "adopt"}, state["rev"])
            state = await venue.until(lambda state: state["phase"] == "verdict")
            assert state["machine"]["locked"]

            # The confirm unlocks it.
            await venue.to_confirm()
            await venue.until(
                lambda state: not state["machine"]["locked"] and state["machine"]["magazine"] == "READY"
            )
            assert venue.table is not None
            await venue.stop(venue.table)
            opened = await venue.ask_machine(tmp_path, "OPEN_LID")
            assert opened.status is Status.DONE
        finally:
            await asyncio.gather(venue.stop(venue.table), venue.stop(venue.machine))
            await venue.http.aclose()

    asyncio.run(play())

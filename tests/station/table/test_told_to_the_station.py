"""A real table process at a real station: its health is told, and a command is booked once over a restart."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from station.health import TableHealth, decode
from station.link.central_thread import CentralThread
from station.link.keys import AllowList, generate, write_allow_list
from station.log import Log

pytestmark = [pytest.mark.system, pytest.mark.slow]
ROOT = Path(__file__).parents[3]
CONFIG = """
table = "T1"
ruleset = "zhenjiang"
players = ["甲", "乙", "丙", "丁"]
home = "home"
driver = "none"
camera = "none"
secret_key = "keys/T1.key"
[central]
endpoint = "{endpoint}"
public_key = "keys/central.pub"
"""


class Tables:
    """Starts the table's process, and ends what it started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: subprocess.Popen[str] | None = None

    def start(self) -> dict[str, Any]:
        command = [sys.executable, "-m", "station.cli.main", "table", "--config", str(self.folder / "t.toml")]
        self.running = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        assert self.running.stdout is not None
        return json.loads(self.running.stdout.readline())

    def kill(self) -> None:
        if self.running is not None:
            self.running.kill()
            self.running.communicate()


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[Tables]:
    tables = Tables(tmp_path)
    yield tables
    tables.kill()


def test_a_table_tells_its_health_and_books_a_command_once(tmp_path: Path, tables: Tables) -> None:
    keys = generate(tmp_path / "keys", "central")
    write_allow_list(tmp_path / "tables.toml", {"T1": generate(tmp_path / "keys", "T1").public})
    health: list[TableHealth] = []

    async def main() -> None:
        changed = asyncio.Event()

        def valued(table: str, key: str, body: bytes) -> None:
            assert (table, key) == ("T1", "health")
            health.append(decode(body))
            changed.set()

        central = CentralThread(
            tmp_path / "central.db",
            "tcp://127.0.0.1:0",
            keys,
            AllowList(tmp_path / "tables.toml"),
            on_commit=lambda _: changed.set(),
            on_value=valued,
        )
        endpoint = await central.start()
        (tmp_path / "t.toml").write_text(CONFIG.format(endpoint=endpoint))

        def outcomes() -> list[dict[str, Any]]:
            with Log.open(tmp_path / "central.db", read_only=True) as log:
                entries = [item.entry for item in log.entries() if item.source == "T1"]
            return [json.loads(entry.body) for entry in entries if entry.kind == "command.done"]

        async def until_done(count: int) -> None:
            async with asyncio.timeout(30):
                while len(outcomes()) < count:
                    changed.clear()
                    await changed.wait()

        await asyncio.to_thread(tables.start)
        await central.command("T1", "of.tomorrow", b"{}")
        await until_done(1)
        tables.kill()
        second = await central.command("T1", "of.tomorrow", b"{}")
        await asyncio.to_thread(tables.start)
        await until_done(2)
        await central.stop()
        assert [(one["seq"], one["outcome"]) for one in outcomes()] == [(1, "unknown"), (2, "unknown")]
        assert {one["log"] for one in outcomes()} == {second.log_id.hex()}

    asyncio.run(main())
    assert health
    assert health[0].machine is None
    assert (health[0].phase, health[0].camera) == ("start", "camera.none")

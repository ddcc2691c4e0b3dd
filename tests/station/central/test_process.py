"""The central station as a process, with a table connected."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from station import messages as m
from station.central.config import EXAMPLE, load_config
from station.clock import steady
from station.errors import ConfigError
from station.link.connection import LinkState
from station.link.keys import generate, load_pair, write_allow_list
from station.link.sockets import LinkSettings
from station.link.table_thread import LinkThread
from station.log import verify_file
from station.timing.table_clock import TableClock
from tests.pace import Pace
from tests.station.central.conftest import claimed, confirmed, dealt, opened

ROOT = Path(__file__).parents[3]
MAIN = """
import asyncio, json, sys
from pathlib import Path
from station.central.process import load_config, run_central
asyncio.run(run_central(load_config(Path(sys.argv[1])), lambda line: print(json.dumps(line), flush=True)))
heavy = {"cv2", "onnxruntime", "serial", "torch", "vision", "firmware_bridge"}
print(json.dumps(sorted(heavy & sys.modules.keys())))
"""


class Process:
    """A running central station."""

    def __init__(self, config: Path) -> None:
        self.child = subprocess.Popen(
            [sys.executable, "-c", MAIN, str(config)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert self.child.stdout is not None
        self.ready: dict[str, Any] = json.loads(self.child.stdout.readline())

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, float, str]:
        """Give exit status, the seconds it took of its own, and what was still printed."""
        pace = Pace()
        self.child.send_signal(number)
        out, _ = self.child.communicate(timeout=30)
        return self.child.returncode, pace.own_s, out


@pytest.fixture
def config(tmp_path: Path) -> Path:
    generate(tmp_path / "keys", "central")
    write_allow_list(tmp_path / "tables.toml", {"T1": generate(tmp_path / "keys", "T1").public})
    path = tmp_path / "central.toml"
    path.write_text(
        'home = "home"\nallow_list = "tables.toml"\nsecret_key = "keys/central.key"\nevent = "Spring cup"\n'
    )
    return path


@pytest.fixture
def process(config: Path) -> Iterator[Process]:
    process = Process(config)
    yield process
    process.child.kill()
    process.child.communicate()


async def play(folder: Path, endpoint: str, bodies: list[m.Body]) -> None:
    """Book events at table T1 and wait until the central station has them."""
    server_key, keys = (
        load_pair(folder / "keys" / "central.key").public,
        load_pair(folder / "keys" / "T1.key"),
    )
    done = asyncio.Event()
    table = LinkThread(
        folder / "T1.log",
        LinkSettings("T1", endpoint, server_key, keys),
        on_status=lambda status: (
            done.set() if status.unsent == 0 and status.state is LinkState.UP else done.clear()
        ),
    )
    await table.start()
    await table.append([m.encode(body) for body in bodies], 1_000_000)
    async with asyncio.timeout(40):
        await done.wait()
    await table.stop()


@pytest.mark.system
@pytest.mark.slow
def test_a_table_is_seen_on_the_wall_and_everything_is_there_after_a_restart(
    config: Path, process: Process
) -> None:
    folder = config.parent
    ready = process.ready
    assert ready["ready"] is True
    assert ready["pid"] == process.child.pid
    assert ready["link"].startswith("tcp://127.0.0.1:")
    with httpx.Client(base_url=ready["http"]) as hall:
        assert hall.get("/healthz").json()["ok"] is True
        assert hall.get("/healthz?live").json() == {"ok": True}
        assert "quezhuo_log_position 0.0" in hall.get("/metrics").text
        with hall.stream("GET", "/events", headers={"Last-Event-ID": "7"}) as stream:
            lines = stream.iter_lines()
            assert next(line for line in lines if line.startswith("id: ")) == "id: 0"
            asyncio.run(play(folder, ready["link"], [opened(), *dealt(1), claimed(1), confirmed(1)]))
            seen = next(line for line in lines if '"wins":[{' in line)
            assert json.loads(seen.removeprefix("data: "))["wins"][0]["name"] == "乙"
            before = hall.get("/api/state").json()
            assert [p["chips"] for p in before["tables"][0]["places"]] == [49, 53, 49, 49]
            assert "乙" in hall.get("/wall").text
            status, took, rest = process.stop()  # with a listener still there
    assert (status, json.loads(rest.splitlines()[-1])) == (0, [])
    assert took < 2
    assert verify_file(folder / "home" / "central.db")["ok"] is True

    again = Process(config)
    after = httpx.get(again.ready["http"] + "api/state").json()
    assert {**after["tables"][0], "online": True, "last_seen_s": 0} == {
        **before["tables"][0],
        "online": True,
        "last_seen_s": 0,
    }
    assert after["wins"] == before["wins"]
    assert again.stop(signal.SIGINT)[0] == 0


def test_the_printed_example_is_a_valid_configuration(tmp_path: Path) -> None:
    (tmp_path / "central.toml").write_text(EXAMPLE)
    config = load_config(tmp_path / "central.toml")
    assert config.allow_list == str(tmp_path / "tables.toml")
    assert config.home == str(tmp_path / "central")
    assert config.http_port == 8080


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "home"),
        ('home = "x"\nallow_list = "a"\nsecret_key = "k"\nprot = 1\n', "prot"),
        ('home = 1\nallow_list = "a"\nsecret_key = "k"\n', "home"),
        ("home = [", "config central"),
    ],
    ids=["missing key", "unknown key", "wrong type", "no TOML"],
)
def test_a_bad_configuration_is_one_plain_sentence(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "central.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path / "central.toml")
    assert what in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_configuration_is_one_plain_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path / "nowhere.toml")


async def hear_clock(folder: Path, endpoint: str) -> tuple[float, float]:
    """Give what a table of the hall thinks is left on the clock, and when it thought so."""
    clock, heard = TableClock(), asyncio.Event()

    def told() -> None:
        if clock.remaining_s(steady()):
            heard.set()

    table = LinkThread(
        folder / "T1.log",
        LinkSettings(
            "T1",
            endpoint,
            load_pair(folder / "keys" / "central.key").public,
            load_pair(folder / "keys" / "T1.key"),
        ),
        on_value=lambda key, body: (clock.on_value(key, body), told())[1],
        on_time=lambda *stamps: (clock.on_time(*stamps), told())[1],
        clock=steady,
    )
    await table.start()
    async with asyncio.timeout(40):
        await heard.wait()
    await table.stop()
    return clock.remaining_s(steady()) or 0.0, time.monotonic()


@pytest.mark.system
@pytest.mark.slow
def test_the_halls_clock_reaches_the_tables_and_outlives_a_kill(config: Path, process: Process) -> None:
    asked = time.monotonic()
    sent = httpx.post(process.ready["http"] + "api/clock", json={"action": "start", "minutes": 10})
    started = time.monotonic()
    assert sent.json() == {"ok": True}
    left, heard = asyncio.run(hear_clock(config.parent, process.ready["link"]))
    assert 600 - (heard - asked) - 1.5 < left < 600 - (heard - started) + 1.5
    process.child.kill()
    process.child.wait()
    again = Process(config)
    before = time.monotonic()
    clock = httpx.get(again.ready["http"] + "api/state").json()["event"]["clock"]
    after = time.monotonic()
    assert clock["state"] == "running"
    assert 600 - (after - asked) - 2.5 < clock["remaining_s"] < 600 - (before - started) + 2.5
    assert 'data-step="-1"' in httpx.get(again.ready["http"] + "wall").text
    assert "clock-panel" in httpx.get(again.ready["http"]).text
    again.stop()

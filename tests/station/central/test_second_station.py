"""Two stations as processes: a table goes over, and its clock goes on until the head referee has set it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from station import messages as m
from station.clock import Clock
from station.link.keys import generate, load_pair, write_allow_list
from station.link.sockets import LinkSettings
from station.table.times import TableTimes
from station.table.writer import LogWriter
from tests.station.central.conftest import opened
from tests.station.central.test_process import Process

pytestmark = [pytest.mark.system, pytest.mark.slow]


class Two:
    """The main and the second station of a hall, and the keys of table T1."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        table = generate(folder / "keys", "T1")
        for name in ("main", "second"):
            generate(folder / "keys", name)
            write_allow_list(folder / f"{name}-tables.toml", {"T1": table.public})
            standby = "standby = true\n" if name == "second" else ""
            (folder / f"{name}.toml").write_text(
                f'home = "{name}"\nallow_list = "{name}-tables.toml"\nsecret_key = "keys/{name}.key"\n'
                f"duration_s = 3600\n{standby}"
            )
        self.main, self.second = (Process(folder / f"{name}.toml") for name in ("main", "second"))

    def settings(self) -> LinkSettings:
        def address(process: Process, name: str) -> tuple[str, str]:
            return process.ready["link"], load_pair(self.folder / "keys" / f"{name}.key").public

        keys = load_pair(self.folder / "keys" / "T1.key")
        return LinkSettings("T1", *address(self.main, "main"), keys, address(self.second, "second"))

    def close(self) -> None:
        for process in (self.main, self.second):
            process.child.kill()
            process.child.communicate()


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    two = Two(tmp_path)
    yield two
    two.close()


@asynccontextmanager
async def table_of(two: Two, times: TableTimes) -> AsyncIterator[LogWriter]:
    writer = LogWriter(two.folder / "T1.log", two.settings(), Clock(), lambda: None, times=times)
    await writer.start()
    try:
        yield writer
    finally:
        await writer.stop()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.05)


def test_the_second_station_does_not_know_the_clock_until_it_is_set_there(two: Two) -> None:
    times = TableTimes(Clock())
    url = two.second.ready["http"]

    def shown() -> dict[str, Any]:
        return times.hall() or {"state": "none", "remaining_s": 0}

    def hall() -> tuple[dict[str, Any], list[str]]:
        state = httpx.get(f"{url}api/state").json()
        return state["event"]["clock"], [alarm["code"] for alarm in state["alarms"]]

    def start(minutes: int) -> httpx.Response:
        return httpx.post(f"{url}api/clock", json={"action": "start", "minutes": minutes})

    async def evening() -> None:
        async with table_of(two, times) as writer:
            await writer.append([m.encode(opened())])
            await until(lambda: shown()["state"] == "running")
            assert hall()[1] == ["clock.elsewhere"]
            assert start(30).json()["error"]["code"] == "clock.elsewhere"
            two.main.child.send_signal(signal.SIGKILL)
            await until(lambda: shown()["state"] == "unconfirmed")
            assert 3560 < shown()["remaining_s"] <= 3600
            await until(lambda: hall()[0]["authority"] == "here")
            clock, alarms = hall()
            assert (clock["remaining_s"], clock["running"], alarms) == (None, False, ["clock.unknown"])
            assert start(50).status_code == 200
            await until(lambda: shown()["state"] == "running")
            await until(lambda: 2950 < shown()["remaining_s"] <= 3000)

    asyncio.run(evening())
    assert hall()[0]["state"] == "running"

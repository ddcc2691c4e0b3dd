"""The hall's clock over a dead line and over restarts of the station: tables count on and never jump back."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from station.clock import steady
from station.demo.layout import free_port
from station.link.connection import LinkState
from station.link.keys import load_pair, load_public
from station.link.sockets import LinkSettings
from station.link.table_thread import LinkThread
from station.timing.table_clock import TableClock
from tests.station.drills.hall import enrol
from tests.station.drills.proxy import Proxy

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(180)]
MINUTES = 10
NEAR_S = 0.3
"""How far a table may be from the station's clock: both know it to the length of a message."""
FAST = 1.005
"""The table's clock runs fast, a hundred times as much as a crystal does, and began at another time."""
MAIN = """
import asyncio, json, sys
from pathlib import Path
from station.central.process import load_config, run_central
from station.clock import Clock, steady
boot, earlier = sys.argv[2], float(sys.argv[3])
clock = Clock(lambda: steady() - earlier, boot=lambda: boot)
config = load_config(Path(sys.argv[1]))
asyncio.run(run_central(config, lambda line: print(json.dumps(line), flush=True), clock))
"""


class Station:
    """`quezhuo central` as a process, in a run of a machine that a drill names."""

    def __init__(self, folder: Path) -> None:
        self.link, self.http = free_port(), free_port()
        self._config = folder / "central.toml"
        self._config.write_text(
            'home = "home"\nallow_list = "tables.toml"\nsecret_key = "keys/central.key"\n'
            f'link = "tcp://127.0.0.1:{self.link}"\nhttp_port = {self.http}\n'
        )
        self.child: subprocess.Popen[str] | None = None

    def start(self, boot: str = "first", earlier: float = 0.0) -> None:
        """Start it; `earlier`: by how much its steady clock is behind that of this machine, in seconds."""
        self.child = subprocess.Popen(
            [sys.executable, "-c", MAIN, str(self._config), boot, str(earlier)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        )
        assert self.child.stdout is not None
        # What it has to tell of the clock may come first.
        assert any(line.startswith("{") and json.loads(line)["ready"] for line in self.child.stdout)

    def kill(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.communicate()
            self.child = None

    def act(self, action: str, **more: Any) -> None:
        """Do what the head referee does at the station."""
        answer = httpx.post(f"http://127.0.0.1:{self.http}/api/clock", json={"action": action, **more})
        assert answer.json() == {"ok": True}

    def state(self) -> dict[str, Any]:
        return dict(httpx.get(f"http://127.0.0.1:{self.http}/api/state").json())


def own_clock() -> float:
    """The table's steady clock."""
    return 5000.0 + FAST * steady()


class Screen:
    """A table that counts along; what it shows is looked at fifty times a second."""

    def __init__(self, folder: Path, port: int) -> None:
        self.clock = TableClock()
        self.shown: list[tuple[float, float]] = []
        """The table's clock, and what was shown then."""
        keys = folder / "keys"
        self.link = LinkThread(
            folder / "T1.log",
            LinkSettings(
                "T1",
                f"tcp://127.0.0.1:{port}",
                load_public(keys / "central.pub"),
                load_pair(keys / "T1.key"),
            ),
            on_value=self.clock.on_value,
            on_time=self.clock.on_time,
            clock=own_clock,
        )

    async def look(self, seconds: float) -> None:
        """Look for so long."""
        until = steady() + seconds
        while steady() < until:
            self.glance()
            await asyncio.sleep(0.02)

    async def look_until(self, reached: Callable[[], bool], what: str) -> None:
        """Look until something is so."""
        until = steady() + 20
        while not reached():
            assert steady() < until, f"not {what}: {self.link.status}, {self.clock.state}"
            self.glance()
            await asyncio.sleep(0.02)

    def glance(self) -> None:
        now = own_clock()
        left = self.clock.remaining_s(now)
        if left is not None:
            self.shown.append((now, left))

    def never_back(self) -> float:
        """Assert that it only ever counted down; by how much it went too far or too little at most."""
        steps = [
            ((then, before), (now, left))
            for (then, before), (now, left) in zip(self.shown, self.shown[1:], strict=False)
        ]
        assert all(left <= before for (_, before), (_, left) in steps)
        return max(abs((before - left) - (now - then)) for (then, before), (now, left) in steps)


def test_tables_count_on_without_the_station_and_a_restart_asks_the_head_referee(
    tmp_path: Path, figure: Callable[[str], None]
) -> None:
    _drill(tmp_path, 1.0, figure)


@pytest.mark.soak
@pytest.mark.parametrize("held_s", [20.0, 60.0])
def test_tables_count_on_for_long(tmp_path: Path, held_s: float, figure: Callable[[str], None]) -> None:
    _drill(tmp_path, held_s, figure)


def _drill(folder: Path, held_s: float, figure: Callable[[str], None]) -> None:
    enrol(folder, ["T1"])
    station = Station(folder)
    try:
        with Proxy(station.link) as proxy:
            asyncio.run(_play(folder, station, proxy, held_s, figure))
    finally:
        station.kill()


async def _play(
    folder: Path, station: Station, proxy: Proxy, held_s: float, figure: Callable[[str], None]
) -> None:
    station.start()
    screen = Screen(folder, proxy.port)
    await screen.link.start()
    station.act("start", minutes=MINUTES)
    ends_at = steady() + 60 * MINUTES
    await screen.look_until(lambda: bool(screen.shown), "told")

    def away() -> float:
        left = screen.clock.remaining_s(own_clock())
        assert left is not None
        return abs(left - (ends_at - steady()))

    # A dead line: the table counts on, and comes back into line without a jump.
    proxy.to_central.stalled = proxy.to_table.stalled = True
    await screen.look_until(lambda: screen.link.status.state is LinkState.DOWN, "down")
    await screen.look(held_s)
    alone = away()
    assert alone < NEAR_S + (FAST - 1) * (held_s + 10)
    proxy.to_central.stalled = proxy.to_table.stalled = False
    await screen.look_until(lambda: screen.link.status.state is LinkState.UP, "up")
    await screen.look(0.5 + 10 * alone)  # a tenth of the time is worked off
    after = away()
    # A kill of the program: the machine's clock went on, and nobody is asked.
    station.kill()
    await screen.look(0.5)
    station.start()
    await screen.look_until(lambda: screen.link.status.state is LinkState.UP, "up")
    await screen.look(0.5)
    assert station.state()["event"]["clock"]["state"] == "running"
    killed, jump = away(), screen.never_back()
    assert max(after, killed) < NEAR_S / 2

    # Another run of the machine: its steady clock begins anew, and the head referee is asked.
    station.kill()
    await screen.look(0.3)
    station.start("second", steady() - 7.0)
    await screen.look_until(lambda: screen.clock.state == "unconfirmed", "in doubt")
    assert "clock.unconfirmed" in {alarm["code"] for alarm in station.state()["alarms"]}
    await screen.look(0.3)
    doubted = away()
    assert doubted < 1.0 + NEAR_S  # the moment is written down once a second
    station.act("confirm")
    await screen.look_until(lambda: screen.clock.state == "running", "confirmed")
    await screen.look(0.5)
    confirmed = away()
    assert confirmed < 1.0 + NEAR_S
    assert "clock.unconfirmed" not in {alarm["code"] for alarm in station.state()["alarms"]}
    await screen.link.stop()
    figure(
        f"away from the station's clock at most {1000 * alone:.0f} ms alone, {1000 * after:.0f} ms after,"
        f" {1000 * killed:.0f} ms after a kill; steps off by {1000 * jump:.0f} ms at most;"
        f" in another run {1000 * doubted:.0f} ms in doubt, {1000 * confirmed:.0f} ms once confirmed"
    )

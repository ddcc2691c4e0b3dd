"""Disks that are full or refuse, at a table and at the central station, while hands are played.

Nothing that was answered is lost, nothing is booked twice, the pages say what is wrong, no process ends, and
nobody has to do anything once the disk takes data again.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from station.demo.supervisor import Child
from tests.disks import fill, refusing_disk, remount, small_disk
from tests.station.drills import books
from tests.station.drills.venue import Referee, Venue
from tests.system.running import finished

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(150)]
UP = {"code": "central.up", "unsent": 0}
TROUBLES = ("full", "refusing")


@contextmanager
def trouble_of(kind: str, folder: Path, child: Child) -> Iterator[None]:
    """Let a disk have no room meanwhile, or refuse every write of one process."""
    if kind == "full":
        ballast = fill(folder)
        try:
            yield
        finally:
            ballast.unlink()
    else:
        assert child.pid is not None
        with refusing_disk(child.pid):
            yield


def disk_for(kind: str, folder: Path) -> AbstractContextManager[object]:
    """A small disk, where one is to be filled."""
    return small_disk(folder, "4m") if kind == "full" else nullcontext()


def codes(state: dict[str, Any]) -> list[str]:
    """Codes of the messages of a table's state, and of the alarms of a central station's."""
    return [one["code"] for one in (*state.get("messages", ()), *state.get("alarms", ()))]


@asynccontextmanager
async def ruling(venue: Venue) -> AsyncIterator[Referee]:
    """A referee who rules meanwhile; what went wrong with that is raised."""
    referee = Referee(venue)
    task = asyncio.create_task(referee.run())
    try:
        yield referee
    finally:
        task.cancel()
        ended = (await asyncio.gather(task, return_exceptions=True))[0]
    assert isinstance(ended, asyncio.CancelledError), ended


async def booked(referee: Referee, more: int) -> None:
    """Wait until so many further rulings were answered."""
    wanted = len(referee.booked) + more
    async with asyncio.timeout(30):
        while len(referee.booked) < wanted:
            await asyncio.sleep(0.02)


def check(venue: Venue, referee: Referee, starts: tuple[int, int] = (0, 0)) -> int:
    """Both logs are equal, each answered ruling is in them once, and no process had to be started again.

    `starts`: how often table and central station were, because they were killed.
    """
    entries = books.of_table(venue.table_log)
    assert books.of_central(venue.central_log)["T1"] == entries
    for key in referee.booked:
        assert sum(f'"{key}"'.encode() in entry.body for entry in entries) == 1
    assert (venue.table.restarts, venue.central.restarts) == starts
    return len(entries)


@pytest.mark.parametrize("kind", TROUBLES)
def test_a_table_whose_disk_refuses_says_so_and_goes_on_by_itself(
    tmp_path: Path, kind: str, figure: Callable[[str], None]
) -> None:
    code = {"full": "table.disk_full", "refusing": "table.disk_refuses"}[kind]
    venue = Venue(tmp_path, tmp_path / "T1", tmp_path / "central")

    async def play() -> tuple[Referee, float]:
        async with venue:
            async with ruling(venue) as referee:
                await booked(referee, 2)
                with trouble_of(kind, venue.table_home, venue.table):
                    await venue.until(lambda s: code in codes(s))
                    answered = len(referee.booked)
                    await asyncio.sleep(1.0)
                    assert len(referee.booked) == answered
                    hall = await venue.state(venue.central_url)
                    assert [table["online"] for table in hall["tables"]] == [True]
                freed = time.monotonic()
                await venue.until(lambda s: code not in codes(s))
                ms = 1_000 * (time.monotonic() - freed)
                await booked(referee, 2)
            await venue.until(lambda s: s["central"] == UP)
        return referee, ms

    with disk_for(kind, venue.table_home):
        referee, ms = asyncio.run(play())
        events = check(venue, referee)
    figure(f"{referee.retried} requests refused, well again after {ms:.0f} ms; {events} events on both sides")


@pytest.mark.parametrize("kind", TROUBLES)
def test_a_central_station_whose_disk_refuses_says_so_and_catches_up_by_itself(
    tmp_path: Path, kind: str, figure: Callable[[str], None]
) -> None:
    venue = Venue(tmp_path, tmp_path / "T1", tmp_path / "central")

    async def play() -> tuple[Referee, float, int]:
        async with venue:
            async with ruling(venue) as referee:
                await booked(referee, 1)
                with trouble_of(kind, venue.central_home, venue.central):
                    await venue.until(lambda s: "central.disk_full" in codes(s), venue.central_url)
                    await booked(referee, 4)  # the table plays on
                    kept = (await venue.state())["central"]["unsent"]
                    assert kept > 0
                freed = time.monotonic()
                await venue.until(lambda s: "central.disk_full" not in codes(s), venue.central_url)
                ms = 1_000 * (time.monotonic() - freed)
            await venue.until(lambda s: s["central"] == UP)
        return referee, ms, kept

    with disk_for(kind, venue.central_home):
        referee, ms, kept = asyncio.run(play())
        events = check(venue, referee)
    figure(f"{kept} events kept at the table, well again after {ms:.0f} ms; {events} events on both sides")


@pytest.mark.parametrize("kind", ["table", "central"])
def test_a_process_killed_on_its_full_disk_comes_back_and_goes_on_by_itself(
    tmp_path: Path, kind: str, figure: Callable[[str], None]
) -> None:
    venue = Venue(tmp_path, tmp_path / "T1", tmp_path / "central")
    home, child, url, code = {
        "table": (venue.table_home, venue.table, venue.table_url, "table.disk_full"),
        "central": (venue.central_home, venue.central, venue.central_url, "central.disk_full"),
    }[kind]

    async def play() -> tuple[Referee, float]:
        async with venue:
            async with ruling(venue) as referee:
                await booked(referee, 2)
                with trouble_of("full", home, child):
                    await venue.until(lambda s: code in codes(s), url)
                    pid = child.pid
                    assert pid is not None
                    os.kill(pid, signal.SIGKILL)
                    while child.pid in (None, pid):
                        await asyncio.sleep(0.02)
                    await venue.until(lambda s: code in codes(s), url)
                freed = time.monotonic()
                await venue.until(lambda s: code not in codes(s), url)
                ms = 1_000 * (time.monotonic() - freed)
                await booked(referee, 2)
            await venue.until(lambda s: s["central"] == UP)
        return referee, ms

    with small_disk(home, "4m"):
        referee, ms = asyncio.run(play())
        events = check(venue, referee, (1, 0) if kind == "table" else (0, 1))
    figure(f"well again after {ms:.0f} ms; {events} events on both sides")


def test_a_full_disk_holds_the_machine_and_it_goes_on_by_itself(
    tmp_path: Path, figure: Callable[[str], None]
) -> None:
    """The disk fills while the machine moves; the table's own log goes to that disk as well."""
    home, pty = tmp_path / "T1", tmp_path / "machine"
    machine = Child("machine", ["machine-sim", "--pty-link", str(pty), "--speed", "20"], tmp_path)
    venue = Venue(
        tmp_path, home, tmp_path / "central", words=home, driver="native", serial=f"pty:{pty}", profile="136"
    )

    async def play() -> float:
        await machine.start()
        try:
            async with venue:
                await venue.until(
                    lambda s: s["phase"] == "start" and s["machine"]["code"] == "machine.recover"
                )
                assert (await venue.post("start", {})).status_code == 200
                await venue.until(lambda s: bool(s["machine"]["moving"]))
                pid = venue.table.pid
                with trouble_of("full", home, venue.table):
                    held = await venue.until(lambda s: s["machine"]["code"] == "machine.unwritten")
                    assert held["machine"]["link"] == "up"
                    await asyncio.sleep(2.0)
                    assert not (await venue.state())["machine"]["moving"]
                freed = time.monotonic()
                await venue.until(lambda s: s["machine"]["code"] != "machine.unwritten")
                ms = 1_000 * (time.monotonic() - freed)
                await venue.until(lambda s: s["phase"] == "dice")
                assert venue.table.pid == pid
                return ms
        finally:
            await machine.stop()

    with disk_for("full", home):
        ms = asyncio.run(play())
        assert venue.table.restarts == 0
        assert b"recovery" not in b"".join(entry.body for entry in books.of_table(venue.table_log))
    figure(f"the machine waited, and went on {ms:.0f} ms after")


@pytest.mark.parametrize("kind", ["table", "central"])
def test_on_a_read_only_disk_a_process_ends_with_one_sentence_and_starts_once_it_can_write(
    tmp_path: Path, kind: str
) -> None:
    home = tmp_path / "home"
    with small_disk(home, "4m"):
        homes = (home, tmp_path / "other") if kind == "table" else (tmp_path / "other", home)
        venue = Venue(tmp_path, *homes)
        file = tmp_path / {"table": "T1.toml", "central": "central.toml"}[kind]
        remount(home, "ro")
        done = finished(tmp_path, kind, "--config", str(file), timeout=60)
        assert done.returncode == 3, done.stderr
        assert str(home) in done.stderr
        assert "Traceback" not in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        remount(home, "rw")
        child = {"table": venue.table, "central": venue.central}[kind]

        async def start() -> None:
            assert (await child.start())["ready"]
            await child.stop()

        asyncio.run(start())

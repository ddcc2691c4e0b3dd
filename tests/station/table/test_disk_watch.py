"""A table whose disk refuses: the screens say so, and what waits goes on by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from station.errors import LogError, LogFull
from station.table.disk_watch import LOOK_EVERY_S, DiskWatch
from station.web import pages
from tests.disks import refusing_disk

ROW = ["1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m", "1z", "1z", "3s", "4s"]


def codes(desk: Any) -> list[str]:
    return [message["code"] for message in desk.table.state()["messages"]]


@pytest.mark.parametrize(
    ("error", "code"), [(LogFull("full"), "table.disk_full"), (LogError("io"), "table.disk_refuses")]
)
def test_a_refused_event_is_shown_until_one_is_stored(
    new_desk: Callable[..., Any], error: LogError, code: str
) -> None:
    async def play() -> None:
        desk = await new_desk()
        desk.writer.fail = error
        with pytest.raises(LogError):
            await desk.do("start")
        assert codes(desk)[0] == code
        for view in ("referee", "players"):
            assert "This table&#39;s disk" in pages.render_fragment(view, desk.table.state(), "en")
        desk.writer.fail = None
        await desk.do("start")
        assert code not in codes(desk)

    asyncio.run(play())


def test_the_disk_is_looked_at_once_a_second_after_a_refusal_and_never_otherwise(tmp_path: Path) -> None:
    async def look() -> None:
        watch = DiskWatch(tmp_path)
        assert not await watch.look(0.0)
        assert watch.refused("log.full")
        assert not watch.refused("log.full"), "no news"
        with refusing_disk():
            assert not await watch.look(10.0)
        assert not await watch.look(10.0 + LOOK_EVERY_S / 2)
        assert watch.code == "table.disk_full"
        assert await watch.look(10.0 + LOOK_EVERY_S)
        assert watch.code is None

    asyncio.run(look())
    assert list(tmp_path.iterdir()) == []


def test_what_is_refused_while_the_disk_is_looked_at_is_not_taken_for_mended(tmp_path: Path) -> None:
    async def look() -> None:
        watch = DiskWatch(tmp_path)
        watch.refused("log.full")
        looking = asyncio.create_task(watch.look(10.0))
        await asyncio.sleep(0)  # its small file is being written
        watch.refused("log.full")
        assert not await looking
        assert watch.code == "table.disk_full"
        assert await watch.look(11.0)

    asyncio.run(look())


def test_a_disk_whose_folder_is_gone_counts_as_refusing(tmp_path: Path) -> None:
    watch = DiskWatch(tmp_path / "gone")
    watch.refused("log.io")
    assert not asyncio.run(watch.look(0.0))
    assert watch.code == "table.disk_refuses"

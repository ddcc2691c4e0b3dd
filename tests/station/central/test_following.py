"""How the hall follows the log: at once when it is calm, and not all the time when it grows fast."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from station.central import feed as following
from station.central.feed import Feed
from station.central.view import Surroundings
from station.log import Log, chain

EVENT = ("of.a.newer.version", b"{}")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with Log.open(tmp_path / "central.log") as log:
        yield log


def bring(log: Log, count: int) -> None:
    """Store what a table sends."""
    log_id = b"L" * 16
    entries = chain.link(log_id, log.head_of(log_id), [EVENT] * count, 1)
    log.accept([("T1", entry) for entry in entries], 1)


def test_a_calm_log_is_followed_at_once_and_a_fast_one_after_a_rest(log: Log) -> None:
    async def main() -> None:
        feed = Feed(log, Surroundings)
        with feed.watch() as watch:
            bring(log, 1)
            feed.follow()
            assert feed.hall.pos == 1
            await watch.changed(1.0)
            for _ in range(9):
                bring(log, 10)
                feed.follow()
            assert feed.hall.pos == 1
            assert await watch.changed(5.0)
        assert feed.hall.pos == 91
        feed.stop()

    asyncio.run(main())


def test_a_long_log_is_folded_in_turns_until_all_of_it_is(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "_TURN_S", 1e-9)
    monkeypatch.setattr(following, "_REST_S", 0.001)

    async def main() -> None:
        bring(log, 1000)
        feed = Feed(log, Surroundings)
        feed.follow()
        assert feed.hall.pos < 1000
        async with asyncio.timeout(10):
            while feed.hall.pos < 1000:
                await asyncio.sleep(0.001)
        assert feed.hall.tables["T1"].events == 1000

    asyncio.run(main())


def test_after_the_end_nothing_is_read_any_more(log: Log) -> None:
    async def main() -> None:
        feed = Feed(log, Surroundings)
        feed.follow()
        bring(log, 1)
        feed.follow()
        feed.stop()
        feed.follow()
        await asyncio.sleep(2 * following._REST_S)
        assert feed.hall.pos == 0

    asyncio.run(main())

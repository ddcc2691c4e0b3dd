"""How the hall follows the log: at once when it is calm, and not all the time when it grows fast."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from station import messages as m
from station.central import feed as following
from station.central.feed import Feed
from station.central.view import Surroundings
from station.log import Log, chain
from tests.station.central.conftest import opened

EVENT = ("of.a.newer.version", b"{}")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with Log.open(tmp_path / "central.log") as log:
        yield log


def bring(log: Log, what: int | list[tuple[str, bytes]], table: str = "T1") -> None:
    """Store what a table sends: these events, or so many of some kind."""
    log_id = table.encode().ljust(16, b"L")
    events = [EVENT] * what if isinstance(what, int) else what
    entries = chain.link(log_id, log.head_of(log_id), events, 1)
    log.accept([(table, entry) for entry in entries], 1)


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
        async with asyncio.timeout(60):
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


class Ticks:
    """A clock that goes on by a millisecond each time somebody looks at it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


def turns(feed: Feed, until: Callable[[], bool]) -> int:
    """Take turns as the loop does, one after the other, until then; tell how many it took."""
    count = 0
    while not until():
        before = feed._now.now  # type: ignore[attr-defined]
        feed._take_turn()
        assert feed._now.now - before < 2 * following._TURN_S  # type: ignore[attr-defined]
        count += 1
        assert count < 10_000
    return count


def test_a_turn_takes_no_longer_than_its_time_however_far_behind_the_hall_is(log: Log) -> None:
    async def main() -> None:
        bring(log, 1000)
        feed = Feed(log, Surroundings, now=Ticks())
        feed.follow()
        assert 0 < feed.hall.pos <= 20
        assert turns(feed, lambda: feed.hall.pos == 1000) >= 1000 / 20 - 1
        feed.stop()

    asyncio.run(main())


def test_corrections_are_worked_off_in_turns_and_the_hall_comes_forward_meanwhile(log: Log) -> None:
    """A correction folds a whole log anew, and there may be one in each of a hall's logs."""

    async def main() -> None:
        opened_and_called = [m.encode(opened()), *[m.encode(m.RefereeCalled(place=1))] * 300]
        undone = m.encode(m.EventCorrected(target=301, reason="mistake"))
        for table in ("T1", "T2"):
            bring(log, [*opened_and_called, undone, *[EVENT] * 100], table)
        feed = Feed(log, Surroundings, now=Ticks())
        tables = feed.hall.tables
        turns(feed, lambda: "T1" in tables and tables["T1"].stale)
        before = feed.hall.pos
        turns(feed, lambda: not tables["T1"].stale)
        assert feed.hall.pos > before
        turns(feed, lambda: feed.hall.pos == 804 and not any(fold.stale for fold in tables.values()))
        whole = Feed(log, Surroundings)
        whole.catch_up()
        assert feed.hall == whole.hall
        feed.stop()

    asyncio.run(main())


def test_a_correction_that_comes_while_the_log_is_folded_anew_is_not_lost(log: Log) -> None:
    async def main() -> None:
        bring(log, [m.encode(opened()), *[m.encode(m.RefereeCalled(place=1))] * 50])
        bring(log, [m.encode(m.EventCorrected(target=51, reason="mistake"))])
        feed = Feed(log, Surroundings, now=Ticks())
        turns(feed, lambda: feed.hall.pos == 52)
        for target in (50, 49, 48):
            feed._take_turn()
            bring(log, [EVENT, m.encode(m.EventCorrected(target=target, reason="mistake"))])
        turns(feed, lambda: feed.hall.pos == 58 and not feed.hall.tables["T1"].stale)
        whole = Feed(log, Surroundings)
        whole.catch_up()
        assert feed.hall == whole.hall
        feed.stop()

    asyncio.run(main())

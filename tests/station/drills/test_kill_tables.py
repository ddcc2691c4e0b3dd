"""kill -9 of a whole table process while a referee rules over its pages: what was answered is booked once."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.station.drills import books
from tests.station.drills.venue import Referee, Venue

pytestmark = [pytest.mark.system, pytest.mark.slow]
KILLS = 10
KINDS = {"confirm": "hand.confirmed", "ruling": "hand.ruled"}


async def _kill(venue: Venue, rng: random.Random, kills: int) -> Referee:
    referee = Referee(venue)
    ruling = asyncio.create_task(referee.run())
    for number in range(kills):
        await venue.state()  # it is up again
        await asyncio.sleep(rng.uniform(0.1, 0.6))
        if number % 4 == 3:
            pid = venue.central.pid
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
        pid = venue.table.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        while venue.table.pid == pid:
            await asyncio.sleep(0.01)
    await venue.state()
    await asyncio.sleep(0.5)
    ruling.cancel()
    result = (await asyncio.gather(ruling, return_exceptions=True))[0]
    assert isinstance(result, asyncio.CancelledError), result
    return referee


@pytest.mark.timeout(180)
def test_ten_kills_of_the_whole_table_cost_no_confirmation_and_double_none(
    tmp_path: Path, figure: Callable[[str], None]
) -> None:
    venue = Venue(tmp_path, tmp_path / "T1", tmp_path / "central")
    began = time.monotonic()

    async def play() -> Referee:
        async with venue:
            referee = await _kill(venue, random.Random(5), KILLS)
            state = await venue.until(lambda s: s["central"] == {"code": "central.up", "unsent": 0})
            assert state["hand_count"] > 3
            return referee

    referee = asyncio.run(play())
    entries = books.of_table(venue.table_log)
    assert books.of_central(venue.central_log)["T1"] == entries
    booked = Counter(
        (entry.kind, json.loads(entry.body)["key"]) for entry in entries if entry.kind in KINDS.values()
    )
    assert set(booked.values()) == {1}
    confirmed = {(KINDS[action], key) for key, action in referee.booked.items()}
    assert len(confirmed) > 3
    assert confirmed <= set(booked)
    assert venue.table.restarts == KILLS
    figure(
        f"{KILLS} kills of the table, {venue.central.restarts} of the central station;"
        f" {len(confirmed)} rulings answered, each in both logs once;"
        f" {referee.retried} requests asked again,"
        f" {time.monotonic() - began:.0f} s"
    )

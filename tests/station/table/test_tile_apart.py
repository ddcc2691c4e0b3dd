"""Three golds of Xiamen win with any tiles: the tile apart is there after a draw, and not at the start."""

import asyncio

import pytest

from station.table.acting import Actor
from tests.station.table.acting_until import acting_until
from vision.hand import HandShape

DEALT = ["5p", "5p", "5p", "1m", "4m", "7m", "2s", "5s", "8s", "1z", "2z", "3z", "4z", "6z", "7z", "9p"]


@pytest.mark.parametrize(("row", "how", "place"), [
    ([DEALT], "sanjin_start", 2),
    ([[*DEALT[1:], "9m"], ["5p"]], "sanjin_mid", 2),
    ([DEALT, ["9m"]], "sanjin_start", 0),
])  # fmt: skip
def test_three_golds_are_read_with_or_without_a_tile_apart(new_desk, eyes, reading_of, row, how, place):
    async def play():
        eyes.shape = HandShape(tiles=16)
        eyes.hand_reading = reading_of([row])
        desk = await new_desk("xiamen", {"hand_size": 16}, eyes=eyes)
        eyes.sees_indicator = False
        await desk.to_play("5p")
        await desk.do("claim", place=place, how=how)
        await acting_until(lambda: bool(desk.session.claim.tiles), Actor(desk.table))
        claim = desk.table.state()["claim"]
        assert [tile["kind"] for tile in claim["tiles"] if tile["group"] == "win"] == [
            k for g in row[1:] for k in g
        ]
        assert claim["verdict"]["outcome"] == "win"
        assert claim["can_confirm"]

    asyncio.run(play())


def test_a_typed_hand_of_three_golds_may_name_the_tile_drawn(new_desk):
    async def play():
        desk = await new_desk("xiamen", {"hand_size": 16})
        await desk.to_play("5p")
        await desk.do("claim", place=1, how="sanjin_mid")
        await desk.do("hand", line="147m55p9p258s1234677z +5p")
        assert desk.table.state()["claim"]["verdict"]["outcome"] == "win"

    asyncio.run(play())

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from station.table.acting import Actor
from station.table.conductor import ReadHand, ReadIndicator, Wait, next_step
from tests.station.table.acting_until import acting_until

ROW = ["1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m", "1z", "1z", "3s", "4s"]


def test_between_deal_and_claim_no_frame_is_taken(
    new_desk: Callable[..., Any], eyes: Any, reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        eyes.indicator_reading = reading_of([[["1p"]]])
        eyes.hand_reading = reading_of([[ROW, ["5s"]]])
        desk = await new_desk(eyes=eyes)
        actor = Actor(desk.table)
        await desk.do("start")
        await acting_until(lambda: desk.session.stage == "play", actor)
        assert eyes.looks == ["indicator"]
        stored = list(desk.table.photos.folder.iterdir())
        await desk.do("call", place=0)
        task = asyncio.create_task(actor.run())
        for _ in range(200):
            await asyncio.sleep(0)
        task.cancel()
        assert eyes.looks == ["indicator"]
        assert list(desk.table.photos.folder.iterdir()) == stored
        await desk.do("claim", place=1, how="self")
        await acting_until(lambda: bool(desk.session.claim.tiles), actor)
        assert eyes.looks == ["indicator", "hand 1"]

    asyncio.run(play())


def test_a_read_hand_is_checked_with_its_evidence(
    new_desk: Callable[..., Any], eyes: Any, reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        eyes.indicator_reading = reading_of([[["1p"]]])
        eyes.hand_reading = reading_of([[["8p"] * 4], [[*ROW[:9], "1z"], ["1z"]]])
        desk = await new_desk(eyes=eyes)
        actor = Actor(desk.table)
        await desk.do("start")
        await acting_until(lambda: desk.session.stage == "play", actor)
        await desk.do("claim", place=1, how="self")
        await acting_until(lambda: bool(desk.session.claim.tiles), actor)
        claim = desk.table.state()["claim"]
        assert claim["expect"] == 15
        assert claim["melds"] == [{"kind": "kong", "tiles": [11, 12, 13, 14]}]
        assert claim["can_confirm"]
        assert desk.table.photos.path(claim["photo"]["url"].removeprefix("/photo/")).is_file()

    asyncio.run(play())


def test_a_tile_in_doubt_blocks_the_confirm_until_a_person_looked(
    new_desk: Callable[..., Any], eyes: Any, reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        eyes.indicator_reading = reading_of([[["1p"]]])
        eyes.hand_reading = reading_of([[ROW, ["5s"]]], doubts=("low_score",))
        desk = await new_desk(eyes=eyes)
        actor = Actor(desk.table)
        await desk.do("start")
        await acting_until(lambda: desk.session.stage == "play", actor)
        await desk.do("claim", place=1, how="self")
        await acting_until(lambda: bool(desk.session.claim.tiles), actor)
        assert desk.table.state()["claim"]["blocked"] == ["tile_doubt"]
        for tile in desk.table.state()["claim"]["tiles"]:
            await desk.do("tile", i=tile["i"], kind=tile["kind"])
        claim = desk.table.state()["claim"]
        assert claim["blocked"] == []
        assert claim["edits"] == 0

    asyncio.run(play())


def test_an_indicator_in_doubt_has_to_be_approved_before_a_claim(
    new_desk: Callable[..., Any], eyes: Any, reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        eyes.indicator_reading = reading_of([[["1p"]]], score=0.5)
        desk = await new_desk(eyes=eyes)
        actor = Actor(desk.table)
        await desk.do("start")
        await acting_until(lambda: desk.session.stage == "play", actor)
        assert desk.table.state()["indicator"]["doubt"]
        await desk.do("indicator", tile="1p")
        state = desk.table.state()["indicator"]
        assert (state["doubt"], state["mended"], state["wild"]) == (False, False, "2p")

    asyncio.run(play())


def test_retake_looks_again(new_desk: Callable[..., Any], eyes: Any, reading_of: Callable[..., Any]) -> None:
    async def play() -> None:
        eyes.hand_reading = reading_of([[ROW, ["6s"]]])
        eyes.sees_indicator = False
        desk = await new_desk(eyes=eyes)
        actor = Actor(desk.table)
        await desk.to_play()
        await desk.do("claim", place=1, how="self")
        await acting_until(lambda: bool(desk.session.claim.tiles), actor)
        eyes.hand_reading = reading_of([[ROW, ["5s"]]])
        await desk.do("retake")
        assert desk.session.claim.tiles == ()
        await acting_until(lambda: bool(desk.session.claim.tiles), actor)
        assert desk.table.state()["claim"]["can_confirm"]

    asyncio.run(play())


def test_without_a_machine_only_the_camera_acts(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        assert isinstance(next_step(desk.session, None, False), Wait)
        await desk.do("start")
        assert isinstance(next_step(desk.session, None, False), ReadIndicator)
        await desk.do("indicator", tile="1p")
        assert isinstance(next_step(desk.session, None, False), Wait)
        await desk.do("claim", place=1, how="self")
        assert isinstance(next_step(desk.session, None, False), ReadHand)

    asyncio.run(play())

"""Red fives: from what the network says of a five to what the claim is worth, and what a person corrects."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine import rulesets
from station import messages as m
from station.table.acting import Actor
from station.table.facts import facts_of
from station.table.interpret import RED_UNSURE, shape_of, tiles_of
from station.web.pages import render_fragment
from tests.engine.extras import needs
from tests.station.table.acting_until import acting_until
from tests.station.table.booth import Booth
from vision.arrange import arrange
from vision.hand import HandShape, hand_layout
from vision.hand_reading import HandReading
from vision.interpret import Opinion, Sight, Thresholds, tile_readings, why_not
from vision.readings import Detections, Reading

pytestmark = needs("riichi")

CONCEALED = ["2m", "3m", "4m", "5p", "6p", "7p", "3s", "4s", "5s", "6s", "7s", "9p", "9p"]
WIN = "8s"


def seen(kinds: list[str], win: str, shape: HandShape, reds: dict[str, float] | None) -> Reading:
    """A hand in one row, the winning tile apart; ``reds``: chance that a five is red, by kind, as the network
    says it.
    """
    row = [*kinds, win]
    spots = [(20.0 + 36 * (i + (i == len(kinds))), 20.0) for i in range(len(row))]
    found = Detections.of([(x, y, x + 36, y + 48) for x, y in spots])
    lie = arrange(found)
    red = None if reds is None else np.asarray([reds.get(kind, 0.01) for kind in row], np.float32)
    sight = Sight(np.zeros((len(row), 44), np.float32), np.ones(len(row), np.float32), red)
    says = [Opinion(((kind, 0.99),), 0.0) for kind in row]
    tiles = tile_readings(found, says, lie, (0, 0, 1280, 388), Thresholds(), shape, sight)
    why = why_not(tiles, None)
    return Reading(tiles, lie.rows, lie.groups, not why, why, 1.0, (1280, 388))


@pytest.fixture
def read_claim(new_desk: Callable[..., Any], eyes: Any) -> Callable[..., Any]:
    """Let a table read a self-drawn hand; its fives are red by these chances."""

    async def make(reds: dict[str, float] | None, options: dict[str, Any] | None = None) -> Any:
        eyes.shape = shape_of(rulesets.load("riichi", options))
        eyes.hand_reading = seen(CONCEALED, WIN, eyes.shape, reds)
        desk = await new_desk("riichi", options, eyes=eyes)
        await desk.to_play()
        await desk.do("claim", place=1, how="self")
        await acting_until(lambda: bool(desk.session.claim.tiles), Actor(desk.table))
        return desk

    return make


def claim_of(desk: Any) -> dict[str, Any]:
    claim = desk.table.state()["claim"]
    assert isinstance(claim, dict)
    return claim


def reds_paid(claim: dict[str, Any]) -> int:
    return sum(item["amount"] for item in claim["verdict"]["items"] if item["code"] == "aka_dora")


@pytest.mark.parametrize(("reds", "number"), [({}, 0), ({"5p": 0.99}, 1), ({"5p": 0.9, "5s": 0.95}, 2)])
def test_red_fives_that_were_read_are_counted(
    read_claim: Callable[..., Any], reds: dict[str, float], number: int
) -> None:
    async def play() -> None:
        claim = claim_of(await read_claim(reds))
        assert claim["facts"].get("red", 0) == number
        assert reds_paid(claim) == number
        assert (f"red={number}" in claim["line"]) == (number > 0)
        assert [tile["kind"] for tile in claim["tiles"] if tile["red"]] == list(reds)
        assert claim["can_confirm"]

    asyncio.run(play())


def test_the_number_of_red_fives_is_corrected_and_given_back_to_the_reading(
    read_claim: Callable[..., Any],
) -> None:
    async def play() -> None:
        desk = await read_claim({"5p": 0.99})
        for said, number in ((0, 0), (2, 2), (None, 1)):
            await desk.do("amend", facts={"red": said})
            claim = claim_of(desk)
            assert (claim["facts"].get("red", 0), reds_paid(claim)) == (number, number)
        five = next(tile["i"] for tile in claim["tiles"] if tile["red"])
        await desk.do("tile", i=five, kind="8p")
        assert "red" not in claim_of(desk)["facts"], "what is no five is no red five"

    asyncio.run(play())


@pytest.mark.parametrize("reds", [{"5p": 0.5}, None], ids=["the network hesitates", "a network without red"])
def test_a_five_of_unknown_colour_is_shown_to_a_person(
    read_claim: Callable[..., Any], reds: dict[str, float] | None
) -> None:
    async def play() -> None:
        desk = await read_claim(reds)
        doubted = [tile for tile in claim_of(desk)["tiles"] if tile["why"]]
        assert [tile["kind"] for tile in doubted] == (["5p"] if reds else ["5p", "5s"])
        assert claim_of(desk)["blocked"] == ["tile_doubt"]
        assert "A red five, or not?" in render_fragment("referee", desk.table.state(), "en")
        await desk.do("amend", facts={"red": 1})
        for tile in doubted:
            await desk.do("tile", i=tile["i"], kind=tile["kind"])
        claim = claim_of(desk)
        assert claim["can_confirm"]
        assert reds_paid(claim) == 1

    asyncio.run(play())


def test_a_table_without_red_fives_counts_and_doubts_none(read_claim: Callable[..., Any]) -> None:
    async def play() -> None:
        claim = claim_of(await read_claim({"5p": 0.99}, {"red_fives": False}))
        assert "red" not in claim["facts"]
        assert claim["can_confirm"]

    asyncio.run(play())


def test_of_all_four_fives_of_a_suit_one_is_red_even_face_down() -> None:
    booth = Booth(rulesets.load("riichi"), [100] * 4)
    booth.to_play("1p")
    booth.do("claim", place=1, how="self")
    kinds = ["back", "5p", "5p", "back", *["2m", "3m", "4m", "3s", "4s", "5s", "6s", "7s", "9p", "9p"]]
    groups = [*["meld:0"] * 4, *["concealed"] * 10]
    tiles = [
        m.TileRead(kind=kind, score=0.99, box=None, alternatives=[], group=group, red=kind == "5s" or None)
        for kind, group in zip(kinds, groups, strict=True)
    ]
    win = m.TileRead(kind="8s", score=0.99, box=None, alternatives=[], group="win")
    body = m.HandRead(hand=1, claim=1, photo="p.jpg", size=(9, 9), tiles=[*tiles, win], why=[])
    booth.book(body)
    assert booth.session.claim is not None
    assert facts_of(booth.rules, booth.session.claim)["red"] == 2


def test_a_loser_and_a_rule_set_without_red_fives_have_no_doubtful_five() -> None:
    reading = seen(CONCEALED, WIN, HandShape(), None)
    hand = HandReading(reading, hand_layout(reading.rows, reading.groups, reading.kinds))
    assert not any(tile.why for tile in tiles_of(hand))
    assert [tile.kind for tile in tiles_of(hand, red=True) if RED_UNSURE in tile.why] == ["5p", "5s"]
    known = replace(reading, tiles=tuple(replace(tile, red=False) for tile in reading.tiles))
    assert not any(tile.why for tile in tiles_of(replace(hand, reading=known), red=True))

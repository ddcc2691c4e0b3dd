from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from engine.melds import MeldKind
from engine.tiles import Tile
from station.table.proposal import meld_of, propose


def _tiles(text: str) -> list[Tile]:
    return [Tile.of(word) for word in text.split()]


@pytest.mark.parametrize(
    ("shown", "kind", "tiles"),
    [
        ("5p 5p 5p", MeldKind.PUNG, "5p 5p 5p"),
        ("5p 5p 5p 5p", MeldKind.KONG, "5p 5p 5p 5p"),
        ("back 3s 3s back", MeldKind.CONCEALED_KONG, "3s 3s 3s 3s"),
        ("back back back 3s", MeldKind.CONCEALED_KONG, "3s 3s 3s 3s"),
        ("3m 1m 2m", MeldKind.CHOW, "1m 2m 3m"),
    ],
)
def test_a_group_on_the_table_is_named(shown: str, kind: MeldKind, tiles: str) -> None:
    meld = meld_of(_tiles(shown))
    assert (meld.kind, list(meld.tiles)) == (kind, _tiles(tiles))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("123m456m789m11z39s +5s", "no_decomposition"),
        ("123m456m789m1z34s +5s", "tile_count"),
        ("1111123m456m11z3s +5s", "fifth_copy"),
        ("456m789m11z34s C:123m +5s", "chow_not_allowed"),
    ],
)
def test_a_hand_that_does_not_win_says_why(line: str, reason: str, new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.claim(line)
        claim = desk.table.state()["claim"]
        assert claim["verdict"]["reason"] == reason
        assert not claim["can_confirm"]
        assert claim["fine"] == (6 if reason == "no_decomposition" else None)

    asyncio.run(play())


def test_an_edit_is_checked_at_once(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.claim("123m456m789m11z39s +5s")
        tiles = desk.table.state()["claim"]["tiles"]
        wrong = next(t["i"] for t in tiles if t["kind"] == "9s")
        await desk.do("tile", i=wrong, kind="4s")
        claim = desk.table.state()["claim"]
        assert claim["can_confirm"]
        assert claim["tiles"][wrong]["edited"]
        assert claim["edits"] == 1

    asyncio.run(play())


def test_each_wildcard_says_what_it_stands_for(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play("5s")
        await desk.claim("123m456p789p11z3s6s +4s", source=None)
        tiles = desk.table.state()["claim"]["tiles"]
        wild = next(t for t in tiles if t["wild"])
        assert (wild["kind"], wild["as"]) == ("6s", wild["as"])
        assert wild["as"] in ("2s", "5s")
        sets = desk.table.state()["claim"]["verdict"]["sets"]
        assert sorted(i for part in sets for i in part["tiles"]) == list(range(14))

    asyncio.run(play())


def test_payments_are_by_place_and_capped_by_chips(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.do("penalty", place=0, kind="chips", amount=47)
        await desk.claim(source=None)
        payments = desk.table.state()["claim"]["payments"]
        assert [p["delta"] for p in payments] == [-3, 15, -6, -6]
        assert [p["unpaid"] for p in payments] == [3, 0, 0, 0]

    asyncio.run(play())


def test_seats_follow_the_dealer(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.claim(place=2, source=None)
        await desk.do("confirm")
        await desk.to_play()
        await desk.claim(place=0, source=3)
        claim = propose(desk.session, desk.table.rules).claim
        assert claim is not None
        assert (claim.winner, claim.discarder) == (3, 2)

    asyncio.run(play())

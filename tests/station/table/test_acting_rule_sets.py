"""What the table looks at by itself in other rule sets: open tiles of all, flowers, the gold on a wall."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from engine import rulesets
from station import messages as m
from station.table.acting import Actor
from station.table.camera_worker import _windows
from station.table.interpret import shape_of, tiles_of
from station.web.pages import render_fragment
from station.web.referee_view import referee
from station.web.words import Words
from tests.station.table.acting_until import acting_until
from vision.walls import STACKS_BESIDE

PUBLIC = [[["6z"] * 3, ["1z", "2z", "3z", "4z"]], [["back"] * 13]]


def _row(text: str) -> list[str]:
    return text.split()


@pytest.fixture
def seeing(eyes: Any) -> Callable[[str], Any]:
    """Eyes that know what a hand of a rule set looks like."""

    def make(ruleset: str) -> Any:
        eyes.shape = shape_of(rulesets.load(ruleset))
        return eyes

    return make


def test_the_claimed_hand_is_read_first_then_each_other_side_once(
    new_desk: Callable[..., Any], seeing: Callable[[str], Any], reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        eyes = seeing("fengcheng")
        hand = _row("1m 2m 3m 4m 5m 6m 7m 8m 9m 1p 2p 3p 4p 5p 2z 2z")
        eyes.hand_reading = reading_of([[hand, ["6p"]]])
        eyes.shown_readings = {0: reading_of(PUBLIC), 3: reading_of([[["back"] * 16]])}
        desk = await new_desk("fengcheng", {"lei_per_point": 1}, eyes=eyes, empty_side=1)
        await desk.do("start")
        await desk.do("claim", place=1, how="self")
        claim = lambda: desk.session.claim  # noqa: E731
        await acting_until(
            lambda: all(laid.read_at for laid in claim().everything.values()), Actor(desk.table)
        )
        assert eyes.looks == ["hand 2", "shown 0", "shown 3"]
        state = desk.table.state()["claim"]
        assert state["shown"][0]["facts"] == {"honors": 4, "groups": 1}
        assert [tile["kind"] for tile in state["shown"][0]["tiles"]] == ["6z"] * 3 + ["1z", "2z", "3z", "4z"]
        assert state["blocked"] == ["shown_missing"], "only backs: a person says that nothing lies open"
        await desk.do("hand", place=2, line="")
        assert desk.table.state()["claim"]["can_confirm"]
        await acting_until(lambda: True, Actor(desk.table))
        assert len(eyes.looks) == 3

    asyncio.run(play())


def test_a_tile_face_down_among_the_concealed_ones_of_a_claim_is_doubted(
    seeing: Callable[[str], Any], reading_of: Callable[..., Any]
) -> None:
    row = [_row("1m 2m 3m 4m 5m 6m 9m back 7z 7z back 1s 1s"), ["1s"]]
    seen = asyncio.run(_hand_of(seeing("mcr"), reading_of([row])))
    doubted = [(tile.kind, tile.why) for tile in tiles_of(seen.hand) if tile.why]
    assert doubted == [("back", ["stray_back"])] * 2


async def _hand_of(eyes: Any, reading: Any) -> Any:
    eyes.hand_reading = reading
    return await eyes.hand(0, win=True)


def test_what_may_lie_unseen_before_a_loser_is_told_with_his_name(
    new_desk: Callable[..., Any], seeing: Callable[[str], Any], reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        eyes = seeing("fengcheng")
        eyes.shown_readings = {side: reading_of(PUBLIC) for side in range(3)}
        why = ("cut_at_border", "unseen_tile")
        eyes.shown_readings[1] = replace(eyes.shown_readings[1], accept=False, why=why)
        desk = await new_desk("fengcheng", {"lei_per_point": 1}, eyes=eyes)
        await desk.do("start")
        await desk.do("ruling", kind="draw")
        await acting_until(
            lambda: all(laid.read_at for laid in desk.session.claim.others.values()), Actor(desk.table)
        )
        state = desk.table.state()
        assert [entry["why"] for entry in state["claim"]["shown"]] == [[], list(why), []]
        name = state["places"][1]["name"]
        view = referee(state, Words("en"))
        assert f"{name}: Perhaps a tile was overlooked: look at the gaps" in view["notices"]
        assert [shown["open"] for shown in view["claim"]["shown"]] == [False, True, False]
        page = render_fragment("referee", state, "en")
        assert page.count("Push all tiles into the player&#39;s zone <b>+1</b>") == 1

    asyncio.run(play())


def test_one_side_is_looked_at_again_when_asked(
    new_desk: Callable[..., Any], seeing: Callable[[str], Any], reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        eyes = seeing("fengcheng")
        eyes.shown_readings = {side: reading_of(PUBLIC) for side in range(3)}
        desk = await new_desk("fengcheng", {"lei_per_point": 1}, eyes=eyes)
        await desk.do("start")
        await desk.do("ruling", kind="draw")
        await acting_until(
            lambda: all(laid.read_at for laid in desk.session.claim.others.values()), Actor(desk.table)
        )
        assert eyes.looks == ["shown 0", "shown 1", "shown 2"]
        await desk.do("retake", place=1)
        await acting_until(lambda: bool(desk.session.claim.others[1].read_at), Actor(desk.table))
        assert eyes.looks[3:] == ["shown 1"]

    asyncio.run(play())


def test_flowers_and_melds_of_a_hand_are_read_with_it(
    new_desk: Callable[..., Any], seeing: Callable[[str], Any], reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        eyes = seeing("xiamen")
        eyes.indicator_reading = reading_of([[["1p"]]])
        hand = _row("4m 5m 2z 2z 1s 2s 3s 4s 5s 6s 7s 8s 9s")
        eyes.hand_reading = reading_of([[["back", "3m", "3m", "back"], ["1f", "2f"]], [hand, ["6m"]]])
        desk = await new_desk("xiamen", {"hand_size": 16}, eyes=eyes)
        await desk.do("start")
        await acting_until(lambda: True, Actor(desk.table))
        assert eyes.looks == [], "before flowers are replaced no tile is turned up"
        await desk.do("flowers")
        await acting_until(lambda: desk.session.stage == "play", Actor(desk.table))
        await desk.do("claim", place=1, how="zimo")
        await acting_until(lambda: bool(desk.session.claim.tiles), Actor(desk.table))
        claim = desk.table.state()["claim"]
        assert (claim["facts"], claim["expect"]) == ({"flowers": "12f"}, 20)
        assert claim["can_confirm"]

    asyncio.run(play())


def test_a_hand_that_any_tile_completes_has_no_tile_apart(
    new_desk: Callable[..., Any], seeing: Callable[[str], Any], reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        eyes = seeing("xiamen")
        eyes.indicator_reading = reading_of([[["5p"]]])
        eyes.hand_reading = reading_of([[_row("1m 2m 3m 4m 5m 6m 7m 8m 9m 1s 2s 3s 4s 5s 6s 5p")]])
        desk = await new_desk("xiamen", {"hand_size": 16}, eyes=eyes)
        await desk.do("start")
        await desk.do("flowers")
        await acting_until(lambda: desk.session.stage == "play", Actor(desk.table))
        await desk.do("claim", place=2, how="youjin")
        await acting_until(lambda: bool(desk.session.claim.tiles), Actor(desk.table))
        claim = desk.table.state()["claim"]
        assert {tile["group"] for tile in claim["tiles"]} == {"concealed"}
        assert claim["verdict"]["outcome"] == "win"
        assert claim["payments"][2]["outside"] == 150

    asyncio.run(play())


@pytest.mark.parametrize(
    ("stacks", "windows"),
    [
        ([(0, 5), (0, 4), (0, 3), (0, 2), (0, 1)], [(0, 4)]),
        ([(0, 2), (0, 1), (3, 18), (3, 17), (3, 16)], [(0, 2), (3, 18)]),
        ([(1, 9)], [(1, 9)]),
        ([(2, 1), (2, 18)], [(2, 4), (2, 18)]),
    ],
)
def test_every_stack_is_in_sight_with_as_few_looks_as_needed(
    stacks: list[tuple[int, int]], windows: list[tuple[int, int]]
) -> None:
    looks = _windows(stacks)
    assert looks == windows
    assert all(any(s == side and abs(k - at) <= STACKS_BESIDE for s, at in looks) for side, k in stacks)


@pytest.mark.parametrize(("seen", "booked"), [("5p", True), ("1f", False), ("back", False)])
def test_the_gold_is_looked_for_on_the_stacks_where_it_can_lie(
    new_desk: Callable[..., Any],
    seeing: Callable[[str], Any],
    reading_of: Callable[..., Any],
    seen: str,
    booked: bool,
) -> None:
    async def play() -> None:
        eyes = seeing("xiamen")
        eyes.sees_indicator = False
        eyes.indicator_reading = reading_of([[[seen]]])
        desk = await new_desk("xiamen", {"hand_size": 16}, eyes=eyes)
        await desk.table.book(
            m.CycleStarted(hand=1),
            *(m.DiceRolled(hand=1, dice=[2, 3], source="players", nth=nth, of=2) for nth in (1, 2)),
            m.WallDealt(hand=1, machine_hand=1, thrower=0, wall=0, stack=11, steps=["gold", "indicator"]),
            m.DiceRolled(hand=1, dice=[6, 6], source="players", gold=True),
        )
        await acting_until(lambda: bool(eyes.looks), Actor(desk.table))
        await acting_until(lambda: desk.session.stage == "play" or not booked, Actor(desk.table))
        # S = 10: the wall ends with stack 10 of place 0; the 12th tile from there lies in stack 5.
        assert eyes.stacks[0] == (0, 5)
        assert eyes.stacks[-1] == (0, 1)
        assert (desk.session.stage == "play") is booked

    asyncio.run(play())

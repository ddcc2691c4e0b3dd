"""A reading is silently wrong by what was rendered, whatever the referee did about it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest

from station import messages as m
from station.demo.judged import rendered, silently_wrong
from station.session import Event
from vision.render import LaidHand, Scene

HAND = LaidHand(
    melds=(("1z", "1z", "1z"), ("back", "9s", "9s", "back")),
    concealed=("1m", "2m"),
    win="3m",
    flowers=("1f",),
    spread=(("5z", "6z"), ("7z",)),
)
RIGHT = (
    "concealed 1m, concealed 2m, win 3m, meld:0 1z, meld:0 1z, meld:0 1z, meld:1 back, meld:1 9s, meld:1 9s, "
    "meld:1 back, spread:0 5z, spread:0 6z, spread:1 7z, flower 1f"
)
LOSER = LaidHand(melds=(("4p", "5p", "6p"),), concealed=("back",) * 7)
STATE = {
    "hand_no": 3,
    "claim": {"claim_no": 2, "place": 1},
    "places": [{"side": 0}, {"side": 1}, {"side": 3}],
}
TRUTHS = rendered(Scene(hands={1: HAND, 3: LOSER}), STATE)


def read(tiles: str = RIGHT, **more: Any) -> m.HandRead:
    words = [tile.split() for tile in filter(None, tiles.split(", "))]
    seen = [m.TileRead(kind=k, score=1.0, box=None, alternatives=[], group=group) for group, k in words]
    usual: dict[str, Any] = {"hand": 3, "claim": 2, "photo": "p.jpg", "size": (1, 1), "why": []}
    return m.HandRead(tiles=seen, **{**usual, **more})


def silent(*bodies: m.Body) -> int:
    return silently_wrong([Event(n, 0.0, body) for n, body in enumerate(bodies, 1)], TRUTHS)


def test_the_truth_is_what_a_scene_shows_before_each_place() -> None:
    assert set(TRUTHS) == {(3, 2, 0), (3, 2, None), (3, 2, 2)}
    assert TRUTHS[3, 2, 0] == Counter()
    assert TRUTHS[3, 2, 2] == Counter([("meld:0", "4p"), ("meld:0", "5p"), ("meld:0", "6p")])


def test_a_right_reading_is_not_wrong_whatever_the_referee_does() -> None:
    mended = m.TileMended(hand=3, claim=2, index=0, kind="2m", was="1m")
    assert silent(read(), mended) == 0
    assert silent(read(RIGHT.replace("spread:1 7z", "spread:0 7z"))) == 0


@pytest.mark.parametrize(
    "tiles",
    [
        RIGHT.replace("concealed 1m", "concealed 4m"),
        RIGHT.replace("concealed 1m, ", ""),
        RIGHT + ", flower 2f",
        RIGHT.replace("concealed 2m, win 3m", "concealed 3m, win 2m"),
        RIGHT.replace("back", "9s"),
        "",
    ],
    ids=["kind", "overlooked", "one too many", "winning tile", "face-down tiles", "nothing"],
)
def test_a_wrong_reading_counts_once_although_nobody_mends_it(tiles: str) -> None:
    assert silent(read(tiles)) == 1
    assert silent(read(tiles), read(tiles)) == 1


def test_a_wrong_reading_counts_although_another_one_followed() -> None:
    assert silent(read(RIGHT.replace("1m", "4m")), read()) == 1


def test_a_reading_in_doubt_is_not_silent() -> None:
    wrong = read(RIGHT.replace("1m", "4m"))
    tile = msgspec.structs.replace(wrong.tiles[5], why=["low_score"])
    assert silent(msgspec.structs.replace(wrong, why=["count"])) == 0
    assert silent(msgspec.structs.replace(wrong, tiles=[*wrong.tiles[:5], tile, *wrong.tiles[6:]])) == 0


def test_what_a_person_typed_is_no_reading() -> None:
    assert silent(read("concealed 9m", photo=None)) == 0


def test_every_place_has_a_truth_of_its_own() -> None:
    assert silent(read("meld:0 4p, meld:0 5p, meld:0 6p", place=2), read("", place=0)) == 0
    assert silent(read("meld:0 4p, meld:0 5p, meld:0 7p", place=2)) == 1
    assert silent(read("flower 1f", place=0)) == 1


def test_a_reading_of_which_nobody_knows_the_truth_counts_as_wrong() -> None:
    assert silent(read(claim=5)) == 1

"""What is kept of a frame shows the zone that was read, and nothing of what the others hold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from station.table.camera_worker import Eyes, Seen, SeenHand
from station.table.cropping import around, cut_hand, on_one_sheet
from vision.camera import Frame
from vision.geometry import Calibration, default_calibration, whole_picture
from vision.hand import HandShape, public_layout
from vision.hand_reading import HandReading
from vision.readings import Image, Reading, TileReading
from vision.render import LaidHand, Scene, render

KINDS = ("1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m", "1z", "1z", "3s", "4s")
MINE = LaidHand(concealed=KINDS, win="5s")
SECRET = {place: LaidHand(concealed=("back",) * 13) for place in (1, 2, 3)}
OPEN = {place: LaidHand(concealed=KINDS[::-1]) for place in (1, 2, 3)}
WALLS = (5, 9, 9, 9)
UNSEEN = Scene(indicator="2p", hands={0: MINE, **SECRET}, walls=WALLS, light_seed=4)
ALL = replace(UNSEEN, hands={0: MINE, **OPEN})


class Camera:
    """Shows one scene; a second frame is the same one."""

    def __init__(self, scene: Scene) -> None:
        self._image, self._times = render(scene), count(100)

    def grab(self) -> Frame:
        return Frame(self._image, float(next(self._times)), "test")

    def close(self) -> None:
        pass


class Reader:
    """Finds one tile in the middle of whatever it is shown."""

    def read(self, image: Image, *_: Any, **__: Any) -> Reading:
        height, width = image.shape[:2]
        box = (width / 2 - 15.0, height / 2 - 20.0, width / 2 + 15.0, height / 2 + 20.0)
        tile = TileReading("2p", 0.99, box, (("2p", 0.99),), 0, ())
        return Reading((tile,), ((0,),), ((0,),), True, (), 1.0, (width, height))


def eyes(scene: Scene, calibration: Calibration | None) -> Eyes:
    ignored = ("moving", "hand_in_view", "blurred", "too_dark", "outside_zone", "camera_moved")
    return Eyes(lambda: Camera(scene), Reader, calibration, frozenset({"2p"}), HandShape(), ignored)


def picture(jpeg: bytes | None) -> Image:
    assert jpeg is not None
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    return np.asarray(image, np.uint8)


def hand(sight: Eyes) -> SeenHand:
    seen = sight.hand(0, win=True, anyway=True)
    assert isinstance(seen, SeenHand)
    return seen


def apart(one: Image, other: Image) -> float:
    """Largest difference of two pictures of one size, in levels, of their blurred forms: no grain."""
    assert one.shape == other.shape
    soft = [cv2.blur(image, (5, 5)).astype(int) for image in (one, other)]
    return float(np.abs(soft[0] - soft[1]).max())


@pytest.fixture(params=["hand", "indicator", "opening"])
def evidence(request: pytest.FixtureRequest) -> Iterator[Any]:
    def of(scene: Scene) -> Image:
        sight = eyes(scene, default_calibration())
        match request.param:
            case "hand":
                return picture(hand(sight).jpeg)
            case "indicator":
                return picture(sight.indicator().jpeg)
            case _:
                return picture(sight.zones([0]))

    return of


def test_evidence_is_the_same_whatever_the_others_hold(evidence: Any) -> None:
    assert apart(evidence(UNSEEN), evidence(ALL)) < 6
    assert apart(render(UNSEEN), render(ALL)) > 100, "the frames do differ"


def test_what_is_kept_of_an_opening_are_the_zones_asked_for() -> None:
    sight = eyes(ALL, default_calibration())
    two, one = picture(sight.zones([0, 2])), picture(sight.zones([0]))
    assert two.shape[0] > 2 * one.shape[0]
    assert apart(two[: one.shape[0]], one) < 12
    assert sight.zones([]) is None


@pytest.mark.parametrize(
    "untaught", [None, whole_picture((1280, 960))], ids=["nothing taught", "one picture"]
)
def test_without_taught_zones_an_opening_has_no_photo_and_a_tile_only_its_surroundings(
    untaught: Calibration | None,
) -> None:
    sight = eyes(ALL, untaught)
    assert sight.zones([0]) is None
    seen: Seen = sight.indicator()
    assert seen.size == (110, 120), "the tile and one long side around"
    kept = hand(sight)
    assert kept.size == (110, 120)
    (tile,) = kept.hand.reading.tiles
    assert tile.box == (40.0, 40.0, 70.0, 80.0)


def test_a_tile_on_a_wall_is_kept_without_the_wall() -> None:
    turned = replace(ALL, indicator="2p", turned=(1, 14), walls=(9, 9, 9, 9))
    seen = eyes(turned, default_calibration()).indicator([(1, 14)])
    assert seen.size[0] < 140


tiles = st.tuples(st.floats(0, 600), st.floats(0, 400), st.floats(4, 60), st.floats(4, 60)).map(
    lambda t: (t[0], t[1], t[0] + t[2], t[1] + t[3])
)


@given(st.lists(tiles, min_size=1, max_size=14))
def test_boxes_show_the_same_pixels_in_the_cut_picture(
    boxes: list[tuple[float, float, float, float]],
) -> None:
    image = np.random.default_rng(1).integers(0, 255, (480, 680, 3), np.uint8)
    read = tuple(TileReading("2p", 0.9, box, (), 0, ()) for box in boxes)
    reading = Reading(read, (tuple(range(len(read))),), (), True, (), 1.0, (680, 480))
    layout = public_layout((), (), (), HandShape())
    cut, moved = cut_hand(image, HandReading(reading, layout, None, (boxes[0],)))
    assert moved.reading.size == (cut.shape[1], cut.shape[0])
    assert moved.covered[0] == moved.reading.tiles[0].box
    for before, tile in zip(boxes, moved.reading.tiles, strict=True):
        (x0, y0, x1, y1), (u0, v0, u1, v1) = (tuple(map(math.floor, box)) for box in (before, tile.box))
        assert np.array_equal(image[y0:y1, x0:x1], cut[v0:v1, u0:u1])


def test_without_a_tile_nothing_is_cut() -> None:
    image = np.zeros((10, 20, 3), np.uint8)
    assert around(image, []) == (image, (0, 0)) or around(image, [])[0] is image


def test_zones_of_different_width_fit_on_one_sheet() -> None:
    sheet = on_one_sheet([np.full((10, 30, 3), 9, np.uint8), np.full((20, 50, 3), 8, np.uint8)])
    assert sheet.shape == (38, 50, 3)

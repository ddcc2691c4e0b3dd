import numpy as np
import pytest

from vision.errors import CalibrationError, ShapeError
from vision.geometry import Calibration, default_calibration, map_points, whole_picture
from vision.render import Scene, render, tile_quads
from vision.walls import look_at_stack, stack_zone

CALIBRATION = default_calibration()
WALLS = (18, 18, 18, 18)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("stack", [1, 9, 18])
def test_the_turned_tile_is_in_the_middle_and_upright_for_its_player(place: int, stack: int) -> None:
    scene = Scene("6p", walls=WALLS, stacks=18, turned=(place, stack))
    zone = stack_zone(CALIBRATION, place, stack)
    (quad,) = [quad for kind, quad in tile_quads(scene, CALIBRATION) if kind == "6p"]
    seen = map_points(zone.matrix(), quad)
    width, height = zone.size
    assert seen.mean(axis=0) == pytest.approx((width / 2, height / 2), abs=20)
    assert ((seen > 0) & (seen < zone.size)).all()
    assert seen[0, 0] < seen[1, 0]
    assert seen[0, 1] < seen[3, 1]


def test_a_picture_of_another_resolution_is_looked_at_alike() -> None:
    large = default_calibration((3200, 2400))
    frame = render(Scene("6p", walls=WALLS, stacks=18, turned=(0, 5)), large)
    assert look_at_stack(CALIBRATION, frame, 0, 5).image.shape == (100, 284, 3)


def test_any_taught_place_tells_where_the_walls_are() -> None:
    partly = Calibration(CALIBRATION.size, {"1": CALIBRATION.zone(1)})
    whole = np.asarray(stack_zone(CALIBRATION, 3, 4).quad)
    assert np.asarray(stack_zone(partly, 3, 4).quad) == pytest.approx(whole, abs=1)


def test_one_picture_for_every_zone_is_the_wall_too() -> None:
    assert stack_zone(whole_picture((80, 60)), 1, 2).size == (80, 60)


@pytest.mark.parametrize(("place", "stack"), [(4, 1), (-1, 1), (0, 0), (0, 19)])
def test_a_stack_that_is_not_there_cannot_be_looked_at(place: int, stack: int) -> None:
    with pytest.raises(CalibrationError, match="no stack"):
        stack_zone(CALIBRATION, place, stack)


def test_without_the_zone_of_a_place_nobody_knows_where_the_walls_are() -> None:
    partly = Calibration(CALIBRATION.size, {"indicator": CALIBRATION.zone("indicator")})
    with pytest.raises(CalibrationError, match="teach the table"):
        stack_zone(partly, 0, 1)


def test_something_else_than_a_picture_is_refused() -> None:
    with pytest.raises(ShapeError):
        look_at_stack(CALIBRATION, np.zeros((1200, 1600), np.uint8), 0, 1)

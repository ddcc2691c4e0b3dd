import numpy as np
import pytest

from vision.arrange import arrange
from vision.readings import Box, Detections
from vision.unseen import inside_share, unseen_places

AREA: Box = (0.0, 0.0, 1000.0, 500.0)


def tiles(*starts: float) -> list[Box]:
    return [(x, 100.0, x + 30.0, 140.0) for x in starts]


def places(boxes: list[Box], area: Box = AREA) -> list[float]:
    """Left edges of the places found."""
    found = Detections.of(boxes)
    return sorted(round(float(x), 1) for x in unseen_places(found, arrange(found), area)[:, 0])


def test_touching_tiles_leave_room_at_the_ends_only() -> None:
    assert places(tiles(100, 130, 160)) == [70, 190]


def test_a_gap_as_wide_as_a_tile_may_hide_one() -> None:
    assert places(tiles(100, 130, 190, 220)) == [70, 160, 250]


def test_the_gap_before_a_tile_laid_apart_is_too_narrow() -> None:
    assert places(tiles(100, 130, 176)) == [70, 206]


def test_in_a_wide_gap_a_tile_may_touch_either_side() -> None:
    assert places(tiles(100, 130, 300, 330)) == [70, 160, 270, 360]


def test_what_lies_outside_the_region_is_no_place() -> None:
    assert places(tiles(100, 130, 160), (95, 90, 195, 150)) == []


def test_a_tile_of_another_row_takes_a_place() -> None:
    other = [(x, 121.0, x + 30.0, 161.0) for x in (192.0, 222.0, 252.0)]
    assert 190 not in places([*tiles(100, 130, 160), *other])
    assert 190 in places([*tiles(100, 130, 160), *[(x, y + 40, x1, y1 + 40) for x, y, x1, y1 in other]])


def test_no_tiles_no_places() -> None:
    assert places([]) == []
    assert places(tiles(100)) == []


@pytest.mark.parametrize(
    ("box", "share"), [((0, 0, 10, 10), 1.0), ((-5, 0, 5, 10), 0.5), ((-10, -10, 0, 0), 0.0)]
)
def test_share_of_a_box_in_an_area(box: Box, share: float) -> None:
    assert inside_share(np.asarray([box], np.float32), AREA) == pytest.approx([share])

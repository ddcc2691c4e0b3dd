import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vision.readings import Box, Detections
from vision.sizes import cut_off, odd_sizes, usual_sizes


def row(sizes: list[float], y: float = 0.0) -> list[Box]:
    boxes, x = [], 0.0
    for width in sizes:
        boxes.append((x, y, x + width, y + width * 4 / 3))
        x += width
    return boxes


def marks(boxes: list[Box]) -> list[bool]:
    found = Detections.of(boxes)
    return [bool(odd) for odd in odd_sizes(found, found)]


def test_a_key_and_a_dial_in_a_row_of_tiles_are_marked() -> None:
    assert marks([*row([30.0] * 6), (190, 10, 204, 24), (210, -20, 280, 60)]) == [False] * 6 + [True] * 2


def test_a_row_running_into_the_depth_has_no_odd_tile() -> None:
    assert not any(marks(row([30.0 * 0.93**k for k in range(17)])))


def test_a_key_at_the_far_end_of_such_a_row_is_marked() -> None:
    tiles = row([30.0 * 0.93**k for k in range(14)])
    end, width = tiles[-1][2], 30.0 * 0.93**13
    assert marks([*tiles, (end, 0, end + width / 2, width / 2)]) == [False] * 14 + [True]


def test_rows_at_different_depths_have_no_odd_tile() -> None:
    assert not any(marks([*row([12.0] * 4), *row([24.0] * 4, 20), *row([40.0] * 4, 60)]))


def test_few_boxes_are_judged_by_their_median() -> None:
    assert marks([(0, 0, 30, 40), (30, 0, 60, 40), (60, 0, 70, 12)]) == [False, False, True]


def test_no_sure_boxes_no_marks() -> None:
    assert not odd_sizes(Detections.of(row([30.0, 5.0])), Detections.empty()).any()
    assert len(odd_sizes(Detections.empty(), Detections.empty())) == 0


@given(st.floats(8, 200), st.integers(1, 30), st.floats(-100, 100))
@settings(max_examples=40, deadline=None)
def test_tiles_of_one_size_are_of_the_usual_size(width: float, count: int, y: float) -> None:
    found = Detections.of(row([width] * count, y))
    area = float(np.prod(found.sizes[0]))
    assert np.allclose(usual_sizes(found, found.centres), area, rtol=0.05)


def turned_box(x: float, y: float, degrees: float, w: float = 30, h: float = 40) -> Box:
    a = np.radians(degrees)
    wide, high = w * np.cos(a) + h * np.sin(a), h * np.cos(a) + w * np.sin(a)
    return (x - wide / 2, y - high / 2, x + wide / 2, y + high / 2)


@pytest.mark.parametrize("degrees", [0, 10, 20, 30, 90])
@pytest.mark.parametrize(("seen", "cut"), [(1.0, False), (0.9, False), (0.7, True), (0.5, True)])
def test_however_a_tile_lies_at_the_edge_half_of_it_is_not_the_whole(
    degrees: float, seen: float, cut: bool
) -> None:
    x0, y0, x1, y1 = turned_box(0, 100, degrees)
    width = (x1 - x0) * seen
    row = [turned_box(100 + 31 * k, 100, 0) for k in range(5)]
    found = Detections.of([(0.0, y0, width, y1), *row])
    assert cut_off(found, (0, 0, 600, 600), 1.0, 0.85).tolist() == [cut] + [False] * 5


def test_what_lies_in_a_corner_may_be_cut() -> None:
    found = Detections.of([(0, 0, 30, 40), *(turned_box(100 + 31 * k, 100, 0) for k in range(5))])
    assert cut_off(found, (0, 0, 600, 600), 1.0, 0.85)[0]

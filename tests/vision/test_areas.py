import pytest

from vision.areas import better_sides, with_margin
from vision.readings import Detections


def tiles(width: float, height: float, count: int = 8) -> Detections:
    return Detections.of([(k * width, 0.0, k * width + width, height) for k in range(count)])


@pytest.mark.parametrize("height", [60, 80, 150, 250])
def test_tiles_of_a_good_size_are_searched_once(height: float) -> None:
    assert better_sides(tiles(0.75 * height, height), 0.5, 640, 1280, 960) == []


@pytest.mark.parametrize(
    ("height", "scale", "sides"),
    [(20, 1.0, [1408]), (8, 1.0, [1600]), (60, 0.25, [1877]), (320, 0.5, [320]), (900, 0.5, [160])],
    ids=["small", "tiny", "small in a large picture", "large", "filling the picture"],
)
def test_tiles_of_another_size_are_searched_again(height: float, scale: float, sides: list[int]) -> None:
    long = round(640 / scale)
    wanted = [min(side, 1600) for side in sides]
    assert better_sides(tiles(0.75 * height, height), scale, 640, long, long // 2) == wanted


def test_where_nothing_is_found_tiles_may_be_smaller_or_larger() -> None:
    assert better_sides(Detections.empty(), 0.1, 640, 6400, 4800) == [1280, 320]
    assert better_sides(Detections.empty(), 1.0, 640, 640, 480) == [320]


def test_a_margin_ends_at_the_picture() -> None:
    assert with_margin((100, 100, 300, 140), 640, 480) == (90, 90, 310, 150)
    assert with_margin((0, 0, 640, 480), 640, 480) == (0, 0, 640, 480)

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision import errors
from vision.errors import ShapeError, VisionError
from vision.readings import BESIDE, DOUBT_CODES, Detections, Reading, TileReading, check_image


def test_every_error_hangs_from_one_base_and_has_its_own_code() -> None:
    classes = [getattr(errors, name) for name in errors.__all__]
    assert all(issubclass(cls, VisionError) for cls in classes)
    assert len({cls.code for cls in classes}) == len(classes)


def test_exported_errors_are_sorted() -> None:
    assert errors.__all__ == sorted(errors.__all__)


def test_detections_refuse_a_wrong_box_shape_and_name_both_shapes() -> None:
    with pytest.raises(ShapeError, match=r"boxes must have shape \(N, 4\), not \(2, 3\)") as caught:
        Detections(np.zeros((2, 3), np.float32), np.zeros(2, np.float32))
    assert caught.value.actual == (2, 3)


def test_detections_refuse_as_many_scores_as_there_are_not_boxes() -> None:
    with pytest.raises(ShapeError, match="scores"):
        Detections(np.zeros((2, 4), np.float32), np.zeros(3, np.float32))


def test_detections_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Detections.empty().scores = np.zeros(0, np.float32)  # type: ignore[misc]


def test_detections_move_and_scale_and_select() -> None:
    found = Detections.of([(0, 0, 2, 4), (2, 2, 6, 6)], [0.5, 0.9])
    assert found.shifted(1, -1).boxes.tolist() == [[1, -1, 3, 3], [3, 1, 7, 5]]
    assert found.scaled(0.5).sizes.tolist() == [[1, 2], [2, 2]]
    assert found.take(np.asarray([1])).centres.tolist() == [[4, 4]]
    assert len(Detections.empty()) == 0


@pytest.mark.parametrize("shape", [(4, 4), (4, 4, 4), (0, 4, 3)])
def test_pictures_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match="picture must have shape"):
        check_image(np.zeros(shape, np.uint8), "picture")


def test_pictures_of_floats_are_refused() -> None:
    with pytest.raises(ShapeError):
        check_image(np.zeros((4, 4, 3), np.float32))


def test_some_tiles_of_a_reading_are_as_if_the_others_did_not_lie_there() -> None:
    doubts = [("stray_back",), (), (), ("low_score",)]
    tiles = tuple(
        TileReading(kind, 0.9, (0, 0, 1, 1), ((kind, 0.9),), group, why)
        for kind, group, why in zip(["back", "1m", "2m", "3m"], [0, 1, 1, 2], doubts, strict=True)
    )
    reading = Reading(tiles, ((0,), (1, 2, 3)), ((0,), (1, 2), (3,)), False, ("wrong_count",), 1.5, (9, 9))
    part = reading.only([2, 1])
    assert part.kinds == ("1m", "2m")
    assert (part.rows, part.groups) == (((0, 1),), ((0, 1),))
    assert [tile.group for tile in part.tiles] == [0, 0]
    assert (part.accept, part.why, part.ms) == (True, (), 1.5)
    assert reading.only([3]).why == ("low_score",)
    assert reading.only([]).why == ("no_tiles",)
    assert reading.only(range(4)).tiles == tiles


AT_TILES = [code for code in DOUBT_CODES if code not in {*BESIDE, "no_tiles", "wrong_count"}]


@given(
    st.lists(st.lists(st.sampled_from([*AT_TILES, "cut_at_border"]), max_size=2), max_size=5),
    st.sets(st.sampled_from(sorted(BESIDE))),
    st.sets(st.integers(0, 4)),
)
def test_a_part_of_a_reading_loses_no_doubt_about_what_lies_beside_it(
    at_tiles: list[list[str]], beside: set[str], chosen: set[int]
) -> None:
    tiles = tuple(TileReading("1m", 0.9, (0, 0, 1, 1), (("1m", 0.9),), 0, tuple(w)) for w in at_tiles)
    beside -= {code for doubts in at_tiles for code in doubts}
    codes = beside.union(*at_tiles)
    why = tuple(code for code in DOUBT_CODES if code in codes)
    run = (tuple(range(len(tiles))),) if tiles else ()
    reading = Reading(tiles, run, run, not why, why, 1.0, (9, 9))
    part = reading.only(i for i in chosen if i < len(tiles))
    kept = {code for tile in part.tiles for code in tile.doubts}
    assert set(reading.beside) == beside
    assert set(part.why) == beside | kept | (set() if part.tiles else {"no_tiles"})
    assert part.accept == (not part.why)
    assert part.only(range(len(part.tiles))) == part

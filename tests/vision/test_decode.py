import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vision.decode import (
    DecodeSettings,
    choose,
    decode,
    iou_matrix,
    letterbox,
    peaks,
    suppress,
)
from vision.errors import ShapeError
from vision.readings import Detections, Floats


def blank(h: int = 10, w: int = 12) -> Floats:
    maps = np.zeros((5, h, w), np.float32)
    maps[0] = -8
    return maps


def put(maps: Floats, i: int, j: int, logit: float, reach: float = 2.0) -> None:
    maps[0, i, j] = logit
    maps[1:, i, j] = np.log(reach)


boxes_strategy = st.lists(
    st.tuples(st.floats(0, 500), st.floats(0, 500), st.floats(4, 80), st.floats(4, 80), st.floats(0.01, 1)),
    max_size=20,
).map(lambda rows: Detections.of([(x, y, x + w, y + h) for x, y, w, h, _ in rows], [r[4] for r in rows]))


class TestPeaks:
    def test_a_peak_becomes_the_box_around_its_cell_centre(self) -> None:
        maps = blank()
        maps[0, 3, 5] = 3
        maps[1:, 3, 5] = np.log([1.0, 2.0, 3.0, 4.0])
        found = peaks(maps)
        assert found.boxes[0] == pytest.approx([4.5 * 8, 1.5 * 8, 8.5 * 8, 7.5 * 8])
        assert found.scores[0] == pytest.approx(1 / (1 + np.exp(-3)), abs=1e-5)

    def test_only_the_highest_of_neighbouring_cells_counts(self) -> None:
        maps = blank()
        put(maps, 3, 5, 3)
        put(maps, 3, 6, 2.5)
        put(maps, 4, 8, 1.0)
        assert len(peaks(maps)) == 2

    def test_a_weak_peak_is_left_out(self) -> None:
        maps = blank()
        put(maps, 3, 5, -0.7)
        assert len(peaks(maps, 0.35)) == 0
        assert len(peaks(maps, 0.30)) == 1

    def test_the_best_comes_first(self) -> None:
        maps = blank()
        put(maps, 1, 1, 1)
        put(maps, 7, 7, 4)
        assert np.all(np.diff(peaks(maps).scores) < 0)

    def test_wild_outputs_stay_finite(self) -> None:
        maps = blank()
        maps[0, 2, 2] = 90
        maps[1:, 2, 2] = 1e6
        assert np.isfinite(peaks(maps).boxes).all()

    def test_an_empty_map_gives_no_boxes(self) -> None:
        assert len(peaks(blank())) == 0

    def test_another_shape_is_refused(self) -> None:
        with pytest.raises(ShapeError, match=r"\(5, h, w\)"):
            peaks(np.zeros((4, 3, 3), np.float32))


class TestSuppress:
    def test_doubled_boxes_become_the_better_one(self) -> None:
        found = suppress(Detections.of([(0, 0, 30, 40), (2, 1, 31, 42)], [0.6, 0.8]))
        assert found.scores.tolist() == pytest.approx([0.8])

    def test_touching_neighbours_both_stay(self) -> None:
        assert len(suppress(Detections.of([(0, 0, 30, 40), (30, 0, 60, 40)]))) == 2

    def test_boxes_of_neighbours_at_45_degrees_overlap_and_stay(self) -> None:
        # Two tiles 30 x 40 side by side, turned by 45 degrees: boxes of 49 x 49, 21 apart each way.
        assert len(suppress(Detections.of([(0, 0, 49, 49), (21, 21, 70, 70)]))) == 2

    def test_a_small_box_inside_a_big_one_at_its_centre_falls(self) -> None:
        assert len(suppress(Detections.of([(0, 0, 90, 120), (30, 40, 60, 80)], [0.9, 0.5]))) == 1

    @given(boxes_strategy)
    @settings(max_examples=40, deadline=None)
    def test_doing_it_twice_changes_nothing_and_no_two_are_the_same_tile(self, found: Detections) -> None:
        once = suppress(found)
        assert np.array_equal(suppress(once).boxes, once.boxes)
        overlap = iou_matrix(once.boxes, once.boxes) - np.eye(len(once))
        assert overlap.max(initial=0) <= DecodeSettings().iou + 1e-6
        assert len(once) or not len(found)


class TestOverlap:
    def test_known_values(self) -> None:
        one = np.asarray([[0, 0, 2, 2]], np.float32)
        many = np.asarray([[0, 0, 2, 2], [1, 0, 3, 2], [5, 5, 6, 6], [0, 0, 0, 0]], np.float32)
        assert iou_matrix(one, many)[0] == pytest.approx([1, 1 / 3, 0, 0])

    @given(boxes_strategy)
    @settings(max_examples=40, deadline=None)
    def test_is_symmetric_between_0_and_1(self, found: Detections) -> None:
        matrix = iou_matrix(found.boxes, found.boxes)
        assert np.allclose(matrix, matrix.T)
        assert ((matrix >= 0) & (matrix <= 1 + 1e-5)).all()


class TestLetterbox:
    @given(st.integers(1, 6000), st.integers(1, 6000))
    @settings(max_examples=60, deadline=None)
    def test_fits_into_multiples_of_32_and_keeps_the_shape(self, width: int, height: int) -> None:
        plan = letterbox(width, height)
        assert max(plan.inner) <= 640
        assert all(side % 32 == 0 for side in plan.outer)
        assert all(0 <= o - i < 32 for o, i in zip(plan.outer, plan.inner, strict=True))
        assert plan.inner[0] == pytest.approx(width * plan.scale, abs=1)

    @pytest.mark.parametrize(
        ("size", "scale"),
        [((1280, 400), 0.5), ((160, 30), 4.0), ((200, 180), 2.0), ((96, 96), 3.0)],
        ids=["a frame", "a row far away", "a few tiles", "one tile"],
    )
    def test_a_picture_of_one_tile_is_not_blown_up_to_the_full_size(
        self, size: tuple[int, int], scale: float
    ) -> None:
        assert letterbox(*size).scale == scale

    def test_an_empty_picture_is_refused(self) -> None:
        with pytest.raises(ShapeError):
            letterbox(0, 5)


class TestDecode:
    def test_boxes_come_back_in_pixels_of_the_original(self) -> None:
        maps = blank()
        put(maps, 3, 5, 3)
        found = decode(maps, 0.5, (200, 160))
        assert found.boxes[0] == pytest.approx([3.5 * 16, 1.5 * 16, 7.5 * 16, 5.5 * 16])

    def test_boxes_are_clipped_to_the_picture(self) -> None:
        maps = blank()
        put(maps, 0, 0, 3, 3)
        assert decode(maps, 1.0, (20, 16)).boxes.tolist() == [[0, 0, 20, 16]]

    def test_a_box_in_the_padding_is_dropped(self) -> None:
        maps = blank()
        put(maps, 8, 10, 3, 1)
        assert len(decode(maps, 1.0, (40, 40))) == 0

    def test_weak_boxes_are_kept_for_the_caller_to_use(self) -> None:
        maps = blank()
        put(maps, 3, 5, -1.5)
        assert len(decode(maps, 1.0, (96, 80))) == 1


class TestChoose:
    scores = np.asarray([0.2, 0.9, 0.5, 0.05], np.float32)

    @pytest.mark.parametrize(
        ("expect", "chosen"),
        [(None, [1, 2]), (1, [1]), (3, [1, 2, 0]), (9, [1, 2, 0, 3]), (0, [])],
        ids=["by threshold", "fewer", "topped up", "all there are", "none"],
    )
    def test_by_threshold_or_by_number(self, expect: int | None, chosen: list[int]) -> None:
        assert choose(self.scores, 0.35, expect).tolist() == chosen

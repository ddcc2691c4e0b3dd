"""Teaching by markers and taps on rendered frames: right to millimetres, or one sentence why not."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vision.calibration.edge import find_markers, preview
from vision.calibration.layout import CLOTH, cloth_corners, marker_corners
from vision.calibration.refusals import REFUSALS, TeachError
from vision.calibration.service import teach
from vision.calibration.solve import Height
from vision.calibration.teach import View, from_markers, from_taps
from vision.geometry import Calibration, Pinhole, default_calibration, look_at, map_points, pinhole_of
from vision.lens import Lens
from vision.planes import Matrix
from vision.readings import Image
from vision.render import Scene, render
from vision.render.markers import lay_markers
from vision.table import TILE_DEPTH, ZONES, zone_corners
from vision.walls import stack_zone

SIZE = (1280, 960)
SIZES = [(1280, 720), (1600, 1200), (3840, 2160)]


@lru_cache(maxsize=2)
def table(size: tuple[int, int] = SIZE) -> tuple[Image, Pinhole]:
    """A rendered empty table and the camera that sees it."""
    calibration = default_calibration(size)
    return render(Scene(light_seed=2), calibration), pinhole_of(calibration)


def seen_corners(camera: Pinhole, points: Matrix) -> Matrix:
    return camera.project(np.concatenate([points, np.zeros((len(points), 1))], axis=1))


def ideal(
    camera: Pinhole, numbers: Mapping[int, float] | range = range(4), cloth: float = CLOTH
) -> dict[int, Matrix]:
    """Markers exactly where they should be, without a picture."""
    return {marker: seen_corners(camera, marker_corners(marker, cloth)) for marker in numbers}


def zone_error(
    calibration: Calibration, camera: Pinhole, lens: Lens | None = None, share: float = 1.0
) -> float:
    """Largest distance in millimetres of a zone's corner from where it should be, as high as tiles are."""
    back = np.linalg.inv(camera.plane(TILE_DEPTH))
    far = []
    for name in ZONES:
        quad = np.asarray(calibration.zones[name].quad)
        quad = quad if lens is None else lens.straight(quad)
        far.append(np.linalg.norm(map_points(back, quad) - share * zone_corners(name), axis=1).max())
    return float(max(far))


def camera_at(height: float, size: tuple[int, int], y: float = -200.0) -> Pinhole:
    """A camera over the table that just sees all of it."""
    focal = 3.0 * size[1]
    while True:
        camera = look_at(np.asarray([10.0, y, height]), np.asarray([5.0, -5.0, 0.0]), focal, size)
        seen = seen_corners(camera, 1.02 * cloth_corners())
        if (seen > 5).all() and (seen < np.asarray(size) - 5).all():
            return camera
        focal *= 0.98


class TestMarkers:
    def test_zones_of_a_rendered_table_are_right_to_a_millimetre(self) -> None:
        frame, camera = table()
        marked = lay_markers(frame, camera, moved={k: (0.0, 0.0, 90.0 * k + 2) for k in range(4)})
        found = from_markers(find_markers(marked), View(SIZE))
        assert zone_error(found.calibration, camera) < 1.0
        assert found.height_mm == pytest.approx(1250, abs=25)
        assert found.error_mm < 2

    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize("height", [600.0, 750.0, 900.0])
    def test_any_height_and_resolution_will_do(self, height: float, size: tuple[int, int]) -> None:
        camera = camera_at(height, size)
        rng = np.random.default_rng(5)
        markers = {k: c + rng.normal(0, 0.3, (4, 2)) for k, c in ideal(camera).items()}
        found = from_markers(markers, View(size))
        assert zone_error(found.calibration, camera) < 1.5
        finest = max(found.calibration.scale.values())
        assert found.calibration.zones["0"].size[0] >= min(0.95 * 568 * finest, 2500)
        assert found.calibration.zones["0"].size[0] >= 1280

    @pytest.mark.parametrize("height", [600.0, 900.0])
    def test_a_measured_height_helps_a_camera_that_looks_straight_down(self, height: float) -> None:
        camera = camera_at(height, (1600, 1200), y=-5.001)
        markers = ideal(camera)
        guessed = from_markers(markers, View((1600, 1200)))
        told = from_markers(markers, View((1600, 1200), height=Height.measured(height + 10)))
        assert zone_error(told.calibration, camera) < 1.0
        assert zone_error(guessed.calibration, camera) < 5.5

    @given(st.permutations(range(8)), st.integers(0, 3))
    @settings(max_examples=15)
    def test_any_four_markers_around_the_table_will_do(self, order: list[int], turn: int) -> None:
        _, camera = table()
        chosen = sorted(order[:5])
        markers = {k: np.roll(c, turn, axis=0) for k, c in ideal(camera, dict.fromkeys(chosen, 0.0)).items()}
        try:
            found = from_markers(markers, View(SIZE))
        except TeachError:  # all near one corner: they do not go around the table
            return
        assert zone_error(found.calibration, camera) < 0.5

    def test_another_cloth_is_scaled_to(self) -> None:
        _, camera = table()
        found = from_markers(ideal(camera, cloth=880.0), View(SIZE, cloth=880.0))
        assert zone_error(found.calibration, camera, share=880 / CLOTH) < 0.5
        assert found.calibration.taught is not None
        assert found.calibration.taught.cloth_mm == 880

    def test_a_frame_without_markers_names_all_that_are_missing(self) -> None:
        frame, _ = table()
        with pytest.raises(TeachError, match="0, 1, 2, 3") as caught:
            from_markers(find_markers(frame), View(SIZE))
        assert caught.value.code == "calibrate.few_markers"

    def test_three_markers_are_too_few_and_the_fourth_is_named(self) -> None:
        frame, camera = table()
        with pytest.raises(TeachError, match=r"Only 3 .*\(0, 1, 3\).*lay 2 into") as caught:
            from_markers(find_markers(lay_markers(frame, camera, (0, 1, 3))), View(SIZE))
        assert caught.value.params["missing"] == "2"

    def test_a_marker_off_its_corner_is_named_with_its_distance(self) -> None:
        frame, camera = table()
        marked = lay_markers(frame, camera, moved={2: (-20.0, -9.0, 0.0)})
        with pytest.raises(TeachError, match=r"Card 2 lies 2[0-4] mm off"):
            from_markers(find_markers(marked), View(SIZE))

    def test_two_swapped_markers_are_named(self) -> None:
        frame, camera = table()
        marked = lay_markers(frame, camera, as_number={1: 2, 2: 1})
        with pytest.raises(TeachError, match="cards 1 and 2 lie in each other's place"):
            from_markers(find_markers(marked), View(SIZE))

    def test_markers_laid_clockwise_are_told_apart_from_swapped_ones(self) -> None:
        _, camera = table()
        right = ideal(camera)
        with pytest.raises(TeachError) as caught:
            from_markers({0: right[0], 1: right[3], 2: right[2], 3: right[1]}, View(SIZE))
        assert caught.value.code == "calibrate.wrong_way"

    def test_a_mirrored_picture_is_told(self) -> None:
        frame, camera = table()
        with pytest.raises(TeachError, match="mirrored"):
            find_markers(np.ascontiguousarray(lay_markers(frame, camera)[:, ::-1]))

    def test_a_wrong_print_scale_is_told_with_its_size(self) -> None:
        frame, camera = table()
        with pytest.raises(TeachError, match=r"measure 9[3-4] %") as caught:
            from_markers(find_markers(lay_markers(frame, camera, share=0.94)), View(SIZE))
        assert caught.value.code == "calibrate.print_scale"

    def test_right_markers_on_a_smaller_cloth_give_its_side(self) -> None:
        _, camera = table()
        with pytest.raises(TeachError) as caught:
            from_markers(ideal(camera, cloth=880.0), View(SIZE))
        assert int(caught.value.params["real"]) == pytest.approx(880, abs=4)

    def test_a_table_half_out_of_view_names_the_zone(self) -> None:
        _, camera = table()
        markers = {k: c + np.asarray([0.0, 160.0]) for k, c in ideal(camera).items()}
        with pytest.raises(TeachError, match="zone of place 0 is not wholly"):
            from_markers(markers, View(SIZE, height=Height.measured(1250)))

    def test_a_cloth_of_another_piece_of_furniture_is_refused(self) -> None:
        with pytest.raises(TeachError, match="2000 mm is not possible"):
            View(SIZE, cloth=2000)


class TestTaps:
    def test_four_taps_are_enough(self) -> None:
        _, camera = table()
        taps = seen_corners(camera, cloth_corners())
        assert zone_error(from_taps(taps, View(SIZE)).calibration, camera) < 2
        shaky = taps + np.random.default_rng(3).uniform(-2, 2, (4, 2))
        assert zone_error(from_taps(shaky, View(SIZE)).calibration, camera) < 8

    @pytest.mark.parametrize("order", [(0, 3, 2, 1), (0, 2, 1, 3), (1, 1, 2, 3)])
    def test_a_bad_order_is_refused(self, order: tuple[int, ...]) -> None:
        _, camera = table()
        with pytest.raises(TeachError, match="do not go around the table"):
            from_taps(seen_corners(camera, cloth_corners())[list(order)], View(SIZE))

    @pytest.mark.parametrize(
        ("taps", "code"),
        [
            ([[1, 2]], "taps_count"),
            ([[0, 900], [5000, 900], [900, 10], [10, 10]], "taps_outside"),
            ([[100, 900], [1200, 500], [1190, 10], [1100, 5]], "taps_no_table"),
        ],
    )
    def test_what_cannot_be_a_cloth_is_refused(self, taps: list[list[float]], code: str) -> None:
        with pytest.raises(TeachError) as caught:
            from_taps(np.asarray(taps, np.float64), View(SIZE))
        assert caught.value.code in (f"calibrate.{code}", "calibrate.no_camera", "calibrate.place_out")


class TestLens:
    LENS = Lens((1150.0, 1152.0), (632.0, 486.0), (-0.12, 0.03, 0.0005, -0.0004, 0.0))

    def bent(self, picture: Image) -> Image:
        """The picture as a bending lens shows it: a straight one with the same matrix goes in."""
        height, width = picture.shape[:2]
        x, y = np.meshgrid(np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64))
        spots = self.LENS.straight(np.stack([x.ravel(), y.ravel()], axis=1)).astype(np.float32)
        across, down = spots.T.reshape(2, height, width)
        return np.asarray(cv2.remap(picture, across, down, cv2.INTER_LINEAR), np.uint8)

    @given(st.lists(st.tuples(st.floats(0, 1280), st.floats(0, 960)), min_size=1, max_size=9))
    @settings(max_examples=30)
    def test_bending_undoes_straightening(self, points: list[tuple[float, float]]) -> None:
        there = np.asarray(points, np.float64)
        assert self.LENS.bent(self.LENS.straight(there)) == pytest.approx(there, abs=0.06)

    def test_zones_are_right_through_a_bending_lens(self) -> None:
        frame, camera = table()
        lens = self.LENS
        # The straight picture has the lens's matrix: move the rendered one there.
        inner = np.asarray([[1152.0, 0, 640], [0, 1152.0, 480], [0, 0, 1]])
        wanted = np.asarray(
            [[lens.focal[0], 0, lens.middle[0]], [0, lens.focal[1], lens.middle[1]], [0, 0, 1]]
        )
        shift = wanted @ np.linalg.inv(inner)
        straight = cv2.warpPerspective(
            lay_markers(frame, camera), shift, SIZE, borderMode=cv2.BORDER_REPLICATE
        )
        moved = Pinhole(shift @ camera.matrix, camera.position)
        bent = self.bent(np.asarray(straight, np.uint8))
        found = from_markers(find_markers(bent), View(SIZE, lens=lens))
        assert zone_error(found.calibration, moved, lens) < 1.2
        # Straight lines of the table come out straight, and the frame's boxes lie where the tiles are.
        view = found.calibration.rectify(bent, 0)
        flat = found.calibration.zones["0"]
        plain = Calibration(
            SIZE, {"0": type(flat)(tuple(map(tuple, lens.straight(np.asarray(flat.quad)))), flat.size)}
        )
        direct = plain.rectify(np.asarray(straight, np.uint8), 0)
        assert np.abs(view.image.astype(int) - direct.image.astype(int)).mean() < 3
        corners = view.quad_in_frame((0, 0, *map(float, flat.size)))
        assert np.asarray(corners) == pytest.approx(np.asarray(flat.quad), abs=0.2)

    def test_a_stack_of_a_wall_is_looked_at_through_the_lens_too(self) -> None:
        _, camera = table()
        plain = from_markers(ideal(camera), View(SIZE)).calibration
        lens = Lens((1152.0, 1152.0), (640.0, 480.0), (-0.08, 0.02, 0, 0, 0))
        bent = from_markers(
            {k: lens.bent(c) for k, c in ideal(camera).items()}, View(SIZE, lens=lens)
        ).calibration
        wanted, seen = stack_zone(plain, 1, 3), stack_zone(bent, 1, 3)
        assert seen.lens == lens
        assert lens.straight(np.asarray(seen.quad)) == pytest.approx(np.asarray(wanted.quad), abs=0.6)
        assert pinhole_of(bent).project(np.zeros((1, 3))) == pytest.approx(
            camera.project(np.zeros((1, 3))), abs=0.6
        )

    def test_an_unknown_strong_lens_is_recognized_as_the_culprit(self) -> None:
        _, camera = table()
        strong = Lens((700.0, 700.0), (640.0, 480.0), (-0.25, 0.06, 0, 0, 0))
        markers = {k: strong.bent(c) for k, c in ideal(camera, dict.fromkeys(range(8), 0.0)).items()}
        with pytest.raises(TeachError) as caught:
            from_markers(markers, View(SIZE))
        assert caught.value.code in ("calibrate.no_fit", "calibrate.print_scale")

    def test_the_wrong_lens_is_refused_in_words(self) -> None:
        with pytest.raises(Exception, match="cannot be undone"):
            Lens((600.0, 600.0), (640.0, 480.0), (-0.9, 0, 0, 0, 0)).straight(np.asarray([[0.0, 0.0]]))


def test_teaching_gives_a_complete_file() -> None:
    frame, camera = table()
    lesson = teach(lay_markers(frame, camera), View(SIZE), None, at="2026-01-02T03:04:05+00:00", version="1")
    assert lesson.watched
    data = lesson.calibration.to_json()
    assert Calibration.from_json(data) == lesson.calibration
    assert data["taught"]["how"] == "markers"
    assert set(data["scale"]) == set(ZONES)
    shown = preview(frame, lesson.calibration)
    assert shown.shape == frame.shape
    assert (shown != frame).any()


def test_every_refusal_says_what_to_do() -> None:
    for code, sentence in REFUSALS.items():
        assert code.startswith("calibrate.")
        assert ": " in sentence

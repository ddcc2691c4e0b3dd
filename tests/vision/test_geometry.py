import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from vision.errors import CalibrationError, ShapeError
from vision.geometry import (
    Calibration,
    Zone,
    default_calibration,
    default_pinhole,
    homography,
    look_at,
    map_points,
    pinhole_of,
    whole_picture,
)
from vision.readings import Reading, TileReading
from vision.table import TILE_DEPTH, ZONES, from_place, zone_corners

SQUARE = ((10.0, 10.0), (90.0, 10.0), (90.0, 60.0), (10.0, 60.0))


def one_zone(quad: tuple[tuple[float, float], ...] = SQUARE) -> Calibration:
    return Calibration((100, 80), {"0": Zone(quad, (160, 100))})  # type: ignore[arg-type]


corner = st.floats(-12, 12)
quads = st.lists(corner, min_size=8, max_size=8).map(
    lambda d: np.asarray([[20, 20], [180, 20], [180, 120], [20, 120]]) + np.reshape(d, (4, 2))
)


@given(quads, st.lists(st.tuples(st.floats(0, 100), st.floats(0, 60)), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_points_survive_the_way_there_and_back(quad: np.ndarray, points: list[tuple[float, float]]) -> None:
    straight = np.asarray([[0, 0], [100, 0], [100, 60], [0, 60]], np.float64)
    matrix = homography(quad, straight)
    spots = np.asarray(points)
    back = map_points(np.linalg.inv(matrix), spots)
    assert map_points(matrix, back) == pytest.approx(spots, abs=1e-6)
    assert map_points(matrix, quad) == pytest.approx(straight, abs=1e-4)


def test_corners_on_one_line_are_refused() -> None:
    line = np.asarray([[0, 0], [1, 1], [2, 2], [3, 3]], np.float64)
    with pytest.raises(CalibrationError, match="one line"):
        homography(line, np.asarray([[0, 0], [1, 0], [1, 1], [0, 1]], np.float64))


class TestPlaces:
    def test_places_run_counter_clockwise_from_the_near_side(self) -> None:
        near = np.asarray([0.0, -400.0])
        spots = [from_place(place, near).tolist() for place in range(4)]
        assert spots == [[0, -400], [400, 0], [0, 400], [-400, 0]]

    def test_a_players_right_hand_is_on_his_right(self) -> None:
        hand = np.asarray([100.0, -400.0])
        assert from_place(1, hand).tolist() == [400, 100]
        assert from_place(2, hand).tolist() == [-100, 400]
        assert from_place(3, hand).tolist() == [-400, -100]


class TestRectify:
    def test_a_zone_fills_its_picture_upright_for_its_player(self) -> None:
        frame = np.zeros((80, 100, 3), np.uint8)
        frame[10:60, 10:90] = 50
        frame[10:35, 10:50] = 200
        view = one_zone().rectify(frame, 0)
        assert view.image.shape == (100, 160, 3)
        assert view.image[20, 30].tolist() == [200, 200, 200]
        assert view.image[80, 130].tolist() == [50, 50, 50]

    def test_a_turned_zone_is_turned_upright(self) -> None:
        frame = np.zeros((80, 100, 3), np.uint8)
        frame[10:60, 70:90] = 200
        turned = one_zone(((90.0, 10.0), (90.0, 60.0), (10.0, 60.0), (10.0, 10.0)))
        view = turned.rectify(frame, 0)
        assert view.image[5, 80].max() == 200
        assert view.image[95, 80].max() == 0

    @given(st.floats(0, 80), st.floats(0, 50), st.floats(4, 60), st.floats(4, 40))
    @settings(max_examples=40, deadline=None)
    def test_boxes_map_back_into_the_zone(self, x: float, y: float, w: float, h: float) -> None:
        view = one_zone().rectify(np.zeros((80, 100, 3), np.uint8), 0)
        x0, y0, x1, y1 = view.box_in_frame((x, y, x + w, y + h))
        assert (x0, y0) == pytest.approx((10 + x / 2, 10 + y / 2), abs=0.02)
        assert (x1 - x0, y1 - y0) == pytest.approx((w / 2, h / 2), abs=0.02)

    def test_a_reading_moves_into_the_frame(self) -> None:
        view = one_zone().rectify(np.zeros((80, 100, 3), np.uint8), 0)
        tile = TileReading("1m", 0.9, (0.0, 0.0, 20.0, 30.0), (("1m", 0.9),), 0)
        reading = Reading((tile,), ((0,),), ((0,),), True, (), 1.0, (160, 100))
        moved = view.reading_in_frame(reading, (100, 80))
        assert moved.size == (100, 80)
        assert moved.tiles[0].box == pytest.approx((10, 10, 20, 25), abs=0.02)

    def test_a_frame_of_twice_the_resolution_is_read_the_same(self) -> None:
        view = one_zone().rectify(np.zeros((160, 200, 3), np.uint8), 0)
        assert view.box_in_frame((0, 0, 160, 100)) == pytest.approx((20, 20, 180, 120), abs=0.05)

    def test_a_frame_of_another_shape_is_refused(self) -> None:
        with pytest.raises(CalibrationError, match="100 x 100 pictures but was taught with 100 x 80"):
            one_zone().rectify(np.zeros((100, 100, 3), np.uint8), 0)

    def test_a_zone_that_was_not_taught_is_refused(self) -> None:
        with pytest.raises(CalibrationError, match="zone 3 was not taught"):
            one_zone().rectify(np.zeros((80, 100, 3), np.uint8), 3)

    def test_a_zone_that_no_table_has_is_refused_with_those_there_are(self) -> None:
        with pytest.raises(CalibrationError, match="no zone 7: name one of 0, 1, 2, 3, indicator"):
            one_zone().rectify(np.zeros((80, 100, 3), np.uint8), 7)

    def test_something_else_than_a_picture_is_refused(self) -> None:
        with pytest.raises(ShapeError):
            one_zone().rectify(np.zeros((80, 100), np.uint8), 0)


class TestFile:
    def test_survives_saving_and_loading(self, tmp_path: Path) -> None:
        before = default_calibration()
        before.save(tmp_path / "c.json")
        assert Calibration.load(tmp_path / "c.json") == before
        assert [f.name for f in tmp_path.iterdir()] == ["c.json"]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"format": 9}, "format 1"),
            ({"image": None}, "usable value"),
            ({"image": [100]}, "usable value"),
            ({"image": [0, 80]}, "not possible"),
            ({"zones": {"9": {"quad": SQUARE, "size": [9, 9]}}}, "no zone '9'"),
            ({"zones": {"0": {"quad": SQUARE[:3], "size": [9, 9]}}}, "usable value"),
            ({"zones": {"0": {"quad": SQUARE[::-1], "size": [9, 9]}}}, "clockwise"),
            ({"zones": {"0": {"quad": [[0, 0], [200, 0], [200, 9], [0, 9]], "size": [9, 9]}}}, "outside"),
            ({"zones": {"0": {"quad": SQUARE, "size": [0, 9]}}}, "not possible"),
            ({"zones": []}, "usable value"),
        ],
    )
    def test_what_is_wrong_is_said_in_plain_words(
        self, change: dict[str, object], message: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "c.json"
        path.write_text(json.dumps({**one_zone().to_json(), **change}))
        with pytest.raises(CalibrationError, match=message) as caught:
            Calibration.load(path)
        said = str(caught.value).removeprefix(f"{path}: ")
        assert said != str(caught.value), "the file is named"
        assert ": " in said, "the message says what to do"

    @pytest.mark.parametrize("text", ["", "[]", "not json", "3"])
    def test_another_file_is_refused(self, text: str, tmp_path: Path) -> None:
        path = tmp_path / "c.json"
        path.write_text(text)
        with pytest.raises(CalibrationError, match=r"name another|give another") as caught:
            Calibration.load(path)
        assert str(path) in str(caught.value)

    def test_a_missing_file_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(CalibrationError, match="cannot be read"):
            Calibration.load(tmp_path / "none.json")


class TestPinhole:
    @given(
        st.tuples(st.floats(-150, 150), st.floats(-500, 100), st.floats(900, 1700)),
        st.floats(0.9, 1.25),
    )
    @settings(max_examples=30, deadline=None)
    def test_the_camera_is_found_again_from_what_it_sees(
        self, position: tuple[float, float, float], zoom: float
    ) -> None:
        spot = np.asarray(position)
        assume(np.hypot(spot[0], spot[1]) > 120)
        size = (1600, 1200)
        camera = look_at(spot, np.asarray([0.0, 0.0, 0.0]), zoom * 0.8 * spot[2], size)
        zones = {}
        for name in ZONES:
            flat = np.concatenate([zone_corners(name), np.full((4, 1), TILE_DEPTH)], axis=1)
            a, b, c, d = map(tuple, camera.project(flat).tolist())
            zones[name] = Zone((a, b, c, d), (64, 64))
        corners = np.asarray([z.quad for z in zones.values()])
        assume((corners > 0).all() and (corners < size).all())
        found = pinhole_of(Calibration(size, zones))
        things = np.asarray([[0, 0, 0], [200, -100, 60], [-400, 300, 22]], np.float64)
        assert found.project(things) == pytest.approx(camera.project(things), abs=0.5)

    def test_a_camera_straight_above_still_gives_a_picture(self) -> None:
        zones = {}
        for name in ZONES:
            a, b, c, d = ((600 + x, 600 - y) for x, y in zone_corners(name).tolist())
            zones[name] = Zone((a, b, c, d), (64, 64))
        found = pinhole_of(Calibration((1200, 1200), zones))
        assert found.project(np.asarray([[0, 0, TILE_DEPTH]])) == pytest.approx(
            np.asarray([[600, 600]]), abs=1
        )

    def test_without_zones_there_is_no_camera(self) -> None:
        with pytest.raises(CalibrationError, match="No zone"):
            pinhole_of(Calibration((100, 100), {}))

    def test_the_plane_of_the_cloth_agrees_with_the_projection(self) -> None:
        camera = default_pinhole()
        spots = np.asarray([[0, 0], [300, -200], [-100, 400]], np.float64)
        flat = np.concatenate([spots, np.full((3, 1), 22.0)], axis=1)
        assert map_points(camera.plane(22.0), spots) == pytest.approx(camera.project(flat))


def test_the_zones_of_the_default_table_lie_apart_inside_the_picture() -> None:
    calibration = default_calibration()
    assert set(calibration.zones) == set(ZONES)
    boxes = {name: np.asarray(zone.quad) for name, zone in calibration.zones.items()}
    assert boxes["0"][:, 1].min() > boxes["2"][:, 1].max()
    assert boxes["1"][:, 0].min() > boxes["3"][:, 0].max()


def test_a_photograph_of_one_hand_is_every_zone_at_once() -> None:
    frame = np.random.default_rng(1).integers(0, 255, (60, 80, 3), np.uint8)
    calibration = whole_picture((80, 60))
    for zone in ZONES:
        view = calibration.rectify(frame, zone)
        assert np.array_equal(view.image, frame)
        assert view.box_in_frame((1, 2, 30, 40)) == pytest.approx((1, 2, 30, 40), abs=0.01)

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vision.errors import SceneError
from vision.geometry import default_calibration, map_points
from vision.render import LaidHand, Look, Scene, render, tile_quads
from vision.render.atlas import KINDS, face
from vision.render.laying import place_tiles
from vision.table import PLACE_ZONE

SMALL = default_calibration((800, 600))
HAND = LaidHand((("5p",) * 3, ("back", "3s", "3s", "back")), ("1m", "2m", "3m", "7s"), "7s")

hands = st.builds(
    LaidHand,
    st.lists(st.sampled_from([("1m", "2m", "3m"), ("5z",) * 4]), max_size=4).map(tuple),
    st.lists(st.sampled_from(KINDS[:34]), min_size=1, max_size=13).map(tuple),
    st.none() | st.sampled_from(KINDS[:34]),
)
scenes = st.builds(
    Scene,
    st.none() | st.sampled_from(KINDS),
    st.dictionaries(st.integers(0, 3), hands, max_size=4),
    st.tuples(*[st.integers(0, 17)] * 4),
    st.integers(0, 2**40),
)


class TestScene:
    @given(scenes)
    @settings(max_examples=50, deadline=None)
    def test_survives_json(self, scene: Scene) -> None:
        assert Scene.from_json(json.loads(json.dumps(scene.to_json()))) == scene

    def test_survives_a_file(self, tmp_path: Path) -> None:
        scene = Scene("back", {2: HAND}, (17, 0, 3, 9), 5)
        scene.save(tmp_path / "s.json")
        assert Scene.load(tmp_path / "s.json") == scene
        assert [f.name for f in tmp_path.iterdir()] == ["s.json"]

    def test_almost_everything_may_be_left_out(self) -> None:
        assert Scene.from_json({}) == Scene()
        assert Scene.from_json({"hands": {"1": {}}}).hands[1] == LaidHand()

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            ({"indicator": "0m"}, "no tile '0m'"),
            ({"hands": {"7": {}}}, "Places are"),
            ({"hands": {"x": {}}}, "not laid out"),
            ({"hands": []}, "not laid out"),
            ({"hands": {"1": {"concealed": ["?"]}}}, r"no tile '\?'"),
            ({"walls": [1, 2]}, "Walls are"),
            ({"walls": [1, 2, 3, 99]}, "Walls are"),
            ([], "not laid out"),
        ],
    )
    def test_an_impossible_scene_is_refused_in_plain_words(self, data: object, message: str) -> None:
        with pytest.raises(SceneError, match=message):
            Scene.from_json(data)

    def test_reading_order_is_melds_concealed_winning_tile(self) -> None:
        assert HAND.kinds == ("5p",) * 3 + ("back", "3s", "3s", "back", "1m", "2m", "3m", "7s", "7s")


class TestLaying:
    @given(scenes)
    @settings(max_examples=40, deadline=None)
    def test_every_tile_is_laid_inside_the_zone_of_its_place(self, scene: Scene) -> None:
        for place, hand in scene.hands.items():
            tiles = place_tiles(Scene(None, {place: hand}, light_seed=scene.light_seed))
            assert [tile.kind for tile in tiles] == list(hand.kinds)
            left, near, right, far = PLACE_ZONE
            for tile in tiles:
                x, y = ((tile.x, tile.y), (tile.y, -tile.x), (-tile.x, -tile.y), (-tile.y, tile.x))[place]
                assert left + 14 < x < right - 14
                assert near + 19 < y < far - 19

    def test_the_same_scene_always_lies_the_same(self) -> None:
        scene = Scene("1p", {0: HAND}, (17, 0, 0, 0), 3)
        assert place_tiles(scene) == place_tiles(Scene.from_json(scene.to_json()))
        assert place_tiles(scene) != place_tiles(Scene("1p", {0: HAND}, (17, 0, 0, 0), 4))

    def test_the_winning_tile_lies_at_least_six_tenths_of_a_tile_apart(self) -> None:
        for seed in range(20):
            tiles = place_tiles(Scene(None, {0: HAND}, light_seed=seed))
            assert tiles[-1].x - tiles[-2].x > 30 * 1.6

    def test_a_hand_that_is_too_long_is_refused(self) -> None:
        with pytest.raises(SceneError, match="too long"):
            place_tiles(Scene(None, {0: LaidHand(concealed=("1m",) * 20)}))


class TestAtlas:
    @pytest.mark.parametrize("kind", KINDS)
    def test_every_kind_has_its_own_picture(self, kind: str) -> None:
        mine = face(kind, 48)
        assert mine.shape == (64, 48, 3)
        assert all(not np.array_equal(mine, face(other, 48)) for other in KINDS if other != kind)

    def test_an_unknown_tile_has_no_picture(self) -> None:
        with pytest.raises(SceneError):
            face("?", 48)

    def test_the_pictures_stay_small(self) -> None:
        from vision.render.atlas import ATLAS_FILE

        assert ATLAS_FILE.stat().st_size < 500_000


class TestRender:
    def test_the_same_seeds_give_the_same_bytes(self) -> None:
        scene = Scene("1p", {0: HAND, 2: HAND}, (17, 5, 0, 0), 3)
        assert np.array_equal(render(scene, SMALL, 1), render(scene, SMALL, 1))
        assert not np.array_equal(render(scene, SMALL, 1), render(scene, SMALL, 2))

    def test_the_frame_has_the_size_of_the_calibration(self) -> None:
        frame = render(Scene(), SMALL)
        assert frame.shape == (600, 800, 3)
        assert frame.dtype == np.uint8

    @pytest.mark.parametrize("place", range(4))
    def test_tiles_show_in_the_zone_of_their_place_only(self, place: int) -> None:
        empty, full = render(Scene(), SMALL), render(Scene(None, {place: HAND}), SMALL)
        changed = [
            float(
                np.abs(
                    SMALL.rectify(full, zone).image.astype(int) - SMALL.rectify(empty, zone).image.astype(int)
                ).mean()
            )
            for zone in range(4)
        ]
        assert changed[place] > 8
        assert all(value < 3 for zone, value in enumerate(changed) if zone != place)

    def test_faces_lie_where_tile_quads_says_upright_for_their_player(self) -> None:
        scene = Scene(None, {1: LaidHand(concealed=("5z", "back", "5z"))})
        view = SMALL.rectify(render(scene, SMALL), 1)
        spots = [map_points(view.matrix, quad) for _, quad in tile_quads(scene, SMALL)]
        assert spots[0][:, 0].mean() < spots[1][:, 0].mean() < spots[2][:, 0].mean()
        for quad in spots:
            assert quad[0, 1] < quad[3, 1], "the top of the face is above its foot"
        middle = [view.image[tuple(quad.mean(axis=0)[::-1].astype(int))].mean() for quad in spots]
        assert middle[0] > middle[1] + 40, "a face is brighter than a back"

    def test_cloth_and_backs_can_have_other_colours(self) -> None:
        scene = Scene("back")
        red = render(scene, SMALL, look=Look(cloth=(20, 20, 160), back=(200, 120, 20)))
        assert red[150, 400, 2] > red[150, 400, 0]
        spot = SMALL.rectify(red, "indicator").image[60:80, 55:75].reshape(-1, 3).mean(axis=0)
        assert spot[0] > spot[2]

    def test_a_hand_that_is_too_long_is_refused(self) -> None:
        with pytest.raises(SceneError):
            render(Scene(None, {0: LaidHand(concealed=("1m",) * 20)}), SMALL)

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
from vision.table import PLACE_ZONE, TILE_DEPTH, stack_middle

SMALL = default_calibration((800, 600))
HAND = LaidHand((("5p",) * 3, ("back", "3s", "3s", "back")), ("1m", "2m", "3m", "7s"), "7s")

LARGEST = LaidHand((("5p",) * 4,) * 5, ("1m",), "1m", KINDS[34:42])
"""Five kongs and all flowers: 30 tiles, the most that Xiamen can have."""
SPREAD = LaidHand(
    (("5p", "back", "5p"), ("2m", "2m", "2m", "2m")),
    ("3m", "4m", "5m", "9p"),
    "9p",
    spread=(("1z", "2z", "3z", "4z", "1z"), ("5z", "6z", "7z"), ("1s", "1s")),
)

flowers = st.lists(st.sampled_from(KINDS[34:42]), max_size=8, unique=True).map(tuple)
spread = st.lists(st.sampled_from([("1z", "2z", "3z", "4z"), ("1s",)]), max_size=1).map(tuple)
hands = st.builds(
    LaidHand,
    st.lists(st.sampled_from([("1m", "2m", "3m"), ("5z",) * 4]), max_size=5).map(tuple),
    st.lists(st.sampled_from(KINDS[:34]), max_size=16).map(tuple),
    st.none() | st.sampled_from(KINDS[:34]),
    flowers,
    spread,
)
wall = st.integers(0, 17) | st.lists(st.integers(0, 2), max_size=17).map(tuple)
scenes = st.builds(
    Scene,
    st.none() | st.sampled_from(KINDS),
    st.dictionaries(st.integers(0, 3), hands, max_size=4),
    st.tuples(wall, wall, wall, wall),
    st.integers(0, 2**40),
    st.sampled_from([17, 18]),
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

    def test_a_turned_tile_and_long_walls_survive_json(self) -> None:
        scene = Scene("7z", {0: LARGEST, 1: SPREAD}, (18, (0, 1, 2), 0, 18), 5, 18, (3, 17))
        assert Scene.from_json(json.loads(json.dumps(scene.to_json()))) == scene

    def test_a_wall_is_a_number_of_stacks_from_the_left_end_or_the_height_of_each_from_the_right(
        self,
    ) -> None:
        scene = Scene(walls=(2, (0, 1, 2), 0, 0), stacks=4)
        assert scene.heights(0) == (0, 0, 2, 2)
        assert scene.heights(1) == (0, 1, 2, 0)

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
            ({"walls": [18, 0, 0, 0]}, "Walls are"),
            ({"walls": [[3], 0, 0, 0]}, "Walls are"),
            ({"walls": [[2] * 18, 0, 0, 0]}, "Walls are"),
            ({"stacks": 19}, "1 to 18 stacks"),
            ({"turned": [0, 5]}, "No stack stands"),
            ({"walls": [17, 0, 0, 0], "turned": [0, 18]}, "No stack stands"),
            ({"walls": [17, 0, 0, 0], "turned": [4, 1]}, "No stack stands"),
            ({"turned": [0]}, "not laid out"),
            ({"hands": {"1": {"flowers": ["9f"]}}}, "no tile '9f'"),
            ([], "not laid out"),
        ],
    )
    def test_an_impossible_scene_is_refused_in_plain_words(self, data: object, message: str) -> None:
        with pytest.raises(SceneError, match=message):
            Scene.from_json(data)

    def test_reading_order_is_melds_concealed_winning_tile(self) -> None:
        assert HAND.kinds == ("5p",) * 3 + ("back", "3s", "3s", "back", "1m", "2m", "3m", "7s", "7s")

    def test_spread_tiles_and_flowers_come_after_the_melds(self) -> None:
        hand = LaidHand((("5p",) * 3,), ("1m",), "2m", ("1f", "8f"), (("5z", "6z", "7z"),))
        assert hand.kinds == ("5p", "5p", "5p", "5z", "6z", "7z", "1f", "8f", "1m", "2m")


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

    @pytest.mark.parametrize("hand", [LARGEST, SPREAD, LaidHand(concealed=("1m",) * 16, win="2m")])
    def test_the_largest_hands_of_every_rule_set_fit(self, hand: LaidHand) -> None:
        assert len(place_tiles(Scene(None, {2: hand}))) == len(hand.kinds)

    def test_the_nearest_row_is_kept_for_concealed_tiles(self) -> None:
        open_hand, shown = LaidHand((("5p",) * 3,), ("1m",)), LaidHand((("5p",) * 3,))
        first, second = (place_tiles(Scene(None, {0: hand}))[0].y for hand in (open_hand, shown))
        assert first == pytest.approx(second, abs=5)

    def test_walls_of_eighteen_stacks_do_not_lie_in_each_other(self) -> None:
        tiles = place_tiles(Scene(walls=(18, 18, 18, 18), stacks=18))
        assert len(tiles) == 144
        low = np.asarray([[t.x, t.y, abs(np.sin(np.radians(t.turn))) > 0.7] for t in tiles if t.z == 0])
        half = np.where(low[:, 2:] > 0, [[19.0, 14.0]], [[14.0, 19.0]])
        apart = np.abs(low[:, None, :2] - low[None, :, :2]) >= half[:, None] + half[None] - 0.5
        np.fill_diagonal(apart[..., 0], val=True)
        assert apart.any(axis=2).all()

    def test_walls_leave_the_zones_free(self) -> None:
        for tile in place_tiles(Scene(walls=(18, 18, 18, 18), stacks=18)):
            assert max(abs(tile.x), abs(tile.y)) + 20 < -PLACE_ZONE[3] + 1

    def test_the_turned_tile_lies_on_its_stack_instead_of_in_the_zone_of_the_indicator(self) -> None:
        tiles = place_tiles(Scene("7z", walls=(0, (0, 2, 2), 0, 0), turned=(1, 3)))
        (turned,) = [tile for tile in tiles if tile.kind == "7z"]
        assert len(tiles) == 4
        assert turned.z == TILE_DEPTH
        assert [turned.x, turned.y] == pytest.approx(stack_middle(1, 3).tolist(), abs=2)

    def test_a_table_for_three_has_an_empty_side(self) -> None:
        scene = Scene(None, {0: HAND, 1: SPREAD, 2: HAND}, (17, 17, 17, 0))
        tiles = place_tiles(scene)
        assert min(tile.x for tile in tiles) > -300


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

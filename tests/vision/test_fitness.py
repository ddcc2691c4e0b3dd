"""Which frames are fit to be read: each disturbance is named by its code, calm frames pass."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vision.calibration.drift import empty_zone, make_reference
from vision.errors import ShapeError
from vision.fitness import (
    CODES,
    LIMITS,
    Backdrop,
    Fitness,
    Problem,
    StillWatch,
    assess,
    assess_tiles,
    drifted,
)
from vision.fitness.border import cut_tiles, tiles_beyond
from vision.fitness.channels import darkest, lightest
from vision.fitness.focus import blur, edge_sigma, edge_sigmas
from vision.fitness.hands import hands
from vision.fitness.light import glares, tile_white
from vision.fitness.motion import changed, thumb
from vision.fitness.problems import Limits
from vision.geometry import default_calibration, map_points
from vision.readings import Floats, Image
from vision.render import Arm, Bump, Glare, LaidHand, Look, Scene, Stray, Upset, render, tile_quads
from vision.render.upset import GLOVE, SKIN

TABLE = default_calibration()
TILE = 30 * 1280 / 568
HAND = LaidHand(
    melds=(("1m", "2m", "3m"), ("5z", "5z", "5z")),
    concealed=("1p", "2p", "3p", "4s", "5s", "6s", "9p"),
    win="9p",
)
SCENE = Scene(hands={0: HAND, 2: HAND}, walls=(0, 0, 17, 0), light_seed=5)


@cache
def frame(upset: Upset = Upset(), seed: int = 0, look: Look = Look()) -> Image:  # noqa: B008 (immutable)
    return render(SCENE, TABLE, seed, look, upset)


def view(upset: Upset = Upset(), zone: int = 0, seed: int = 0, look: Look = Look()) -> Image:  # noqa: B008
    return TABLE.rectify(frame(upset, seed, look), zone).image


@cache
def tiles(zone: int = 0) -> Floats:
    matrix = TABLE.zone(zone).matrix()
    quads = [map_points(matrix, quad) for _, quad in tile_quads(SCENE, TABLE)]
    boxes = [[*quad.min(axis=0), *quad.max(axis=0)] for quad in quads]
    inside = [b for b in boxes if b[0] > 0 and b[2] < 1280 and b[1] > 0 and b[3] < 388]
    return np.asarray(inside, np.float32)


def codes(upset: Upset, zone: int = 0) -> tuple[str, ...]:
    return assess_tiles(view(upset, zone), TILE, seen(upset, zone)).codes


def seen(upset: Upset, zone: int) -> Floats:
    """Tiles that no arm covers, as a detector would find them."""
    if not upset.arms:
        return tiles(zone)
    step = np.abs(view(upset, zone).astype(np.float32) - view(zone=zone)).mean(axis=2)
    bare = [step[int(y0) : int(y1), int(x0) : int(x1)].mean() < 12 for x0, y0, x1, y1 in tiles(zone)]
    return tiles(zone)[np.asarray(bare)]


class TestCalm:
    @pytest.mark.parametrize("zone", [0, 2])
    @pytest.mark.parametrize(
        "cloth", [(104, 82, 46), (60, 110, 40), (90, 90, 96)], ids=["blue", "green", "grey"]
    )
    def test_a_calm_zone_is_fit(self, zone: int, cloth: tuple[int, int, int]) -> None:
        picture = view(zone=zone, look=Look(cloth))
        assert assess(picture, TILE).problems == ()
        assert assess_tiles(picture, TILE, tiles(zone)).problems == ()

    def test_an_empty_zone_is_fit(self) -> None:
        picture = view(zone=1)
        assert assess(picture, TILE).fit
        assert assess_tiles(picture, TILE, np.zeros((0, 4), np.float32)).fit

    def test_another_array_is_refused(self) -> None:
        with pytest.raises(ShapeError):
            assess(np.zeros((4, 4), np.uint8), TILE)
        with pytest.raises(ShapeError):
            assess_tiles(np.zeros((4, 4), np.uint8), TILE, tiles())


class TestLight:
    def test_too_little_light_is_told_before_and_after_the_tiles_are_found(self) -> None:
        dark = view(Upset(gain=0.15))
        assert assess(dark, TILE).codes[:1] == ("too_dark",)
        assert "too_dark" in assess_tiles(dark, TILE, tiles()).codes

    def test_too_much_light_is_told(self) -> None:
        assert "too_bright" in codes(Upset(gain=3.0))

    def test_a_dim_room_is_fit(self) -> None:
        assert codes(Upset(gain=0.5)) == ()

    def test_a_lamp_mirrored_in_a_tile_is_told_with_its_place(self) -> None:
        x0, y0, x1, y1 = tiles()[2]
        matrix = np.linalg.inv(TABLE.zone(0).matrix())
        spot = map_points(matrix, np.asarray([[(x0 + x1) / 2, (y0 + y1) / 2]]))[0]
        world = map_points(np.linalg.inv(_plane()), spot[None])[0]
        found = assess_tiles(view(Upset(glares=(Glare(*world, 8.0),))), TILE, tiles())
        assert found.codes == ("glare",)
        box = found.problems[0].box
        assert box is not None
        assert x0 <= box[0] < box[2] <= x1 + 1
        assert found.problems[0].value > found.problems[0].limit

    def test_where_all_tiles_are_white_no_lamp_is_seen_in_them(self) -> None:
        assert "glare" not in codes(Upset(gain=1.5))

    def test_the_white_of_tiles_is_found_with_and_without_their_boxes(self) -> None:
        known, guessed = tile_white(view(), tiles()), tile_white(view(), None)
        assert known == pytest.approx(guessed, rel=0.1)


def _plane() -> np.ndarray:
    from vision.geometry import pinhole_of

    return pinhole_of(TABLE).plane(22.0)


class TestFocus:
    def test_soft_edges_are_told(self) -> None:
        assert codes(Upset(blur=4.0)) == ("blurred",)
        assert "blurred" in assess(view(Upset(blur=4.5)), TILE).codes

    def test_a_motion_along_one_direction_is_told(self) -> None:
        assert "blurred" in codes(Upset(smear=(0.0, 14.0)))

    def test_blur_is_measured_in_widths_of_a_tile(self) -> None:
        near, far = (blur(view(Upset(blur=b)), TILE, tiles()) for b in (1.5, 3.0))
        assert near is not None
        assert far is not None
        assert 1.4 < far / near < 2.4

    def test_contrast_does_not_matter(self) -> None:
        full, half = (blur(view(Upset(gain=g)), TILE, tiles()) for g in (1.0, 0.4))
        assert full == pytest.approx(half, rel=0.15)

    @given(st.integers(0, 2**32 - 1), st.integers(1, 9))
    @settings(max_examples=20, deadline=None)
    def test_many_crops_are_measured_as_each_by_itself(self, seed: int, count: int) -> None:
        rng = np.random.default_rng(seed)
        contrast = rng.uniform(0, 120, (count, 1, 1, 1))
        crops = np.clip(rng.normal(128, contrast, (count, 64, 48, 3)), 0, 255).astype(np.uint8)
        assert edge_sigmas(crops) == [edge_sigma(crop) for crop in crops]
        assert edge_sigmas(crops[:0]) == []

    def test_bare_cloth_tells_nothing(self) -> None:
        assert blur(view(zone=1), TILE, None) is None
        assert edge_sigma(np.full((64, 48, 3), 90, np.uint8)) is None


class TestHands:
    @pytest.mark.parametrize(
        "colour", [SKIN, (52, 68, 104), GLOVE, (28, 28, 30)], ids=["fair", "dark", "white", "black"]
    )
    @pytest.mark.parametrize("reach", [80.0, 160.0])
    def test_hands_of_any_colour_are_told(self, colour: tuple[int, int, int], reach: float) -> None:
        assert "hand_in_view" in codes(Upset(arms=(Arm(0, -60.0, reach, 8.0, colour, (70, 40, 40)),)))

    def test_a_bare_hand_is_told_before_the_tiles_are_found(self) -> None:
        found = assess(view(Upset(arms=(Arm(0, -60.0, 120.0),))), TILE)
        assert found.codes[0] == "hand_in_view"
        box = found.problems[0].box
        assert box is not None
        assert box[0] < 640 + (-60 + 20) * 1280 / 568 < box[2]

    def test_a_hand_at_another_place_is_not(self) -> None:
        assert codes(Upset(arms=(Arm(2, 0.0, 120.0),))) == ()

    def test_where_no_cloth_is_seen_nothing_is_said(self) -> None:
        whole = np.asarray([[0, 0, 1280, 388]], np.float32)
        assert "hand_in_view" not in assess_tiles(view(), TILE, whole).codes


BROWN = Look((50, 70, 95))


@cache
def backdrop(look: Look = Look(), zone: int = 0) -> Backdrop:  # noqa: B008 (immutable)
    """The empty zone in another light, as small as a calibration keeps it."""
    empty = render(Scene(light_seed=77), TABLE, 3, look)
    picture = empty_zone(replace(TABLE, reference=make_reference(empty, TABLE)), str(zone))
    assert picture is not None
    known = Backdrop.of(picture)
    assert known is not None
    return known


def with_rail(picture: Image, where: slice) -> Image:
    """A wooden rail along the near border of a zone's picture of any size."""
    out = picture.copy()
    out[picture.shape[0] * 6 // 10 :, where] = (90, 140, 190)
    return out


class TestTheEmptyZone:
    @pytest.mark.parametrize("gain", [1.0, 0.6, 1.15])
    @pytest.mark.parametrize("look", [Look(), BROWN], ids=["blue", "brown"])
    def test_tiles_and_their_shadows_in_another_light_are_no_hand(self, gain: float, look: Look) -> None:
        picture = view(Upset(gain=gain), look=look)
        assert assess_tiles(picture, TILE, tiles(), empty=backdrop(look)).fit

    @pytest.mark.parametrize("colour", [(84, 112, 160), (52, 66, 100), SKIN, GLOVE, (28, 28, 30)])
    def test_arms_over_cloth_of_their_own_colour_are_told(self, colour: tuple[int, int, int]) -> None:
        picture = view(Upset(arms=(Arm(0, 150.0, 140.0, 8.0, colour),)), look=BROWN)
        clear = [box for box in tiles().tolist() if not 800 < (box[0] + box[2]) / 2 < 1150]
        found = assess_tiles(picture, TILE, np.asarray(clear, np.float32), empty=backdrop(BROWN))
        assert "hand_in_view" in found.codes

    @pytest.mark.parametrize("where", [slice(0, None), slice(0, 200)], ids=["all along", "a piece"])
    def test_furniture_that_was_there_before_is_no_hand(self, where: slice) -> None:
        known = Backdrop.of(with_rail(backdrop().picture, where))
        found = hands(with_rail(view(zone=1), where), TILE, np.zeros((0, 4), np.float32), empty=known)
        assert found == []

    def test_furniture_that_was_taken_away_is_no_hand(self) -> None:
        known = Backdrop.of(with_rail(backdrop().picture, slice(0, 300)))
        assert hands(view(zone=1), TILE, np.zeros((0, 4), np.float32), empty=known) == []

    def test_a_thing_that_was_not_there_is_told(self) -> None:
        picture = with_rail(view(zone=1), slice(0, 300))
        assert hands(picture, TILE, np.zeros((0, 4), np.float32), empty=backdrop())

    def test_a_rail_all_along_a_zone_nobody_knows_is_no_hand(self) -> None:
        picture = with_rail(view(zone=1), slice(0, None))
        assert hands(picture, TILE, np.zeros((0, 4), np.float32)) == []

    def test_a_grey_picture_of_the_empty_zone_tells_nothing(self) -> None:
        assert Backdrop.of(np.full((40, 90, 3), 120, np.uint8)) is None

    def test_another_picture_altogether_tells_nothing(self) -> None:
        blocks = np.random.default_rng(1).integers(0, 255, (6, 20, 3), np.uint8)
        noise = np.ascontiguousarray(blocks.repeat(10, axis=0).repeat(10, axis=1))
        known = Backdrop(noise)
        assert known.new(np.ascontiguousarray(noise[::-1]), np.ones((60, 200), np.bool_)) is None
        assert known.new(noise, np.zeros((60, 200), np.bool_)) is None

    @settings(max_examples=20, deadline=None)
    @given(st.floats(0.5, 1.3), st.floats(0.9, 1.1), st.floats(-0.2, 0.2))
    def test_what_is_there_stays_known_in_any_light(self, gain: float, blue: float, slope: float) -> None:
        then = np.full((70, 220, 3), (80, 110, 60), np.float32)
        then[40:, :60] = (60, 90, 120)
        light = gain * (1 + slope * np.linspace(-1, 1, 220))[None, :, None] * np.asarray([blue, 1.0, 1.0])
        now = np.asarray(np.clip(then * light, 0, 255), np.uint8)
        new = Backdrop(then.astype(np.uint8)).new(now, np.ones((70, 220), np.bool_))
        assert new is not None
        assert not new.any()


class TestBorder:
    def test_a_tile_across_the_near_border_is_told_with_its_box(self) -> None:
        box = (400.0, 330.0, 468.0, 388.0)
        found = cut_tiles(np.asarray([box, (10.0, 100.0, 78.0, 190.0)], np.float32), (1280, 388), TILE)
        assert [problem.box for problem in found] == [box]

    def test_the_far_border_belongs_to_the_walls(self) -> None:
        assert cut_tiles(np.asarray([[400, 0, 468, 60]], np.float32), (1280, 388), TILE) == []

    def test_a_tile_beside_the_zone_is_told(self) -> None:
        strips = _strips(frame(Upset(strays=(Stray("9p", 312.0, -400.0, 20.0),))))
        found = tiles_beyond(strips, TILE, 200.0)
        assert [problem.code for problem in found] == ["outside_zone"]
        assert tiles_beyond(_strips(frame()), TILE, 200.0) == []


def _strips(picture: Image) -> Sequence[Image]:
    import cv2

    matrix = TABLE.zone(0).matrix()
    right, left = np.eye(3), np.eye(3)
    right[0, 2], left[0, 2] = -1280, 88
    return [np.asarray(cv2.warpPerspective(picture, m @ matrix, (88, 388)), np.uint8) for m in (left, right)]


@dataclass(frozen=True)
class FakeDrift:
    moved: bool
    pixels: float = 7.0


class TestDrift:
    def test_a_camera_that_moved_comes_first_of_all(self) -> None:
        found = assess(view(Upset(arms=(Arm(0, -60.0, 120.0),))), TILE, drift=FakeDrift(True))
        assert found.codes[:2] == ("camera_moved", "hand_in_view")
        assert found.problems[0].value == 7.0

    def test_a_camera_in_its_place_is_no_problem(self) -> None:
        assert drifted(FakeDrift(False)) == []
        assert drifted(None) == []


class TestMotion:
    def test_two_frames_of_a_table_at_rest_are_still_whatever_the_light_does(self) -> None:
        watch = StillWatch(TILE)
        assert watch.look(view(), 1.0) == []
        assert not watch.still
        assert watch.look(view(Upset(gain=0.92), seed=1), 1.1) == []
        assert watch.still

    @pytest.mark.parametrize("step", [5.0, 20.0])
    def test_a_hand_on_its_way_is_never_still(self, step: float) -> None:
        watch = StillWatch(TILE)
        for k in range(4):
            moved = watch.look(view(Upset(arms=(Arm(0, 100.0, 40.0 + step * k),))), 0.1 * k)
            assert (not moved) == (k == 0)
            assert not watch.still

    def test_a_tile_pushed_by_two_millimetres_is_motion(self) -> None:
        first, second = (view(Upset(strays=(Stray("5p", x, -330.0),))) for x in (150.0, 152.0))
        watch = StillWatch(TILE)
        watch.look(first, 0.0)
        moved = watch.look(second, 0.1)
        assert [problem.code for problem in moved] == ["moving"]
        assert moved[0].box is not None
        assert moved[0].box[0] < 640 + 150 * 1280 / 568 < moved[0].box[2]

    def test_a_knocked_camera_is_motion(self) -> None:
        watch = StillWatch(TILE)
        watch.look(view(), 0.0)
        assert watch.look(view(Upset(bump=Bump(0.2, 4.0, 2.0))), 0.1)

    def test_one_frame_looked_at_twice_is_one(self) -> None:
        watch = StillWatch(TILE)
        watch.look(view(), 1.0)
        watch.look(view(), 1.0)
        assert not watch.still

    def test_after_a_pause_everything_is_seen_anew(self) -> None:
        watch = StillWatch(TILE, within_s=2.0)
        watch.look(view(), 1.0)
        watch.look(view(), 9.0)
        assert not watch.still
        watch.look(view(seed=1), 9.5)
        assert watch.still
        watch.forget()
        assert not watch.still

    def test_zones_of_different_size_have_changed_everywhere(self) -> None:
        assert changed(thumb(view(), TILE), thumb(view()[:200], TILE))[0] > 1000

    @settings(max_examples=25, deadline=None)
    @given(st.lists(st.integers(0, 2), min_size=1, max_size=12), st.integers(2, 4))
    def test_still_means_the_last_frames_are_alike(self, shown: list[int], frames: int) -> None:
        pictures = [np.full((90, 90, 3), 40, np.uint8) for _ in range(3)]
        pictures[1][20:50, 20:50], pictures[2][40:80, 40:80] = 200, 220
        watch = StillWatch(30.0, frames=frames, within_s=100.0)
        for k, which in enumerate(shown):
            watch.look(pictures[which], float(k))
        alike = len(shown) >= frames and len(set(shown[-frames:])) == 1
        assert watch.still == alike


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 9))
def test_the_extremes_of_the_channels_are_those_of_every_spot(seed: int, wide: int, high: int) -> None:
    picture = np.random.default_rng(seed).integers(0, 256, (high, wide, 3), np.uint8)
    assert (lightest(picture) == picture.max(axis=2)).all()
    assert (darkest(picture) == picture.min(axis=2)).all()


def test_problems_are_told_in_the_order_of_the_codes() -> None:
    mixed = [Problem(code, None, 1.0, 0.5) for code in reversed(CODES)]
    assert Fitness.of(mixed).codes == CODES
    assert not Fitness.of(mixed).fit


def test_limits_are_data() -> None:
    strict = replace(LIMITS, blur=0.001)
    assert assess_tiles(view(), TILE, tiles(), limits=strict).codes == ("blurred",)


def test_paper_that_nearly_clips_on_the_bright_side_is_no_lamp_and_a_lamp_there_is() -> None:
    boxes = np.asarray([(10 + 70 * k, 10, 70 + 70 * k, 90) for k in range(5)], np.float32)
    view = np.repeat(np.linspace(247, 205, 370)[None, :, None].repeat(100, 0), 3, axis=2).astype(np.uint8)
    view[12:26, 14:34] = 251  # six parts in a hundred of the tile, as noise does where the paper nearly clips
    white = tile_white(view, boxes)
    assert glares(view, boxes, white, Limits()) == []
    view[40:65, 20:45] = 255
    assert [problem.code for problem in glares(view, boxes, white, Limits())] == ["glare"]

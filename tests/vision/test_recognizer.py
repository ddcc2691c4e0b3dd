from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from vision.areas import clip_region
from vision.errors import ModelError, RegionError, ShapeError
from vision.model_card import LABELS
from vision.readings import Floats, Image, Looks
from vision.recognizer import Recognizer

HAND = ["1m", "2m", "3m", "7s", "7s", "5z", "5z"]
ROW_ENDS = 2
"""Crops of the places beside a row, where a tile could lie unseen."""


def test_a_row_is_read_left_to_right(paint: Callable) -> None:
    picture = paint()
    picture.row(HAND, 100, 100)
    reading = picture.recognizer().read(picture.image, expect=7)
    assert reading.kinds == tuple(HAND)
    assert reading.rows == (tuple(range(7)),)
    assert reading.accept
    assert reading.why == ()
    assert reading.size == (640, 320)
    assert reading.ms > 0


def test_boxes_are_pixels_of_the_frame(paint: Callable) -> None:
    picture = paint((1280, 640))
    picture.row(HAND, 300, 200, 60, 80)
    reading = picture.recognizer().read(picture.image)
    assert reading.tiles[0].box == pytest.approx((300, 200, 360, 280), abs=1)


def test_boxes_of_a_region_are_pixels_of_the_whole_frame(paint: Callable) -> None:
    picture = paint()
    picture.row(HAND, 200, 100)
    picture.origin, picture.scale = (155.0, 55.0), 640 / 330
    reading = picture.recognizer().read(picture.image, region=(180, 80, 460, 180), expect=7)
    assert reading.kinds == tuple(HAND)
    assert reading.tiles[0].box == pytest.approx((200, 100, 230, 140), abs=1)


def test_a_picture_without_tiles_gives_an_empty_reading(paint: Callable) -> None:
    picture = paint()
    reading = picture.recognizer().read(picture.image)
    assert reading.tiles == ()
    assert reading.why == ("no_tiles",)
    assert not reading.accept
    assert picture.crops_seen == 0


def test_what_the_classifier_calls_no_tile_is_dropped(paint: Callable) -> None:
    picture = paint()
    end = picture.row(HAND, 100, 100)
    picture.boxes.append((end, 100, end + 30, 140))
    picture.heats.append(0.95)
    reading = picture.recognizer().read(picture.image)
    assert reading.kinds == tuple(HAND)


def test_an_expected_number_tops_up_with_weak_boxes_and_marks_them(paint: Callable) -> None:
    picture = paint()
    end = picture.row(HAND, 100, 100)
    picture.tile("6z", end, 100, heat=0.2)
    picture.unclear.add("6z")
    without = picture.recognizer().read(picture.image)
    assert (len(without.tiles), without.why) == (7, ("unseen_tile",))
    reading = picture.recognizer().read(picture.image, expect=8)
    assert reading.kinds[-1] == "6z"
    assert reading.tiles[-1].doubts == ("unsure_box",)
    assert not reading.accept


def test_a_weak_box_that_certainly_shows_a_tile_is_read_in_doubt(paint: Callable) -> None:
    picture = paint()
    end = picture.row(HAND, 100, 100)
    picture.tile("6z", end, 100, heat=0.2)
    reading = picture.recognizer().read(picture.image)
    assert reading.kinds == (*HAND, "6z")
    assert reading.why == ("unsure_box",)


@pytest.mark.parametrize("kind", ["6z", "back"])
@pytest.mark.parametrize("place", ["in a gap", "at the end"])
def test_a_tile_that_the_detector_does_not_see_is_a_doubt(paint: Callable, kind: str, place: str) -> None:
    picture = paint()
    end = picture.row(HAND, 100, 100)
    picture.tile(kind, end, 100, heat=0.01)
    if place == "in a gap":
        picture.row(["6s", "6s"], end + 30, 100)
    reading = picture.recognizer().read(picture.image)
    assert kind not in reading.kinds
    assert reading.why == ("unseen_tile",)


@pytest.mark.parametrize(("kind", "why"), [("6z", ("unseen_tile",)), ("5z", ())])
def test_cloth_that_may_be_a_blank_tile_is_no_tile_overlooked(
    paint: Callable, kind: str, why: tuple[str, ...]
) -> None:
    picture = paint()
    end = picture.row(HAND[:5], 100, 100)
    picture.tile(kind, end, 100, heat=0.01)
    picture.unclear.add(kind)
    assert picture.recognizer().read(picture.image).why == why


def test_a_gap_that_shows_cloth_is_no_doubt(paint: Callable) -> None:
    picture = paint()
    end = picture.row(HAND, 100, 100)
    picture.row(["6s", "6s"], end + 30, 100)
    assert picture.recognizer().read(picture.image).accept


REGION = (90.0, 90.0, 320.0, 150.0)


@pytest.mark.parametrize(
    ("x", "read", "why"),
    [(292, 8, ()), (300, 7, ("cut_at_border",)), (306, 7, ()), (340, 7, ())],
    ids=["mostly inside", "across the edge", "mostly outside", "outside"],
)
def test_only_tiles_that_lie_in_the_region_are_read(
    paint: Callable, x: float, read: int, why: tuple[str, ...]
) -> None:
    picture = paint()
    picture.row(HAND, 80 + 12, 100, w=28)
    picture.tile("6z", x, 100)
    picture.origin, picture.scale = (75.0, 75.0), 640 / 260
    reading = picture.recognizer().read(picture.image, REGION)
    assert len(reading.tiles) == read
    assert (reading.why == why) if not why else set(why) <= set(reading.why)


def test_an_expected_number_leaves_the_weakest_out(paint: Callable) -> None:
    picture = paint()
    end = picture.row(HAND, 100, 100)
    picture.tile("6z", end, 100, heat=0.4)
    assert picture.recognizer().read(picture.image, expect=7).kinds == tuple(HAND)


def test_more_open_tiles_than_expected_are_an_alarm(paint: Callable) -> None:
    picture = paint()
    end = picture.row(HAND, 100, 100)
    picture.tile("6z", end + 60, 100, heat=0.8)
    assert picture.recognizer().read(picture.image, expect=7).why == ("extra_tiles",)
    assert picture.recognizer().read(picture.image, expect=8).why == ()


def test_a_wall_beside_the_hand_is_no_alarm(paint: Callable) -> None:
    picture = paint()
    end = picture.row(HAND, 100, 100)
    picture.tile("back", end + 60, 100, heat=0.8)
    assert picture.recognizer().read(picture.image, expect=7).why == ()


@pytest.mark.parametrize("expect", [None, 8])
def test_cloth_between_two_tiles_is_no_face_down_tile(paint: Callable, expect: int | None) -> None:
    picture = paint()
    end = picture.row(HAND, 100, 100)
    picture.tile("back", end, 100, w=22)
    picture.tile("6z", end + 22, 100)
    assert picture.recognizer().read(picture.image, expect=expect).kinds == (*HAND, "6z")


def test_a_key_beside_the_row_is_too_small_for_a_tile(paint: Callable) -> None:
    picture = paint()
    end = picture.row(HAND, 100, 100)
    picture.tile("6z", end + 4, 110, 14, 14)
    reading = picture.recognizer().read(picture.image)
    assert reading.kinds == tuple(HAND)
    assert "odd_size" in reading.why


def test_groups_tell_the_winning_tile(paint: Callable) -> None:
    picture = paint()
    end = picture.row(HAND[:-1], 100, 100)
    picture.tile(HAND[-1], end + 24, 100)
    reading = picture.recognizer().read(picture.image)
    assert [len(group) for group in reading.groups] == [6, 1]
    assert reading.tiles[-1].group == 1


def test_the_tile_set_restricts_the_answers(paint: Callable) -> None:
    picture = paint()
    picture.tile("1f", 100, 100)
    reading = picture.recognizer().read(picture.image, kinds=frozenset({"1m", "2m"}))
    assert reading.tiles[0].kind in {"1m", "2m"}
    assert "not_in_set" in reading.tiles[0].doubts


def test_clear_tiles_are_looked_at_from_two_sides_only(paint: Callable) -> None:
    picture = paint()
    picture.row(HAND, 100, 100)
    picture.recognizer().read(picture.image)
    assert picture.crops_seen == 2 * len(HAND) + ROW_ENDS


def test_unclear_tiles_are_looked_at_from_four_sides(paint: Callable) -> None:
    picture = paint()
    picture.row(HAND, 100, 100)

    def unsure(crops: Image) -> Looks:
        looks = picture.classify(crops)
        return replace(looks, logits=looks.logits * 0.1)

    reading = Recognizer(picture.detect, unsure).read(picture.image)
    assert picture.crops_seen == 4 * len(HAND) + ROW_ENDS
    assert reading.why == ("low_score", "unseen_tile")  # nor is it clear that nothing lies beside them


def test_the_answers_are_corrected_by_what_is_known_of_the_tiles(paint: Callable) -> None:
    picture = paint()
    picture.row(HAND, 100, 100)
    seen: list[tuple[int, ...]] = []

    def all_white(looks: Looks) -> Floats:
        seen.append(looks.embeddings.shape)
        logits = np.zeros_like(looks.logits)
        logits[:, LABELS.index("5z")] = 20
        return logits

    reader = replace(picture.recognizer(), adapt=all_white)
    assert set(reader.read(picture.image).kinds) == {"5z"}
    assert seen[0] == (2 * len(HAND), 128)


@pytest.mark.parametrize(
    "shapes", [((3,), (3, 128), None), ((3, 44), (2, 128), None), ((3, 44), (3, 128), (2,))]
)
def test_answers_of_different_numbers_of_crops_are_refused(shapes: tuple) -> None:
    arrays = [None if shape is None else np.zeros(shape, np.float32) for shape in shapes]
    with pytest.raises(ShapeError):
        Looks(*arrays)


def test_reading_changes_neither_the_frame_nor_the_next_reading(paint: Callable) -> None:
    picture = paint()
    picture.row(HAND, 100, 100)
    before = picture.image.copy()
    first, second = (picture.recognizer().read(picture.image) for _ in range(2))
    assert np.array_equal(before, picture.image)
    assert first.tiles == second.tiles


@pytest.mark.parametrize("region", [(700, 0, 800, 50), (10, 10, 10, 10), (-50, -50, -1, -1)])
def test_a_region_outside_the_picture_is_refused(
    paint: Callable, region: tuple[float, float, float, float]
) -> None:
    picture = paint()
    with pytest.raises(RegionError, match="covers no pixel"):
        picture.recognizer().read(picture.image, region=region)


def test_a_region_across_the_edge_is_cut_to_the_picture() -> None:
    assert clip_region((-5, 10.5, 700, 90.2), 640, 320) == (0, 10, 640, 91)


def test_something_else_than_a_picture_is_refused(paint: Callable) -> None:
    with pytest.raises(ShapeError):
        paint().recognizer().read(np.zeros((5, 5), np.uint8))


def test_networks_that_answer_in_another_shape_are_refused_at_start() -> None:
    def detect(image: Image) -> Floats:
        return np.zeros((4, 8, 8), np.float32)

    def classify(crops: Image) -> Looks:
        return Looks(np.zeros((len(crops), 44), np.float32), np.zeros((len(crops), 128), np.float32))

    with pytest.raises(ModelError, match="do not answer"):
        Recognizer(detect, classify).warm_up()

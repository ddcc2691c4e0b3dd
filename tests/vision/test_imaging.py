import numpy as np
import pytest

from vision.errors import ShapeError
from vision.imaging import fit, tile_crop, tile_crops


def gradient(h: int = 100, w: int = 200) -> np.ndarray:
    image = np.zeros((h, w, 3), np.uint8)
    image[..., 0] = np.arange(w)[None] % 256
    image[..., 1] = np.arange(h)[:, None] % 256
    return image


def test_the_padding_is_right_and_below_in_grey() -> None:
    canvas, plan = fit(gradient(190, 150))
    assert canvas.shape == (384, 320, 3)
    assert plan.scale == 2
    assert (canvas[380:] == 114).all()
    assert (canvas[:, 300:] == 114).all()
    assert not (canvas[:380, :300] == 114).all(axis=2).any()


def test_a_crop_is_the_box_and_four_percent() -> None:
    image = np.zeros((200, 200, 3), np.uint8)
    image[50:130, 60:120] = 200
    crop = tile_crop(image, np.asarray([60, 50, 120, 130], np.float32))
    assert crop.shape == (64, 48, 3)
    assert crop[32, 24].tolist() == [200, 200, 200]
    assert crop[0, 0].max() < 60


def test_a_tile_on_its_side_is_turned_clockwise() -> None:
    image = np.zeros((100, 100, 3), np.uint8)
    image[30:60, 20:40] = (255, 0, 0)
    image[30:60, 40:60] = (0, 0, 255)
    crop = tile_crop(image, np.asarray([20, 30, 60, 60], np.float32))
    assert crop[10, 24].tolist() == [255, 0, 0], "the left side comes to the top"
    assert crop[55, 24].tolist() == [0, 0, 255]


@pytest.mark.parametrize("box", [(-5, -5, 25, 30), (190, 80, 230, 120), (-50, 20, -20, 60)])
def test_outside_the_picture_the_border_goes_on(box: tuple[float, ...]) -> None:
    crop = tile_crop(gradient(), np.asarray(box, np.float32))
    assert crop.shape == (64, 48, 3)


def test_a_box_without_area_still_gives_a_crop() -> None:
    assert tile_crop(gradient(), np.asarray([5, 5, 5, 5], np.float32)).shape == (64, 48, 3)


def test_no_boxes_give_no_crops() -> None:
    assert tile_crops(gradient(), np.zeros((0, 4), np.float32)).shape == (0, 64, 48, 3)


def test_the_second_pair_of_sides_is_a_quarter_turn_away() -> None:
    image = gradient()
    boxes = np.asarray([[20, 20, 50, 60], [80, 20, 130, 50]], np.float32)
    upright, quarter = tile_crops(image, boxes), tile_crops(image, boxes, quarter=True)
    assert not np.array_equal(upright[0], quarter[0])
    assert np.array_equal(upright[1], tile_crop(image, boxes[1], turn=True))
    assert np.array_equal(quarter[1], tile_crop(image, boxes[1], turn=False))


def test_something_else_than_a_picture_is_refused() -> None:
    with pytest.raises(ShapeError):
        fit(np.zeros((4, 4), np.uint8))

import cv2
import numpy as np
import pytest

from vision.readings import Floats, Image
from vision.views import edge_angle, free_crops


def tile_at(angle: float) -> tuple[Image, Floats]:
    """A tile with its upper half white and its lower half grey, turned clockwise; its picture and its box."""
    picture = np.full((200, 200, 3), 40, np.uint8)
    for middle, high, colour in (((100, 100), 80, 240), ((100, 120), 40, 150)):
        bend = np.radians(angle)
        dx, dy = middle[0] - 100, middle[1] - 100
        at = (100 + dx * np.cos(bend) - dy * np.sin(bend), 100 + dx * np.sin(bend) + dy * np.cos(bend))
        cv2.fillConvexPoly(picture, cv2.boxPoints((at, (59, high), angle)).astype(np.int32), (colour,) * 3)
    corners = cv2.boxPoints(((100, 100), (59, 80), angle))
    return picture, np.asarray([*corners.min(0), *corners.max(0)], np.float32)


@pytest.mark.parametrize("angle", [-40, -25, -10, 0, 12, 30, 41])
def test_the_angle_is_the_one_of_the_edges(angle: float) -> None:
    assert edge_angle(*tile_at(angle)) == pytest.approx(angle, abs=3)


@pytest.mark.parametrize("angle", [-160, -30, 0, 20, 35, 60, 110])
def test_a_turned_tile_is_cut_out_upright_or_upside_down(angle: float) -> None:
    picture, box = tile_at(angle)
    (crop,) = free_crops(picture, box[None])
    assert crop.shape == (64, 48, 3)
    halves = sorted([float(crop[6:26, 6:-6].mean()), float(crop[38:58, 6:-6].mean())])
    assert halves == pytest.approx([150, 240], abs=12)


def test_a_large_tile_is_averaged_not_sampled() -> None:
    noise = np.random.default_rng(1).integers(0, 256, (800, 800, 3), dtype=np.uint8)
    (crop,) = free_crops(noise, np.asarray([[100, 100, 700, 700]], np.float32))
    assert crop.std() < 40


def test_no_boxes_no_crops() -> None:
    assert free_crops(np.zeros((9, 9, 3), np.uint8), np.zeros((0, 4), np.float32)).shape == (0, 64, 48, 3)

"""Crops of tiles that lie at an angle: cut out along their own edges (OpenCV)."""

from __future__ import annotations

import cv2
import numpy as np

from vision.imaging import CROP_HEIGHT, CROP_WIDTH, GROW
from vision.readings import Floats, Image

__all__ = ["ASPECT", "edge_angle", "free_crop", "free_crops"]

ASPECT = 0.74
"""Width by height of a tile's face."""
PATCH = 64


def edge_angle(image: Image, box: Floats) -> float:
    """Direction of the edges in a box: degrees clockwise on the screen, -45 up to 45.

    The sides of a tile and most strokes on it run along two directions at right angles.
    """
    x0, y0, x1, y1 = (float(v) for v in box)
    side = max(x1 - x0, y1 - y0, 2.0)
    scale = PATCH / side
    move = np.asarray(
        [
            [scale, 0, PATCH / 2 - scale * (x0 + x1) / 2],
            [0, scale, PATCH / 2 - scale * (y0 + y1) / 2],
        ]
    )
    patch = cv2.warpAffine(
        image, move, (PATCH, PATCH), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    grey = cv2.GaussianBlur(cv2.cvtColor(patch, cv2.COLOR_BGR2GRAY), (0, 0), 1.0).astype(np.float32)
    dx, dy = cv2.Scharr(grey, cv2.CV_32F, 1, 0), cv2.Scharr(grey, cv2.CV_32F, 0, 1)
    fourfold = ((dx + 1j * dy) ** 4) / np.maximum((dx**2 + dy**2) ** 1.5, 1e-6)
    return float(np.degrees(np.angle(fourfold.sum())) / 4)


def _lies_along(box: Floats, angle: float) -> float:
    """Choose between an angle and the one across it: the one that fits the box's shape."""
    cos, sin = np.cos(np.radians(abs(angle))), np.sin(np.radians(abs(angle)))
    upright = (ASPECT * cos + sin) / (ASPECT * sin + cos)
    shape = float(box[2] - box[0]) / max(float(box[3] - box[1]), 1e-6)
    return angle if abs(np.log(shape / upright)) <= abs(np.log(shape * upright)) else angle + 90


def free_crop(image: Image, box: Floats, angle: float) -> Image:
    """Cut a tile out that is turned by ``angle`` degrees: ``(64, 48, 3)``, its long side upright."""
    wide, high = float(box[2] - box[0]), float(box[3] - box[1])
    bend = np.radians(angle)
    height = (wide + high) / ((1 + ASPECT) * (abs(np.cos(bend)) + abs(np.sin(bend))))
    scale_y = CROP_HEIGHT / (height * (1 + 2 * GROW))
    scale_x = CROP_WIDTH / (height * ASPECT * (1 + 2 * GROW))
    turn = np.asarray([[np.cos(bend), np.sin(bend)], [-np.sin(bend), np.cos(bend)]])
    linear = np.diag([scale_x, scale_y]) @ turn
    middle = np.asarray([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2], np.float64)
    move = np.column_stack([linear, np.asarray([CROP_WIDTH / 2, CROP_HEIGHT / 2]) - linear @ middle])
    shrink = max(1.0, 1 / max(scale_x, scale_y))
    return np.asarray(_warp(image, move, shrink), np.uint8)


def _warp(image: Image, move: Floats, shrink: float) -> Image:
    """Warp to a crop's size; where the picture is finer, draw it larger first and average."""
    times = int(np.ceil(shrink))
    size = (CROP_WIDTH * times, CROP_HEIGHT * times)
    drawn = cv2.warpAffine(image, move * times, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    if times > 1:
        drawn = cv2.resize(drawn, (CROP_WIDTH, CROP_HEIGHT), interpolation=cv2.INTER_AREA)
    return np.asarray(drawn, np.uint8)


def free_crops(image: Image, boxes: Floats) -> Image:
    """Cut all tiles out along their own edges: uint8 ``(N, 64, 48, 3)``."""
    crops = [free_crop(image, box, _lies_along(box, edge_angle(image, box))) for box in boxes]
    return np.stack(crops) if crops else np.zeros((0, CROP_HEIGHT, CROP_WIDTH, 3), np.uint8)

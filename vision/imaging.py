"""Small picture operations of the recognizer: letterbox and tile crops (OpenCV)."""

from __future__ import annotations

import cv2
import numpy as np

from vision.decode import DecodeSettings, Letterbox, letterbox
from vision.readings import Floats, Image, check_image

__all__ = ["CROP_HEIGHT", "CROP_WIDTH", "fit", "tile_crop", "tile_crops"]

CROP_WIDTH, CROP_HEIGHT = 48, 64
GROW = 0.04
"""Share of its size by which a box is widened on every side before it is cut out."""
SIDEWAYS = 1.1
"""A box wider than this times its height holds a tile lying on its side."""


def _resize(image: Image, width: int, height: int) -> Image:
    shrink = width * height < image.shape[0] * image.shape[1]
    method = cv2.INTER_AREA if shrink else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(image, (width, height), interpolation=method), np.uint8)


def fit(image: Image, settings: DecodeSettings | None = None) -> tuple[Image, Letterbox]:
    """Resize and pad a BGR picture ``(H, W, 3)`` to the detector's input; also returns the plan used."""
    settings = settings or DecodeSettings()
    check_image(image)
    plan = letterbox(image.shape[1], image.shape[0], settings)
    canvas = np.full((plan.outer[1], plan.outer[0], 3), settings.pad, np.uint8)
    canvas[: plan.inner[1], : plan.inner[0]] = _resize(image, *plan.inner)
    return canvas, plan


def tile_crop(image: Image, box: Floats, turn: bool | None = None) -> Image:
    """Cut one tile out as ``(64, 48, 3)``: box + 4 %, the border repeated outside the picture.

    ``turn``: rotate clockwise by 90 degrees; by default when the box is clearly wider than high.
    """
    x0, y0, x1, y1 = (float(v) for v in box)
    grow_x, grow_y = GROW * (x1 - x0), GROW * (y1 - y0)
    left, top = round(x0 - grow_x), round(y0 - grow_y)
    right, bottom = max(round(x1 + grow_x), left + 1), max(round(y1 + grow_y), top + 1)
    height, width = image.shape[:2]
    columns = np.clip(np.arange(left, right), 0, width - 1)
    rows = np.clip(np.arange(top, bottom), 0, height - 1)
    inside = left >= 0 and top >= 0 and right <= width and bottom <= height
    cut = image[top:bottom, left:right] if inside else image[rows[:, None], columns[None]]
    if turn if turn is not None else (x1 - x0) > SIDEWAYS * (y1 - y0):
        cut = np.asarray(cv2.rotate(cut, cv2.ROTATE_90_CLOCKWISE), np.uint8)
    return _resize(cut, CROP_WIDTH, CROP_HEIGHT)


def tile_crops(image: Image, boxes: Floats, quarter: bool = False) -> Image:
    """Cut all tiles out: uint8 ``(N, 64, 48, 3)``; with ``quarter`` each turned by a further 90 degrees."""
    wide = (boxes[:, 2] - boxes[:, 0]) > SIDEWAYS * (boxes[:, 3] - boxes[:, 1])
    crops = [tile_crop(image, box, bool(w) != quarter) for box, w in zip(boxes, wide, strict=True)]
    return np.stack(crops) if crops else np.zeros((0, CROP_HEIGHT, CROP_WIDTH, 3), np.uint8)

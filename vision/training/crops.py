"""The classifier's crop, as the product cuts it; free of torch."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.training.dataset import Image

CROP_W, CROP_H = 48, 64
MARGIN = 0.04
TURN_RATIO = 1.1


def plain_crop(image: Image, box: NDArray[np.float32], quarter_turns: int = 0) -> Image:
    """Cut box + 4 %, turn clockwise if wide, turn by further quarters, resize to 48 x 64."""
    x0, y0, x1, y1 = (float(v) for v in box)
    mx, my = MARGIN * (x1 - x0), MARGIN * (y1 - y0)
    h, w = image.shape[:2]
    left, top = math.floor(x0 - mx), math.floor(y0 - my)
    right, bottom = max(left + 1, math.ceil(x1 + mx)), max(top + 1, math.ceil(y1 + my))
    piece = image[max(0, top) : max(1, bottom), max(0, left) : max(1, right)]
    edges = (max(0, -top), max(0, bottom - h), max(0, -left), max(0, right - w))
    if any(edges) and piece.size:
        piece = np.asarray(cv2.copyMakeBorder(piece, *edges, cv2.BORDER_REPLICATE), np.uint8)
    if piece.shape[1] > TURN_RATIO * piece.shape[0]:
        quarter_turns += 1
    piece = np.ascontiguousarray(np.rot90(piece, -quarter_turns))
    shrink = piece.shape[0] * piece.shape[1] > CROP_W * CROP_H
    how = cv2.INTER_AREA if shrink else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(piece, (CROP_W, CROP_H), interpolation=how), np.uint8)

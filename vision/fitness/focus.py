"""Focus, and motion during the exposure: how soft the edges of tiles are, measured in widths of a tile.

A step of height c blurred by a Gaussian of sigma s has the steepest slope c / (s sqrt(2 pi)), so contrast by
slope tells s, whatever the contrast is. It is measured in the crops that the classifier sees: blur that
is lost when a tile is shrunk to 48 pixels does no harm.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.fitness.problems import BLURRED, Limits, Problem
from vision.imaging import CROP_HEIGHT, CROP_WIDTH, tile_crop
from vision.readings import Floats, Image

__all__ = ["blur", "edge_sigma", "edge_sigmas", "focus", "lively_blocks"]

LEAST_CONTRAST = 24.0
"""Grey levels between dark and light of a crop, below which it tells nothing."""
STEEPEST = 99.0
"""Percentile that stands for the steepest slope: the very steepest is noise."""
ENOUGH_BLOCKS, MOST_BLOCKS = 4, 16


def edge_sigma(crop: Image) -> float | None:
    """Blur of the edges of a crop ``(64, 48, 3)``: sigma in widths of a tile; None without contrast.

    The worse one of the two directions: a moving camera blurs along its way only.
    """
    return edge_sigmas(crop[None])[0]


def edge_sigmas(crops: Image) -> list[float | None]:
    """Return `edge_sigma` of each of the crops ``(N, 64, 48, 3)``."""
    if len(crops) == 0:
        return []
    greys = [cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY).astype(np.float32) for crop in crops]
    smooth = np.stack([cv2.GaussianBlur(grey, (0, 0), 0.6) for grey in greys])
    low, high = np.percentile(_flat(smooth), (4, 96), axis=1)
    slopes = [np.abs(np.diff(smooth, axis=axis)) for axis in (1, 2)]
    steepest = np.min([np.percentile(_flat(slope), STEEPEST, axis=1) for slope in slopes], axis=0)
    return [_sigma(*pair) for pair in zip((high - low).tolist(), steepest.tolist(), strict=True)]


def _flat(pictures: Floats) -> Floats:
    return pictures.reshape(len(pictures), -1)


def _sigma(contrast: float, steepest: float) -> float | None:
    if contrast < LEAST_CONTRAST:
        return None
    return float(contrast / (np.sqrt(2 * np.pi) * max(steepest, 1e-3)) / CROP_WIDTH)


def lively_blocks(view: Image, tile: float) -> Floats:
    """Boxes ``(N, 4)`` of the size of a tile that hold contrast: where tiles may be, without a network."""
    height, width = view.shape[:2]
    wide, high = max(4.0, tile), max(4.0, tile * 4 / 3)
    columns, rows = max(1, int(width // wide)), max(1, int(height // high))
    x, y = np.meshgrid(np.arange(columns) * wide, np.arange(rows) * high)
    boxes = np.stack([x, y, x + wide, y + high], axis=-1).reshape(-1, 4)
    grey = cv2.cvtColor(view[: int(rows * high), : int(columns * wide)], cv2.COLOR_BGR2GRAY)
    small = cv2.resize(grey, (columns * 12, rows * 16), interpolation=cv2.INTER_AREA)
    bottom, top = np.percentile(small.reshape(rows, 16, columns, 12), (4, 96), axis=(1, 3))
    spread = (top - bottom).reshape(-1)
    liveliest = np.argsort(-spread, kind="stable")[:MOST_BLOCKS]
    return np.asarray(boxes[liveliest[spread[liveliest] > 2 * LEAST_CONTRAST]], np.float32)


def blur(view: Image, tile: float, boxes: Floats | None) -> float | None:
    """Blur of the view in widths of a tile: the middle one of its tiles; None where nothing tells it.

    Without boxes the sharpest block with contrast decides: not all of them hold edges that could be sharp.
    """
    known = boxes is not None and len(boxes) > 0
    where: NDArray[np.float32] = boxes if known and boxes is not None else lively_blocks(view, tile)
    crops = np.zeros((0, CROP_HEIGHT, CROP_WIDTH, 3), np.uint8)
    if len(where):
        crops = np.stack([tile_crop(view, box) for box in where])
    sigmas = [sigma for sigma in edge_sigmas(crops) if sigma is not None]
    if known:
        return float(np.median(sigmas)) if sigmas else None
    return min(sigmas) if len(sigmas) >= ENOUGH_BLOCKS else None


def focus(view: Image, tile: float, boxes: Floats | None, limits: Limits) -> list[Problem]:
    """Tell whether edges are too soft to tell the pictures on the tiles."""
    limit = limits.blur_blocks if boxes is None or len(boxes) == 0 else limits.blur
    value = blur(view, tile, boxes)
    return [] if value is None or value <= limit else [Problem(BLURRED, None, round(value, 4), limit)]

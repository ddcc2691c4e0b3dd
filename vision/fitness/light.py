"""Light: too dark, too bright, lamps mirrored in tiles."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.fitness.problems import GLARE, TOO_BRIGHT, TOO_DARK, Limits, Problem
from vision.readings import Box, Floats, Image

__all__ = ["clipped_share", "exposure", "glares", "tile_white"]

FULL = 250
"""Level of the darkest colour channel from which a pixel counts as clipped."""
OPEN_WHITE = 246.0
"""A tile whose own white is above this level cannot tell the mirror image of a lamp from itself."""
WHITE_PERCENTILE = 75
"""More than a quarter of every face is bare ivory, also of the busiest kinds (9s, 9p)."""


BARELY = 10
NEARLY_FULL = 3.0
"""Paper within `BARELY` levels of full clips here and there by noise alone, as on the bright side of uneven
light: there a blob has to be so many times as large.
"""


def _parts(view: Image, boxes: Floats) -> list[Image]:
    """The pixels inside boxes ``(N, 4)``, those without any left out."""
    height, width = view.shape[:2]
    limits = np.clip(np.rint(boxes), 0, [width, height, width, height]).astype(int)
    parts = (view[y0:y1, x0:x1] for x0, y0, x1, y1 in limits.tolist())
    return [part for part in parts if part.size]


def tile_white(view: Image, boxes: Floats | None) -> float:
    """Grey level of the tiles' white: the middle one of the tiles; without boxes the lightest 2 % of all."""
    if boxes is None or len(boxes) == 0:
        return float(
            np.percentile(cv2.cvtColor(np.ascontiguousarray(view[::4, ::4]), cv2.COLOR_BGR2GRAY), 98)
        )
    levels = [
        np.percentile(cv2.cvtColor(part, cv2.COLOR_BGR2GRAY), WHITE_PERCENTILE)
        for part in _parts(view, boxes)
    ]
    return float(np.median(levels)) if levels else 255.0


def _clipped(part: Image) -> NDArray[np.uint8]:
    """Mask of the clipped pixels, 0 elsewhere."""
    return np.asarray(cv2.inRange(part, (FULL,) * 3, (255,) * 3), np.uint8)


def _share(mask: NDArray[np.uint8]) -> float:
    return cv2.countNonZero(mask) / mask.size


def clipped_share(view: Image, boxes: Floats | None) -> float:
    """Share of clipped pixels: of the middle tile; without boxes, of the view."""
    if boxes is None or len(boxes) == 0:
        return _share(_clipped(view))
    shares = [_share(_clipped(part)) for part in _parts(view, boxes)]
    return float(np.median(shares)) if shares else 0.0


def exposure(view: Image, boxes: Floats | None, white: float, limits: Limits) -> list[Problem]:
    """Tell whether there is too little or too much light to tell the pictures on the tiles.

    ``white``: their `tile_white`.
    """
    clipped = clipped_share(view, boxes)
    if white < limits.dark:
        return [Problem(TOO_DARK, None, round(white, 1), limits.dark)]
    if clipped > limits.clipped:
        return [Problem(TOO_BRIGHT, None, round(clipped, 3), limits.clipped)]
    return []


def glares(view: Image, boxes: Floats, white: float, limits: Limits) -> list[Problem]:
    """Find tiles with a white blob beyond their own white (``white``). Nothing where all are that white."""
    if len(boxes) == 0 or white > OPEN_WHITE:
        return []
    found = []
    for box in boxes.tolist():
        blob = _largest_blob(view, box)
        if blob is None or blob[1] <= limits.glare:
            continue
        limit = limits.glare * (NEARLY_FULL if _paper(view, box) >= FULL - BARELY else 1.0)
        if blob[1] > limit:
            found.append(Problem(GLARE, blob[0], round(blob[1], 3), limit))
    return found


def _paper(view: Image, box: Box) -> float:
    """Level of the darkest channel of a tile's paper, 0..255: a lamp that covers a part does not move it."""
    (part,) = _parts(view, np.asarray([box], np.float32))
    return float(np.median(part.min(axis=2)))


def _largest_blob(view: Image, box: Box) -> tuple[Box, float] | None:
    """Box and share of the tile's area of the largest clipped blob inside a tile's box."""
    height, width = view.shape[:2]
    x0, y0 = max(0, round(box[0])), max(0, round(box[1]))
    x1, y1 = min(width, round(box[2])), min(height, round(box[3]))
    if x1 <= x0 or y1 <= y0:
        return None
    mask = _clipped(view[y0:y1, x0:x1])
    count, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    if count < 2:
        return None
    k = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    left, top, wide, high, area = (int(v) for v in stats[k])
    blob = (float(x0 + left), float(y0 + top), float(x0 + left + wide), float(y0 + top + high))
    return blob, area / ((x1 - x0) * (y1 - y0))

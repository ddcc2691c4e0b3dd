"""From the detector's maps to boxes: pure numpy, no runtime, no pictures.

The detector answers one map at stride 8 with five channels: the logit of "the centre of a tile is
here" and the logarithms of the distances, in cells, to the left, top, right and bottom of its box.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.errors import ShapeError
from vision.readings import Detections, Floats, Ints

__all__ = [
    "DecodeSettings",
    "Letterbox",
    "choose",
    "decode",
    "iou_matrix",
    "letterbox",
    "peaks",
    "suppress",
]

STRIDE = 8
MAX_PEAKS = 400
"""More candidates than any table holds; bounds the quadratic step after it."""
MAX_LOG = 6.0
"""exp(6) = 403 cells: larger than any picture, so a wild network output cannot overflow."""


@dataclass(frozen=True, slots=True)
class DecodeSettings:
    """How maps become boxes. Lengths in pixels of the letterboxed picture, the rest ratios.

    ``threshold``: a peak at or above it is a tile; ``low``: a peak at or above it may be one, used
    only when tiles are missing. ``iou`` and ``centre`` say when two boxes are the same tile; plain
    suppression at IoU 0.5 would eat neighbours that lie at an angle. ``smallest`` and ``largest``
    are areas relative to the usual one at a place. ``enlarge`` and ``enlarged_short``: a small picture is
    blown up no further than this factor or until its short side has this many pixels, whichever is more:
    a single tile filling the picture would become larger than any the detector was taught.
    """

    long_side: int = 640
    multiple: int = 32
    pad: int = 114
    threshold: float = 0.35
    low: float = 0.10
    iou: float = 0.6
    centre: float = 0.4
    smallest: float = 0.4
    largest: float = 2.5
    enlarge: float = 2.0
    enlarged_short: float = 288.0


@dataclass(frozen=True, slots=True)
class Letterbox:
    """How a picture is brought to the detector's size: resized by ``scale``, then padded right and below.

    ``inner`` and ``outer`` are ``(width, height)`` before and after padding.
    """

    scale: float
    inner: tuple[int, int]
    outer: tuple[int, int]


def letterbox(width: int, height: int, settings: DecodeSettings | None = None) -> Letterbox:
    """Plan the resize of a ``width`` x ``height`` picture; raises ShapeError for an empty one."""
    settings = settings or DecodeSettings()
    if width < 1 or height < 1:
        raise ShapeError("image", "(H >= 1, W >= 1, 3)", (height, width))
    limit = max(settings.enlarge, settings.enlarged_short / min(width, height))
    scale = min(settings.long_side / max(width, height), limit)
    inner = max(1, round(width * scale)), max(1, round(height * scale))
    step = settings.multiple
    outer = -(-inner[0] // step) * step, -(-inner[1] // step) * step
    return Letterbox(scale, inner, outer)


def _sigmoid(logits: Floats) -> Floats:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * logits)), np.float32)


def _local_maxima(heat: Floats) -> NDArray[np.bool_]:
    """Mask of cells ``(h, w)`` that equal the maximum of their 3x3 neighbourhood."""
    padded = np.pad(heat, 1, constant_values=-np.inf)
    rows = np.maximum(np.maximum(padded[:-2], padded[1:-1]), padded[2:])
    return np.asarray(heat >= np.maximum(np.maximum(rows[:, :-2], rows[:, 1:-1]), rows[:, 2:]))


def peaks(maps: Floats, threshold: float = 0.35) -> Detections:
    """Read the peaks of a map as boxes in pixels of the letterboxed picture, best first.

    ``maps``: float32 ``(5, h, w)``, one cell = 8 pixels. Cells whose sigmoid is below
    ``threshold`` or that are not the maximum of their 3x3 neighbourhood give nothing.
    No peak gives no boxes. Raises ShapeError for another shape.
    """
    if maps.ndim != 3 or maps.shape[0] != 5:
        raise ShapeError("maps", "(5, h, w)", maps.shape)
    heat = _sigmoid(maps[0])
    y, x = np.nonzero(_local_maxima(maps[0]) & (heat >= threshold))
    best = np.argsort(-heat[y, x], kind="stable")[:MAX_PEAKS]
    y, x = y[best], x[best]
    reach = np.exp(np.clip(maps[1:, y, x].astype(np.float64), -MAX_LOG, MAX_LOG))
    edges = np.stack([x + 0.5 - reach[0], y + 0.5 - reach[1], x + 0.5 + reach[2], y + 0.5 + reach[3]], axis=1)
    return Detections((edges * STRIDE).astype(np.float32), heat[y, x])


def iou_matrix(first: Floats, second: Floats) -> Floats:
    """Overlap of boxes ``(N, 4)`` with boxes ``(M, 4)``: intersection over union ``(N, M)``, 0..1.

    Boxes without area overlap nothing.
    """
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    inter = np.prod(np.maximum(high - low, 0), axis=2)
    area = [np.prod(np.maximum(b[:, 2:] - b[:, :2], 0), axis=1) for b in (first, second)]
    union = area[0][:, None] + area[1][None, :] - inter
    return np.asarray(np.where(union > 0, inter / np.where(union > 0, union, 1), 0), np.float32)


def suppress(found: Detections, settings: DecodeSettings | None = None) -> Detections:
    """Keep one box per tile, best score first.

    A box falls when a better one overlaps it by more than ``settings.iou`` or when their centres are
    closer than ``settings.centre`` of the smallest width or height of the two.
    """
    settings = settings or DecodeSettings()
    found = found.take(np.argsort(-found.scores, kind="stable"))
    overlap = iou_matrix(found.boxes, found.boxes) > settings.iou
    distance = np.linalg.norm(found.centres[:, None] - found.centres[None], axis=2)
    short = found.sizes.min(axis=1) if len(found) else np.zeros(0, np.float32)
    same = overlap | (distance < settings.centre * np.minimum(short[:, None], short[None]))
    alive = np.ones(len(found), bool)
    for i in range(len(found)):
        if alive[i]:
            alive[i + 1 :] &= ~same[i, i + 1 :]
    return found.take(alive)


def decode(
    maps: Floats, scale: float, size: tuple[int, int], settings: DecodeSettings | None = None
) -> Detections:
    """Turn maps ``(5, h, w)`` into boxes of the original picture, weak ones (``settings.low``) included.

    ``scale`` is the letterbox's, ``size`` the original ``(width, height)``: boxes are clipped to it and
    boxes that have no pixel inside are dropped. Best score first.
    """
    settings = settings or DecodeSettings()
    found = suppress(peaks(maps, min(settings.low, settings.threshold)), settings).scaled(1 / scale)
    limit = np.asarray([*size, *size], np.float32)
    found = Detections(np.clip(found.boxes, 0, limit), found.scores)
    return found.take(found.sizes.min(axis=1, initial=np.inf) >= 1)


def choose(scores: Floats, threshold: float, expect: int | None) -> Ints:
    """Choose which candidates are tiles: indices in falling order of score.

    Without ``expect`` all at or above ``threshold``. With it, the best ``expect``: fewer when more
    pass the threshold, topped up from below when fewer do.
    """
    order = np.argsort(-scores, kind="stable")
    count = int((scores >= threshold).sum()) if expect is None else expect
    return order[:count]

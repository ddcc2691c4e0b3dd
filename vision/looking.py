"""Looking at tiles from several sides: one opinion from several crops of the same box."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vision.imaging import tile_crops
from vision.interpret import Sight
from vision.readings import Floats, Image
from vision.views import free_crops

__all__ = ["Judge", "look"]

SURE = 0.9
"""A tile less certain than this from two sides is looked at along its own edges as well."""
SQUARE = 1.16
"""A box no longer than this times its other side holds a tile that lies at an angle."""

Judge = Callable[[Image], "tuple[Floats, Floats | None]"]
"""Crops ``(N, 64, 48, 3)`` -> probabilities ``(N, K)``, and of a red five ``(N,)`` where the model says."""


def look(judge: Judge, image: Image, boxes: Floats, labels: int) -> Sight:
    """Look at boxes ``(N, 4)`` of a picture, upright and upside down; the judge has ``labels`` answers.

    Tiles that stay unclear, and such whose square box tells that they lie at an angle, are cut out along
    their own edges as well.
    """
    if len(boxes) == 0:
        return Sight(np.zeros((0, labels), np.float32), np.zeros(0, np.float32))
    views, reds = _both_ways(judge, tile_crops(image, boxes))
    sides = boxes[:, 2:] - boxes[:, :2]
    square = sides.max(axis=1) < SQUARE * sides.min(axis=1)
    unclear = np.flatnonzero(square | (views.mean(axis=0).max(axis=1) < SURE))
    shares, lowest = views.mean(axis=0), views.min(axis=0)
    red = None if reds is None else reds.mean(axis=0)
    if len(unclear):
        along, _ = _both_ways(judge, free_crops(image, boxes[unclear]))
        # Of two ways to cut a tile out only one fits: the worse must not make the better one doubtful.
        fits = along.mean(axis=0).max(axis=1) > shares[unclear].max(axis=1)
        lowest[unclear[fits]] = along.min(axis=0)[fits]
        shares[unclear] = (shares[unclear] + along.mean(axis=0)) / 2
    floor = lowest[np.arange(len(boxes)), shares.argmax(axis=1)]
    return Sight(shares, floor, red)


def _both_ways(judge: Judge, crops: Image) -> tuple[Floats, Floats | None]:
    """Probabilities ``(2, N, K)`` of crops seen upright and upside down, and red ``(2, N)``."""
    both = np.ascontiguousarray(np.concatenate([crops, crops[:, ::-1, ::-1]]))
    shares, red = judge(both)
    split = np.asarray(shares.reshape(2, len(crops), -1), np.float32)
    return split, None if red is None else red.reshape(2, len(crops))

"""Places beside the tiles found where one could lie unseen: pure numpy.

A detector that overlooks a tile says nothing; but a tile overlooked leaves a gap as wide as a tile, or lies
at the end of a row, and what lies there can be looked at.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from vision.arrange import Arrangement, row_widths
from vision.decode import iou_matrix
from vision.readings import Box, Detections, Floats

__all__ = ["inside_share", "unseen_places"]

ROOM = 0.6
"""A gap of so many tile widths can hide a tile: foreshortened, and boxes reach a little too far."""
ONE = 1.4
"""Up to so many a gap holds one tile, in its middle; beyond it a tile may touch either side."""
TAKEN = 0.25
"""Overlap with a tile found above which a place is no place."""


def inside_share(boxes: Floats, area: Box) -> Floats:
    """Share of every box ``(N, 4)`` that lies inside an area, 0..1, ``(N,)``."""
    low = np.maximum(boxes[:, :2], np.asarray(area[:2], np.float32))
    high = np.minimum(boxes[:, 2:], np.asarray(area[2:], np.float32))
    whole = np.prod(np.maximum(boxes[:, 2:] - boxes[:, :2], 1e-6), axis=1)
    return np.asarray(np.prod(np.maximum(high - low, 0), axis=1) / whole, np.float32)


def unseen_places(found: Detections, lie: Arrangement, area: Box) -> Floats:
    """Boxes ``(M, 4)`` where a tile could lie unseen: in wide gaps of a row and at its two ends.

    Only places that lie in ``area`` for the most part and that no tile found takes.
    """
    widths = row_widths(found, lie)
    direction = np.asarray([np.cos(np.radians(lie.angle)), np.sin(np.radians(lie.angle))], np.float32)
    places: list[Floats] = []
    for row in lie.rows:
        members = [lie.order[k] for k in row]
        if len(members) > 1:
            places += _row_places(found, members, widths, direction)
    if not places:
        return np.zeros((0, 4), np.float32)
    boxes = np.stack(places)
    free = iou_matrix(boxes, found.boxes).max(axis=1, initial=0) < TAKEN
    return np.asarray(boxes[free & (inside_share(boxes, area) > 0.85)], np.float32)


def _row_places(found: Detections, members: list[int], widths: Floats, direction: Floats) -> list[Floats]:
    centres = found.centres
    places = [
        _beside(found.boxes[members[0]], centres[members[0]] - centres[members[1]], widths[members[0]]),
        _beside(found.boxes[members[-1]], centres[members[-1]] - centres[members[-2]], widths[members[-1]]),
    ]
    for left, right in pairwise(members):
        width = float(widths[left] + widths[right]) / 2
        apart = centres[right] - centres[left]
        gap = float(apart @ direction) / max(width, 1e-6) - 1
        if gap < ROOM:
            continue
        if gap < ONE:
            places.append((found.boxes[left] + found.boxes[right]) / 2)
        else:
            places.append(_beside(found.boxes[left], apart, widths[left]))
            places.append(_beside(found.boxes[right], -apart, widths[right]))
    return places


def _beside(box: Floats, towards: Floats, width: float) -> Floats:
    """Return the box of a tile that touches another on the side of ``towards``."""
    step = towards / max(float(np.linalg.norm(towards)), 1e-6) * width
    return np.asarray(box + np.tile(step, 2), np.float32)

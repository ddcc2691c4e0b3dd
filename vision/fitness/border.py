"""Tiles that lie partly or wholly outside their zone."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from vision.fitness.channels import darkest, lightest
from vision.fitness.problems import LIMITS, OUTSIDE_ZONE, Limits, Problem
from vision.readings import Floats, Image

__all__ = ["cut_tiles", "tiles_beyond"]

LIGHT = 0.72
"""Light, as a share of the tiles' white, from which a patch may be the face of a tile."""
COLOURLESS = 0.26
"""Spread between colour channels, as a share of the lightest, up to which it may be."""


def cut_tiles(boxes: Floats, size: tuple[int, int], tile: float, limits: Limits = LIMITS) -> list[Problem]:
    """Find tiles that reach the border of a zone's picture of ``size`` (width, height).

    Its far border is left out: beyond it stand the walls.
    """
    near = limits.edge * tile
    found = []
    for x0, y0, x1, y1 in boxes.tolist():
        distance = min(x0, size[0] - x1, size[1] - y1)
        if distance <= near:
            found.append(Problem(OUTSIDE_ZONE, (x0, y0, x1, y1), round(distance / tile, 3), limits.edge))
    return found


def tiles_beyond(
    strips: Sequence[Image], tile: float, white: float, limits: Limits = LIMITS
) -> list[Problem]:
    """Find light patches of the size of tiles in the strips of table beside a zone.

    ``strips``: pictures as wide as a tile or so, of the same scale as the zone; ``white``: grey level of the
    white of tiles. The problems have no box: they lie outside the zone's picture.
    """
    found = []
    for strip in strips:
        top = lightest(strip).astype(np.float32)
        pale = (top > LIGHT * white) & (top - darkest(strip) < COLOURLESS * np.maximum(top, 1))
        width = max(2, round(0.2 * tile))
        mask = cv2.morphologyEx(pale.astype(np.uint8), cv2.MORPH_OPEN, np.ones((width, width), np.uint8))
        count, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
        largest = max((int(stats[k][cv2.CC_STAT_AREA]) for k in range(1, count)), default=0)
        value = largest / (4 / 3 * tile**2)
        if value > limits.beyond:
            found.append(Problem(OUTSIDE_ZONE, None, round(value, 2), limits.beyond))
    return found

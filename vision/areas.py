"""What part of a picture to search, and at what size: pure numpy."""

from __future__ import annotations

import numpy as np

from vision.errors import RegionError
from vision.readings import Box, Detections

__all__ = ["better_sides", "clip_region", "with_margin"]

MARGIN = 0.25
"""How much more than the region is looked at, by its short side: a tile at its edge is seen whole."""
SMALL_TILE, LARGE_TILE = 28.0, 130.0
"""Long sides of tiles, pixels as searched, outside of which the picture is searched again..."""
GOOD_SMALL, GOOD_LARGE = 44.0, 80.0
"""...so that they get this long."""
SMALLEST_SIDE, LARGEST_SIDE = 160, 1600


def clip_region(region: Box | None, width: int, height: int) -> tuple[int, int, int, int]:
    """Whole-pixel part of a ``width`` x ``height`` picture that a region covers.

    Raises RegionError when it covers none.
    """
    if region is None:
        return 0, 0, width, height
    x0, y0 = max(0, int(np.floor(region[0]))), max(0, int(np.floor(region[1])))
    x1, y1 = min(width, int(np.ceil(region[2]))), min(height, int(np.ceil(region[3])))
    if x1 <= x0 or y1 <= y0:
        raise RegionError(
            f"The region {region} covers no pixel of the {width} x {height} picture:"
            " give X0,Y0,X1,Y1 in pixels of the upright picture."
        )
    return x0, y0, x1, y1


def with_margin(area: tuple[int, int, int, int], width: int, height: int) -> tuple[int, int, int, int]:
    """Widen an area of a ``width`` x ``height`` picture on all sides as far as the picture goes."""
    x0, y0, x1, y1 = area
    more = round(MARGIN * min(x1 - x0, y1 - y0))
    return max(0, x0 - more), max(0, y0 - more), min(width, x1 + more), min(height, y1 + more)


def better_sides(found: Detections, scale: float, side: int, width: int, height: int) -> list[int]:
    """Long sides at which a ``width`` x ``height`` picture is worth searching again, best first.

    ``scale`` is the one it was searched at with ``side``. None where the tiles ``found`` had a size that the
    detector knows well; without any, they may be smaller or fill the picture.
    """
    long = max(width, height)
    if len(found) == 0:
        return [s for s in (min(2 * side, long), side // 2) if s >= SMALLEST_SIDE and s != side]
    tile = float(np.median(found.sizes.max(axis=1))) * scale
    if SMALL_TILE <= tile <= LARGE_TILE:
        return []
    wanted = round((GOOD_SMALL if tile < SMALL_TILE else GOOD_LARGE) / tile * scale * long)
    other = min(max(wanted, SMALLEST_SIDE), LARGEST_SIDE)
    return [other] if abs(other - side) > 0.2 * side else []

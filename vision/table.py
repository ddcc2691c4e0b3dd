"""Measures of an automatic table in millimetres, and where a player lays what.

World: origin at the middle of the table, x to the right and y away from place 0, z up. Places run
counter-clockwise: 0 near, 1 right, 2 far, 3 left.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "INDICATOR_ZONE",
    "PLACES",
    "PLACE_ZONE",
    "TABLE_HALF",
    "TILE_DEPTH",
    "TILE_HEIGHT",
    "TILE_WIDTH",
    "WALL_LINE",
    "WALL_PITCH",
    "WALL_STACKS",
    "ZONES",
    "from_place",
    "stack_middle",
    "zone_corners",
]

Points = NDArray[np.float64]

TILE_WIDTH: Final = 30.0
TILE_HEIGHT: Final = 40.0
TILE_DEPTH: Final = 22.0
TABLE_HALF: Final = 470.0
"""Half the side of the cloth."""
PLACES: Final = (0, 1, 2, 3)
PLACE_ZONE: Final = (-284.0, -468.0, 284.0, -296.0)
"""Zone of a place as its player sees it: left, near, right, far. The four do not overlap."""
WALL_LINE: Final = -272.0
"""Middle of a wall, seen by its place: between its zone and the middle of the table."""
WALL_STACKS: Final = 18
"""Stacks of the longest wall (144 tiles)."""
WALL_RIGHT: Final = 251.5
"""Right end of a wall: each ends before the next one, so that walls of 18 stacks close like a pinwheel."""
WALL_PITCH: Final = 30.05
INDICATOR_ZONE: Final = (110.0, -110.0, 190.0, -20.0)
"""Zone of the flipped indicator, seen from place 0, beside the dice window."""
ZONES: Final = ("0", "1", "2", "3", "indicator")
"""Names of the zones of a calibration: the four places and the indicator."""


def from_place(place: int, points: Points) -> Points:
    """Turn points ``(..., 2)`` given as a player sees them into world coordinates.

    >>> from_place(1, np.array([[0.0, -400.0]])).round().tolist()
    [[400.0, 0.0]]
    """
    x, y = points[..., 0], points[..., 1]
    turned = ((x, y), (-y, x), (-x, -y), (y, -x))[place]
    return np.stack(turned, axis=-1)


def zone_corners(zone: str) -> Points:
    """World corners ``(4, 2)`` of a zone: top left, top right, bottom right, bottom left for its player."""
    place = 0 if zone == "indicator" else int(zone)
    left, near, right, far = INDICATOR_ZONE if zone == "indicator" else PLACE_ZONE
    corners = np.asarray([[left, far], [right, far], [right, near], [left, near]], np.float64)
    return from_place(place, corners)


def stack_middle(place: int, stack: int) -> Points:
    """World x, y ``(2,)`` of a stack of a place's wall, counted 1, 2, … from its player's right end.

    >>> stack_middle(0, 1).tolist(), stack_middle(1, 1).round(3).tolist()
    ([236.475, -272.0], [272.0, 236.475])
    """
    return from_place(place, np.asarray([WALL_RIGHT - (stack - 0.5) * WALL_PITCH, WALL_LINE]))

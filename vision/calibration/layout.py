"""Where the printed markers lie on the cloth. Pure.

A marker is a black square in the middle of a card. Card k (0 to 3) is pushed into the corner of the cloth
at the left hand of place k; cards 4 to 7 lie against the rail, in the middle of the side of place 0 to 3.
Whichever way a card is turned, its black square covers the same spot.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from vision.planes import Matrix
from vision.table import PLACES, TABLE_HALF, from_place

__all__ = [
    "CARD",
    "CLOTH",
    "CLOTH_RANGE",
    "CORNERS",
    "MARKER",
    "MARKERS",
    "RING",
    "cloth_corners",
    "marker_corners",
    "marker_middle",
]

MARKER: Final = 60.0
"""Side of a marker's black square in millimetres."""
CARD: Final = 80.0
"""Side of the card to be cut out: the square and a white rim of 10 mm, which the detector needs."""
CORNERS: Final = (0, 1, 2, 3)
MARKERS: Final = (0, 1, 2, 3, 4, 5, 6, 7)
RING: Final = (0, 4, 1, 5, 2, 6, 3, 7)
"""All markers as one meets them counter-clockwise around the table."""
CLOTH: Final = 2 * TABLE_HALF
"""Side of the cloth in millimetres where nothing else is said."""
CLOTH_RANGE: Final = (700.0, 1200.0)


def marker_middle(marker: int, cloth: float = CLOTH) -> Matrix:
    """World x, y ``(2,)`` in millimetres of the middle of a marker on a cloth of that side.

    >>> marker_middle(0).tolist(), marker_middle(5).round(6).tolist()
    ([-430.0, -430.0], [430.0, 0.0])
    """
    inset = cloth / 2 - CARD / 2
    along = -inset if marker in CORNERS else 0.0
    return from_place(PLACES[marker % 4], np.asarray([along, -inset]))


def marker_corners(marker: int, cloth: float = CLOTH) -> Matrix:
    """World corners ``(4, 2)`` of a marker's black square, clockwise as the camera above sees them."""
    half = MARKER / 2
    square = np.asarray([[-half, half], [half, half], [half, -half], [-half, -half]], np.float64)
    return marker_middle(marker, cloth) + square


def cloth_corners(cloth: float = CLOTH) -> Matrix:
    """World corners ``(4, 2)`` of the cloth: that at the left hand of place 0, 1, 2, 3 in turn."""
    half = cloth / 2
    return np.stack([from_place(place, np.asarray([-half, -half])) for place in PLACES])

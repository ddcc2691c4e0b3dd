"""Whether the markers lie as they should, and which one does not. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vision.calibration.layout import CARD, CORNERS, MARKER, RING, marker_corners
from vision.calibration.refusals import TeachError
from vision.lens import Lens
from vision.planes import Matrix, homography, map_points

__all__ = ["Markers", "check_enough", "check_order", "check_print", "straightened", "turned_to_spots"]

Markers = Mapping[int, Matrix]
"""Corners ``(4, 2)`` in pixels of each marker found, clockwise, beginning anywhere."""

LEAST_MARKERS = 4
PRINT_TOLERANCE = 0.025
"""A marker may measure this share more or less than it should."""
LEAST_STEP = 0.05
"""Radians between two markers that follow each other, seen from their middle."""


def straightened(markers: Markers, lens: Lens | None) -> dict[int, Matrix]:
    """Return the markers in pixels of the straight picture."""
    return {marker: c if lens is None else lens.straight(c) for marker, c in markers.items()}


def check_enough(markers: Markers) -> None:
    """Raise TeachError unless there are four markers."""
    if len(markers) < LEAST_MARKERS:
        missing = ", ".join(str(marker) for marker in CORNERS if marker not in markers)
        seen = ", ".join(map(str, markers)) or "–"
        raise TeachError("calibrate.few_markers", n=len(markers), seen=seen, missing=missing)


def check_order(markers: Markers) -> None:
    """Raise TeachError unless the markers follow each other around the table as they should."""
    ring = [marker for marker in RING if marker in markers]
    spots = np.asarray([markers[marker].mean(axis=0) for marker in ring])
    if _runs_around(spots):
        return
    if _runs_around(spots[::-1]):
        raise TeachError("calibrate.wrong_way")
    for i in range(len(ring)):
        for k in range(i + 1, len(ring)):
            swapped = spots.copy()
            swapped[[i, k]] = spots[[k, i]]
            if _runs_around(swapped):
                raise TeachError("calibrate.swapped", a=ring[i], b=ring[k])
    raise TeachError("calibrate.order")


def _runs_around(spots: Matrix) -> bool:
    """Whether the points go once counter-clockwise (as seen from above) around their middle."""
    arms = spots - spots.mean(axis=0)
    angles = np.unwrap(np.arctan2(-arms[:, 1], arms[:, 0]))
    return bool((np.diff(angles) > LEAST_STEP).all() and angles[-1] - angles[0] < 2 * np.pi)


def turned_to_spots(markers: Markers, cloth: float) -> dict[int, Matrix]:
    """Let the corners of each marker begin where those of its spot do, however the card is turned.

    ``markers``: in straight pixels.
    """
    plane = _plane_of_middles(markers, cloth)
    turned = {}
    for marker, corners in markers.items():
        wanted = map_points(plane, marker_corners(marker, cloth))
        far = [float(np.abs(np.roll(corners, k, axis=0) - wanted).sum()) for k in range(4)]
        turned[marker] = np.roll(corners, int(np.argmin(far)), axis=0)
    return turned


def check_print(markers: Markers, cloth: float) -> None:
    """Raise TeachError when the markers (straight pixels) are too large or too small beside the cloth."""
    back = np.asarray(np.linalg.inv(_plane_of_middles(markers, cloth)), np.float64)
    sides = []
    for corners in markers.values():
        seen = map_points(back, corners)
        sides += np.linalg.norm(np.roll(seen, -1, axis=0) - seen, axis=1).tolist()
    share = float(np.median(sides)) / MARKER
    if abs(share - 1) > PRINT_TOLERANCE:
        real = (cloth - CARD) / share + CARD
        raise TeachError(
            "calibrate.print_scale", share=round(100 * share), cloth=f"{cloth:g}", real=round(real)
        )


def _plane_of_middles(markers: Markers, cloth: float) -> Matrix:
    """Homography from the cloth to straight pixels by the middles of the markers."""
    world = np.stack([marker_corners(marker, cloth).mean(axis=0) for marker in markers])
    return homography(world, np.stack([_middle(corners) for corners in markers.values()]))


def _middle(corners: Matrix) -> Matrix:
    """Where the diagonals of a quad cross: the middle of the square in perspective."""
    a, b, c, d = (np.append(corner, 1.0) for corner in corners)
    x, y, w = np.cross(np.cross(a, c), np.cross(b, d))
    return np.asarray([x / w, y / w], np.float64)

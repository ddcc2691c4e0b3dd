"""From markers or taps in a frame to the calibration of the table. Pure: pictures stay at the edge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from vision.calibration.laid import (
    Markers,
    check_enough,
    check_order,
    check_print,
    straightened,
    turned_to_spots,
)
from vision.calibration.layout import CLOTH, CLOTH_RANGE, MARKERS, cloth_corners, marker_corners
from vision.calibration.refusals import TeachError
from vision.calibration.solve import Height, Solved, solve_camera
from vision.lens import Lens
from vision.pinhole import INDICATOR_SIZE, PLACE_SIZE, Pinhole
from vision.planes import Matrix, map_points, quad_of
from vision.table import TILE_DEPTH, ZONES, zone_corners
from vision.taught import Taught
from vision.zones import Calibration, Zone

__all__ = ["Found", "View", "from_markers", "from_taps", "zones_seen_by"]

LIMIT_MM = 4.0
"""A marker's corner may lie this far from its spot."""
LIMIT_PIXELS = 2.5
"""A marker that is off by less in the frame may just be small in it."""
TAPS_LIMIT = 0.05
"""A tapped corner may lie this share of the cloth's side from where a square cloth has it."""
FINEST = 4.5
"""Pixels a millimetre of the finest zone picture: tiles 135 pixels wide; more only costs time."""
TAP_SURE = 3.0
"""Pixels of a picture 1600 wide within which a person taps."""


@dataclass(frozen=True, slots=True)
class View:
    """What is known of table and camera beforehand.

    ``size``: ``(width, height)`` of the frame; ``cloth``: side of the cloth in millimetres; ``lens``: what
    bends the frame; ``height``: of the camera, where it was measured.
    """

    size: tuple[int, int]
    cloth: float = CLOTH
    lens: Lens | None = None
    height: Height | None = None

    def __post_init__(self) -> None:
        low, high = CLOTH_RANGE
        if not low <= self.cloth <= high:
            raise TeachError("calibrate.cloth", cloth=f"{self.cloth:g}", low=f"{low:g}", high=f"{high:g}")


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What teaching gave.

    ``calibration``: without reference and date; ``error_mm``: the largest distance of a point from its spot;
    ``errors``: the same for each marker; ``height_mm``: of the camera above the cloth.
    """

    calibration: Calibration
    error_mm: float
    errors: Mapping[int, float]
    height_mm: float

    def dated(self, at: str, version: str) -> Calibration:
        """Return the calibration with time (UTC, ISO 8601) and version of this teaching."""
        taught = self.calibration.taught
        assert taught is not None
        return replace(self.calibration, taught=replace(taught, at=at, version=version))


def from_markers(markers: Markers, view: View) -> Found:
    """Teach by the markers found in a frame (pixels of the frame, corners clockwise).

    Raises:
        TeachError: too few markers, printed at a wrong scale, one lies off its spot or in another's place, or
            a zone is not in view. The sentence says which and what to do.
    """
    seen = {marker: np.asarray(markers[marker], np.float64) for marker in MARKERS if marker in markers}
    check_enough(seen)
    check_order(seen)
    turned = turned_to_spots(straightened(seen, view.lens), view.cloth)
    check_print(turned, view.cloth)
    solved = _solve(turned, view)
    errors = _errors(turned, solved)
    if _is_off(solved):
        raise _worst(turned, view, errors)
    return _found("markers", solved, view, errors)


def from_taps(taps: Matrix, view: View) -> Found:
    """Teach by the four corners of the cloth, tapped in a frame.

    ``taps``: pixels ``(4, 2)``; at the left hand of place 0, 1, 2, 3: first the two of the touchscreen's
    side, left then right, then on around the table.

    Raises:
        TeachError: not four corners, a wrong order, outside the picture, or no table seen from above.
    """
    taps = np.asarray(taps, np.float64)
    if taps.shape != (4, 2):
        raise TeachError("calibrate.taps_count", n=len(taps))
    if not np.isfinite(taps).all() or (taps < 0).any() or (taps > np.asarray(view.size)).any():
        raise TeachError("calibrate.taps_outside")
    edges = np.roll(taps, -1, axis=0) - taps
    following = np.roll(edges, -1, axis=0)
    if not (edges[:, 0] * following[:, 1] - edges[:, 1] * following[:, 0] < -1.0).all():
        raise TeachError("calibrate.taps_order")
    straight = taps if view.lens is None else view.lens.straight(taps)
    solved = solve_camera(
        cloth_corners(view.cloth), straight, view.size, lens=view.lens, height=view.height, sure=TAP_SURE
    )
    off = float(np.linalg.norm(solved.off, axis=1).max())
    if off > TAPS_LIMIT * view.cloth:
        raise TeachError("calibrate.taps_no_table", off=round(off))
    return _found("taps", solved, view, {})


def zones_seen_by(camera: Pinhole, view: View) -> dict[str, Zone]:
    """Zones as a camera sees them, in pixels of the frame; each picture is as fine as the frame.

    Raises TeachError when a zone is not wholly in the picture.
    """
    zones = {}
    for name in ZONES:
        corners = zone_corners(name) * (view.cloth / CLOTH)
        seen = camera.project(np.concatenate([corners, np.full((4, 1), TILE_DEPTH)], axis=1))
        quad = seen if view.lens is None else view.lens.bent(seen)
        if (quad < 0).any() or (quad > np.asarray(view.size)).any():
            if name == "indicator":
                raise TeachError("calibrate.indicator_out")
            raise TeachError("calibrate.place_out", zone=name)
        zones[name] = Zone(quad_of(quad.round(2)), _picture_size(name, quad), view.lens)
    return zones


def _picture_size(name: str, quad: Matrix) -> tuple[int, int]:
    """Size of a zone's picture: as fine as its finest part in the frame, within what the recognizer wants."""
    corners = zone_corners(name)
    wide, high = (float(np.linalg.norm(corners[k + 1] - corners[k])) for k in (0, 1))
    least = INDICATOR_SIZE if name == "indicator" else PLACE_SIZE
    edges = np.linalg.norm(np.roll(quad, -1, axis=0) - quad, axis=1) / [wide, high, wide, high]
    rate = min(float(edges.max()), FINEST)
    if rate * wide <= least[0]:
        return least
    return 4 * round(rate * wide / 4), 4 * round(rate * high / 4)


def _found(how: str, solved: Solved, view: View, errors: Mapping[int, float]) -> Found:
    error = float(np.linalg.norm(solved.off, axis=1).max())
    taught = Taught(how, "", "", view.cloth, round(error, 2) if errors else None)
    calibration = Calibration(view.size, zones_seen_by(solved.camera, view), view.lens, None, taught)
    return Found(calibration, error, errors, float(solved.camera.position[2]))


def _solve(markers: Markers, view: View) -> Solved:
    """Camera for markers in straight pixels."""
    world = np.concatenate([marker_corners(marker, view.cloth) for marker in markers])
    pixels = np.concatenate(list(markers.values()))
    return solve_camera(world, pixels, view.size, lens=view.lens, height=view.height)


def _is_off(solved: Solved) -> bool:
    """Whether a marker's corner lies too far from its spot."""
    mm, pixels = (np.linalg.norm(miss, axis=1) for miss in (solved.off, solved.missed))
    return bool(((mm > LIMIT_MM) & (pixels > LIMIT_PIXELS)).any())


def _errors(markers: Markers, solved: Solved) -> dict[int, float]:
    far = np.linalg.norm(solved.off, axis=1).reshape(len(markers), 4).max(axis=1)
    return {marker: round(float(mm), 2) for marker, mm in zip(markers, far, strict=True)}


def _worst(markers: Markers, view: View, errors: Mapping[int, float]) -> TeachError:
    """Return what to say of the marker whose absence makes the others agree best."""
    left: dict[int, tuple[float, float, bool]] = {}
    for marker in markers:
        others = {other: corners for other, corners in markers.items() if other != marker}
        solved = _solve(others, view)
        back = np.asarray(np.linalg.inv(solved.camera.plane(0.0)), np.float64)
        spot = map_points(back, markers[marker]) - marker_corners(marker, view.cloth)
        rest = max(_errors(others, solved).values())
        left[marker] = rest, float(np.linalg.norm(spot.mean(axis=0))), _is_off(solved)
    worst = min(left, key=lambda marker: left[marker][0])
    _, off, still_off = left[worst]
    if still_off:
        return TeachError("calibrate.no_fit", off=round(max(errors.values())))
    return TeachError("calibrate.marker_off", marker=worst, off=round(off))

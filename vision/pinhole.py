"""Cameras without distortion: where a point of the room falls in the picture, and back from the zones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision.errors import CalibrationError
from vision.planes import Matrix, homography, quad_of
from vision.table import TILE_DEPTH, ZONES, zone_corners
from vision.zones import Calibration, Zone

__all__ = [
    "DEFAULT_SIZE",
    "INDICATOR_SIZE",
    "PLACE_SIZE",
    "Pinhole",
    "calibration_seen_by",
    "default_calibration",
    "default_pinhole",
    "focal_of_plane",
    "look_at",
    "pinhole_of",
    "pose_from_plane",
]

DEFAULT_SIZE = (1600, 1200)
PLACE_SIZE = (1280, 388)
"""As fine as the camera sees the nearest zone, and finer for the others: tiles 68 pixels wide."""
INDICATOR_SIZE = (128, 144)


@dataclass(frozen=True, slots=True, eq=False)
class Pinhole:
    """A camera without distortion: ``matrix`` ``(3, 4)`` takes world millimetres to pixels.

    ``position``: where the camera is, in world millimetres ``(3,)``.
    """

    matrix: Matrix
    position: Matrix

    def project(self, points: Matrix) -> Matrix:
        """Pixels ``(N, 2)`` of world points ``(N, 3)``."""
        wide = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ self.matrix.T
        return np.asarray(wide[:, :2] / wide[:, 2:], np.float64)

    def plane(self, z: float) -> Matrix:
        """Homography ``(3, 3)`` from world x, y at height ``z`` to pixels."""
        return np.stack(
            [self.matrix[:, 0], self.matrix[:, 1], self.matrix[:, 3] + z * self.matrix[:, 2]], axis=1
        )


def look_at(position: Matrix, target: Matrix, focal: float, size: tuple[int, int]) -> Pinhole:
    """Camera at ``position`` looking at ``target`` (world millimetres), upright for place 0.

    ``focal`` is in pixels of a picture of ``size`` (width, height).
    """
    forward = (target - position) / np.linalg.norm(target - position)
    right = np.cross(forward, [0.0, 1.0, 0.0])
    right /= np.linalg.norm(right)
    down = np.cross(forward, right)
    turn = np.stack([right, down, forward])
    inner = np.asarray([[focal, 0, size[0] / 2], [0, focal, size[1] / 2], [0, 0, 1]], np.float64)
    return Pinhole(inner @ np.concatenate([turn, (-turn @ position)[:, None]], axis=1), position)


def default_pinhole(size: tuple[int, int] = DEFAULT_SIZE) -> Pinhole:
    """Camera of the rendered table: on an arm above the side of place 0, looking steeply down."""
    position = np.asarray([25.0, -300.0, 1250.0])
    return look_at(position, np.asarray([0.0, -14.0, 0.0]), 1.2 * size[1], size)


def calibration_seen_by(camera: Pinhole, size: tuple[int, int]) -> Calibration:
    """Calibration of a camera whose position is known, exact by construction.

    Raises CalibrationError when it does not see all zones in a picture of ``size``.
    """
    zones: dict[str, Zone] = {}
    for name in ZONES:
        flat = np.concatenate([zone_corners(name), np.full((4, 1), TILE_DEPTH)], axis=1)
        quad = quad_of(camera.project(flat).round(2))
        zones[name] = Zone(quad, INDICATOR_SIZE if name == "indicator" else PLACE_SIZE)
    return Calibration(size, zones)


def default_calibration(size: tuple[int, int] = DEFAULT_SIZE) -> Calibration:
    """Calibration of the rendered table."""
    return calibration_seen_by(default_pinhole(size), size)


def pinhole_of(calibration: Calibration) -> Pinhole:
    """Find the camera that sees the zones where the calibration has them, its lines made straight.

    Without a lens in the calibration it assumes square pixels and an optical axis through the middle of
    the picture. A camera that looks straight down tells nothing of its focal length: then a common one is
    taken. Raises CalibrationError when no zone was taught.
    """
    if not calibration.zones:
        raise CalibrationError("No zone was taught: teach the table first (quezhuo calibrate).")
    world = np.concatenate([zone_corners(name) for name in calibration.zones])
    pixels = np.concatenate([np.asarray(zone.quad) for zone in calibration.zones.values()])
    lens = calibration.lens
    if lens is not None:
        plane = homography(world, lens.straight(pixels) - lens.middle)
        return pose_from_plane(plane, lens.focal, np.asarray(lens.middle), TILE_DEPTH)
    middle = np.asarray(calibration.size, np.float64) / 2
    plane = homography(world, pixels - middle)
    focal = focal_of_plane(plane, calibration.size)
    return pose_from_plane(plane, (focal, focal), middle, TILE_DEPTH)


def pose_from_plane(plane: Matrix, focal: tuple[float, float], middle: Matrix, height: float) -> Pinhole:
    """Camera for the homography ``(3, 3)`` from world x, y at a height to pixels counted from ``middle``."""
    scaled = np.diag([1 / focal[0], 1 / focal[1], 1.0]) @ plane
    scaled /= np.sqrt(np.linalg.norm(scaled[:, 0]) * np.linalg.norm(scaled[:, 1]))
    scaled *= np.sign(scaled[2, 2])
    left, _, right = np.linalg.svd(np.stack([scaled[:, 0], scaled[:, 1]], axis=1), full_matrices=False)
    first, second = (left @ right).T
    up = np.cross(first, second)
    turn = np.stack([first, second, up], axis=1)
    shift = scaled[:, 2] - height * up
    inner = np.asarray([[focal[0], 0, middle[0]], [0, focal[1], middle[1]], [0, 0, 1]], np.float64)
    return Pinhole(inner @ np.concatenate([turn, shift[:, None]], axis=1), -turn.T @ shift)


def focal_of_plane(plane: Matrix, size: tuple[int, int]) -> float:
    """Focal length in pixels from the perspective of a plane (Zhang's two constraints, least squares)."""
    usual = 1.2 * max(size)
    (a, b), (c, d), (e, f) = plane[0, :2], plane[1, :2], plane[2, :2]
    left = np.asarray([a * b + c * d, a * a + c * c - b * b - d * d])
    right = np.asarray([-e * f, f * f - e * e])
    weight = float(right @ right)
    square = float(left @ right) / weight if weight > 0 else -1.0
    focal = float(np.sqrt(square)) if square > 0 else usual
    return focal if 0.4 * max(size) < focal < 6 * max(size) else usual

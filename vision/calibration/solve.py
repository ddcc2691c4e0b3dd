"""The camera that sees points of the cloth where they were found: least squares, no random sampling. Pure.

Levenberg-Marquardt over turn, position and, where no lens was measured, focal length. A camera that looks
straight down tells nothing of its focal length, while tiles stand 22 mm above the cloth; so a soft wish for a
usual height decides what the points leave open, and a measured height decides it well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vision.calibration.refusals import TeachError
from vision.lens import Lens
from vision.pinhole import Pinhole, focal_of_plane, pose_from_plane
from vision.planes import Matrix, homography

__all__ = ["Height", "Solved", "solve_camera"]

ROUNDS = 60
STEP = 1e-6
PIXELS_SURE = 0.5
"""Pixels of a picture 1600 wide within which a marker's corner is found: weighs it against the wish."""
FOCAL_RANGE = (0.2, 8.0)
"""Focal length as a share of the picture's longer side: from 136 degrees of view to a telephoto lens."""


@dataclass(frozen=True, slots=True)
class Height:
    """What is known of the camera's height above the cloth before the points are looked at.

    ``mm``: the height; ``spread``: standard deviation of its inverse, in 1/mm.
    """

    mm: float = 750.0
    spread: float = 2.5e-4

    @classmethod
    def measured(cls, mm: float) -> Height:
        """Return a height measured with a tape, good to about 15 mm."""
        return cls(mm, 15.0 / mm**2)


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """A camera, and how far each point lies from where the camera sees it.

    ``camera``: takes world millimetres to pixels of the straight picture; ``off``: float64 ``(N, 2)``
    millimetres on the cloth, x and y; ``missed``: the same in pixels of the straight picture.
    """

    camera: Pinhole
    off: Matrix
    missed: Matrix


def solve_camera(
    world: Matrix,
    pixels: Matrix,
    size: tuple[int, int],
    *,
    lens: Lens | None = None,
    height: Height | None = None,
    sure: float = PIXELS_SURE,
) -> Solved:
    """Find the camera over the cloth.

    Args:
        world: ``(N, 2)`` x, y of points of the cloth in millimetres, N >= 4.
        pixels: ``(N, 2)`` where they are in the straight picture.
        size: ``(width, height)`` of the frame.
        lens: what bends the frame; without it square pixels and an axis through the middle are taken.
        height: what is known of the height.
        sure: pixels of a picture 1600 wide within which a point was found.

    Raises:
        CalibrationError: the points lie on one line.
        TeachError: no camera sees them so.
    """
    height = height or Height()
    middle = np.asarray(lens.middle if lens else (size[0] / 2, size[1] / 2), np.float64)
    plane = homography(world, pixels - middle)
    focal = lens.focal if lens else _first_focal(plane, size, height)
    first = pose_from_plane(plane, focal, middle, 0.0)
    turn = np.asarray(np.linalg.inv(_inner(focal, middle)) @ first.matrix[:, :3], np.float64)
    flat = np.concatenate([world, np.zeros((len(world), 1))], axis=1)
    unit = sure * max(size) / 1600

    def camera_of(values: Matrix) -> Pinhole:
        focals = focal if lens else (focal[0] * np.exp(values[6]), focal[1] * np.exp(values[6]))
        now = _rotation(values[:3]) @ turn
        position = first.position + values[3:6]
        matrix = _inner(focals, middle) @ np.concatenate([now, (-now @ position)[:, None]], axis=1)
        return Pinhole(matrix, position)

    def misses(values: Matrix) -> Matrix:
        camera = camera_of(values)
        wish = (1 / camera.position[2] - 1 / height.mm) / height.spread
        return np.append(((camera.project(flat) - pixels) / unit).ravel(), wish)

    # Turn in radians, position in units that move the picture about as much as a radian does.
    scale = np.asarray([1.0, 1.0, 1.0, 1000.0, 1000.0, 1000.0, 1.0])[: 6 if lens else 7]
    found = scale * _least_squares(lambda v: misses(scale * v), np.zeros(len(scale)))
    camera = camera_of(found)
    _check(camera, focal[0] * (1.0 if lens else float(np.exp(found[6]))), size)
    back = np.asarray(np.linalg.inv(camera.plane(0.0)), np.float64)
    wide = np.concatenate([pixels, np.ones((len(pixels), 1))], axis=1) @ back.T
    off = np.asarray(wide[:, :2] / wide[:, 2:] - world, np.float64)
    return Solved(camera, off, pixels - camera.project(flat))


def _check(camera: Pinhole, focal: float, size: tuple[int, int]) -> None:
    low, high = (share * max(size) for share in FOCAL_RANGE)
    if not np.isfinite(camera.matrix).all() or camera.position[2] <= 0 or not low <= focal <= high:
        raise TeachError("calibrate.no_camera")


def _first_focal(plane: Matrix, size: tuple[int, int], height: Height) -> tuple[float, float]:
    """Focal length to begin with: from the perspective where there is some, else from the wished height."""
    across = np.sqrt(abs(np.linalg.det(plane[:2, :2] / plane[2, 2])))  # pixels a millimetre below the camera
    low, high = (share * max(size) for share in FOCAL_RANGE)
    by_height = float(np.clip(across * height.mm, 1.05 * low, 0.95 * high))
    tilt = np.hypot(plane[2, 0], plane[2, 1]) / abs(plane[2, 2]) * 500
    focal = focal_of_plane(plane, size) if tilt > 0.05 else by_height
    return focal, focal


def _inner(focal: tuple[float, float], middle: Matrix) -> Matrix:
    return np.asarray([[focal[0], 0, middle[0]], [0, focal[1], middle[1]], [0, 0, 1]], np.float64)


def _rotation(vector: Matrix) -> Matrix:
    """Rotation matrix of an axis times an angle in radians (Rodrigues)."""
    angle = float(np.linalg.norm(vector))
    if angle < 1e-12:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.asarray([[0, -z, y], [z, 0, -x], [-y, x, 0]], np.float64)
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross, np.float64)


def _least_squares(misses: Callable[[Matrix], Matrix], start: Matrix) -> Matrix:
    """Levenberg-Marquardt with numeric derivatives (Nocedal and Wright 2006, chapter 10)."""
    values, damp = start, 1e-3
    now = misses(values)
    for _ in range(ROUNDS):
        slope = np.stack(
            [(misses(values + step) - now) / STEP for step in STEP * np.eye(len(values))], axis=1
        )
        square, down = slope.T @ slope, slope.T @ now
        while True:
            move = np.linalg.solve(square + damp * np.diag(np.diag(square) + 1e-9), -down)
            tried = misses(values + move)
            better = float(now @ now - tried @ tried)
            if better >= 0 or damp > 1e9:
                break
            damp *= 10
        if not better > 1e-12 * float(now @ now):
            break
        values, now, damp = values + move, tried, damp / 10
    return values

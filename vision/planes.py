"""Projective maps between planes: the little algebra that the geometry of a table is made of (OpenCV)."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.errors import CalibrationError

__all__ = ["Matrix", "Point", "Quad", "homography", "map_points", "quad_of"]

Matrix = NDArray[np.float64]
Point = tuple[float, float]
Quad = tuple[Point, Point, Point, Point]


def homography(source: Matrix, target: Matrix) -> Matrix:
    """Projective map ``(3, 3)`` that takes points ``(N, 2)``, N >= 4, to ``(N, 2)`` (least squares).

    Raises CalibrationError when the points do not define one.
    """
    matrix, _ = cv2.findHomography(source.astype(np.float64), target.astype(np.float64), 0)
    if matrix is None or not np.isfinite(matrix).all() or abs(np.linalg.det(matrix)) < 1e-12:
        raise CalibrationError("The corners of a zone lie on one line: teach it again (quezhuo calibrate).")
    return np.asarray(matrix, np.float64)


def map_points(matrix: Matrix, points: Matrix) -> Matrix:
    """Apply a homography to points ``(N, 2)``; returns ``(N, 2)``."""
    wide = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ matrix.T
    return np.asarray(wide[:, :2] / wide[:, 2:], np.float64)


def quad_of(points: Matrix) -> Quad:
    """Turn an array ``(4, 2)`` into plain numbers."""
    a, b, c, d = ((float(x), float(y)) for x, y in points)
    return a, b, c, d

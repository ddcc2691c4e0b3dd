"""What a lens does to straight lines, and how to undo it (numpy).

The model is that of Brown (1971) as OpenCV writes it: radial k1, k2, k3 and tangential p1, p2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vision.errors import CalibrationError
from vision.planes import Matrix

__all__ = ["Lens"]

ROUNDS = 40
SMALL = 1e-6
"""Step, in focal lengths, after which a point counts as straightened."""
TOLERANCE = 0.05
"""Pixels by which a straightened point may miss its origin when it is bent again."""


@dataclass(frozen=True, slots=True)
class Lens:
    """Camera matrix and distortion of one camera at one resolution.

    ``focal``: (fx, fy), ``middle``: (cx, cy), both in pixels; ``bend``: (k1, k2, p1, p2, k3), without unit.
    """

    focal: tuple[float, float]
    middle: tuple[float, float]
    bend: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0)

    def bent(self, points: Matrix) -> Matrix:
        """Pixels ``(N, 2)`` of the frame for pixels of the straight picture with the same matrix."""
        straight = (points - self.middle) / self.focal
        return np.asarray(self._distorted(straight) * self.focal + self.middle, np.float64)

    def straight(self, points: Matrix) -> Matrix:
        """Pixels ``(N, 2)`` of the straight picture for pixels of the frame.

        Raises CalibrationError where the distortion has no inverse (coefficients of another lens).
        """
        wanted = (points - self.middle) / self.focal
        found = wanted.copy()
        for _ in range(ROUNDS):
            step = wanted - self._distorted(found)
            found += step
            most = float(np.abs(step).max(initial=0.0))
            if most < SMALL or not most < 10:
                break
        missed = np.abs((self._distorted(found) - wanted) * self.focal)
        if not np.isfinite(missed).all() or missed.max(initial=0.0) > TOLERANCE:
            raise CalibrationError(
                "The lens's distortion cannot be undone in this part of the picture: take more checkerboard"
                " pictures near the border and calibrate the lens again."
            )
        return np.asarray(found * self.focal + self.middle, np.float64)

    def _distorted(self, points: Matrix) -> Matrix:
        k1, k2, p1, p2, k3 = self.bend
        x, y = points[:, 0], points[:, 1]
        square = x * x + y * y
        radial = 1 + square * (k1 + square * (k2 + square * k3))
        dx = 2 * p1 * x * y + p2 * (square + 2 * x * x)
        dy = p1 * (square + 2 * y * y) + 2 * p2 * x * y
        return np.stack([x * radial + dx, y * radial + dy], axis=1)

    def scaled(self, x: float, y: float) -> Lens:
        """Return the lens for pictures whose sides are ``x`` and ``y`` times as long."""
        return Lens(
            (self.focal[0] * x, self.focal[1] * y), (self.middle[0] * x, self.middle[1] * y), self.bend
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Lens:
        """Build from ``{"matrix": [[fx, 0, cx], [0, fy, cy], [0, 0, 1]], "k": [k1, k2, p1, p2, k3]}``.

        Raises KeyError, TypeError or ValueError when something is missing or is no number.
        """
        (fx, _, cx), (_, fy, cy), _ = ((float(v) for v in row) for row in data["matrix"])
        k1, k2, p1, p2, k3 = (float(v) for v in data["k"])
        values = (fx, fy, cx, cy, k1, k2, p1, p2, k3)
        if not np.isfinite(values).all() or fx <= 0 or fy <= 0:
            raise ValueError("camera")
        return cls((fx, fy), (cx, cy), (k1, k2, p1, p2, k3))

    def to_json(self) -> dict[str, Any]:
        """Return the object of a calibration file."""
        (fx, fy), (cx, cy) = self.focal, self.middle
        return {"matrix": [[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]], "k": list(self.bend)}

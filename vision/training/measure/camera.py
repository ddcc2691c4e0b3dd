"""Where points of a small table fall in a picture: a pinhole camera, its picture rectified or not."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.training.pen import Rng

Points = NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """A camera above the table, in tile widths: x right, y towards the player, z up.

    ``position`` (3,); ``straight``: the picture is rectified to the table's plane, as a zone is; ``turn``:
    degrees clockwise by which the picture is turned; ``scale``: pixels per unit; ``shift`` (2,): pixels.
    """

    position: Points
    straight: bool
    turn: float
    scale: float = 1.0
    shift: tuple[float, float] = (0.0, 0.0)

    def project(self, points: Points) -> Points:
        """Pixels ``(..., 2)`` of points ``(..., 3)``."""
        if self.straight:
            rise = points[..., 2:] / (self.position[2] - points[..., 2:])
            flat = points[..., :2] + (points[..., :2] - self.position[:2]) * rise
        else:
            flat = self._seen(points)
        c, s = math.cos(math.radians(self.turn)), math.sin(math.radians(self.turn))
        return np.asarray((flat @ np.array([[c, s], [-s, c]])) * self.scale + self.shift)

    def _seen(self, points: Points) -> Points:
        forward = -self.position / np.linalg.norm(self.position)
        right = np.array([1.0, 0, 0]) - forward[0] * forward
        right /= np.linalg.norm(right)
        down = np.cross(right, forward)
        down *= math.copysign(1.0, down[1])
        ray = points - self.position
        return np.asarray(np.stack([ray @ right, ray @ down], -1) / (ray @ forward)[..., None])


def random_view(rng: Rng, turn: float | None = None) -> View:
    """Draw a camera 22 to 32 tile widths (65 to 95 cm) away, most often across the table from the player.

    Six in ten pictures are rectified zones, the others are as the camera sees them. ``turn``: degrees, by
    default about 1.5 for zones and 5 for pictures.
    """
    straight = bool(rng.random() < 0.6)
    height = math.radians(rng.uniform(48, 86))
    side = math.radians(rng.normal(0, 30) + (180 if rng.random() < 0.7 else 0))
    away = rng.uniform(22, 32)
    flat = away * math.cos(height)
    position = np.array([flat * math.sin(side), flat * math.cos(side), away * math.sin(height)])
    if turn is None:
        turn = float(np.clip(rng.normal(0, 1.0 if straight else 4.0), -9, 9))
    return View(position, straight, turn)

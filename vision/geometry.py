"""Where the zones of a table lie in the camera's picture, and how to look at one of them straight on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.errors import CalibrationError
from vision.readings import Box, Image, Reading, check_image
from vision.table import TILE_DEPTH, ZONES, zone_corners

__all__ = [
    "Calibration",
    "Matrix",
    "Pinhole",
    "Quad",
    "Rectified",
    "Zone",
    "calibration_seen_by",
    "default_calibration",
    "default_pinhole",
    "homography",
    "look_at",
    "map_points",
    "pinhole_of",
    "whole_picture",
]

Matrix = NDArray[np.float64]
Point = tuple[float, float]
Quad = tuple[Point, Point, Point, Point]
FORMAT = 1
DEFAULT_SIZE = (1600, 1200)
PLACE_SIZE = (1280, 388)
"""As fine as the camera sees the nearest zone, and finer for the others: tiles 68 pixels wide."""
INDICATOR_SIZE = (128, 144)
ASPECT_TOLERANCE = 0.01


def homography(source: Matrix, target: Matrix) -> Matrix:
    """Projective map ``(3, 3)`` that takes points ``(N, 2)``, N >= 4, to ``(N, 2)`` (least squares).

    Raises CalibrationError when the points do not define one.
    """
    matrix, _ = cv2.findHomography(source.astype(np.float64), target.astype(np.float64), 0)
    if matrix is None or not np.isfinite(matrix).all() or abs(np.linalg.det(matrix)) < 1e-12:
        raise CalibrationError("The corners of a zone lie on one line: teach the zone again.")
    return np.asarray(matrix, np.float64)


def map_points(matrix: Matrix, points: Matrix) -> Matrix:
    """Apply a homography to points ``(N, 2)``; returns ``(N, 2)``."""
    wide = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ matrix.T
    return np.asarray(wide[:, :2] / wide[:, 2:], np.float64)


@dataclass(frozen=True, slots=True)
class Zone:
    """A part of the table in the picture.

    ``quad``: corners in pixels, top left, top right, bottom right, bottom left as its player sees
    them; ``size``: ``(width, height)`` of the picture made of it.
    """

    quad: Quad
    size: tuple[int, int]

    def matrix(self) -> Matrix:
        """Homography from the camera's picture to the rectified one."""
        width, height = self.size
        straight = np.asarray([[0, 0], [width, 0], [width, height], [0, height]], np.float64)
        return homography(np.asarray(self.quad, np.float64), straight)

    def rectify(self, frame: Image) -> Rectified:
        """Look straight at the zone in a frame (uint8 ``(H, W, 3)`` BGR) of the size it was taught with."""
        matrix = self.matrix()
        image = cv2.warpPerspective(
            frame, matrix, self.size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        return Rectified(np.asarray(image, np.uint8), matrix)


@dataclass(frozen=True, slots=True, eq=False)
class Rectified:
    """A zone seen straight on, upright for its player.

    ``image``: uint8 ``(H, W, 3)`` BGR; ``matrix``: from the frame to it.
    """

    image: Image
    matrix: Matrix

    def quad_in_frame(self, box: Box) -> Quad:
        """Corners in the frame of a box of the rectified picture."""
        x0, y0, x1, y1 = box
        corners = np.asarray([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], np.float64)
        a, b, c, d = map_points(np.asarray(np.linalg.inv(self.matrix), np.float64), corners).tolist()
        return (a[0], a[1]), (b[0], b[1]), (c[0], c[1]), (d[0], d[1])

    def box_in_frame(self, box: Box) -> Box:
        """Smallest upright box in the frame around a box of the rectified picture."""
        xs, ys = zip(*self.quad_in_frame(box), strict=True)
        return round(min(xs), 2), round(min(ys), 2), round(max(xs), 2), round(max(ys), 2)

    def reading_in_frame(self, reading: Reading, size: tuple[int, int]) -> Reading:
        """Return the reading with its boxes in pixels of the frame of ``size`` (width, height)."""
        tiles = tuple(replace(tile, box=self.box_in_frame(tile.box)) for tile in reading.tiles)
        return replace(reading, tiles=tiles, size=size)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The taught geometry of one camera over one table.

    ``size``: ``(width, height)`` of the pictures it was taught with; a frame of the same shape and
    another resolution is scaled to it. ``zones``: by name, "0" to "3" for the places and "indicator".
    """

    size: tuple[int, int]
    zones: Mapping[str, Zone]

    def __post_init__(self) -> None:
        _check_size(self.size, "image")
        for name, zone in self.zones.items():
            _check_zone(name, zone, self.size)

    @classmethod
    def load(cls, path: Path) -> Calibration:
        """Read a calibration file; raises CalibrationError with what is wrong in it."""
        try:
            data = json.loads(path.read_text("utf-8"))
        except OSError as error:
            raise CalibrationError(
                f"The calibration {path} cannot be read: teach the table again."
            ) from error
        except ValueError as error:
            raise CalibrationError(
                f"{path.name} is not a calibration file (JSON): give another file."
            ) from error
        return cls.from_json(data)

    def save(self, path: Path) -> None:
        """Write the calibration file; an existing one is replaced whole."""
        draft = path.with_name(path.name + ".new")
        draft.write_text(json.dumps(self.to_json(), indent=1) + "\n", "utf-8")
        draft.replace(path)

    @classmethod
    def from_json(cls, data: Any) -> Calibration:
        """Build from the object of a calibration file; raises CalibrationError."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise CalibrationError(f"Not a calibration of format {FORMAT}: teach the table again.")
        try:
            width, height = data["image"]
            zones = {str(name): _zone_from_json(zone) for name, zone in data["zones"].items()}
            return cls((int(width), int(height)), zones)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CalibrationError(
                f"The calibration lacks a usable value ({error}): teach the table again."
            ) from error

    def to_json(self) -> dict[str, Any]:
        """Return the object of a calibration file."""
        zones = {
            name: {"quad": [list(point) for point in zone.quad], "size": list(zone.size)}
            for name, zone in self.zones.items()
        }
        return {"format": FORMAT, "image": list(self.size), "zones": zones}

    def zone(self, name: str | int) -> Zone:
        """Return a zone by name or place number; raises CalibrationError for one that was not taught."""
        try:
            return self.zones[str(name)]
        except KeyError:
            raise CalibrationError(f"The zone {name} was not taught: teach the table again.") from None

    def scaled(self, width: int, height: int) -> Calibration:
        """Return the calibration for pictures of another resolution and the same shape.

        Raises CalibrationError when the shape differs: the camera was changed or turned.
        """
        if (width, height) == self.size:
            return self
        x, y = width / self.size[0], height / self.size[1]
        if abs(x / y - 1) > ASPECT_TOLERANCE:
            raise CalibrationError(
                f"The camera gives {width} x {height} pictures but was taught with"
                f" {self.size[0]} x {self.size[1]}: teach the table again."
            )
        zones = {name: Zone(_scaled_quad(z.quad, x, y), z.size) for name, z in self.zones.items()}
        return Calibration((width, height), zones)

    def rectify(self, frame: Image, zone: str | int) -> Rectified:
        """Look straight at a zone of a frame (uint8 ``(H, W, 3)`` BGR).

        Raises CalibrationError when the zone was not taught or the frame has another shape.
        """
        check_image(frame, "frame")
        return self.scaled(frame.shape[1], frame.shape[0]).zone(zone).rectify(frame)


def _scaled_quad(quad: Quad, x: float, y: float) -> Quad:
    a, b, c, d = ((px * x, py * y) for px, py in quad)
    return a, b, c, d


def _zone_from_json(data: Mapping[str, Any]) -> Zone:
    a, b, c, d = ((float(x), float(y)) for x, y in data["quad"])
    width, height = data["size"]
    return Zone((a, b, c, d), (int(width), int(height)))


def _check_size(size: tuple[int, int], what: str) -> None:
    if not all(8 <= side <= 20000 for side in size):
        raise CalibrationError(f"The {what} size {size} is not possible: teach the table again.")


def _check_zone(name: str, zone: Zone, size: tuple[int, int]) -> None:
    """Refuse unknown names, corners outside the picture, and corners not in clockwise order."""
    if name not in ZONES:
        raise CalibrationError(f"There is no zone {name!r}, only {', '.join(ZONES)}: rename it.")
    _check_size(zone.size, f"zone {name}")
    corners = np.asarray(zone.quad, np.float64)
    if not np.isfinite(corners).all() or (corners < 0).any() or (corners > np.asarray(size)).any():
        raise CalibrationError(f"A corner of zone {name} lies outside the picture: teach the zone again.")
    edges = np.roll(corners, -1, axis=0) - corners
    following = np.roll(edges, -1, axis=0)
    turns = edges[:, 0] * following[:, 1] - edges[:, 1] * following[:, 0]
    if not (turns > 1.0).all():
        raise CalibrationError(
            f"The corners of zone {name} must go clockwise from its player's top left, without crossing:"
            " teach the zone again."
        )


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
        corners = zone_corners(name)
        flat = np.concatenate([corners, np.full((4, 1), TILE_DEPTH)], axis=1)
        a, b, c, d = (tuple(point) for point in camera.project(flat).round(2).tolist())
        zones[name] = Zone((a, b, c, d), INDICATOR_SIZE if name == "indicator" else PLACE_SIZE)
    return Calibration(size, zones)


def default_calibration(size: tuple[int, int] = DEFAULT_SIZE) -> Calibration:
    """Calibration of the rendered table."""
    return calibration_seen_by(default_pinhole(size), size)


def whole_picture(size: tuple[int, int]) -> Calibration:
    """Calibration for photographs that show one hand only: every zone is the whole picture.

    For trying a table with photographs of one's own tiles; ``size`` is ``(width, height)``.
    """
    width, height = float(size[0]), float(size[1])
    quad = ((0.0, 0.0), (width, 0.0), (width, height), (0.0, height))
    return Calibration(size, {name: Zone(quad, size) for name in ZONES})


def pinhole_of(calibration: Calibration) -> Pinhole:
    """Find the camera that sees the zones where the calibration has them.

    Assumes square pixels and an optical axis through the middle of the picture. A camera that looks
    straight down tells nothing of its focal length: then a common one is taken. Raises
    CalibrationError when no zone was taught.
    """
    if not calibration.zones:
        raise CalibrationError("No zone was taught: teach the table first.")
    world = np.concatenate([zone_corners(name) for name in calibration.zones])
    pixels = np.concatenate([np.asarray(zone.quad) for zone in calibration.zones.values()])
    middle = np.asarray(calibration.size, np.float64) / 2
    plane = homography(world, pixels - middle)
    focal = _focal(plane, calibration.size)
    scaled = np.diag([1 / focal, 1 / focal, 1.0]) @ plane
    scaled /= np.sqrt(np.linalg.norm(scaled[:, 0]) * np.linalg.norm(scaled[:, 1]))
    scaled *= np.sign(scaled[2, 2])
    left, _, right = np.linalg.svd(np.stack([scaled[:, 0], scaled[:, 1]], axis=1), full_matrices=False)
    first, second = (left @ right).T
    up = np.cross(first, second)
    turn = np.stack([first, second, up], axis=1)
    shift = scaled[:, 2] - TILE_DEPTH * up
    inner = np.asarray([[focal, 0, middle[0]], [0, focal, middle[1]], [0, 0, 1]], np.float64)
    return Pinhole(inner @ np.concatenate([turn, shift[:, None]], axis=1), -turn.T @ shift)


def _focal(plane: Matrix, size: tuple[int, int]) -> float:
    """Focal length in pixels from the perspective of a plane (Zhang's two constraints, least squares)."""
    usual = 1.2 * max(size)
    (a, b), (c, d), (e, f) = plane[0, :2], plane[1, :2], plane[2, :2]
    left = np.asarray([a * b + c * d, a * a + c * c - b * b - d * d])
    right = np.asarray([-e * f, f * f - e * e])
    weight = float(right @ right)
    square = float(left @ right) / weight if weight > 0 else -1.0
    focal = float(np.sqrt(square)) if square > 0 else usual
    return focal if 0.4 * max(size) < focal < 6 * max(size) else usual

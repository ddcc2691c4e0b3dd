"""The zones of a table in the camera's picture: how to look at one straight on, and the file they lie in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.errors import CalibrationError
from vision.lens import Lens
from vision.planes import Matrix, Quad, homography, map_points, quad_of
from vision.readings import Box, Image, Reading, check_image
from vision.saving import replace_text
from vision.table import TABLE_HALF, ZONES, zone_corners
from vision.taught import Reference, Taught

__all__ = ["Calibration", "Rectified", "Zone", "whole_picture"]

FORMAT = 1
ASPECT_TOLERANCE = 0.01
AGAIN = "teach the table again (quezhuo calibrate, or the page /calibrate)"


@dataclass(frozen=True, slots=True)
class Zone:
    """A part of the table in the picture.

    ``quad``: corners in pixels of the frame, top left, top right, bottom right, bottom left as its player
    sees them; ``size``: ``(width, height)`` of the picture made of it; ``lens``: what bends the frame.
    """

    quad: Quad
    size: tuple[int, int]
    lens: Lens | None = None

    def matrix(self) -> Matrix:
        """Homography from the camera's picture, with its lines made straight, to the rectified one."""
        width, height = self.size
        straight = np.asarray([[0, 0], [width, 0], [width, height], [0, height]], np.float64)
        corners = np.asarray(self.quad, np.float64)
        return homography(corners if self.lens is None else self.lens.straight(corners), straight)

    def rectify(self, frame: Image) -> Rectified:
        """Look straight at the zone in a frame (uint8 ``(H, W, 3)`` BGR) of the size it was taught with."""
        if self.lens is not None:
            where, fine = _bent_map(self)
            image = cv2.remap(frame, where, fine, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        else:
            image = cv2.warpPerspective(
                frame, self.matrix(), self.size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
            )
        return Rectified(np.asarray(image, np.uint8), self.matrix(), self.lens)


@lru_cache(maxsize=32)
def _bent_map(zone: Zone) -> tuple[NDArray[np.int16], NDArray[np.uint16]]:
    """Where each pixel of a zone's picture lies in the frame, in OpenCV's fixed-point form; made once."""
    assert zone.lens is not None
    width, height = zone.size
    x, y = np.meshgrid(np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64))
    back = np.asarray(np.linalg.inv(zone.matrix()), np.float64)
    spots = zone.lens.bent(map_points(back, np.stack([x.ravel(), y.ravel()], axis=1)))
    across, down = spots.T.reshape(2, height, width).astype(np.float32)
    where, fine = cv2.convertMaps(across, down, cv2.CV_16SC2)
    return np.asarray(where, np.int16), np.asarray(fine, np.uint16)


@dataclass(frozen=True, slots=True, eq=False)
class Rectified:
    """A zone seen straight on, upright for its player.

    ``image``: uint8 ``(H, W, 3)`` BGR; ``matrix``: from the frame (straight lines made straight) to it;
    ``lens``: what bends the frame, None for nothing worth undoing.
    """

    image: Image
    matrix: Matrix
    lens: Lens | None = None

    def quad_in_frame(self, box: Box) -> Quad:
        """Corners in the frame of a box of the rectified picture."""
        x0, y0, x1, y1 = box
        corners = np.asarray([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], np.float64)
        spots = map_points(np.asarray(np.linalg.inv(self.matrix), np.float64), corners)
        return quad_of(spots if self.lens is None else self.lens.bent(spots))

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
    ``lens``: distortion of the camera, the zones' too. ``reference``: the view at teaching, for the drift
    alarm. ``taught``: how and when.
    """

    size: tuple[int, int]
    zones: Mapping[str, Zone]
    lens: Lens | None = None
    reference: Reference | None = None
    taught: Taught | None = None

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
            raise CalibrationError(f"The calibration {path} cannot be read: {AGAIN}.") from error
        except ValueError as error:
            raise CalibrationError(f"{path} is not a calibration file (JSON): give another file.") from error
        try:
            return cls.from_json(data)
        except CalibrationError as error:
            raise CalibrationError(f"{path}: {error}") from error

    def save(self, path: Path) -> None:
        """Write the calibration file; an existing one is replaced whole."""
        replace_text(path, json.dumps(self.to_json(), indent=1) + "\n")

    @classmethod
    def from_json(cls, data: Any) -> Calibration:
        """Build from the object of a calibration file; raises CalibrationError.

        Files without ``camera``, ``reference`` and ``taught`` are complete too.
        """
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise CalibrationError(
                f"This is not a calibration of format {FORMAT}: name another file, or {AGAIN}."
            )
        try:
            width, height = data["image"]
            lens = Lens.from_json(data["camera"]) if data.get("camera") is not None else None
            zones = {str(name): _zone_from_json(zone, lens) for name, zone in data["zones"].items()}
            reference = Reference.from_json(data["reference"]) if data.get("reference") is not None else None
            taught = Taught.from_json(data["taught"]) if data.get("taught") is not None else None
            return cls((int(width), int(height)), zones, lens, reference, taught)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CalibrationError(f"The calibration lacks a usable value ({error}): {AGAIN}.") from error

    def to_json(self) -> dict[str, Any]:
        """Return the object of a calibration file; ``scale`` is told for people and read by nobody."""
        zones = {
            name: {"quad": [list(point) for point in zone.quad], "size": list(zone.size)}
            for name, zone in self.zones.items()
        }
        data: dict[str, Any] = {"format": FORMAT, "image": list(self.size), "zones": zones}
        if self.taught is not None:
            data |= {"taught": self.taught.to_json(), "scale": self.scale}
        if self.lens is not None:
            data["camera"] = self.lens.to_json()
        if self.reference is not None:
            data["reference"] = self.reference.to_json()
        return data

    @property
    def scale(self) -> dict[str, float]:
        """Pixels of the frame per millimetre of the table, by zone (mean over the zone's sides)."""
        cloth = 2 * TABLE_HALF if self.taught is None else self.taught.cloth_mm
        share = cloth / (2 * TABLE_HALF)
        return {
            name: round(_around(np.asarray(zone.quad)) / (share * _around(zone_corners(name))), 3)
            for name, zone in self.zones.items()
        }

    def zone(self, name: str | int) -> Zone:
        """Return a zone by name or place number; raises CalibrationError for none, or one not taught."""
        if str(name) not in ZONES:
            raise CalibrationError(f"There is no zone {name}: name one of {', '.join(ZONES)}.")
        try:
            return self.zones[str(name)]
        except KeyError:
            raise CalibrationError(f"The zone {name} was not taught: {AGAIN}.") from None

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
                f" {self.size[0]} x {self.size[1]}: {AGAIN}."
            )
        lens = None if self.lens is None else self.lens.scaled(x, y)
        zones = {
            name: Zone(quad_of(np.asarray(z.quad) * [x, y]), z.size, lens) for name, z in self.zones.items()
        }
        return replace(self, size=(width, height), zones=zones, lens=lens)

    def rectify(self, frame: Image, zone: str | int) -> Rectified:
        """Look straight at a zone of a frame (uint8 ``(H, W, 3)`` BGR).

        Raises CalibrationError when the zone was not taught or the frame has another shape.
        """
        check_image(frame, "frame")
        return self.scaled(frame.shape[1], frame.shape[0]).zone(zone).rectify(frame)


def whole_picture(size: tuple[int, int]) -> Calibration:
    """Calibration for photographs that show one hand only: every zone is the whole picture.

    For trying a table with photographs of one's own tiles; ``size`` is ``(width, height)``.
    """
    width, height = float(size[0]), float(size[1])
    quad = ((0.0, 0.0), (width, 0.0), (width, height), (0.0, height))
    return Calibration(size, {name: Zone(quad, size) for name in ZONES})


def _around(corners: Matrix) -> float:
    """Length of the way around a quad."""
    return float(np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1).sum())


def _zone_from_json(data: Mapping[str, Any], lens: Lens | None) -> Zone:
    a, b, c, d = ((float(x), float(y)) for x, y in data["quad"])
    width, height = data["size"]
    return Zone((a, b, c, d), (int(width), int(height)), lens)


def _check_size(size: tuple[int, int], what: str) -> None:
    if not all(8 <= side <= 20000 for side in size):
        raise CalibrationError(f"The {what} size {size} is not possible: {AGAIN}.")


def _check_zone(name: str, zone: Zone, size: tuple[int, int]) -> None:
    """Refuse unknown names, corners outside the picture, and corners not in clockwise order."""
    if name not in ZONES:
        raise CalibrationError(f"There is no zone {name!r}, only {', '.join(ZONES)}: rename it.")
    _check_size(zone.size, f"zone {name}")
    corners = np.asarray(zone.quad, np.float64)
    if not np.isfinite(corners).all() or (corners < 0).any() or (corners > np.asarray(size)).any():
        raise CalibrationError(f"A corner of zone {name} lies outside the picture: {AGAIN}.")
    edges = np.roll(corners, -1, axis=0) - corners
    following = np.roll(edges, -1, axis=0)
    turns = edges[:, 0] * following[:, 1] - edges[:, 1] * following[:, 0]
    if not (turns > 1.0).all():
        raise CalibrationError(
            f"The corners of zone {name} must go clockwise from its player's top left, without crossing:"
            f" {AGAIN}."
        )

"""Where the zones of a table lie in the camera's picture, and how to look at one of them straight on.

The door to `vision.zones` (zones and the calibration file), `vision.pinhole` (cameras) and `vision.planes`.
"""

from vision.lens import Lens
from vision.pinhole import (
    INDICATOR_SIZE,
    PLACE_SIZE,
    Pinhole,
    calibration_seen_by,
    default_calibration,
    default_pinhole,
    look_at,
    pinhole_of,
)
from vision.planes import Matrix, Quad, homography, map_points
from vision.zones import Calibration, Rectified, Zone, whole_picture

__all__ = [
    "INDICATOR_SIZE",
    "PLACE_SIZE",
    "Calibration",
    "Lens",
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

"""Looking at a tile turned up on a wall, as the gold of Xiamen is: any stack of any wall.

Where the walls stand follows from the zones of the places, which are taught; so nothing more is.
"""

from __future__ import annotations

import numpy as np

from vision.errors import CalibrationError
from vision.geometry import Calibration, Rectified, Zone, homography, map_points
from vision.planes import quad_of
from vision.readings import Image, check_image
from vision.table import PLACES, TILE_HEIGHT, WALL_PITCH, WALL_STACKS, from_place, stack_middle, zone_corners

__all__ = ["look_at_stack", "stack_zone"]

STACKS_BESIDE = 3
"""Stacks seen on either side: a wall never stands exactly where it should."""
MARGIN = 17.0
"""Millimetres of cloth seen on either side of the wall; the top of a stack seems up to 10 mm off."""
SIZE = (284, 100)


def stack_zone(calibration: Calibration, place: int, stack: int) -> Zone:
    """Zone around a stack (from 1, from its player's right end) of a place's wall, upright for the player.

    Where one picture is every zone at once, it is that picture. Raises CalibrationError for a stack that
    there is not, or when no place was taught.
    """
    if place not in PLACES or not 1 <= stack <= WALL_STACKS:
        raise CalibrationError(f"There is no stack {stack} at place {place}: correct the wall.")
    taught = {name: zone for name, zone in calibration.zones.items() if name.isdigit()}
    if not taught:
        raise CalibrationError("No zone of a place was taught: teach the table first (quezhuo calibrate).")
    first = next(iter(taught.values()))
    if len(taught) > 1 and all(zone.quad == first.quad for zone in taught.values()):
        return first
    world = np.concatenate([zone_corners(name) for name in taught])
    pixels = np.concatenate([np.asarray(zone.quad, np.float64) for zone in taught.values()])
    wide, high = (STACKS_BESIDE + 0.5) * WALL_PITCH, TILE_HEIGHT / 2 + MARGIN
    corners = np.asarray([[-wide, high], [wide, high], [wide, -high], [-wide, -high]], np.float64)
    lens = calibration.lens
    plane = homography(world, pixels if lens is None else lens.straight(pixels))
    seen = map_points(plane, stack_middle(place, stack) + from_place(place, corners))
    return Zone(quad_of(seen if lens is None else lens.bent(seen)), SIZE, lens)


def look_at_stack(calibration: Calibration, frame: Image, place: int, stack: int) -> Rectified:
    """Look straight at a stack of a wall in a frame (uint8 ``(H, W, 3)`` BGR).

    Raises CalibrationError as `stack_zone` does, or when the frame has another shape than the taught one.
    """
    check_image(frame, "frame")
    fitting = calibration.scaled(frame.shape[1], frame.shape[0])
    return stack_zone(fitting, place, stack).rectify(frame)

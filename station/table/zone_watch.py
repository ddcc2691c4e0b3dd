"""Which zone of which frame is fit to be read: motion, drift and what `vision.fitness` measures, per zone.

Zones that are the whole picture (photographs of one hand only) are not judged: nobody knows what else they
show, nor how large a tile is in them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from vision.calibration.drift import Drift, DriftWatch, empty_zone
from vision.camera import Frame
from vision.errors import CalibrationError
from vision.fitness import FIT, Backdrop, Fitness, Problem, StillWatch, assess, assess_tiles
from vision.fitness.problems import BLURRED, HAND_IN_VIEW, LIMITS, MOVING
from vision.geometry import Calibration, Rectified, Zone
from vision.readings import Box, Floats, Image, Reading
from vision.table import PLACE_ZONE, TABLE_HALF, TILE_WIDTH

BESIDE = 1.3
"""Width of the strips of table looked at beside a zone, in widths of a tile."""
RESTLESS = Fitness((Problem(MOVING, None, 0.0, LIMITS.motion),))
"""Of a zone of which too few frames were seen to say that it rests."""


class ZoneWatch:
    """Judges the zones of one camera. Not thread-safe.

    ``ignored``: codes of problems that do not matter at this table.
    """

    def __init__(self, calibration: Calibration | None, ignored: Collection[str] = ()) -> None:
        self._calibration = calibration
        self._ignored = frozenset(ignored)
        self._still: dict[str, StillWatch] = {}
        self._empty: dict[str, Backdrop | None] = {}
        self._drift = None if calibration is None or calibration.reference is None else _drift(calibration)

    def judges(self, zone: str) -> bool:
        """Whether frames of a zone are judged at all."""
        if self._calibration is None or zone not in self._calibration.zones:
            return False
        quad = self._calibration.zones[zone].quad
        return all(other.quad != quad for name, other in self._calibration.zones.items() if name != zone)

    def tile(self, zone: str) -> float:
        """Width of a tile in pixels of a zone's picture."""
        assert self._calibration is not None
        taught = self._calibration.taught
        share = 1.0 if taught is None else taught.cloth_mm / (2 * TABLE_HALF)
        return TILE_WIDTH * self._calibration.zones[zone].size[0] / (share * (PLACE_ZONE[2] - PLACE_ZONE[0]))

    def rests(self, zone: str) -> bool:
        """Whether the last frames of a zone are alike."""
        return not self.judges(zone) or MOVING in self._ignored or self._watch(zone).still

    def see(self, zone: str, frame: Frame, view: Image) -> list[Problem]:
        """Take a frame of a zone, from which `rests` is told; return what moved since those before."""
        return self._watch(zone).look(view, frame.taken_at) if self.judges(zone) else []

    def before(self, zone: str, frame: Frame, view: Image, moved: Sequence[Problem] = ()) -> Fitness:
        """Judge a zone before it is read; a hand only hides the tiles when it is known where these lie.

        ``moved``: what `see` said of this frame. Raises CalibrationError.
        """
        if not self.judges(zone):
            return FIT
        drift = None if self._drift is None else self._drift.check(frame.image)
        sure = drift if _is_sure(drift) else None
        empty = self._backdrop(zone)
        found = assess(view, self.tile(zone), moved=moved, drift=sure, empty=empty)
        # Over an arm edges are soft: where one may be, only the tiles found will tell.
        unclear = (HAND_IN_VIEW, BLURRED) if HAND_IN_VIEW in found.codes else ()
        return self._counted(found, without=unclear)

    def after(
        self, zone: str, frame: Frame, view: Rectified, reading: Reading, covered: Sequence[Box] = ()
    ) -> Fitness:
        """Judge a zone whose tiles were found; ``covered``: boxes of face-down tiles that are not read."""
        if not self.judges(zone):
            return FIT
        tile = self.tile(zone)
        boxes = _boxes([tile.box for tile in reading.tiles])
        strips = self._beside(zone, frame.image, view)
        hidden, empty = _boxes(covered), self._backdrop(zone)
        return self._counted(
            assess_tiles(view.image, tile, boxes, covered=hidden, strips=strips, empty=empty)
        )

    def forget(self, zone: str) -> None:
        """What comes next in a zone has nothing to do with what was seen there."""
        self._still.pop(zone, None)

    def _counted(self, found: Fitness, without: Collection[str] = ()) -> Fitness:
        left_out = self._ignored.union(without)
        return Fitness(tuple(problem for problem in found.problems if problem.code not in left_out))

    def _watch(self, zone: str) -> StillWatch:
        return self._still.setdefault(zone, StillWatch(self.tile(zone)))

    def _backdrop(self, zone: str) -> Backdrop | None:
        """What the zone showed at teaching: furniture at its border is no hand."""
        if zone not in self._empty:
            assert self._calibration is not None
            picture = empty_zone(self._calibration, zone)
            self._empty[zone] = None if picture is None else Backdrop.of(picture)
        return self._empty[zone]

    def _beside(self, zone: str, frame: Image, view: Rectified) -> list[Image]:
        """The table to the left and right of a zone, where the frame shows it."""
        assert self._calibration is not None
        taught = self._calibration.scaled(frame.shape[1], frame.shape[0]).zones[zone]
        (width, height), wide = taught.size, round(BESIDE * self.tile(zone))
        strips = []
        for left in (-wide, width):
            quad = view.quad_in_frame((left, 0.0, left + wide, height))
            if all(0 <= x <= frame.shape[1] and 0 <= y <= frame.shape[0] for x, y in quad):
                strips.append(Zone(quad, (wide, height), taught.lens).rectify(frame).image)
        return strips


def _boxes(boxes: Sequence[Box]) -> Floats:
    return np.asarray(boxes, np.float32).reshape(-1, 4)


def _drift(calibration: Calibration) -> DriftWatch | None:
    try:
        return DriftWatch(calibration)
    except CalibrationError:
        return None  # a reference that can't be used: the page /calibrate says so


def _is_sure(drift: Drift | None) -> bool:
    """A frame in which too little of the table is seen (dark, covered) says nothing of the camera's place."""
    return drift is not None and drift.sure

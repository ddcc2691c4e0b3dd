"""Teaching from one frame: markers or taps, zones, the drift alarm's reference. For command and page."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from vision.calibration.drift import make_reference
from vision.calibration.edge import find_markers
from vision.calibration.teach import Found, View, from_markers, from_taps
from vision.errors import CalibrationError
from vision.planes import Matrix
from vision.readings import Image
from vision.zones import Calibration

__all__ = ["Lesson", "teach"]


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """What one frame taught.

    ``calibration``: complete; ``found``: errors and height; ``watched``: whether the drift alarm has a
    reference (the border of the cloth was in view).
    """

    calibration: Calibration
    found: Found

    @property
    def watched(self) -> bool:
        """Whether the drift alarm can work with it."""
        return self.calibration.reference is not None


def teach(frame: Image, view: View, taps: Matrix | None, *, at: str, version: str) -> Lesson:
    """Teach the table by a frame (uint8 ``(H, W, 3)`` BGR).

    ``taps``: pixels ``(4, 2)`` of the cloth's corners; None: by the markers in the frame. ``at``: UTC time,
    ISO 8601; ``version``: of this program. Raises TeachError with what to do.
    """
    found = from_markers(find_markers(frame), view) if taps is None else from_taps(taps, view)
    calibration = found.dated(at, version)
    with suppress(CalibrationError):  # the zones are right all the same; `watched` tells
        calibration = replace(calibration, reference=make_reference(frame, calibration))
    return Lesson(calibration, found)

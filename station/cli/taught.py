"""The zone of a taught table that a command looks at, as `--calibration` and `--zone` name it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from station.errors import ConfigError
from vision.geometry import Calibration
from vision.readings import Image

FIRST_ZONE = "0"
"""Zone that is meant where a calibration is named and none of its zones."""


@dataclass(frozen=True, slots=True)
class TaughtZone:
    """A zone that the calibration holds."""

    calibration: Calibration
    name: str

    def view(self, frame: Image) -> Image:
        """Look straight at the zone in a frame; raises CalibrationError for one of another shape."""
        return self.calibration.rectify(frame, self.name).image


def taught_zone(arguments: argparse.Namespace) -> TaughtZone | None:
    """Load the calibration that is named and find its zone, before any picture is looked at.

    None where no calibration is named: pictures are then taken as they are.

    Raises:
        ConfigError: a zone is named and no calibration.
        CalibrationError: the file cannot be used, there is no such zone, or it was not taught.
    """
    if arguments.calibration is None:
        if arguments.zone is not None:
            raise ConfigError(
                "--zone needs --calibration FILE.", fix="Without one, leave --zone out: see --help."
            )
        return None
    name = FIRST_ZONE if arguments.zone is None else str(arguments.zone)
    calibration = Calibration.load(Path(arguments.calibration))
    calibration.zone(name)
    return TaughtZone(calibration, name)

"""What the table needs of its surroundings, as small protocols: log and camera.

The machine's is `firmware_bridge.abstract.Machine`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from station.log.chain import Entry
from station.table.camera_worker import Seen, SeenHand, Unfit
from station.table.tilesets import SetsInUse
from vision.geometry import Calibration
from vision.readings import Image


class EventWriter(Protocol):
    """The table's log and its link."""

    def stored(self) -> Sequence[Entry]:
        """Return everything in the log."""

    async def append(self, events: list[tuple[str, bytes]]) -> Sequence[Entry]:
        """Append in one transaction; returns after the commit. Raises LogError: nothing was stored."""

    def link_state(self) -> tuple[str, int]:
        """Return the link's code and how many events the central station has not acknowledged."""


class Eyesight(Protocol):
    """Camera and recognizer; calls may block only their own thread."""

    @property
    def sees_indicator(self) -> bool:
        """Whether an indicator zone was taught; without one the flipped tile is typed in."""

    @property
    def refused(self) -> tuple[str, ...]:
        """Names of the wishes that the camera's driver did not follow (`vision.device.Wishes`)."""

    @property
    def tilesets(self) -> SetsInUse | None:
        """The tile sets it reads with, and which is in play; None where every set is read alike."""

    async def indicator(self, stacks: Sequence[tuple[int, int]] = ()) -> Seen:
        """Read the flipped tile, in its zone or on one of the stacks. Raises VisionError."""

    async def hand(self, side: int, *, win: bool, anyway: bool = False) -> SeenHand | Unfit:
        """Read the hand laid open at a side, unless its zone is not fit. Raises VisionError."""

    async def shown(self, side: int, *, anyway: bool = False) -> SeenHand | Unfit:
        """Read what lies open at a side of a player who claims nothing. Raises VisionError."""

    async def frame(self) -> Image:
        """Take a frame as it is, for teaching. Raises VisionError."""

    async def view(self, side: int) -> Image:
        """Look straight at the zone of a side, for capturing tiles. Raises VisionError."""

    async def use(self, calibration: Calibration) -> None:
        """Look through another calibration from now on."""

    async def enrolled(self, files: Sequence[Path]) -> None:
        """Read with these files of tile sets from now on. Raises VisionError: the earlier ones stay."""

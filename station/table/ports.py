"""What the table needs of its surroundings, as small protocols: log and camera.

The machine's is `firmware_bridge.abstract.Machine`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from station.log.chain import Entry
from station.session import Session
from station.table.camera_worker import Seen, SeenHand, Unfit
from station.table.tilesets import SetsInUse
from vision.geometry import Calibration
from vision.readings import Image


class EventWriter(Protocol):
    """The table's log and its link."""

    def stored(self, after: int = 0, limit: int | None = None) -> Sequence[Entry]:
        """Return what the log has after a seq, at most so many entries. Raises LogError."""

    def remembered(self) -> Session | None:
        """Return the state as it was kept, if it is that after an entry of the log. Raises LogError."""

    def remember(self, session: Session) -> None:
        """Keep the state after the newest entry, so that the next start has less to fold."""

    async def append(self, events: list[tuple[str, bytes]], checkpoint: str | None = None) -> Sequence[Entry]:
        """Append in one transaction; returns after the commit. Raises LogError: nothing was stored.

        With `checkpoint` the log is signed as well, for this reason, where the table has a key that signs;
        that entry is the last one given.
        """

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

    async def zones(self, sides: Sequence[int]) -> bytes | None:
        """Photograph the zones of some sides as one JPEG; None: they were not taught. Raises VisionError."""

    async def view(self, side: int) -> Image:
        """Look straight at the zone of a side, for capturing tiles. Raises VisionError."""

    async def use(self, calibration: Calibration) -> None:
        """Look through another calibration from now on."""

    async def enrolled(self, files: Sequence[Path]) -> None:
        """Read with these files of tile sets from now on. Raises VisionError: the earlier ones stay."""

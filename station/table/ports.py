"""What the table needs of its surroundings, as small protocols: log and camera.

The machine's is `firmware_bridge.abstract.Machine`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from station.log.chain import Entry
from station.table.camera_worker import Seen


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

    async def indicator(self) -> Seen:
        """Read the indicator zone. Raises VisionError."""

    async def hand(self, place: int, expect: int | None) -> Seen:
        """Read a place's zone. Raises VisionError."""

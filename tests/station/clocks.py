"""A machine's clocks, in our hands."""

from __future__ import annotations

from dataclasses import dataclass

from station.clock import Clock

__all__ = ["Hands"]


@dataclass
class Hands:
    """What the three sources of time say; they move only when a test moves them."""

    steady: float = 100.0
    wall: float = 1_796_000_000.0
    boot: str = "first"

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.steady, lambda: self.wall, lambda: self.boot)

    def passes(self, seconds: float) -> None:
        self.steady += seconds
        self.wall += seconds

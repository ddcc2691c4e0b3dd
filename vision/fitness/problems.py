"""What may be wrong with a frame, as values: codes, where, how much, and the limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from vision.readings import Box

__all__ = [
    "BLURRED",
    "CAMERA_MOVED",
    "CODES",
    "FIT",
    "GLARE",
    "HAND_IN_VIEW",
    "LIMITS",
    "MOVING",
    "OUTSIDE_ZONE",
    "TOO_BRIGHT",
    "TOO_DARK",
    "Fitness",
    "Limits",
    "Problem",
]

CAMERA_MOVED: Final = "camera_moved"
"""The camera does not stand where it was taught."""
HAND_IN_VIEW: Final = "hand_in_view"
"""Something large that is neither cloth nor tile reaches into the zone."""
MOVING: Final = "moving"
"""Something in the zone moved since the frame before."""
TOO_DARK: Final = "too_dark"
TOO_BRIGHT: Final = "too_bright"
BLURRED: Final = "blurred"
"""Edges are too soft for the size of the tiles: out of focus, or moved while exposed."""
OUTSIDE_ZONE: Final = "outside_zone"
"""A tile is cut by the border of the zone, or lies just beyond it."""
GLARE: Final = "glare"
"""A lamp is mirrored in a tile."""

CODES: Final = (CAMERA_MOVED, HAND_IN_VIEW, MOVING, TOO_DARK, TOO_BRIGHT, BLURRED, OUTSIDE_ZONE, GLARE)
"""All codes, the one to tell a person first at the front: it often causes those behind it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """From which value on a frame is not fit. Sources: "measured" is benchmarks/RESULTS.md, "Fitness"."""

    shift: float = 4.0
    """``camera_moved``: pixels of the frame by which fixed parts moved (only used without a verdict of
    the drift watch itself)."""
    hand: float = 1.2
    """``hand_in_view``: area of the largest region that is new in the empty zone, in tiles. Measured."""
    hand_guessed: float = 2.0
    """The same where nobody knows the empty zone: of the largest region that is no cloth. Measured."""
    motion: float = 0.1
    """``moving``: area that changed since the frame before, in tiles. Measured."""
    dark: float = 55.0
    """``too_dark``: grey level (0 to 255) of the white of a tile, below which it is. Measured."""
    clipped: float = 0.56
    """``too_bright``: share of the tiles' pixels at the upper end of the scale. Measured."""
    blur: float = 0.062
    """``blurred``: sigma of the blur of edges, in widths of a tile. Measured."""
    blur_blocks: float = 0.085
    """The same where no tiles are known: what has contrast is measured, also what lies out of focus."""
    edge: float = 0.03
    """``outside_zone``: a tile this near to the border, in widths of a tile, may be cut."""
    beyond: float = 0.3
    """``outside_zone``: area of a light patch just beyond the border, in tiles. Measured."""
    glare: float = 0.03
    """``glare``: share of a tile that is white beyond the tiles' own white. Measured."""


LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that makes a frame unfit.

    ``box``: where in the zone's picture, pixels, None for all of it; ``value``: what was measured;
    ``limit``: what it should not pass (`Limits` says in which unit).
    """

    code: str
    box: Box | None
    value: float
    limit: float


@dataclass(frozen=True, slots=True)
class Fitness:
    """The problems of one zone in one frame, the one to tell first at the front."""

    problems: tuple[Problem, ...] = ()

    @property
    def fit(self) -> bool:
        """Whether the zone can be read."""
        return not self.problems

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of the problems, each once, in order."""
        return tuple(dict.fromkeys(problem.code for problem in self.problems))

    @classmethod
    def of(cls, problems: list[Problem]) -> Fitness:
        """Put problems in the order of `CODES`; alike ones keep their order."""
        return cls(tuple(sorted(problems, key=lambda problem: CODES.index(problem.code))))


FIT: Final = Fitness()

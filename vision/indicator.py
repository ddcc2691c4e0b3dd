"""The flipped tile that tells the wild one: what lies there, and whether it is still the same later. Pure.

A reading of its place (its own zone, or a stack of a wall) becomes one of five states; in doubt it is
``unsure``, and a person looks.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from vision.readings import (
    CUT_AT_BORDER,
    LOW_SCORE,
    NOT_IN_SET,
    OVERLAP,
    UNSURE_BOX,
    Box,
    Reading,
    TileReading,
)
from vision.shapes import BACK, is_flower

__all__ = [
    "FACE_DOWN",
    "NONE",
    "ONE",
    "SEVERAL",
    "UNSURE",
    "Change",
    "IndicatorState",
    "IndicatorWatch",
    "Status",
    "indicator_of",
    "shown_tile",
]

Status = Literal["none", "face_down", "one", "several", "unsure"]
Change = Literal["same", "moved", "changed", "gone", "unsure"]
NONE: Final = "none"
FACE_DOWN: Final = "face_down"
ONE: Final = "one"
SEVERAL: Final = "several"
UNSURE: Final = "unsure"

DOUBTFUL: Final = frozenset({LOW_SCORE, NOT_IN_SET, CUT_AT_BORDER, UNSURE_BOX, OVERLAP})
"""Doubts of a tile that make it no sure indicator."""
MOVED: Final = 0.6
"""A tile whose middle is farther off than so much of its shorter side was moved."""


@dataclass(frozen=True, slots=True)
class IndicatorState:
    """What lies at the indicator's place.

    ``status``: ``none``, ``face_down`` (not flipped yet), ``one`` open tile that is certain, ``several``,
    ``unsure``; ``kind``, ``score`` (0..1) and ``box`` (pixels of the reading) are the tile's: always of
    ``one``, and of ``unsure`` where there is one to show to a person; ``reasons``: doubt codes and
    problems of the frame that make it unsure.
    """

    status: Status
    kind: str | None = None
    score: float | None = None
    box: Box | None = None
    reasons: tuple[str, ...] = ()


def shown_tile(reading: Reading) -> int | None:
    """Index of the open tile that is meant, None where there is none or several could be.

    A flower turned up is passed over: another tile was turned up after it. Face-down tiles belong to the
    wall.
    """
    meant = _meant(reading.tiles)
    return meant[0] if len(meant) == 1 else None


def _meant(tiles: Sequence[TileReading]) -> list[int]:
    opened = [i for i, tile in enumerate(tiles) if tile.kind != BACK]
    after_flowers = [i for i in opened if not is_flower(tiles[i].kind)]
    return after_flowers or opened


def indicator_of(reading: Reading, problems: Collection[str] = ()) -> IndicatorState:
    """Tell what lies at the indicator's place from a reading of it.

    ``problems``: what makes the frame unfit (blurred, a hand in view): then nothing is certain.
    """
    opened = [tile for tile in reading.tiles if tile.kind != BACK]
    meant = [reading.tiles[i] for i in _meant(reading.tiles)]
    doubts = [code for tile in opened for code in tile.doubts if code in DOUBTFUL]
    # Perhaps another tile lies there as well, or the one meant lies across the edge.
    doubts += reading.beside
    reasons = tuple(dict.fromkeys([*problems, *doubts]))
    if len(meant) > 1:
        sure = [tile for tile in meant if not DOUBTFUL.intersection(tile.doubts)]
        return IndicatorState(SEVERAL if len(sure) > 1 and not problems else UNSURE, reasons=reasons)
    if meant:
        tile = meant[0]
        status: Status = UNSURE if reasons else ONE
        return IndicatorState(status, tile.kind, tile.score, tile.box, reasons)
    if reasons:
        return IndicatorState(UNSURE, reasons=reasons)
    return IndicatorState(FACE_DOWN if reading.tiles else NONE)


@dataclass(frozen=True, slots=True)
class IndicatorWatch:
    """Watches that the flipped tile stays: the state it was read in, in one place's pixels."""

    first: IndicatorState

    def change(self, later: IndicatorState) -> Change:
        """Tell what became of it: ``same`` tile and place, ``moved``, ``changed`` to another, ``gone``, or
        ``unsure`` where either look was not certain.
        """
        if self.first.status != ONE or later.status == UNSURE:
            return "unsure"
        if later.status in (NONE, FACE_DOWN):
            return "gone"
        if later.status == SEVERAL or later.kind != self.first.kind:
            return "changed"
        return "moved" if _apart(self.first.box, later.box) > MOVED else "same"

    def same(self, later: IndicatorState) -> bool:
        """Tell whether it certainly is the same tile in the same place."""
        return self.change(later) == "same"


def _apart(first: Box | None, later: Box | None) -> float:
    """Distance of two boxes' middles by the shorter side of the first; 0 where a box is unknown."""
    if first is None or later is None:
        return 0.0
    dx, dy = (first[k] + first[k + 2] - later[k] - later[k + 2] for k in (0, 1))
    side = max(min(first[2] - first[0], first[3] - first[1]), 1e-6)
    return float((dx**2 + dy**2) ** 0.5 / 2 / side)

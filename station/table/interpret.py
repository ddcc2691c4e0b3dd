"""From a reading to the tiles of a claim: which belong to the concealed hand, to melds, to the win."""

from __future__ import annotations

from station import messages as m
from station.table.proposal import CONCEALED, MELD, WIN
from vision.arrange import HandLayout, hand_layout
from vision.readings import Reading

HAND = 14
"""Tiles of a won hand without kongs; every kong adds one."""


def layout_of(reading: Reading) -> HandLayout:
    """Return the parts of the hand as indices into ``reading.tiles``."""
    return hand_layout(reading.rows, reading.groups, reading.kinds)


def expected_tiles(layout: HandLayout) -> int:
    """Return how many tiles a whole hand with these melds has on the table."""
    return HAND + sum(len(meld) == 4 for meld in layout.melds)


def tiles_of(reading: Reading) -> list[m.TileRead]:
    """Return the tiles for the log: concealed, winning tile, melds; in that order.

    Boxes stay in pixels of the picture that was read.
    """
    layout = layout_of(reading)
    parts = [(CONCEALED, layout.concealed)]
    if layout.win is not None:
        parts.append((WIN, (layout.win,)))
    parts += [(f"{MELD}{number}", meld) for number, meld in enumerate(layout.melds)]
    return [_tile(reading, index, group) for group, indices in parts for index in indices]


def _tile(reading: Reading, index: int, group: str) -> m.TileRead:
    tile = reading.tiles[index]
    x0, y0, x1, y1 = tile.box
    return m.TileRead(
        kind=tile.kind,
        score=round(tile.score, 4),
        box=(round(x0, 1), round(y0, 1), round(x1, 1), round(y1, 1)),
        alternatives=[(kind, round(score, 4)) for kind, score in tile.alternatives],
        group=group,
        why=list(tile.doubts),
    )

"""From a reading to the tiles of a claim: which belong to the concealed hand, to melds, to the win."""

from __future__ import annotations

import msgspec

from engine.rulesets import RuleSet
from station import messages as m
from station.table.facts import FIVES, has_red_fives
from station.table.handtiles import CONCEALED, FLOWER, LOOSE, MELD, SPREAD, WIN
from vision.hand import HandLayout, HandShape
from vision.hand_reading import HandReading
from vision.readings import STRAY_BACK, Reading
from vision.shapes import BACK

SPREADS = "spread"
"""Call by which tiles are spread, in the rule sets that have it."""
LOOSE_TILE = "loose_tile"
"""Doubt about an open tile that belongs to no meld and to nothing spread."""
RED_UNSURE = "red_unsure"
"""Doubt about a five of which the eyes cannot tell whether it is a red one."""


def shape_of(rules: RuleSet) -> HandShape:
    """Return what a hand of the rule set may hold, as the eyes want to know it."""
    letters = "".join(kind.value for kind in rules.data.melds)
    return HandShape(
        tiles=rules.hand_size,
        melds=letters,
        spread=SPREADS in rules.data.calls,
        red=has_red_fives(rules),
    )


def tiles_of(hand: HandReading, *, claimed: bool = True, red: bool = False) -> list[m.TileRead]:
    """Return the tiles for the log: concealed, winning tile, melds, spread tiles, flowers; in that order.

    Boxes stay in pixels of the picture that was read. ``claimed``: the hand of the claimant; of another place
    only what lies open is meant, and what belongs to nothing is in doubt. ``red``: whether the rule set has
    red fives: a five of which nobody knows is then in doubt, since it may be worth more.
    """
    layout = hand.layout
    apart = CONCEALED if claimed else LOOSE
    tiles = [_tile(hand.reading, index, group) for group, index in _grouped(layout, apart)]
    tiles = [_doubted(tile, LOOSE_TILE) if tile.group == LOOSE else tile for tile in tiles]
    tiles = [_doubted(tile, STRAY_BACK) if _lies_hidden(tile) else tile for tile in tiles]
    return [
        _doubted(tile, RED_UNSURE) if red and tile.kind in FIVES and tile.red is None else tile
        for tile in tiles
    ]


def _lies_hidden(tile: m.TileRead) -> bool:
    """Tell whether one of a claimed hand's own tiles lies face down and nothing was said of it yet."""
    return tile.kind == BACK and tile.group in (CONCEALED, WIN) and STRAY_BACK not in tile.why


def _grouped(layout: HandLayout, apart: str) -> list[tuple[str, int]]:
    """Indices of all tiles with the group they lie in."""
    parts = [(apart, layout.concealed)]
    if layout.win is not None:
        parts.append((WIN, (layout.win,)))
    parts += [(f"{MELD}{number}", meld) for number, meld in enumerate(layout.melds)]
    parts += [(f"{SPREAD}{number}", tiles) for number, tiles in enumerate(layout.spread)]
    parts.append((FLOWER, layout.flowers))
    return [(group, index) for group, indices in parts for index in indices]


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
        red=tile.red,
    )


def _doubted(tile: m.TileRead, code: str) -> m.TileRead:
    return msgspec.structs.replace(tile, why=[*tile.why, code])

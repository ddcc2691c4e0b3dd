"""The parts of a hand laid open: melds, flowers, spread tiles, concealed tiles, the winning tile. Pure.

How tiles are laid, seen upright by their player (docs/laying.md says the same to referees):

* Upper rows: melds, one group each; then spread tiles; then flowers. Groups lie at least 0.6 tile widths from
  each other. The nearest row: concealed tiles, touching; the winning tile apart at the right end.
* A meld shows its kind: chow ``X Y Z``, pung ``X X X``, exposed kong ``X X X X``, concealed kong
  ``back X X back``, opened 韶 ``X back X``; a 韶 not opened is ``back back back``. A tile overlooked in a
  concealed kong leaves no meld, and never a 韶.
* Spread tiles (Fengcheng): the winds in one group, the dragons in one, 么鸡 in one; extra tiles touching
  their group or in a group of their own. Faces tell them from melds: honours make no chow, 1s no meld.
* Players without a claim lay melds and spread tiles only; their concealed tiles may lie face down in the
  nearest row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vision.rowparse import FLOWERS, LOOSE, MELD, SPREAD, Unit, parse_row
from vision.shapes import (
    BACK,
    DRAGONS,
    WINDS,
    YAOJI,
    HandShape,
    is_flower,
    is_meld,
    lay_meld,
    meld_faces,
    meld_letter,
)

__all__ = [
    "HandLayout",
    "HandShape",
    "Spread",
    "expected_tiles",
    "hand_layout",
    "is_meld",
    "lay_meld",
    "meld_faces",
    "meld_letter",
    "melds_left_out",
    "public_layout",
    "spread_of",
]

Runs = Sequence[Sequence[int]]
"""Rows or groups: indices of tiles in reading order."""


@dataclass(frozen=True, slots=True)
class HandLayout:
    """The parts of a revealed hand as indices of tiles in reading order; every tile is in one of them.

    ``melds``: one tuple per meld; ``concealed``: without the winning tile; ``win``: the winning tile,
    None for an empty hand and where none was asked for; ``flowers``; ``spread``: one tuple per group.
    """

    melds: tuple[tuple[int, ...], ...]
    concealed: tuple[int, ...]
    win: int | None
    flowers: tuple[int, ...] = ()
    spread: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Spread:
    """What spread tiles show (Fengcheng §3).

    ``honours``: winds and dragons, extra ones included; ``sets``: complete groups among them, each of which
    counts as a set of the hand (four winds; three dragons); ``yaoji``: how many 1s.
    """

    honours: tuple[str, ...] = ()
    sets: int = 0
    yaoji: int = 0


def hand_layout(
    rows: Runs,
    groups: Runs,
    kinds: Sequence[str],
    shape: HandShape | None = None,
    *,
    win: bool = True,
) -> HandLayout:
    """Name the parts of a claimed hand from its rows and groups and the kinds read.

    ``win``: whether one tile completed the hand (else all are concealed, as for 三金倒 or 游金); without a
    tile apart the last tile counts as the winning one. Where an upper row does not divide into melds, flowers
    and spread tiles it holds none: then all tiles are concealed ones laid in several rows. Face-down tiles
    that belong to nothing count as concealed.
    """
    shape = shape or HandShape()
    filled = [row for row in rows if not all(is_flower(kinds[i]) for i in row)]
    if not filled:
        return HandLayout((), (), None, tuple(i for row in rows for i in row))
    last = set(filled[-1])
    upper = [_units(row, groups, kinds, shape) for row in rows if row[0] not in last]
    units = [unit for row in upper for unit in row]
    if any(part == LOOSE and any(kinds[i] != BACK for i in unit) for part, unit in units):
        units, last = [], set(range(len(kinds)))
    melds = [*_of(MELD, units), *_covered_melds(last, groups, kinds, shape)]
    spread = _of(SPREAD, units)
    named = {i for unit in (*melds, *spread) for i in unit}
    laid = {i for unit in _of(FLOWERS, units) for i in unit}
    flowers = [i for i, kind in enumerate(kinds) if i in laid or (is_flower(kind) and i not in named)]
    named.update(flowers)
    # A stray back above comes first, so that the tile apart stays the last one.
    loose = sorted(set(range(len(kinds))) - named, key=lambda i: (i in last, i))
    return _layout(melds, loose, flowers, spread, win=win)


def public_layout(
    rows: Runs, groups: Runs, kinds: Sequence[str], shape: HandShape | None = None
) -> HandLayout:
    """Name what a player without a claim shows: melds, spread tiles and flowers, in any row.

    ``concealed`` holds what belongs to none of these: face-down tiles, and open ones laid by mistake.
    """
    shape = shape or HandShape()
    units = [unit for row in rows for unit in _units(row, groups, kinds, shape)]
    loose = [i for unit in _of(LOOSE, units) for i in unit]
    flowers = [i for unit in _of(FLOWERS, units) for i in unit]
    return _layout(_of(MELD, units), loose, flowers, _of(SPREAD, units), win=False)


def melds_left_out(
    layout: HandLayout, rows: Runs, groups: Runs, kinds: Sequence[str], shape: HandShape
) -> bool:
    """Tell whether a group above the nearest row shows a meld that the layout does not name one.

    Then the row did not divide into melds for another group's sake, such as two tiles alike: the middle of a
    concealed kong whose ends were overlooked.
    """
    filled = [row for row in rows if not all(is_flower(kinds[i]) for i in row)]
    upper = {i for row in filled[:-1] for i in row}
    named = {i for unit in (*layout.melds, *layout.spread) for i in unit}
    return any(
        group[0] in upper - named and shape.meld([kinds[i] for i in group]) is not None
        for group in groups
        if group
    )


def spread_of(layout: HandLayout, kinds: Sequence[str]) -> Spread:
    """Count the spread tiles of a hand."""
    tiles = [kinds[i] for unit in layout.spread for i in unit]
    complete = [whole <= set(tiles) for whole in (WINDS, DRAGONS)]
    return Spread(tuple(k for k in tiles if k != YAOJI), sum(complete), tiles.count(YAOJI))


def expected_tiles(layout: HandLayout, kinds: Sequence[str], shape: HandShape, *, win: bool = True) -> int:
    """How many tiles a whole hand with these melds, flowers and spread tiles has on the table.

    Every kong holds one tile more than a set, every flower and every spread tile was replaced, except that a
    complete group of spread winds or dragons stands for a set of three. Three tiles with a face-down one
    that are no meld are a concealed kong of which one was overlooked.
    """
    spread = spread_of(layout, kinds)
    extra = sum(_is_kong([kinds[i] for i in meld], shape) for meld in layout.melds) + len(layout.flowers)
    extra += len(spread.honours) + spread.yaoji - 3 * spread.sets
    return shape.tiles + int(win) + extra


def _is_kong(kinds: Sequence[str], shape: HandShape) -> bool:
    return len(kinds) == 4 or (BACK in kinds and shape.meld(kinds) is None)


def _units(row: Sequence[int], groups: Runs, kinds: Sequence[str], shape: HandShape) -> list[Unit]:
    """Parts of one upper row, with the indices of their tiles."""
    begins = {group[0] for group in groups if group}
    cuts = [i in begins for i in row]
    units = parse_row([kinds[i] for i in row], cuts, shape)
    return [(part, tuple(row[k] for k in unit)) for part, unit in units]


def _of(part: str, units: Sequence[Unit]) -> list[tuple[int, ...]]:
    return [unit for name, unit in units if name == part]


def _covered_melds(
    members: set[int], groups: Runs, kinds: Sequence[str], shape: HandShape
) -> list[tuple[int, ...]]:
    """Groups that their backs show to be melds wherever they lie: concealed kongs and opened 韶."""
    plain = [tuple(i for i in group if not is_flower(kinds[i])) for group in groups]
    return [g for g in plain if g and g[0] in members and _lies_covered([kinds[i] for i in g], shape)]


def _lies_covered(kinds: Sequence[str], shape: HandShape) -> bool:
    down = [kind == BACK for kind in kinds]
    return down == [True, False, False, True] or ("H" in shape.melds and down == [False, True, False])


def _layout(
    melds: Sequence[tuple[int, ...]],
    loose: Sequence[int],
    flowers: Sequence[int],
    spread: Sequence[tuple[int, ...]],
    *,
    win: bool,
) -> HandLayout:
    apart = loose[-1] if win and loose else None
    concealed = tuple(loose[:-1] if apart is not None else loose)
    return HandLayout(tuple(melds), concealed, apart, tuple(flowers), tuple(spread))

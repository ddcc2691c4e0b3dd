"""How one row of tiles divides into melds, spread tiles and flowers. Pure.

Gaps and faces both tell, and both err: a badly placed box moves a gap, a misread tile changes a face. So
every division of a row has a price for what speaks against it, and the cheapest is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vision.shapes import BACK, DRAGONS, WINDS, YAOJI, HandShape, is_flower

__all__ = ["FLOWERS", "LOOSE", "MELD", "SPREAD", "Unit", "parse_row"]

MELD, FLOWERS, SPREAD, LOOSE = "meld", "flowers", "spread", "loose"
Unit = tuple[str, tuple[int, ...]]
"""A part of a row and the positions of its tiles."""

TOUCHING = 1
"""Two parts that no gap separates."""
GAP_INSIDE = 2
"""A gap inside of one part."""
INCOMPLETE_SPREAD = 1
"""Spread honours without their group: extra tiles, or three alike that are a pung."""
MISREAD_FLOWER = 5
MISREAD_MELD = 6
"""Three or four tiles between gaps that show no meld."""
NOTHING = 20
"""Open tiles between gaps that are none of these: the row holds no melds at all."""
STRAY_BACKS = 3
"""Face-down tiles between gaps that are no part of anything."""
MISREAD_AND_MISPLACED = NOTHING + 1
"""As `MISREAD_MELD` where the gaps do not fit either: worse than a row that holds no melds."""
IMPOSSIBLE = 10_000


def parse_row(kinds: Sequence[str], cuts: Sequence[bool], shape: HandShape) -> list[Unit]:
    """Divide a row into its parts, left to right; together they hold every tile.

    ``cuts``: for every tile, whether a gap lies before it (the first tile's does not matter). A part is a
    meld (perhaps misread), flowers (one of them perhaps misread), spread tiles, or ``loose``.
    """
    n = len(kinds)
    edges = [True, *cuts[1:], True]
    best: list[tuple[int, list[Unit]]] = [(0, [])]
    for end in range(1, n + 1):
        options = [
            (best[start][0] + price + _border(edges, end, n), [*best[start][1], _unit(part, start, end)])
            for start in range(end)
            for part, price in _parts(kinds, edges, start, end, shape)
        ]
        best.append(min(options, key=lambda option: option[0], default=(IMPOSSIBLE, [])))
    return best[n][1]


def _unit(part: str, start: int, end: int) -> Unit:
    return part, tuple(range(start, end))


def _border(edges: Sequence[bool], end: int, n: int) -> int:
    return 0 if end == n or edges[end] else TOUCHING


def _parts(
    kinds: Sequence[str], edges: Sequence[bool], start: int, end: int, shape: HandShape
) -> Iterator[tuple[str, int]]:
    """What the tiles from start to end can be, each with its price."""
    tiles = kinds[start:end]
    gaps = sum(edges[start + 1 : end])
    delimited = edges[start] and edges[end] and not gaps
    open_tiles = sum(kind != BACK for kind in tiles)
    meld = _meld_price(tiles, shape, delimited=delimited, covered=not open_tiles)
    if meld is not None:
        yield MELD, meld + GAP_INSIDE * gaps
    flowers = sum(is_flower(kind) for kind in tiles)
    if flowers == len(tiles):
        yield FLOWERS, GAP_INSIDE * gaps
    elif delimited and 2 * flowers >= len(tiles):
        yield FLOWERS, MISREAD_FLOWER
    spread = _spread_price(tiles) if shape.spread else None
    if spread is not None:
        yield SPREAD, spread + GAP_INSIDE * gaps
    if delimited:
        yield LOOSE, NOTHING if open_tiles else STRAY_BACKS


def _meld_price(tiles: Sequence[str], shape: HandShape, *, delimited: bool, covered: bool) -> int | None:
    """Price of taking tiles for one meld, None where they cannot be one.

    Tiles that all lie face down say nothing, so that only gaps make a 韶 of them.
    """
    if len(tiles) not in (3, 4) or (covered and not delimited):
        return None
    if shape.meld(tiles) is not None:
        return 0
    if covered:
        return None
    return MISREAD_MELD if delimited else MISREAD_AND_MISPLACED


def _spread_price(tiles: Sequence[str]) -> int | None:
    """Price of taking tiles for one group of spread tiles, None where they are none."""
    shown = set(tiles)
    if shown == {YAOJI}:
        return 0 if len(tiles) <= 2 else None
    for whole in (WINDS, DRAGONS):
        if shown <= whole:
            return 0 if shown == whole else INCOMPLETE_SPREAD
    return None

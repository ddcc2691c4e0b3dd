"""Readings of hands with gold 金: the turned-up kind itself is wild, and White stands for its face.

While White is not gold, a White is nothing but a tile with the face of the gold: no honour, no wildcard. So
Whites are counted at the index of the gold kind, and the golds, which are wild, at the free index of White.
Then the one search of `engine.decompose` finds every reading, and the tiles are named back afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import attrgetter

from engine.decompose import MELD_GROUPS, Decomposition, Group, GroupKind, Placed, decompositions
from engine.melds import Meld
from engine.tiles import Tile
from engine.wincheck import counts_of

PROXY = Tile.WHITE
"""The kind that stands for the face of the gold, unless it is gold itself."""


def face(tile: Tile, gold: Tile | None) -> Tile:
    """What a tile counts as in a set: White as the face of the gold, any other as itself.

    >>> face(Tile.WHITE, Tile.P5), face(Tile.P5, Tile.P5)
    (Tile.P5, Tile.P5)
    """
    return gold if tile is PROXY and gold is not None and gold.is_kind else tile


def split(tiles: Iterable[Tile], gold: Tile) -> tuple[list[int], int]:
    """Counts of the natural tiles by face, and the number of golds.

    Raises:
        CountsError: a tile that cannot be part of a set.
    """
    counts = counts_of(tiles)
    golds = counts[gold]
    counts[gold] = 0
    counts[gold], counts[PROXY] = counts[PROXY], counts[gold]
    return counts, golds


def readings(tiles: Iterable[Tile], gold: Tile, melds: tuple[Meld, ...]) -> Iterator[Decomposition]:
    """Yield every reading of a complete hand once; those in which fewer golds substitute come first.

    Raises:
        CountsError: a tile that cannot be part of a set, or five of a kind.
    """
    counts, golds = split(tiles, gold)
    if gold is PROXY or not (counts[gold] or any(PROXY in meld.tiles for meld in melds)):
        yield from decompositions(counts, golds, gold, melds)
        return
    found = [_named(reading, gold, melds) for reading in decompositions(counts, golds, PROXY)]
    yield from sorted(found, key=attrgetter("substituted"))


def any_tile_readings(tiles: Iterable[Tile], gold: Tile, melds: tuple[Meld, ...]) -> Iterator[Decomposition]:
    """Yield every way to split all tiles but one gold into sets: that gold pairs with whatever comes.

    The pair of such a reading is the one gold that waits.

    Raises:
        CountsError: a tile that cannot be part of a set, or five of a kind.
    """
    counts, golds = split(tiles, gold)
    counts[PROXY] = 2  # the gold that waits and the tile that comes; they can be nothing but the pair
    waiting = Group(GroupKind.PAIR, (Placed(gold, gold),))
    for reading in decompositions(counts, golds - 1, PROXY):
        if reading.pair.kinds == (PROXY, PROXY):
            named = _named(reading, gold, melds)
            yield Decomposition(named.sets, waiting, gold, named.proxies)


def _named(reading: Decomposition, gold: Tile, melds: tuple[Meld, ...]) -> Decomposition:
    """The reading with the tiles that lie there, in place of those by which they were counted."""
    sets = (*(_laid(meld, gold) for meld in melds), *(_real(group, gold) for group in reading.sets))
    pair = _real(reading.pair, gold)
    whites = sum([group.tiles.count(Placed(PROXY, gold)) for group in (*sets, pair)])
    return Decomposition(sets, pair, gold, whites if gold is not PROXY else 0)


@lru_cache(maxsize=1024)
def _laid(meld: Meld, gold: Tile) -> Group:
    tiles = tuple(Placed(tile, face(tile, gold)) for tile in meld.tiles)
    return Group(MELD_GROUPS[meld.kind], tiles, melded=True)


@lru_cache(maxsize=8192)
def _real(group: Group, gold: Tile) -> Group:
    swapped = {gold: PROXY, PROXY: gold}
    tiles = (
        Placed(swapped.get(tile.actual, tile.actual), face(tile.stands_for, gold)) for tile in group.tiles
    )
    return Group(group.kind, tuple(tiles))

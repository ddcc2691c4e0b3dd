"""Random winning hands, the same for every contestant."""

from __future__ import annotations

import random

from engine.tiles import KINDS, Tile

WILD = Tile.S6
INDICATOR = Tile.S5
"""The tile whose flip makes `WILD` wild in Zhenjiang."""


def winning_hand(rng: random.Random, sets: int) -> list[int]:
    """Ids of a random winning hand, shuffled: at most four of a kind, three of the indicator, no wildcard."""
    while True:
        tiles = [rng.randrange(KINDS)] * 2
        for _ in range(sets):
            first = rng.randrange(KINDS)
            run = first < 27 and first % 9 < 7 and rng.random() < 0.6
            tiles += [first, first + 1, first + 2] if run else [first] * 3
        if WILD not in tiles and max(map(tiles.count, tiles)) <= 4 and tiles.count(INDICATOR) < 4:
            rng.shuffle(tiles)
            return tiles


def with_wildcards(hand: list[int], wilds: int) -> list[int]:
    """The hand with its first tiles replaced by wildcards; the last one stays."""
    return [WILD] * wilds + hand[wilds:]

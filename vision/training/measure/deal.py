"""Deals hands as players lay them open: melds, flowers, concealed tiles, the winning tile apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from vision.hand import HandShape
from vision.render import LaidHand
from vision.shapes import BACK
from vision.training.pen import Rng

ORDER = (*(f"{n}{suit}" for suit in "mps" for n in range(1, 10)), *(f"{n}z" for n in range(1, 8)))
FLOWERS = tuple(f"{n}f" for n in range(1, 9))
SHAPES = (HandShape(13, "CPKA"), HandShape(16, "CPKA"))


@dataclass(frozen=True)
class Deal:
    """A hand and the rule set's shape of it; ``sideways``: positions, in reading order, that lie turned."""

    hand: LaidHand
    shape: HandShape
    sideways: frozenset[int] = frozenset()

    @property
    def kinds(self) -> tuple[str, ...]:
        """Tile ids in reading order."""
        return self.hand.kinds


class _Bag:
    """Four of each kind that can be drawn."""

    def __init__(self, rng: Rng, kinds: Collection[str]) -> None:
        self.rng = rng
        self.left = Counter({kind: 4 for kind in ORDER if kind in kinds})

    def take(self, kinds: tuple[str, ...]) -> tuple[str, ...]:
        self.left.subtract(kinds)
        return kinds

    def any(self) -> tuple[str, ...]:
        """Draw one tile."""
        deck = [kind for kind, n in self.left.items() for _ in range(n)]
        return self.take((deck[int(self.rng.integers(len(deck)))],))

    def alike(self, count: int) -> tuple[str, ...]:
        """Draw some tiles alike."""
        able = [kind for kind, n in self.left.items() if n >= count]
        return self.take((able[int(self.rng.integers(len(able)))],) * count)

    def run(self) -> tuple[str, ...]:
        """Draw three tiles in a row, or three alike where no row is left."""
        runs = [tuple(f"{n + k}{suit}" for k in range(3)) for suit in "mps" for n in range(1, 8)]
        able = [run for run in runs if all(self.left[kind] > 0 for kind in run)]
        return self.take(able[int(self.rng.integers(len(able)))]) if able else self.alike(3)


def deal(rng: Rng, kinds: Collection[str]) -> Deal:
    """Deal a hand from the kinds of a set: half are complete, the rest any tiles; 14 to 23 on the table."""
    shape = SHAPES[0] if rng.random() < 0.8 else SHAPES[1]
    bag = _Bag(rng, kinds)
    melds = [_meld(rng, bag) for _ in range(int(rng.choice([0, 0, 1, 2, 3])))]
    sets = shape.tiles // 3 - len(melds)
    if rng.random() < 0.5:
        tiles = [
            *bag.alike(2),
            *(k for _ in range(sets) for k in (bag.run() if rng.random() < 0.6 else bag.alike(3))),
        ]
    else:
        tiles = [k for _ in range(3 * sets + 2) for k in bag.any()]
    win = tiles.pop(int(rng.integers(len(tiles))))
    if rng.random() < 0.8:
        tiles.sort(key=ORDER.index)
    have = [kind for kind in FLOWERS if kind in kinds]
    count = int(rng.choice([1, 2, 3])) if rng.random() < 0.3 else 0
    flowers = tuple(str(k) for k in rng.permutation(have)[:count])
    hand = LaidHand(tuple(melds), tuple(tiles), win, flowers)
    return Deal(hand, shape, _turned(rng, hand))


def _meld(rng: Rng, bag: _Bag) -> tuple[str, ...]:
    roll = rng.random()
    if roll < 0.45:
        return bag.run()
    if roll < 0.75:
        return bag.alike(3)
    kong = bag.alike(4)
    return kong if roll < 0.87 else (BACK, kong[1], kong[2], BACK)


def _turned(rng: Rng, hand: LaidHand) -> frozenset[int]:
    """One tile of a quarter of the open melds lies sideways, as some rule sets mark the player called."""
    turned, start = set(), 0
    for meld in hand.melds:
        if BACK not in meld and rng.random() < 0.25:
            turned.add(start + int(rng.integers(len(meld))))
        start += len(meld)
    return frozenset(turned)

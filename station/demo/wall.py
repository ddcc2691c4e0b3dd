"""The walls of one hand as they truly stand: tiles go from the head, replacements from the tail."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from engine.ruledata import TileSet
from engine.tiles import Tile
from engine.wall import DealPlan, Slot, ring_index


def shuffled(tile_set: TileSet, seed: str) -> list[Tile]:
    """Return the tiles of a set in the order of a seeded shuffle (``seed``: any text)."""
    tiles = [tile for tile in tile_set.kinds for _ in range(tile_set.counts[tile])]
    random.Random(seed).shuffle(tiles)  # noqa: S311 (a reproducible game, no secret)
    return tiles


class Wall:
    """Tiles are known by their position, counted from the break (`engine.wall`).

    Args:
        shuffle: the tiles of the walls by ring index, upper tile of a stack first.
        plan: of the rule set, for the dice thrown.
        dead: tiles at the tail that are never drawn.
    """

    def __init__(self, shuffle: Sequence[Tile], plan: DealPlan, dead: int = 0) -> None:
        walls, stacks = len(plan.stacks), plan.stacks[0]

        def tile(slot: Slot) -> Tile:
            return shuffle[2 * ring_index(walls, stacks, slot.wall, slot.stack) + (not slot.upper)]

        self._plan = plan
        self._dead = dead
        self._order = [tile(plan.slot(position)) for position in range(len(shuffle))]
        self._left = list(range(len(shuffle)))
        self._standing = set(self._left)
        self.turned: Slot | None = None
        """Where a tile lies turned up on the wall."""
        self.replaced = 0
        """How many tiles were taken from the tail."""

    @property
    def live(self) -> int:
        """How many tiles can still be drawn or taken as replacements."""
        return max(0, len(self._left) - self._dead)

    @property
    def tiles(self) -> list[Tile]:
        """All tiles that stand, also those which nobody will draw, from the head on."""
        return [self._order[position] for position in sorted(self._standing)]

    def deal(self) -> list[list[Tile]]:
        """Deal by the plan; the tiles of each seat in the order it took them."""
        hands: list[list[Tile]] = [[] for _ in self._plan.tiles]
        for take in self._plan.takes:
            hands[take.seat] += [self._take(position) for position in take.positions]
        return hands

    def flip(self) -> Tile | None:
        """Take the tile that the plan flips off the wall; None in rule sets that flip none."""
        if self._plan.indicator is None:
            return None
        return self._take(next(p for p in self._left if self._plan.slot(p) == self._plan.indicator))

    def turn_up(self, slot: Slot) -> Tile:
        """Turn up a tile where it stands: it stays there, and nobody draws it any more."""
        position = next(p for p in self._left if self._plan.slot(p) == slot)
        self._left.remove(position)
        self.turned = slot
        return self._order[position]

    def draw(self) -> Tile:
        """Take the next tile from the head."""
        return self._take(self._left[0])

    def replacement(self) -> Tile:
        """Take the next tile from the tail: of the last stack the upper one first."""
        self.replaced += 1
        return self._take(next(self._tail()))

    def heights(self) -> tuple[tuple[int, ...], ...]:
        """How many tiles each stack still has: one row a wall by seat, from its owner's right end."""
        heights = [[0] * stacks for stacks in self._plan.stacks]
        for position in self._standing:
            slot = self._plan.slot(position)
            heights[slot.wall][slot.stack - 1] += 1
        return tuple(map(tuple, heights))

    def _take(self, position: int) -> Tile:
        self._left.remove(position)
        self._standing.remove(position)
        return self._order[position]

    def _tail(self) -> Iterator[int]:
        """Positions that can be taken, from the tail on."""
        return iter(sorted(self._left, key=lambda position: (-(position // 2), position % 2)))

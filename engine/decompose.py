"""How a hand splits into sets and a pair, and what each wildcard stands for.

A wildcard "as itself" stands for its own kind. Three or two wildcards which could stand for anything (a set
or pair without any other tile) are read as themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import NamedTuple

from engine.melds import Meld, MeldKind
from engine.tiles import KINDS, Tile
from engine.wincheck import deficiency, sets_deficiency


class GroupKind(StrEnum):
    """What a group of a complete hand is."""

    CHOW = "chow"
    PUNG = "pung"
    KONG = "kong"
    PAIR = "pair"


class Placed(NamedTuple):
    """A tile of a decomposition: the tile that lies there and the kind it stands for."""

    actual: Tile
    stands_for: Tile


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """A set or the pair; `melded` when it lies on the table."""

    kind: GroupKind
    tiles: tuple[Placed, ...]
    melded: bool = False

    @property
    def substituted(self) -> int:
        """How many of its tiles stand for another kind."""
        return sum(tile.actual != tile.stands_for for tile in self.tiles)


@dataclass(frozen=True, slots=True)
class Decomposition:
    """One reading of a winning hand: melds first, then the concealed sets in tile order, and the pair."""

    sets: tuple[Group, ...]
    pair: Group
    wild: Tile | None

    @property
    def groups(self) -> tuple[Group, ...]:
        """The sets and the pair."""
        return (*self.sets, self.pair)

    @property
    def substituted(self) -> int:
        """How many wildcards stand for another kind."""
        return sum(group.substituted for group in self.groups)

    @property
    def as_itself(self) -> int:
        """How many tiles of the wildcard kind stand for themselves, melds and a claimed tile among them."""
        return sum(
            tile.actual == tile.stands_for == self.wild for group in self.groups for tile in group.tiles
        )

    def copies(self, kind: Tile) -> int:
        """How often a kind occurs, counted by what the tiles stand for."""
        return sum(tile.stands_for == kind for group in self.groups for tile in group.tiles)


MELD_GROUPS = {
    MeldKind.CHOW: GroupKind.CHOW,
    MeldKind.PUNG: GroupKind.PUNG,
    MeldKind.KONG: GroupKind.KONG,
    MeldKind.CONCEALED_KONG: GroupKind.KONG,
    MeldKind.SHAO: GroupKind.PUNG,
}


def decompositions(
    counts: list[int], wilds: int, wild: Tile | None, melds: tuple[Meld, ...] = ()
) -> Iterator[Decomposition]:
    """Yield every reading once; those with fewer substitutions first.

    Args:
        counts: the natural tiles by kind, 0..4 each; a claimed tile of the wildcard kind is a natural one.
        wilds: how many wildcards there are besides.
        wild: their kind; None only without wildcards.
        melds: laid sets; they keep their tiles, and are not checked.

    Raises:
        CountsError: not 34 counts of 0..4.
    """
    if wilds and wild is None:
        raise ValueError("wildcards without their kind: give `wild`.")
    laid = tuple(_laid(meld) for meld in melds)
    for as_itself in range(wilds, -1, -1):
        natural = list(counts)
        if wild is not None:
            natural[wild] += as_itself
            if natural[wild] > 4:
                continue
        search = _Search(natural, wilds - as_itself, wild)
        for groups in search.readings():
            pair = next(group for group in groups if group.kind is GroupKind.PAIR)
            sets = tuple(group for group in groups if group is not pair)
            yield Decomposition((*laid, *sets), pair, wild)


class _Search:
    """Takes the lowest natural tile and tries every group which it can be part of."""

    def __init__(self, counts: list[int], wilds: int, wild: Tile | None) -> None:
        self._counts = counts
        self._wilds = wilds
        self._wild = wild

    def readings(self) -> Iterator[tuple[Group, ...]]:
        """Yield each way to group all tiles and wildcards once, groups in order."""
        seen = set()
        for groups in self._split(self._wilds, has_pair=False):
            reading = tuple(sorted(groups))
            if reading not in seen:
                seen.add(reading)
                yield reading

    def _split(self, wilds: int, *, has_pair: bool) -> Iterator[tuple[Group, ...]]:
        need = sets_deficiency(self._counts) if has_pair else deficiency(self._counts)
        if need > wilds:
            return
        lowest = next((kind for kind in range(KINDS) if self._counts[kind]), None)
        if lowest is None:
            if has_pair and not wilds:
                yield ()
            return
        for group in self._groups_with(lowest, has_pair=has_pair):
            if group.substituted > wilds:
                continue
            self._put(group, -1)
            rest = self._split(wilds - group.substituted, has_pair=has_pair or group.kind is GroupKind.PAIR)
            for groups in rest:
                yield (group, *groups)
            self._put(group, +1)

    def _put(self, group: Group, sign: int) -> None:
        for tile in group.tiles:
            if tile.actual == tile.stands_for:
                self._counts[tile.actual] += sign

    def _groups_with(self, lowest: int, *, has_pair: bool) -> Iterator[Group]:
        if not has_pair:
            yield from self._alike(GroupKind.PAIR, 2, lowest)
        yield from self._alike(GroupKind.PUNG, 3, lowest)
        if lowest < Tile.EAST:
            suit = lowest - lowest % 9
            for first in range(max(suit, lowest - 2), min(suit + 6, lowest) + 1):
                for tiles in product(*(self._choices(kind, lowest) for kind in range(first, first + 3))):
                    yield Group(GroupKind.CHOW, tiles)

    def _alike(self, kind: GroupKind, size: int, tile: int) -> Iterator[Group]:
        for natural in range(min(size, self._counts[tile]), 0, -1):
            tiles = [Placed(Tile(tile), Tile(tile))] * natural
            if natural < size:
                tiles += self._substitute(tile) * (size - natural)
            if len(tiles) == size:
                yield Group(kind, tuple(tiles))

    def _choices(self, kind: int, lowest: int) -> list[Placed]:
        """What can stand for `kind` in a run whose lowest natural tile is `lowest`."""
        natural = [Placed(Tile(kind), Tile(kind))] if self._counts[kind] else []
        return natural if kind == lowest else natural + self._substitute(kind)

    def _substitute(self, kind: int) -> list[Placed]:
        """A wildcard in place of `kind`; none for its own kind, which counts as natural tiles."""
        if self._wild is None or kind == self._wild:
            return []
        return [Placed(self._wild, Tile(kind))]


def _laid(meld: Meld) -> Group:
    return Group(MELD_GROUPS[meld.kind], tuple(Placed(tile, tile) for tile in meld.tiles), melded=True)

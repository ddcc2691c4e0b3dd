"""How a hand splits into sets and a pair, and what each wildcard stands for.

A wildcard "as itself" stands for its own kind. Three or two wildcards which could stand for anything (a set
or pair without any other tile) are read as themselves.

Suits are read one by one and put together; what a suit reads as is kept for the next hand, and its groups
are shared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import combinations_with_replacement, product
from operator import attrgetter
from typing import NamedTuple

from engine.melds import Meld, MeldKind
from engine.tiles import Tile
from engine.wincheck import MAX_COPIES, suit_keys
from engine.wintable import COPIES, HONOURS, NEEDS, TAIL_KEYS, honour_rows, suit_rows


class GroupKind(StrEnum):
    """What a group of a complete hand is."""

    CHOW = "chow"
    PUNG = "pung"
    KONG = "kong"
    PAIR = "pair"

    def __repr__(self) -> str:
        return f"GroupKind.{self.name}"


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
    kinds: tuple[Tile, ...] = field(init=False, repr=False, compare=False)
    """What its tiles stand for."""
    substituted: int = field(init=False, repr=False, compare=False)
    """How many of its tiles stand for another kind."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", tuple([tile.stands_for for tile in self.tiles]))
        object.__setattr__(self, "substituted", sum([tile[0] != tile[1] for tile in self.tiles]))


@dataclass(frozen=True, slots=True)
class Decomposition:
    """One reading of a winning hand: melds first, then the concealed sets in tile order, and the pair.

    `proxies` tiles stand for the face of the wildcard kind and are not wild (White in Xiamen).
    """

    sets: tuple[Group, ...]
    pair: Group
    wild: Tile | None
    proxies: int = 0

    @property
    def groups(self) -> tuple[Group, ...]:
        """The sets and the pair."""
        return (*self.sets, self.pair)

    @property
    def substituted(self) -> int:
        """How many wildcards stand for another kind."""
        return sum([group.substituted for group in self.groups]) - self.proxies

    @property
    def as_itself(self) -> int:
        """How many tiles of the wildcard kind stand for themselves, melds and a claimed tile among them."""
        itself = (self.wild, self.wild)
        return sum([group.tiles.count(itself) for group in self.groups])

    def copies(self, kind: Tile) -> int:
        """How often a kind occurs, counted by what the tiles stand for."""
        return sum([group.kinds.count(kind) for group in self.groups])


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
    laid = tuple([_laid(meld) for meld in melds])
    keys = suit_keys(counts)
    for as_itself in range(wilds, -1, -1):
        natural: Sequence[int] = keys
        if as_itself and wild is not None:
            if counts[wild] + as_itself > MAX_COPIES:
                continue
            suit, weight = wild // RANKS, _weights(wild // RANKS)[wild % RANKS]
            natural = (*keys[:suit], keys[suit] + as_itself * weight, *keys[suit + 1 :])
        yield from _readings(natural, wilds - as_itself, wild, laid)


def _readings(
    keys: Sequence[int], wilds: int, wild: Tile | None, laid: tuple[Group, ...]
) -> Iterator[Decomposition]:
    """Yield every reading in which just `wilds` wildcards stand for another kind."""
    needs = [NEEDS[rows[key // TAIL_KEYS][key % TAIL_KEYS]] for rows, key in zip(_rows(), keys, strict=True)]
    spare = wilds - sum([need0 for need0, _ in needs])
    for with_pair, (need0, need1) in enumerate(needs):
        threes, rest = divmod(spare + need0 - need1, 3)
        if threes < 0 or rest:
            continue
        for suits in combinations_with_replacement(range(SUITS), threes):  # which spend three more
            parts = []
            for suit, need in enumerate(needs):
                spent = need[suit == with_pair] + 3 * suits.count(suit)
                if spent:
                    parts.append(_substituted(suit, keys[suit], suit == with_pair, spent, wild))
                else:
                    parts.append(_natural(suit, keys[suit], suit == with_pair))
            for m, p, s, z in product(*parts):
                pair = m.pair or p.pair or s.pair or z.pair
                assert pair is not None
                yield Decomposition((*laid, *m.sets, *p.sets, *s.sets, *z.sets), pair, wild)


@lru_cache(maxsize=1024)
def _laid(meld: Meld) -> Group:
    return Group(MELD_GROUPS[meld.kind], tuple(Placed(tile, tile) for tile in meld.tiles), melded=True)


# one suit

SUITS = 4
RANKS = 9
KEPT = 4096
"""Suits whose readings are kept for the next hand: with substitutes 4 MB at most, without 1 MB."""
KEYS = COPIES**RANKS
"""More than any key of a suit."""


class _SuitReading(NamedTuple):
    """The groups of one suit: its sets in tile order, and the pair if it has it."""

    sets: tuple[Group, ...]
    pair: Group | None


class _Choice(NamedTuple):
    """A group that may hold the lowest natural tile of a suit."""

    group: Group
    is_pair: bool
    substituted: int
    lowest: int
    """How many natural tiles of the lowest rank it takes."""
    second: int
    third: int
    """How many of the next two ranks."""
    key: int
    """All these tiles in the key of the suit."""


def _suit_readings(
    suit: int, key: int, pair: bool, wilds: int = 0, wild: Tile | None = None
) -> tuple[_SuitReading, ...]:
    """Every way to group the natural tiles of a suit with just so many substitutions, each once."""
    search = _Search(suit, wild)
    search.place(key, 0, 0, wilds, pair=pair)
    return tuple(search.found)


_natural = lru_cache(maxsize=KEPT)(_suit_readings)
_substituted = lru_cache(maxsize=KEPT)(_suit_readings)  # apart, or it would drive out what comes again most


@lru_cache(maxsize=1)
def _rows() -> tuple[Sequence[bytes], ...]:
    return (suit_rows(), suit_rows(), suit_rows(), honour_rows())


def _weights(suit: int) -> tuple[int, ...]:
    """What a tile of each rank adds to the key of the suit."""
    ranks = HONOURS if suit == SUITS - 1 else RANKS
    return tuple(COPIES ** (ranks - 1 - rank) for rank in range(ranks))


class _Search:
    """Groups the tiles of one suit, lowest first.

    A group belongs to its lowest natural tile, and equal tiles take theirs in a fixed order: so no reading
    comes twice.
    """

    def __init__(self, suit: int, wild: Tile | None) -> None:
        self.found: list[_SuitReading] = []
        self._rows = _rows()[suit]
        self._weights = (*_weights(suit), KEYS, KEYS)  # nothing lies above the highest rank
        self._choices = _choices(suit, wild)
        self._taken: list[Group] = []

    def place(self, key: int, rank: int, first: int, wilds: int, *, pair: bool) -> None:
        """Try every group for the lowest tile, which is not below `rank`; there from the `first` one on."""
        if not key:
            if not pair and not wilds:
                self._keep()
            return
        while key < self._weights[rank]:
            rank, first = rank + 1, 0
        weight, weight2, weight3 = self._weights[rank : rank + 3]
        have, have2, have3 = key // weight, key // weight2 % COPIES, key // weight3 % COPIES
        choices = self._choices[rank]
        for nth in range(first, len(choices)):
            group, takes_pair, substituted, lowest, second, third, taken = choices[nth]
            if takes_pair > pair or substituted > wilds or lowest > have or second > have2 or third > have3:
                continue
            rest, left, pair_left = key - taken, wilds - substituted, pair and not takes_pair
            if NEEDS[self._rows[rest // TAIL_KEYS][rest % TAIL_KEYS]][pair_left] <= left:
                self._taken.append(group)
                self.place(rest, rank, nth, left, pair=pair_left)
                self._taken.pop()

    def _keep(self) -> None:
        pair = next((group for group in self._taken if group.kind is GroupKind.PAIR), None)
        sets = [group for group in self._taken if group is not pair]
        self.found.append(_SuitReading(tuple(sorted(sets, key=attrgetter("kinds", "tiles"))), pair))


@lru_cache(maxsize=128)
def _choices(suit: int, wild: Tile | None) -> tuple[tuple[_Choice, ...], ...]:
    """By rank: every group whose lowest natural tile is of that rank."""
    ranks = len(_weights(suit))
    return tuple(
        tuple(
            _choice(suit, rank, group)
            for group in (*_alike(suit * RANKS + rank, wild), *_runs(suit, rank, wild))
        )
        for rank in range(ranks)
    )


def _choice(suit: int, rank: int, group: Group) -> _Choice:
    ranks = [tile.actual - suit * RANKS for tile in group.tiles if tile.actual == tile.stands_for]
    lowest, second, third = (ranks.count(rank + up) for up in range(3))
    key = sum(_weights(suit)[rank] for rank in ranks)
    return _Choice(group, group.kind is GroupKind.PAIR, group.substituted, lowest, second, third, key)


def _alike(kind: int, wild: Tile | None) -> Iterator[Group]:
    """Pairs and triplets of a kind with at least one natural tile, those with the most first."""
    tile = Placed(Tile(kind), Tile(kind))
    for group, size in ((GroupKind.PAIR, 2), (GroupKind.PUNG, 3)):
        yield Group(group, (tile,) * size)
        for natural in range(size - 1, 0, -1):
            substitutes = _substitute(kind, wild) * (size - natural)
            if substitutes:
                yield Group(group, (tile,) * natural + substitutes)


def _runs(suit: int, rank: int, wild: Tile | None) -> Iterator[Group]:
    """Runs whose lowest natural tile is of the rank."""
    if suit == SUITS - 1:
        return
    for first in range(max(0, rank - 2), min(rank, RANKS - 3) + 1):
        choices = []
        for kind in range(suit * RANKS + first, suit * RANKS + first + 3):
            natural = (Placed(Tile(kind), Tile(kind)),) if kind >= suit * RANKS + rank else ()
            substitute = _substitute(kind, wild) if kind != suit * RANKS + rank else ()
            choices.append((*natural, *substitute))
        for tiles in product(*choices):
            yield Group(GroupKind.CHOW, tiles)


def _substitute(kind: int, wild: Tile | None) -> tuple[Placed, ...]:
    """A wildcard in place of the kind; none for its own kind, which counts as natural tiles."""
    return () if wild is None or kind == wild else (Placed(wild, Tile(kind)),)

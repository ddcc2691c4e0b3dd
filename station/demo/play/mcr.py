"""Official rules: players aim for one of a few hands that are worth eight fans whatever else they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from engine.claim import Seat
from engine.melds import Meld, MeldKind
from engine.tiles import KINDS, Tile
from engine.wincheck import MAX_COPIES, counts_of, deficiency, wins
from station.demo.moves import Chance, Player, Take, Way
from station.demo.play.tactics import ONE_SHORT, Tactics

RANKS = 9
LOW, MIDDLE, HIGH = 0, 3, 6
"""First ranks (from 0) of the three chows of a straight."""
PAIRS = 7
CHOWS = 3
CHOW = 0b111
SUITS = (0, RANKS, 2 * RANKS)

_STRAIGHTS = [tuple(suit + rank for rank in (LOW, MIDDLE, HIGH)) for suit in SUITS]
_MIXED = [
    tuple(suit + rank for suit, rank in zip(suits, (LOW, MIDDLE, HIGH), strict=True))
    for suits in permutations(SUITS)
]
_TRIPLE = [tuple(suit + rank for suit in SUITS) for rank in range(RANKS - 2)]

PLANS: tuple[tuple[int, ...], ...] = (*_STRAIGHTS, *_MIXED, *_TRIPLE)
"""First tiles of the chows of 清龙 (16), 花龙 (8) and 三色三同顺 (8); a set and a pair go with them."""


class McrTactics(Tactics):
    """Three chows of a plan or seven pairs; a hand is claimed only if the engine counts enough fans."""

    def complete(self, player: Player, chance: Chance) -> bool:
        """Sets and a pair, or seven pairs, whatever was aimed for."""
        counts = counts_of([*player.tiles, chance.tile])
        pairs = sum(counts) == 2 * PAIRS and all(count % 2 == 0 for count in counts)
        return max(counts) <= MAX_COPIES and (pairs or wins(counts))

    def bluff(self, player: Player, chance: Chance) -> Way | None:
        """Too few fans, or one tile short."""
        counts = counts_of([*player.tiles, chance.tile])
        return self.laid(player, chance, self.self_drawn) if deficiency(counts) <= ONE_SHORT else None

    def lacking(self, tiles: Sequence[Tile], claimed: Tile | None = None, melds: Sequence[Meld] = ()) -> int:
        """How many tiles the nearest of the hands aimed for lacks."""
        counts = counts_of(tiles if claimed is None else (*tiles, claimed))
        if max(counts) > MAX_COPIES:
            return KINDS
        nearest = KINDS if melds else PAIRS - sum(count // 2 for count in counts)
        chows = [meld.tiles[0] for meld in melds if meld.kind is MeldKind.CHOW]
        held = sum(1 << kind for kind, count in enumerate(counts) if count)
        for missing, kinds, to_come in sorted(_open_plans(chows, held)):
            if missing >= nearest:
                break
            others = len(melds) - (CHOWS - to_come)
            if others <= 1:
                nearest = min(nearest, missing + _rest(kinds, counts, set_too=others == 0))
        return nearest

    def wanted(self, player: Player, tile: Tile, source: Seat) -> Take | None:
        """The last tile can only be won on."""
        return super().wanted(player, tile, source) if self.table.wall.live else None


def _open_plans(chows: Sequence[int], held: int) -> Iterator[tuple[int, int, int]]:
    """For each plan: how many of its tiles are missing, those that are wanted in hand, chows to come.

    ``chows``: first tiles of those laid down; ``held`` and the second value have one bit a kind.
    """
    for plan in PLANS:
        to_come = [first for first in plan if first not in chows]
        kinds = sum(CHOW << first for first in to_come)
        yield (kinds & ~held).bit_count(), kinds, len(to_come)


def _rest(kinds: int, counts: Sequence[int], *, set_too: bool) -> int:
    """Tiles that what is left of a hand lacks of a pair, and with ``set_too`` of one more set."""
    rest = [count - bool(count and kinds >> kind & 1) for kind, count in enumerate(counts)]
    return _set_and_pair(rest) if set_too else _pair(rest)


def _pair(rest: Sequence[int]) -> int:
    return max(0, 2 - max(rest))


def _set_and_pair(rest: list[int]) -> int:
    """Fewest tiles that these lack of a set and a pair."""
    best = 3 + _pair(rest)
    for group in _groups(rest):
        held = [kind for kind in set(group) for _ in range(min(rest[kind], group.count(kind)))]
        for kind in held:
            rest[kind] -= 1
        best = min(best, 3 - len(held) + _pair(rest))
        for kind in held:
            rest[kind] += 1
    return best


def _groups(rest: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Sets that some of the tiles can be part of."""
    for kind, count in enumerate(rest):
        if count >= 2:
            yield (kind,) * 3
        if count and kind < Tile.EAST:
            low = kind - kind % RANKS
            yield from (
                tuple(range(first, first + 3))
                for first in range(max(low, kind - 2), min(kind, low + RANKS - 3) + 1)
            )

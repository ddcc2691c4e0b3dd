"""What Fengcheng players lay open as 摊: honours, 么鸡, and what their starting hands were (fengcheng.md §3).

The table shows how many honours a player spread, not always which. Whether all of them together can be there
is asked by trying what each of them can have spread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from engine.facts import FactValue
from engine.tiles import Tile

WINDS = (Tile.EAST, Tile.SOUTH, Tile.WEST, Tile.NORTH)
DRAGONS = (Tile.WHITE, Tile.GREEN, Tile.RED)
HONOURS = (*WINDS, *DRAGONS)
COPIES = 4
"""Of every honour."""

Clash = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The facts of one player, as `seat_facts` of the rule set's file name them."""

    honors: int = 0
    groups: int = 0
    seven_star: bool = False
    extra_honors: int = 0
    yaoji: str = ""
    no_honor_start: bool = False
    seven_less_two: bool = False

    @classmethod
    def of(cls, facts: Mapping[str, FactValue]) -> Spread:
        """The facts of one player; those that are not given have their default."""
        if not facts:
            return NOTHING
        return cls(**{name: facts[name] for name in cls.__slots__ if name in facts})  # type: ignore[arg-type]

    @property
    def sets(self) -> int:
        """Sets of his hand that lie there as groups; 七星 is both of them."""
        return 2 if self.seven_star else self.groups

    @property
    def paid_honours(self) -> int:
        """Honours that are paid one by one: those of 七星 are not."""
        return self.extra_honors if self.seven_star else self.honors

    @property
    def laid_honours(self) -> int:
        """Honours that lie before him."""
        return len(HONOURS) + self.extra_honors if self.seven_star else self.honors

    @property
    def yaoji_tiles(self) -> int:
        """么鸡 that lie before him."""
        return 0 if not self.yaoji else 1 if self.yaoji == "single" else 2

    def kinds(self) -> Iterator[tuple[Tile, ...]]:
        """The kinds of honours which he can have spread, each at least once; one way after another."""
        number = self.laid_honours
        if number == 0:
            yield ()
        elif self.sets == 2:
            yield HONOURS
        else:
            if number >= len(WINDS):
                yield WINDS
            yield DRAGONS
            if self.sets == 0 and number >= len(HONOURS):
                yield HONOURS

    def clashes(self, *, smoke: bool, in_hand: bool) -> Iterator[Clash]:
        """Facts that cannot stand together. `in_hand`: his groups are sets of a hand that is checked."""
        start = [
            name for name in ("seven_star", "no_honor_start", "seven_less_two") if getattr(self, name) is True
        ]
        for nth, one in enumerate(start):
            yield from ((one, other) for other in start[nth + 1 :])
        honors, groups = f"honors={self.honors}", f"groups={self.groups}"
        if self.seven_star:
            if self.groups == 1:
                yield "seven_star", groups
            return
        if self.extra_honors:
            yield f"extra_honors={self.extra_honors}", "no seven_star"
        if not self._honours_fit(in_hand=in_hand):
            yield honors, groups
        if not smoke:  # then only what the starting tiles held may lie there
            if self.groups == 2:
                yield groups, "no seven_star"
            yield from ((name, honors) for name in start if self.honors)

    def _honours_fit(self, *, in_hand: bool) -> bool:
        """A group has three or four tiles; whose hand is not checked need not say how many groups he has."""
        if self.groups == 0:
            return self.honors == 0 or (not in_hand and self.honors >= len(DRAGONS))
        if self.groups == 1:
            return len(DRAGONS) <= self.honors <= COPIES * len(WINDS)
        return self.honors >= len(HONOURS)


NOTHING = Spread()
"""What most players spread."""


def surely_spread(spreads: Sequence[Spread], known: Sequence[Tile]) -> tuple[list[Tile], bool]:
    """Tiles that lie there if everything fits beside the `known` ones, and whether it does.

    Of several ways the first that fits is told; if none does, the first way.
    """
    yaoji = [Tile.S1] * sum(spread.yaoji_tiles for spread in spreads)
    if not any(spread.laid_honours for spread in spreads):
        return yaoji, True
    copies = Counter(known)
    left = {kind: COPIES - copies[kind] for kind in HONOURS}
    ways = list(product(*(tuple(spread.kinds()) for spread in spreads)))
    fitting = (way for way in ways if _fits(spreads, way, left))
    way = next(fitting, None)
    return [*yaoji, *(tile for kinds in way or ways[0] for tile in kinds)], way is not None


def _fits(spreads: Sequence[Spread], way: Sequence[Sequence[Tile]], left: Mapping[Tile, int]) -> bool:
    """Whether there are tiles enough: one of each kind, and the further ones among the player's own kinds."""
    rest = dict(left)
    for tile in (tile for kinds in way for tile in kinds):
        rest[tile] -= 1
    if min(rest.values()) < 0:
        return False
    further: Counter[Sequence[Tile]] = Counter()
    for spread, kinds in zip(spreads, way, strict=True):
        further[kinds] += spread.laid_honours - len(kinds)
    winds, dragons = (sum(rest[tile] for tile in group) for group in (WINDS, DRAGONS))
    return further[WINDS] <= winds and further[DRAGONS] <= dragons and further.total() <= winds + dragons

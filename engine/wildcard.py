"""From the flipped indicator to the wildcard kind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from engine.errors import EngineError
from engine.tiles import Tile

SUIT_CYCLES: tuple[tuple[Tile, ...], ...] = tuple(
    tuple(Tile(first + rank) for rank in range(9)) for first in (Tile.M1, Tile.P1, Tile.S1)
)
"""1 → 2 → … → 9 → 1 in each suit."""

WINDS: tuple[Tile, ...] = (Tile.EAST, Tile.SOUTH, Tile.WEST, Tile.NORTH)

DRAGON_ORDERS: dict[str, tuple[Tile, ...]] = {
    "red_green_white": (Tile.RED, Tile.GREEN, Tile.WHITE),
    "white_green_red": (Tile.WHITE, Tile.GREEN, Tile.RED),
}
"""Orders of the dragons by the name of the option `dragon_order`: 中发白 and 白发中."""


def honour_cycles(dragon_order: str, honour_cycle: str) -> tuple[tuple[Tile, ...], ...]:
    """The cycles of winds and dragons: two (`honour_cycle` "split") or one, winds first ("joint")."""
    dragons = DRAGON_ORDERS[dragon_order]
    return (WINDS, dragons) if honour_cycle == "split" else ((*WINDS, *dragons),)


@lru_cache(maxsize=256)
def wild_after(indicator: Tile, dragon_order: str, honour_cycle: str) -> Tile:
    """The kind after the indicator: suits cycle by themselves, honours as the two options say.

    >>> wild_after(Tile.NORTH, "red_green_white", "split")
    Tile.EAST

    Raises:
        EngineError: the tile is in no cycle (a flower, a face-down or an unknown tile).
    """
    return next_in_cycle(indicator, (*SUIT_CYCLES, *honour_cycles(dragon_order, honour_cycle)))


def next_in_cycle(indicator: Tile, cycles: Sequence[Sequence[Tile]]) -> Tile:
    """The kind after the indicator in the cycle that holds it.

    >>> next_in_cycle(Tile.M9, SUIT_CYCLES)
    Tile.M1

    Raises:
        EngineError: no cycle holds it (a flower, a face-down or an unknown tile).
    """
    for cycle in cycles:
        if indicator in cycle:
            return cycle[(cycle.index(indicator) + 1) % len(cycle)]
    raise EngineError(f"{indicator.id} cannot be the indicator; flip a suit or honour tile.")

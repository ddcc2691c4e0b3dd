"""What players have, see and do: the values that a simulated hand is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from engine.claim import Seat
from engine.facts import Facts
from engine.melds import Meld, MeldKind
from engine.tiles import Tile


class Style(StrEnum):
    """How a hand is played. BLUFF: somebody claims a hand that does not win. SLEEPY: nobody claims."""

    PLAIN = "plain"
    BLUFF = "bluff"
    SLEEPY = "sleepy"


@dataclass(slots=True)
class Player:
    """One player's tiles. ``passed``: what others discarded since he last drew, and he did not take."""

    seat: Seat
    tiles: list[Tile]
    melds: list[Meld] = field(default_factory=list)
    flowers: list[Tile] = field(default_factory=list)
    spread: list[tuple[Tile, ...]] = field(default_factory=list)
    discards: list[Tile] = field(default_factory=list)
    passed: list[Tile] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Chance:
    """A tile with which somebody may win.

    ``source``: whose tile it is (None: drawn). ``dealt``: the last of the dealer's dealt tiles. ``kong``: of
    the kong which it replaces. ``robbed``: it is being added to a pung. ``last``: nothing is left to draw.
    """

    tile: Tile
    source: Seat | None = None
    dealt: bool = False
    kong: MeldKind | None = None
    robbed: bool = False
    last: bool = False


@dataclass(frozen=True, slots=True)
class Way:
    """How a player lays his hand open: the way to win, the tiles, facts that only this way to win has."""

    how: str
    concealed: tuple[Tile, ...]
    win: Tile | None
    facts: Facts = Facts()


@dataclass(frozen=True, slots=True)
class Take:
    """A call on another player's tile, and the own tiles that go with it."""

    kind: str
    own: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Own:
    """A call in one's own turn, the tiles it lays down, and how many are drawn in their place.

    ``added``: the meld that a tile joins; ``joins``: which of the player's spread groups, None = a new one.
    """

    kind: str
    tiles: tuple[Tile, ...]
    replaced: int = 0
    added: Meld | None = None
    joins: int | None = None


def without(tiles: Sequence[Tile], taken: Sequence[Tile]) -> list[Tile]:
    """Return the tiles with some of them taken away."""
    left = list(tiles)
    for tile in taken:
        left.remove(tile)
    return left

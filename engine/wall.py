"""Walls, break and deal: pure arithmetic of stacks (rules matrix §2).

`n` walls of `W` stacks, seats counter-clockwise from the dealer; the stacks of a wall are numbered 1..W from
its owner's right end to the left, which is clockwise. The wall is taken clockwise, in each stack the upper
tile first. A stack's *ring index* counts clockwise from the dealer's right end, from 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.claim import Seat
from engine.errors import EngineError


@dataclass(frozen=True, slots=True)
class Break:
    """Where the deal starts: the count begins at `thrower`'s wall; `stack` of `wall` is taken first."""

    thrower: Seat
    wall: Seat
    stack: int


@dataclass(frozen=True, slots=True)
class Slot:
    """Place of one tile in the walls: stack 1..W of a seat's wall, upper or lower tile."""

    wall: Seat
    stack: int
    upper: bool


@dataclass(frozen=True, slots=True)
class Take:
    """One grip of the deal: a seat and the tiles it takes, as positions counted from the break (from 0)."""

    seat: Seat
    positions: tuple[int, ...]


def ring_index(walls: int, stacks: int, wall: int, stack: int) -> int:
    """Ring index of a stack: `((-wall) mod n) · W + stack - 1`."""
    return (-wall % walls) * stacks + stack - 1


def at_ring_index(walls: int, stacks: int, index: int) -> tuple[Seat, int]:
    """Wall and stack of a ring index; inverse of `ring_index`."""
    return Seat(-(index // stacks) % walls), index % stacks + 1


def break_point(walls: int, stacks: int, d1: int, d2: int | None = None) -> Break:
    """Find the break from the sums of the throws of two dice; with `d2` None one throw does it.

    >>> break_point(4, 17, 8)
    Break(thrower=3, wall=3, stack=9)

    Raises:
        EngineError: no walls, or a sum that two dice cannot show.
    """
    if walls < 1 or stacks < 1:
        raise EngineError("a table has at least one wall of one stack.")
    for throw in (d1,) if d2 is None else (d1, d2):
        if not 2 <= throw <= 12:
            raise EngineError(f"two dice cannot show {throw}; give a sum of 2 to 12.")
    thrower = (d1 - 1) % walls
    counted = d1 + (d2 or 0)
    first = (ring_index(walls, stacks, thrower, 1) + counted) % (walls * stacks)
    return Break(Seat(thrower), *at_ring_index(walls, stacks, first))


@dataclass(frozen=True, slots=True, kw_only=True)
class DealPattern:
    """How a rule set deals: `rounds` times `group` tiles each, then one each and one more for the dealer.

    Without `singles` only the dealer takes one more after the rounds. With `jump` 跳牌 he takes his last two
    at once, from the first and the third remaining stack.
    """

    players: int
    stacks: tuple[int, ...]
    rounds: int
    group: int
    jump: bool
    indicators: int
    singles: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DealPlan:
    """Who takes which tiles of one deal, and where the indicator lies.

    `takes` in order; positions count the tiles from the break. `tiles` per seat, dealer first. `indicator` is
    the slot of the tile to flip, None when there is none; `drawable` tiles are left to play with.
    """

    dice: tuple[int, ...]
    stacks: tuple[int, ...]
    start: Break
    takes: tuple[Take, ...]
    tiles: tuple[int, ...]
    indicator: Slot | None
    drawable: int
    jump: bool

    def slot(self, position: int) -> Slot:
        """Where the tile at a position counted from the break lies.

        Raises:
            EngineError: the walls do not have so many tiles.
        """
        if not 0 <= position < 2 * sum(self.stacks):
            raise EngineError(f"the walls have no tile {position}; count from 0.")
        walls, stacks = len(self.stacks), self.stacks[0]
        first = ring_index(walls, stacks, self.start.wall, self.start.stack)
        wall, stack = at_ring_index(walls, stacks, (first + position // 2) % (walls * stacks))
        return Slot(wall, stack, upper=position % 2 == 0)

    def replacement(self, nth: int) -> Slot:
        """Where the nth replacement tile (from 0) lies: from the tail, upper then lower of the last stack."""
        last = 2 * sum(self.stacks) - 1
        return self.slot(last - (nth ^ 1))


def plan_deal(pattern: DealPattern, dice: tuple[int, ...]) -> DealPlan:
    """Plan a deal from the faces of one throw of two dice, or of two throws.

    Raises:
        EngineError: not two or four faces of 1..6, or walls of different length.
    """
    if len(dice) not in (2, 4) or not all(1 <= face <= 6 for face in dice):
        raise EngineError("the deal needs the faces of two dice, or of two throws: 2 or 4 numbers of 1 to 6.")
    if len(set(pattern.stacks)) != 1:
        raise EngineError("all walls must have the same number of stacks.")
    throws = [dice[i] + dice[i + 1] for i in range(0, len(dice), 2)]
    takes = tuple(_takes(pattern))
    tiles = tuple(
        sum(len(take.positions) for take in takes if take.seat == seat) for seat in range(pattern.players)
    )
    plan = DealPlan(
        dice=dice,
        stacks=pattern.stacks,
        start=break_point(len(pattern.stacks), pattern.stacks[0], *throws),
        takes=takes,
        tiles=tiles,
        indicator=None,
        drawable=2 * sum(pattern.stacks) - sum(tiles) - pattern.indicators,
        jump=pattern.jump,
    )
    return replace(plan, indicator=plan.slot(sum(tiles))) if pattern.indicators else plan


def _takes(pattern: DealPattern) -> Iterator[Take]:
    seats = [Seat(seat) for seat in range(pattern.players)]
    at = 0
    for _ in range(pattern.rounds):
        for seat in seats:
            yield Take(seat, tuple(range(at, at + pattern.group)))
            at += pattern.group
    if not pattern.singles:
        yield Take(seats[0], (at,))
        return
    extra = at + pattern.players
    yield Take(seats[0], (at, extra) if pattern.jump else (at,))
    yield from (Take(seat, (at + seat,)) for seat in seats[1:])
    if not pattern.jump:
        yield Take(seats[0], (extra,))

"""Place and seat: the one conversion between a side of the table and a seat of the rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NewType, TypeVar

from engine.claim import Seat

Place = NewType("Place", int)
"""A player's fixed place, counter-clockwise from 0 = the side of the touchscreen."""

SIDES = 4
"""Sides of a table, also of one with three players."""

T = TypeVar("T")


def seat_of(place: Place, dealer: Place, n: int = 4) -> Seat:
    """Return the seat (0 = dealer, counter-clockwise) of a place."""
    return Seat((place - dealer) % n)


def place_of(seat: Seat, dealer: Place, n: int = 4) -> Place:
    """Return the place of a seat; inverse of `seat_of`."""
    return Place((seat + dealer) % n)


def by_place(by_seat: Sequence[T], dealer: Place) -> tuple[T, ...]:
    """Reorder a sequence indexed by seat into one indexed by place."""
    n = len(by_seat)
    return tuple(by_seat[(place - dealer) % n] for place in range(n))


def by_seat(by_place_: Sequence[T], dealer: Place) -> tuple[T, ...]:
    """Reorder a sequence indexed by place into one indexed by seat."""
    n = len(by_place_)
    return tuple(by_place_[(seat + dealer) % n] for seat in range(n))


def sides_of(places: int, empty: int = 3) -> tuple[int, ...]:
    """Return the physical side (0..3, counter-clockwise, 0 = the touchscreen's) of each place.

    With three players one side is empty: machine, camera and walls still count four.

    >>> sides_of(4), sides_of(3), sides_of(3, empty=1)
    ((0, 1, 2, 3), (0, 1, 2), (0, 2, 3))
    """
    sides = tuple(side for side in range(SIDES) if places == SIDES or side != empty)
    return sides[:places]


def by_side(by_place_: Sequence[int], sides: Sequence[int]) -> tuple[int, ...]:
    """Spread numbers indexed by place over the four sides; an empty side has 0."""
    found = dict(zip(sides, by_place_, strict=True))
    return tuple(found.get(side, 0) for side in range(SIDES))

"""Place and seat: the one conversion between a side of the table and a seat of the rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NewType, TypeVar

from engine.claim import Seat

Place = NewType("Place", int)
"""A fixed side of the table, counter-clockwise from 0 = the side of the touchscreen."""

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

"""Scores of a Swiss tournament (rules/shengji.md §1 and §4), in exact fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from engine.errors import EngineError

WIN, DRAW, LOSS, BYE = 2, 1, 0, 2
"""Points of one round: 胜 2, 平 1, 负 0, 轮空 2 (§1). Every match hands out two."""

MOST_ROUNDS = 100
"""More rounds than this are a slip of the finger."""


def total_score(own: int, opponents: Sequence[int | None], rounds: int, top: int | None = None) -> Fraction:
    """总得分 = own points + sum of the opponents' points ÷ half of the highest points − rounds (§4).

    `top` None reads 最高积分 as the highest possible, 2·rounds (reading A); a number is the highest reached
    by any team (reading C). An opponent None is a bye: it counts as an average one, with `rounds` points.

    >>> total_score(8, [6, 4, 7, 5, 4], 5)
    Fraction(41, 5)
    >>> total_score(8, [6, 4, 7, 5, 4], 5, top=9)
    Fraction(79, 9)

    Raises:
        EngineError: too few or too many rounds, not one opponent for each, or points that cannot be.
    """
    if not 1 <= rounds <= MOST_ROUNDS or len(opponents) != rounds:
        raise EngineError(f"{rounds} rounds have one opponent or bye each, not {len(opponents)}.")
    highest = WIN * rounds if top is None else top
    if not rounds <= highest <= WIN * rounds:
        raise EngineError(f"the most points after {rounds} rounds are {rounds} to {2 * rounds}, not {top}.")
    for points in (own, *(each for each in opponents if each is not None)):
        if not 0 <= points <= highest:
            raise EngineError(f"{points} points are not between 0 and {highest}.")
    met = sum(rounds if each is None else each for each in opponents)
    return own + Fraction(2 * met, highest) - rounds


def cumulative(results: Sequence[int]) -> int:
    """累进分: the sum of the running totals after each round, so earlier points count more (§4).

    >>> cumulative([2, 2, 0, 1, 2])
    22

    Raises:
        EngineError: a result other than 2, 1 or 0.
    """
    for points in results:
        if points not in (WIN, DRAW, LOSS):
            raise EngineError(f"a round brings {WIN}, {DRAW} or {LOSS} points, not {points}.")
    return sum(accumulate(results))


def prize_places(teams: int, most: int = 8) -> int:
    """How many places win a prize: the first eight, with fewer than nine teams all but one (§1).

    >>> prize_places(12), prize_places(8)
    (8, 7)
    """
    return max(0, min(most, teams - 1))

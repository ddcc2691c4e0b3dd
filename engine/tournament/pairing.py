"""Pairing of a Swiss round (rules/shengji.md §1): score groups top down, no rematch, a bye for the lowest.

What the rules leave open is settled here by one order of wishes, the first weighing more than all later ones:

1. no rematch (with `allow_rematch` as few as possible);
2. from the top score group down: as few teams as possible meet a team of a lower group, and the groups that
   meet are as near as possible;
3. from the top of the list down: each team meets the team that stands highest.

The answer is the best pairing by this order, found as a perfect matching; so there is a pairing without
rematch whenever one exists.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from engine.errors import EngineError
from engine.tournament.matching import cheapest_pairs

Team = str
"""Id of a team, player or pair."""


class NoPairingError(EngineError):
    """Every pairing would repeat a match or give somebody a second bye too early."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Who meets whom, best table first; of each pair the team that stands higher first. `bye` 轮空 rests."""

    pairs: tuple[tuple[Team, Team], ...]
    bye: Team | None = None


def draw_lots(teams: Sequence[Team], numbers: Sequence[int]) -> tuple[Team, ...]:
    """Put teams in the order of their drawn numbers, lowest first. Chance stays with the caller.

    >>> draw_lots(["east", "west", "north"], [30, 7, 12])
    ('west', 'north', 'east')

    Raises:
        EngineError: not one number for each team, or a number drawn twice.
    """
    if len(numbers) != len(teams) or len(set(numbers)) != len(numbers):
        raise EngineError(f"{len(teams)} teams draw {len(teams)} different numbers, not {list(numbers)}.")
    return tuple(team for _, team in sorted(zip(numbers, teams, strict=True)))


def pair_round(
    order: Sequence[Team],
    points: Mapping[Team, int],
    met: Collection[frozenset[Team]],
    byes: Mapping[Team, int],
    *,
    allow_rematch: bool = False,
) -> Pairing:
    """Pair the teams for the next round; see the order of wishes above.

    `order` lists all teams, best first: by points, and within a score group as they stand; before the first
    round as their lots fell. `met` holds the pairs that have played, `byes` how often a team has rested.

    >>> pair_round("abcd", {"a": 2, "b": 2, "c": 0, "d": 0}, {frozenset("ab"), frozenset("cd")}, {}).pairs
    (('a', 'c'), ('b', 'd'))

    Raises:
        EngineError: a team stands twice in the list, or the list does not fall in points.
        NoPairingError: without `allow_rematch`, when there is no pairing.
    """
    _check_order(order, points)
    resting = list(_bye_order(order, byes))
    for bye in resting:
        if found := _pair(order, points, met, bye, allow_rematch=False):
            return found[1]
    if allow_rematch:
        tried = (_pair(order, points, met, bye, allow_rematch=True) for bye in resting)
        return min((found for found in tried if found), key=lambda found: found[0])[1]
    raise NoPairingError(
        "there is no pairing without a rematch or a second bye; allow rematches or end the tournament."
    )


def _check_order(order: Sequence[Team], points: Mapping[Team, int]) -> None:
    if not order or len(set(order)) != len(order):
        raise EngineError("each team stands once in the list that is to be paired.")
    scores = [points.get(team, 0) for team in order]
    if scores != sorted(scores, reverse=True):
        raise EngineError("the list that is to be paired must begin with the most points.")


def _bye_order(order: Sequence[Team], byes: Mapping[Team, int]) -> Iterator[Team | None]:
    """Yield who may rest, first choice first: of those with the fewest byes the lowest."""
    if len(order) % 2 == 0:
        yield None
        return
    fewest = min(byes.get(team, 0) for team in order)
    yield from (team for team in reversed(order) if byes.get(team, 0) == fewest)


def _pair(
    order: Sequence[Team],
    points: Mapping[Team, int],
    met: Collection[frozenset[Team]],
    bye: Team | None,
    *,
    allow_rematch: bool,
) -> tuple[int, Pairing] | None:
    """The best pairing with this bye, and its number of rematches."""
    teams = [team for team in order if team != bye]
    scores = sorted({points.get(team, 0) for team in teams}, reverse=True)
    group = [scores.index(points.get(team, 0)) for team in teams]
    again = {(i, j) for i, j in combinations(range(len(teams)), 2) if frozenset((teams[i], teams[j])) in met}
    costs = {
        (i, j): _cost(i, j, group, rematch=(i, j) in again)
        for i, j in combinations(range(len(teams)), 2)
        if allow_rematch or (i, j) not in again
    }
    found = cheapest_pairs(len(teams), costs)
    if found is None:
        return None
    pairs = tuple((teams[i], teams[j]) for i, j in found)
    return len(again.intersection(found)), Pairing(pairs, bye)


def _cost(i: int, j: int, group: Sequence[int], *, rematch: bool) -> int:
    """The wishes as digits of one number, so that an earlier one weighs more than all later ones.

    No digit of a sum of costs can overflow: at most n/2 pairs add at most n each.
    """
    n = len(group)
    bits = (n * n).bit_length()
    floats = group[j] - group[i]
    far = (int(floats > 0) << bits) + floats
    wishes = (far << bits * (n + 2 * (n - 1 - group[i]))) + ((j - i) << bits * (n - 1 - i))
    return (int(rematch) << bits * 3 * n) + wishes

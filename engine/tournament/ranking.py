"""Ranking of a Swiss tournament (rules/shengji.md §4): total score, head-to-head, cumulative score, lot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, groupby

from engine.tournament.pairing import Team

Group = tuple[Team, ...]
Value = Fraction | int
Criterion = Callable[[Group], Mapping[Team, Value] | None]
"""The values by which tied teams are told apart, highest first; None when it cannot be used for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One line of the ranking.

    `place` from 1; teams that nothing tells apart share it, and the next place is as much higher. `opponents`
    is the sum of their points, byes as the option says. `decided_by` is the criterion that parted the team
    from the last ones it was tied with: "total", "head_to_head", "cumulative", "lot", or "shared": none did.
    """

    place: int
    team: Team
    points: int
    opponents: int
    total: Fraction
    cumulative: int
    decided_by: str


def head_to_head(
    group: Group, games: Mapping[frozenset[Team], Sequence[Mapping[Team, int]]]
) -> dict[Team, Value] | None:
    """直胜: points of a tied group in the games among its teams; None unless all of them have met (§4).

    >>> head_to_head(("a", "b"), {frozenset("ab"): [{"a": 0, "b": 2}]})
    {'a': 0, 'b': 2}
    >>> head_to_head(("a", "b", "c"), {frozenset("ab"): [{"a": 0, "b": 2}]}) is None
    True
    """
    won: dict[Team, Value] = dict.fromkeys(group, 0)
    for pair in combinations(group, 2):
        played = games.get(frozenset(pair))
        if not played:
            return None
        for team in pair:
            won[team] += sum(game[team] for game in played)
    return won


def part(group: Group, criteria: Sequence[tuple[str, Criterion]]) -> list[tuple[Group, str]]:
    """Part tied teams by the criteria, one after the other; each part says which one set it apart.

    A criterion is used on the teams that are still tied until it parts no more, then the next one.
    """
    if len(group) == 1 or not criteria:
        return [(group, "shared")]
    name, criterion = criteria[0]
    values = criterion(group)
    if values is None or len({values[team] for team in group}) == 1:
        return part(group, criteria[1:])
    parts: list[tuple[Group, str]] = []
    ordered = sorted(group, key=values.__getitem__, reverse=True)
    for _, teams in groupby(ordered, key=values.__getitem__):
        tied = tuple(teams)
        parts += [(tied, name)] if len(tied) == 1 else part(tied, criteria)
    return parts

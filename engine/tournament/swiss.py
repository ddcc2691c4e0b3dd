"""A Swiss tournament 瑞士制 as a value: games played, ranking, next pairing (rules/shengji.md §1 and §4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from engine.errors import EngineError
from engine.jsonvalues import given_keys, named, want_count, want_list
from engine.text.tiletext import IllegalNotation, NotationError
from engine.tournament.pairing import NoPairingError, Pairing, Team, draw_lots, pair_round
from engine.tournament.ranking import Criterion, Standing, Value, head_to_head, part
from engine.tournament.scores import BYE, DRAW, LOSS, MOST_ROUNDS, WIN, cumulative, prize_places, total_score

__all__ = [
    "BYE",
    "DRAW",
    "LOSS",
    "WIN",
    "Game",
    "NoPairingError",
    "Pairing",
    "Standing",
    "Swiss",
    "Team",
    "answer_swiss",
    "cumulative",
    "draw_lots",
    "pair_round",
    "prize_places",
    "total_score",
]

READINGS = ("possible", "reached")
"""What 最高积分 is in the total score: the highest possible (reading A) or the highest reached (C)."""

BYE_OPPONENTS = ("neutral", "zero")
"""What a bye adds to the opponents' sum: an average opponent's points, or nothing."""


@dataclass(frozen=True, slots=True)
class Game:
    """One game of a round with the points it brought; a bye has no opponent and brings two.

    Raises:
        EngineError: points which a game cannot bring, or a team against itself.
    """

    team: Team
    opponent: Team | None
    points: int
    opponent_points: int = 0

    def __post_init__(self) -> None:
        allowed = [(WIN, LOSS), (DRAW, DRAW), (LOSS, WIN)] if self.opponent is not None else [(BYE, 0)]
        if (self.points, self.opponent_points) not in allowed or self.team == self.opponent:
            raise EngineError(
                f"{self.team} against {self.opponent or 'nobody'} cannot bring "
                f"{self.points}:{self.opponent_points}; use 2:0, 1:1, 0:2, or 2:0 for a bye."
            )

    @property
    def by_team(self) -> dict[Team, int]:
        """Points by team."""
        scored = {self.team: self.points}
        return scored if self.opponent is None else {**scored, self.opponent: self.opponent_points}


@dataclass(frozen=True, slots=True, kw_only=True)
class Swiss:
    """The tournament after some rounds. `reading` and `bye_opponent` are the options of §4.

    Raises:
        EngineError: a team twice, an unknown option value, or a round in which not everybody has one game.
    """

    teams: tuple[Team, ...]
    rounds: tuple[tuple[Game, ...], ...] = ()
    reading: str = "possible"
    bye_opponent: str = "neutral"

    def __post_init__(self) -> None:
        if len(set(self.teams)) != len(self.teams):
            raise EngineError("each team enters once.")
        if self.reading not in READINGS or self.bye_opponent not in BYE_OPPONENTS:
            raise EngineError(f"use a reading of {READINGS} and a bye opponent of {BYE_OPPONENTS}.")
        entered = Counter(self.teams)
        for number, games in enumerate(self.rounds, 1):
            seen = Counter(team for game in games for team in game.by_team)
            if wrong := sorted(((seen - entered) + (entered - seen)).keys()):
                raise EngineError(f"round {number}: each team has one game; look at {', '.join(wrong)}.")

    def with_round(self, games: Iterable[Game]) -> Swiss:
        """The tournament after one more round.

        Raises:
            EngineError: not everybody has exactly one game.
        """
        return replace(self, rounds=(*self.rounds, tuple(games)))

    @property
    def points(self) -> dict[Team, int]:
        """本队积分: points of all rounds by team."""
        scored = dict.fromkeys(self.teams, 0)
        for game in (game for games in self.rounds for game in games):
            for team, points in game.by_team.items():
                scored[team] += points
        return scored

    def results(self, team: Team) -> tuple[int, ...]:
        """Points of a team, round by round.

        Raises:
            EngineError: no such team.
        """
        return tuple(game.by_team[team] for game in self._games_of(team))

    def opponents(self, team: Team) -> tuple[Team | None, ...]:
        """Whom a team met, round by round; None is a bye.

        Raises:
            EngineError: no such team.
        """
        games = self._games_of(team)
        return tuple(game.opponent if game.team == team else game.team for game in games)

    def _games_of(self, team: Team) -> list[Game]:
        if team not in self.teams:
            raise EngineError(f"there is no team {team!r}.")
        return [game for games in self.rounds for game in games if team in (game.team, game.opponent)]

    def standings(self, lots: Sequence[Team] = ()) -> tuple[Standing, ...]:
        """The ranking, best first; opponents count with their points of all rounds played so far (§4).

        `lots`: the teams for which lots were drawn, first lot first; only used where all else is equal.

        Raises:
            EngineError: lots of unknown teams, or of one team twice.
        """
        if len(set(lots)) != len(lots) or not set(lots) <= set(self.teams):
            raise EngineError("lots are drawn by teams that have entered, once each.")
        points = self.points
        lines = {team: self._line(team, points) for team in self.teams}
        parts = part(self.teams, self._criteria(lines, lots)) if self.teams else []
        ranked: list[Standing] = []
        for teams, decided_by in parts:
            place = len(ranked) + 1
            ranked += [replace(lines[team], place=place, decided_by=decided_by) for team in teams]
        return tuple(ranked)

    def _line(self, team: Team, points: Mapping[Team, int]) -> Standing:
        """A line of the ranking, still without its place."""
        rounds = len(self.rounds)
        top = max(points.values()) if self.reading == "reached" else None
        bye = rounds if self.bye_opponent == "neutral" else 0
        met = [bye if each is None else points[each] for each in self.opponents(team)]
        return Standing(
            place=0,
            team=team,
            points=points[team],
            opponents=sum(met),
            total=total_score(points[team], met, rounds, top) if rounds else Fraction(0),
            cumulative=cumulative(self.results(team)),
            decided_by="",
        )

    def _criteria(self, lines: Mapping[Team, Standing], lots: Sequence[Team]) -> list[tuple[str, Criterion]]:
        games: dict[frozenset[Team], list[Mapping[Team, int]]] = {}
        for game in (game for games_played in self.rounds for game in games_played):
            games.setdefault(frozenset(game.by_team), []).append(game.by_team)
        drawn: dict[Team, Value] = {team: -at for at, team in enumerate(lots)}
        return [
            ("total", lambda _: {team: line.total for team, line in lines.items()}),
            ("head_to_head", lambda group: head_to_head(group, games)),
            ("cumulative", lambda _: {team: line.cumulative for team, line in lines.items()}),
            ("lot", lambda group: drawn if drawn.keys() >= set(group) else None),
        ]

    def next_round(self, lots: Sequence[Team], *, allow_rematch: bool = False) -> Pairing:
        """Pair the next round; see `engine.tournament.pairing`.

        `lots` names every team once, first lot first: the order of the first round, later of tied teams.

        Raises:
            EngineError: not one lot for every team.
            NoPairingError: without `allow_rematch`, when every pairing repeats a match.
        """
        if sorted(lots) != sorted(self.teams):
            raise EngineError("every team draws one lot before the first round.")
        points = self.points
        ranked = self.standings(lots) if self.rounds else ()
        order = sorted([line.team for line in ranked] or lots, key=points.__getitem__, reverse=True)
        met = {frozenset(game.by_team) for games in self.rounds for game in games}
        byes = {team: self.opponents(team).count(None) for team in self.teams}
        return pair_round(order, points, met, byes, allow_rematch=allow_rematch)


_KEYS = frozenset({"R", "own", "opp", "top", "results"})


def answer_swiss(obj: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a worked example (rules README): `R`, `own`, `opp`, `top` → `A`, `C`; `results` → `cum`.

    `C` needs `top`. A null in `opp` is a bye, as are rounds without an opponent. Fractions are rounded to
    four decimals.

    >>> answer_swiss({"R": 5, "own": 8, "opp": [6, 4, 7, 5, 4], "top": 9})
    {'A': 8.2, 'C': 8.7778}

    Raises:
        IllegalNotation: an unknown key, or numbers that cannot be; the message names them.
        InvalidNotation: a key is missing, or its value is no number or list of numbers.
    """
    given = given_keys(obj, _KEYS, "a swiss score")
    answer: dict[str, Any] = {}
    try:
        if not given or given.keys() - {"results"}:
            answer = _answer_total(given)
        if "results" in given:
            answer["cum"] = cumulative(named("results", _want_counts, given["results"]))
    except NotationError:
        raise
    except EngineError as error:
        raise IllegalNotation(str(error), 0) from None
    return answer


def _answer_total(given: Mapping[str, Any]) -> dict[str, Any]:
    rounds, own = (named(key, want_count, given.get(key)) for key in ("R", "own"))
    met = named("opp", _want_opponents, given.get("opp"))
    met += [None] * min(rounds - len(met), MOST_ROUNDS)
    answer = {"A": float(round(total_score(own, met, rounds), 4))}
    if "top" in given:
        top = named("top", want_count, given["top"])
        answer["C"] = float(round(total_score(own, met, rounds, top), 4))
    return answer


def _want_opponents(value: object) -> list[int | None]:
    return [None if item is None else want_count(item) for item in want_list(value)]


def _want_counts(value: object) -> list[int]:
    return [want_count(item) for item in want_list(value)]

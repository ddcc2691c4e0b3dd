"""Score sheet of 升级 (rules/shengji.md §1 to §3): from what was entered about a deal to levels.

No card is seen here. A pair is called *banker* 庄家 or *defender* 防家 by its part in the deal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from engine.claim import OptionValue
from engine.errors import EngineError
from engine.sheet import FactValue, ScoreSheet, SheetData
from engine.tournament.swiss import Swiss, Team, prize_places

MOST_CARDS = 33
"""Cards one player can hold: 25 dealt and the 8 of the bottom."""


BOTTOM_FAULT = "4"
"""The fault which costs points only when the deal is not given up for it."""


class Side(StrEnum):
    """A pair's part in a deal."""

    BANKER = "banker"
    DEFENDER = "defender"

    @property
    def other(self) -> Side:
        """The other side."""
        return Side.DEFENDER if self is Side.BANKER else Side.BANKER


@dataclass(frozen=True, slots=True)
class Penalty:
    """Penalty points 罚分 of a side; they go against it. `fault` is the code of §3, or "" without one."""

    side: Side
    points: int
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DealEntry:
    """What is entered about a deal; points are those of the cards, in steps of 5.

    `tricks`: points of the tricks the defenders won, 0..200. `bottom`: points of the bottom cards, 0..80;
    they count only with `last`: "single", "pair", "tractor2" or "tractor3", what the defenders won the last
    trick with 抠底. `last` None: the banker's side won it 保底.
    """

    tricks: int = 0
    bottom: int = 0
    last: str | None = None
    penalties: tuple[Penalty, ...] = ()
    defender_on_must_play: bool = False
    forced_lost: bool = False


@dataclass(frozen=True, slots=True)
class PointItem:
    """One line of the defenders' points: "tricks", "bottom", or "penalty" with the fault's code."""

    code: str
    points: int
    section: str
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DealResult:
    """What a deal brought. `points` is P of §2, the sum of `items`; it can be negative.

    `side` rises by `levels` 0..5 and has the bank in the next deal. `reason` is what decided: "levels" the
    table, "must_play" the defenders' own level, "forced_lost" a wrong bottom.
    """

    points: int
    side: Side
    levels: int
    reason: str
    items: tuple[PointItem, ...]
    document: str
    section: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault of §3: `points` per card or per time, of the `sides` that can commit it."""

    code: str
    points: int
    per: str
    sides: tuple[Side, ...] = (Side.BANKER, Side.DEFENDER)
    text: str
    zh: str


class Shengji(ScoreSheet):
    """Two decks, four players in two pairs."""

    def __init__(self, data: SheetData, options: Mapping[str, OptionValue] | None = None) -> None:
        super().__init__(data, options)
        self.ranks: tuple[str, ...] = tuple(data.tables["ranks"])
        self.faults: Mapping[str, Fault] = {
            code: _fault(code, entry) for code, entry in data.tables["faults"].items()
        }
        self._bands = [
            (int(least), Side(side), int(levels))
            for least, side, levels in data.tables["levels"][self.choice("level_table")]
        ]
        self._must_play = frozenset(data.tables["must_play"][self.choice("must_play")])

    # one deal

    def score(self, entry: DealEntry) -> DealResult:
        """Say what a deal brings (§2).

        Raises:
            EngineError: points that cannot be, or facts that contradict each other; the message names them.
        """
        self._check(entry)
        items = tuple(self._items(entry))
        points = sum(item.points for item in items)
        reached = (band for band in self._bands if band[0] <= points)
        _, side, levels = max(reached, default=self._bands[0])
        reason = "levels"
        if entry.forced_lost:
            reason, side, levels = "forced_lost", Side.DEFENDER, 0
        elif entry.defender_on_must_play and side is Side.DEFENDER:
            reason, levels = "must_play", 0
        return DealResult(
            points=points,
            side=side,
            levels=levels,
            reason=reason,
            items=items,
            document=self.data.document,
            section=self.data.section(reason),
        )

    def judge(self, facts: Mapping[str, FactValue]) -> dict[str, Any]:
        """Answer with `P`, `side`, `levels`, and how they came about.

        Raises:
            EngineError: as `score`, or the tricks' points are missing.
        """
        if not {"tricks", "forced_lost"} & facts.keys():
            raise EngineError("the key 'tricks' is missing: points of the tricks which the defenders won.")
        given: dict[str, Any] = dict(facts)
        given["penalties"] = tuple(Penalty(Side(side), points) for side, points in given.get("penalties", ()))
        result = self.score(DealEntry(**given))
        return {
            "P": result.points,
            "side": result.side.value,
            "levels": result.levels,
            "reason": result.reason,
            "items": [asdict(item) for item in result.items],
            "document": result.document,
            "section": result.section,
        }

    def penalty(self, side: Side, fault: str, count: int = 1) -> Penalty:
        """The penalty of a fault (§3). `count`: cards for the faults that count cards, else times.

        Raises:
            EngineError: no such fault, one which this side cannot commit, or a count that cannot be.
        """
        if fault not in self.faults:
            raise EngineError(f"there is no fault {fault!r}; use one of {', '.join(self.faults)}.")
        known = self.faults[fault]
        if side not in known.sides:
            raise EngineError(f"fault {fault} is one of the {side.other.value}, not of the {side.value}.")
        if not 1 <= count <= MOST_CARDS:
            raise EngineError(f"fault {fault}: give 1 to {MOST_CARDS} {known.per}s, not {count}.")
        return Penalty(side, known.points * count, fault)

    def _check(self, entry: DealEntry) -> None:
        facts = self.data.facts
        facts["tricks"].check(entry.tricks)
        facts["bottom"].check(entry.bottom)
        if entry.last is not None:
            facts["last"].check(entry.last)
        facts["penalties"].check(tuple((each.side.value, each.points) for each in entry.penalties))
        deck = self.data.tables["deck"]
        if entry.tricks + entry.bottom > deck:
            raise EngineError(
                f"tricks={entry.tricks} and bottom={entry.bottom} are together more than the {deck} points "
                "there are; look at both."
            )
        if entry.forced_lost and entry.last is not None:
            raise EngineError(
                f"forced_lost and last={entry.last} contradict each other: a deal that is lost at once has "
                "no last trick."
            )
        if entry.forced_lost and BOTTOM_FAULT in {each.fault for each in entry.penalties}:
            raise EngineError(
                f"forced_lost and fault {BOTTOM_FAULT} contradict each other: the deal is lost or played."
            )
        if entry.defender_on_must_play and not self._must_play:
            raise EngineError("defender_on_must_play contradicts the option must_play=none.")

    def _items(self, entry: DealEntry) -> Iterator[PointItem]:
        """Yield what makes up the defenders' points; a side's penalty goes against it."""
        section = self.data.section
        yield PointItem("tricks", entry.tricks, section("tricks"))
        if entry.last is not None:
            yield PointItem(
                "bottom", entry.bottom * self.data.tables["bottom"][entry.last], section("bottom")
            )
        for each in entry.penalties:
            points = each.points if each.side is Side.BANKER else -each.points
            yield PointItem("penalty", points, section("penalty"), each.fault)

    # the tournament

    def swiss(self, teams: Sequence[Team]) -> Swiss:
        """A tournament of these teams by the options of §4.

        Raises:
            EngineError: a team entered twice.
        """
        return Swiss(
            teams=tuple(teams),
            reading=self.choice("total_score_reading"),
            bye_opponent=self.choice("bye_opponent_score"),
        )

    def prize_places(self, teams: int) -> int:
        """How many places win a prize among so many teams (§1)."""
        return prize_places(teams, self.number("prizes"))

    # levels

    def rank(self, level: int) -> str:
        """The rank that is played at a level: 2 to A, then the next lap begins with 2.

        Raises:
            EngineError: a level below 2.
        """
        if level < 2:
            raise EngineError(f"there is no level {level}; levels begin with 2.")
        return self.ranks[(level - 2) % len(self.ranks)]

    def is_must_play(self, level: int) -> bool:
        """Whether a level is a must-play level 必打级.

        Raises:
            EngineError: a level below 2.
        """
        return self.rank(level) in self._must_play

    def rise(self, level: int, levels: int) -> int:
        """The level after a rise; with `stop_at_must_play` it stops at the first must-play level on its way.

        Raises:
            EngineError: a level below 2.
        """
        if self.flag("stop_at_must_play"):
            for reached in range(level + 1, level + levels):
                if self.is_must_play(reached):
                    return reached
        return level + levels


def _fault(code: str, entry: Mapping[str, Any]) -> Fault:
    sides = {"sides": tuple(map(Side, entry["sides"]))} if "sides" in entry else {}
    return Fault(code=code, **{**entry, **sides})


RULES = Shengji

"""What the engine says about a claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from engine.decompose import Decomposition
from engine.frozen import FrozenMap
from engine.tiles import Tile


class Outcome(StrEnum):
    """The four answers (rules README, "Outcomes"). A false win is not among them: a person rules it."""

    WIN = "win"
    NO_WIN = "no_win"
    INCONSISTENT = "inconsistent"
    DRAW = "draw"


class Payers(StrEnum):
    """Who owes a price item: which of the losers, or the offender of a false win."""

    EACH = "each"
    DISCARDER = "discarder"
    OTHERS = "others"
    OFFENDER = "offender"


@dataclass(frozen=True, slots=True)
class Problem:
    """One defect of a claim: reason code, section of the rules, and what it is about.

    `about` names the tiles by id or the facts that contradict each other, e.g. ("how=self", "from=2").
    `fatal` problems make the claim inconsistent: nearly always a misread or a slip of the finger.
    """

    code: str
    section: str
    about: tuple[str, ...] = ()
    fatal: bool = True


@dataclass(frozen=True, slots=True)
class PriceItem:
    """One line of the bill: `amount` in `unit` (number of tiles multiplied in), owed by `payers`.

    `unit` is "chips", or what the rule set counts in before chips: "water", "times", "lei", "fan"; "outside"
    are chips beside the stake.
    """

    code: str
    amount: int
    section: str
    payers: Payers = Payers.EACH
    unit: str = "chips"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer to a claim; a value, recomputed whenever the claim is mended.

    `details` hold every defect in the documented order; `reason` is the first one's code. `cls` is the price
    class, `section` the section of `document` that decides. `items` are what is counted, also of a hand
    below the minimum. `decomposition` is the reading that pays best; `alternatives` are the other readings
    that pay alike. `totals` are the rule set's sums by name (base, water, fan). `warnings` are obligations
    that were not kept; they never change the outcome.
    """

    outcome: Outcome
    details: tuple[Problem, ...] = ()
    cls: str | None = None
    decomposition: Decomposition | None = None
    alternatives: tuple[Decomposition, ...] = ()
    items: tuple[PriceItem, ...] = ()
    totals: Mapping[str, int] = FrozenMap()
    warnings: tuple[Problem, ...] = ()
    wild: Tile | None = None
    document: str = ""
    section: str = ""

    @property
    def problems(self) -> tuple[str, ...]:
        """The codes of all defects, first the one that is the reason."""
        return tuple(problem.code for problem in self.details)

    @property
    def reason(self) -> str | None:
        """The code of the first defect; None for a win or a draw."""
        return self.details[0].code if self.details else None

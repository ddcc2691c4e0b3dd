"""A claim: everything known when somebody declares a win (rules README, "Keys of a claim")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NewType

from engine.facts import Counters, Facts
from engine.frozen import FrozenMap
from engine.melds import Meld
from engine.tiles import Tile

__all__ = ["DEALER", "DRAW", "Claim", "Counters", "Facts", "OptionValue", "Options", "Seat", "Shown"]

Seat = NewType("Seat", int)
"""A seat of one hand, counter-clockwise from 0 = the dealer. Not a side of the table."""

DEALER = Seat(0)
"""The dealer's seat."""

OptionValue = bool | int | str

DRAW = "draw"
"""The `how` of an exhausted wall; the other ways to end a hand are a rule set's own (`RuleData.hows`)."""


class Options(FrozenMap[OptionValue]):
    """Option values by name."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What lies open before one seat: melds, and facts such as spread tiles (where losers score).

    >>> Shown().melds
    ()
    """

    melds: tuple[Meld, ...] = ()
    facts: Facts = Facts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claimed win, or an exhausted wall (`how` = draw, then without hand and winner).

    `indicator` is the tile turned up in every rule set that turns one up. `concealed` are the concealed tiles
    without the winning tile `win`; `melds` are the winner's. `how` is one of the rule set's ways to win.
    `chips` are per seat, None = no cap. `facts` are the rule set's own (`RuleData.facts`), only what differs
    from the default. `shown` is () or one entry per seat; the winner's melds are in `melds`, not there.
    `options` override those of the rule set for this claim. `spelling` is how the concealed tiles were
    written, kept so that a line comes back letter for letter; it does not take part in comparisons.
    """

    indicator: Tile | None = None
    concealed: tuple[Tile, ...] = ()
    melds: tuple[Meld, ...] = ()
    win: Tile | None = None
    how: str
    winner: Seat | None = None
    discarder: Seat | None = None
    chips: tuple[int, ...] | None = None
    xianggong: bool = False
    facts: Facts = Facts()
    shown: tuple[Shown, ...] = ()
    options: Mapping[str, OptionValue] = field(default_factory=Options)
    spelling: str | None = field(default=None, compare=False, repr=False)

    @property
    def held(self) -> tuple[Tile, ...]:
        """The concealed tiles with the winning tile, if there is one."""
        return self.concealed if self.win is None else (*self.concealed, self.win)

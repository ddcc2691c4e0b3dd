"""A claim: everything known when somebody declares a win (rules README, "Keys of a claim")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

from engine.melds import Meld
from engine.tiles import Tile

Seat = NewType("Seat", int)
"""A seat of one hand, counter-clockwise from 0 = the dealer. Not a side of the table."""

OptionValue = bool | int | str


class How(StrEnum):
    """How the hand is won: the value of `how` in a claim."""

    SELF = "self"
    DISCARD = "discard"
    ROBKONG = "robkong"
    KONG_MING = "kong_ming"
    KONG_AN = "kong_an"
    HEAVEN = "heaven"
    DRAW = "draw"

    @property
    def is_from_another(self) -> bool:
        """Whether the winning tile is another player's: a discard or the tile of a robbed kong."""
        return self in (How.DISCARD, How.ROBKONG)


class Options(Mapping[str, OptionValue]):
    """Option values by name: a mapping that cannot be changed, so that claims are values.

    >>> Options(payment="bao") == {"payment": "bao"}
    True
    """

    __slots__ = ("_items",)

    def __init__(self, values: Mapping[str, OptionValue] | None = None, **named: OptionValue) -> None:
        self._items = dict(values or {}, **named)

    def __getitem__(self, name: str) -> OptionValue:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return f"Options({', '.join(f'{name}={value!r}' for name, value in self._items.items())})"


@dataclass(frozen=True, slots=True)
class DiscardedWilds:
    """Wildcards the winner has discarded and nobody claimed (Zhenjiang 打搭, rules §4 and §6).

    `shou` 首搭: among the very first discards; `er` 二搭: later and shown;
    `peng` 碰后打搭: right after an own pung.
    """

    shou: int = 0
    er: int = 0
    peng: int = 0

    @property
    def total(self) -> int:
        """How many wildcards lie among the winner's discards by these counters."""
        return self.shou + self.er + self.peng


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claimed win, or an exhausted wall (`how` = draw, then without hand and winner).

    `concealed` are the concealed tiles without the winning tile `win`. `chips` are per seat, None = no cap.
    `options` override those of the rule set for this claim. `spelling` is how the concealed tiles were
    written, kept so that a line comes back letter for letter; it does not take part in comparisons.
    """

    indicator: Tile | None = None
    concealed: tuple[Tile, ...] = ()
    melds: tuple[Meld, ...] = ()
    win: Tile | None = None
    how: How
    winner: Seat | None = None
    discarder: Seat | None = None
    da: DiscardedWilds = DiscardedWilds()
    chips: tuple[int, ...] | None = None
    xianggong: bool = False
    options: Mapping[str, OptionValue] = field(default_factory=Options)
    spelling: str | None = field(default=None, compare=False, repr=False)

    @property
    def held(self) -> tuple[Tile, ...]:
        """The concealed tiles with the winning tile, if there is one."""
        return self.concealed if self.win is None else (*self.concealed, self.win)

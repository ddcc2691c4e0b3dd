"""Fans of a hand in Chinese official rules (国标, MCR), counted by PyMahjongGB 1.x.

The library takes the melds, the concealed tiles without the winning tile, and what happened; it answers with
the fans of the reading that is worth most, or with an error when the tiles are no winning hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from engine.adapters import library
from engine.melds import Meld, MeldKind
from engine.tiles import Tile

EXTRA, REQUIREMENT, MODULE = "mcr", "PyMahjongGB>=1.4,<2", "MahjongGB"

NOT_A_WIN = "ERROR_NOT_WIN"

_SUITS = {"m": "W", "p": "B", "s": "T"}
_HONOURS = ("F1", "F2", "F3", "F4", "J3", "J2", "J1")
"""Winds, then White, Green, Red: the library counts the dragons from Red."""

_PACKS = {MeldKind.CHOW: "CHI", MeldKind.PUNG: "PENG", MeldKind.KONG: "GANG", MeldKind.CONCEALED_KONG: "GANG"}

LAID, CONCEALED = 1, 0
"""Whose tile a pack was completed with: another player's, or the winner's own."""


class Fan(NamedTuple):
    """A fan of a hand: code (the library's English name in snake case), points of one, how often it is."""

    code: str
    points: int
    times: int


class Pack(NamedTuple):
    """A set that is complete before the winning tile comes; `laid` = from another player's tile."""

    kind: MeldKind
    tiles: tuple[Tile, ...]
    laid: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What the tiles do not tell; winds count from East = 0.

    `kong`: on the replacement tile of a kong, or robbing one. `last`: last tile of the wall, or the discard
    after it. `fourth`: the other three of its kind lie open.
    """

    self_drawn: bool
    fourth: bool = False
    kong: bool = False
    last: bool = False
    seat_wind: int = 0
    prevailing_wind: int = 0


def pack_of(meld: Meld) -> Pack:
    """A meld as a pack."""
    return Pack(meld.kind, meld.tiles, meld.kind is not MeldKind.CONCEALED_KONG)


def fans(
    packs: Iterable[Pack], concealed: Sequence[Tile], win: Tile, facts: Circumstances, flowers: int = 0
) -> tuple[Fan, ...] | None:
    """The fans of a hand, flowers among them; None when it does not win.

    Packs and concealed tiles together are 13, a kong counting as three; no kind occurs five times.

    Raises:
        MissingExtraError: the library is not installed.
        TypeError: other tiles than that.
    """
    calculate: Any = library(MODULE, EXTRA, REQUIREMENT).MahjongFanCalculator
    try:
        found = calculate(
            pack=tuple(map(_pack, packs)),
            hand=tuple(map(_name, concealed)),
            winTile=_name(win),
            flowerCount=flowers,
            isSelfDrawn=facts.self_drawn,
            is4thTile=facts.fourth,
            isAboutKong=facts.kong,
            isWallLast=facts.last,
            seatWind=facts.seat_wind,
            prevalentWind=facts.prevailing_wind,
            verbose=True,
        )
    except TypeError as error:
        if str(error) == NOT_A_WIN:
            return None
        raise
    return tuple(Fan(_code(english), points, times) for points, times, _, english in found)


def _name(tile: Tile) -> str:
    return f"{_SUITS[tile.suit]}{tile.rank}" if tile.is_suited else _HONOURS[tile - Tile.EAST]


def _pack(pack: Pack) -> tuple[str, str, int]:
    middle = sorted(pack.tiles)[1]  # a chow is named by it, and in the other sets all are alike
    return _PACKS[pack.kind], _name(middle), LAID if pack.laid else CONCEALED


def _code(english: str) -> str:
    return english.lower().replace("-", "_").replace(" ", "_")

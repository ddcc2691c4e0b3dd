"""Fans of a hand in the Chinese official rules (国标, MCR), counted by PyMahjongGB 1.x.

The library takes the melds, the concealed tiles without the winning tile, and what happened; it answers with
the fans of the reading that is worth most, or with an error when the tiles are no winning hand.
"""

from __future__ import annotations

from types import ModuleType

from engine.adapters import library
from engine.errors import EngineError
from engine.melds import MeldKind
from engine.rules.mcr_fans import Fan, FanHand, Pack
from engine.tiles import Tile

NOT_A_WIN = "ERROR_NOT_WIN"

_SUITS = {"m": "W", "p": "B", "s": "T"}
_HONOURS = ("F1", "F2", "F3", "F4", "J3", "J2", "J1")
"""Winds, then White, Green, Red: the library counts the dragons from Red."""

_PACKS = {MeldKind.CHOW: "CHI", MeldKind.PUNG: "PENG", MeldKind.KONG: "GANG", MeldKind.CONCEALED_KONG: "GANG"}


def load() -> ModuleType:
    """The library.

    Raises:
        MissingExtraError: it is not installed.
    """
    return library("MahjongGB", "mcr", "PyMahjongGB>=1.4,<2")


def fans(hand: FanHand) -> tuple[Fan, ...] | None:
    """The fans of a hand, flowers among them; None when it does not win.

    A fan's code is the library's English name in snake case.

    Raises:
        MissingExtraError: the library is not installed.
        EngineError: the tiles are not those of a complete hand.
    """
    try:
        found = load().MahjongFanCalculator(
            pack=tuple(map(_pack, hand.packs)),
            hand=tuple(map(_name, hand.concealed)),
            winTile=_name(hand.win),
            flowerCount=hand.flowers,
            isSelfDrawn=hand.self_drawn,
            is4thTile=hand.fourth,
            isAboutKong=hand.kong,
            isWallLast=hand.last,
            seatWind=hand.seat_wind,
            prevalentWind=hand.prevailing_wind,
            verbose=True,
        )
    except TypeError as error:
        if str(error) == NOT_A_WIN:
            return None
        raise EngineError(f"the library PyMahjongGB refuses the hand: {error}.") from None
    return tuple(Fan(_code(english), points, times) for points, times, _, english in found)


def _name(tile: Tile) -> str:
    return f"{_SUITS[tile.suit]}{tile.rank}" if tile.is_suited else _HONOURS[tile - Tile.EAST]


def _pack(pack: Pack) -> tuple[str, str, int]:
    middle = sorted(pack.tiles)[1]  # a chow is named by it; in the other sets all tiles are alike
    return _PACKS[pack.kind], _name(middle), int(pack.laid)


def _code(english: str) -> str:
    return english.lower().replace("-", "_").replace(" ", "_")

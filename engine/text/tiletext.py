"""Text of tiles and melds, and the three errors of the notation; use them from `engine.notation`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from engine.errors import EngineError
from engine.melds import Meld, MeldKind
from engine.tiles import SUIT_SIZES, Tile


class NotationError(EngineError):
    """A text is refused; `position` is the index of the first character which is wrong (from 0)."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} (at position {position})")
        self.plain = message
        self.position = position

    def moved(self, offset: int) -> NotationError:
        """Return the same error for a text that starts `offset` characters later in a longer one."""
        return type(self)(self.plain, self.position + offset)

    def with_hint(self, hint: str) -> NotationError:
        """Return the same error with words added that say how to mend it; "" adds none."""
        return type(self)(self.plain + hint, self.position)


class InvalidNotation(NotationError):
    """The text cannot be read."""


class IllegalNotation(NotationError):
    """The text can be read, but names something that does not exist or is not allowed there."""


class AmbiguousNotation(NotationError):
    """The text says one thing twice."""


_GROUP = re.compile(r"(?P<digits>[0-9]+)(?P<suit>[mpszf])|(?P<whole>back|\?)")


def parse_tiles(text: str) -> tuple[Tile, ...]:
    """Read tiles, digits then suit, in the order written; `back` and `?` stand alone.

    >>> parse_tiles("12m3z?")
    (Tile.M1, Tile.M2, Tile.WEST, Tile.UNKNOWN)

    Raises:
        InvalidNotation: not digits followed by one of m p s z f.
        IllegalNotation: a number which its suit does not have (0m, 8z, 9f).
    """
    tiles: list[Tile] = []
    at = 0
    while at < len(text):
        group = _GROUP.match(text, at)
        if group is None:
            digits = len(text[at:]) - len(text[at:].lstrip("0123456789"))
            piece = text[at : at + digits + 1]
            raise InvalidNotation(f"{piece!r} is not a tile; write digits, then m p s z or f", at + digits)
        if group["whole"]:
            tiles.append(Tile.of(group["whole"]))
        else:
            tiles.extend(_suit_group(group["digits"], group["suit"], at))
        at = group.end()
    return tuple(tiles)


def _suit_group(digits: str, suit: str, at: int) -> Iterable[Tile]:
    for offset, digit in enumerate(digits):
        if not 1 <= int(digit) <= SUIT_SIZES[suit]:
            raise IllegalNotation(f"there is no tile {digit}{suit}", at + offset)
        yield Tile.of(digit + suit)


def format_tiles(tiles: Iterable[Tile]) -> str:
    """Write tiles in the order given, neighbours of one suit joined; inverse of `parse_tiles`.

    >>> format_tiles(parse_tiles("1m2m3m11z4m"))
    '123m11z4m'
    """
    parts = []
    for suit, group in groupby(tiles, key=lambda tile: tile.suit):
        if suit:
            parts.append("".join(str(tile.rank) for tile in group) + suit)
        else:
            parts.extend(tile.id for tile in group)
    return "".join(parts)


def parse_meld(text: str, known: Iterable[MeldKind] = MeldKind) -> Meld:
    """Read a meld, `X:tiles` with X one of C P K A H. Whether its tiles fit is not asked here.

    `known` are the kinds that an error names; a rule set has not all of them.

    >>> parse_meld("K:8888p").kind
    <MeldKind.KONG: 'K'>

    Raises:
        InvalidNotation: no letter, no colon or no tiles.
        IllegalNotation: an unknown letter or tile.
    """
    letter, colon, rest = text.partition(":")
    if not colon:
        raise InvalidNotation(f"{text!r} is not a meld; write one like P:555m", 0)
    if letter not in set(MeldKind):
        *some, last = [kind.value for kind in known]
        raise IllegalNotation(f"there is no meld {letter!r}; use {', '.join(some)} or {last}", 0)
    if not rest:
        raise InvalidNotation(f"the meld {text!r} has no tiles", len(text))
    try:
        return Meld(MeldKind(letter), parse_tiles(rest))
    except NotationError as error:
        raise error.moved(len(letter) + 1) from None


def format_meld(meld: Meld) -> str:
    """Write a meld; inverse of `parse_meld`.

    >>> format_meld(parse_meld("A:1111z"))
    'A:1111z'
    """
    return f"{meld.kind.value}:{format_tiles(meld.tiles)}"

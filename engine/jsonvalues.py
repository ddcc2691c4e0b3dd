"""Readers of JSON values, shared by claims, calls and score sheets; every error says what is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from engine.claim import Options, OptionValue
from engine.text.tiletext import IllegalNotation, InvalidNotation, NotationError, parse_tiles
from engine.tiles import Tile

T = TypeVar("T")

IGNORED_KEYS = frozenset({"id", "note", "expect"})
"""Keys of a vector that say nothing about the game."""


def want_text(value: object) -> str:
    """Return the text.

    Raises:
        InvalidNotation: it is none.
    """
    if not isinstance(value, str):
        raise InvalidNotation(f"text is wanted, not {value!r}", 0)
    return value


def want_count(value: object) -> int:
    """Return the whole number from 0.

    Raises:
        InvalidNotation, IllegalNotation: no number, or below 0.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidNotation(f"a whole number is wanted, not {value!r}", 0)
    if value < 0:
        raise IllegalNotation(f"{value} is below 0", 0)
    return value


def want_truth(value: object) -> bool:
    """Return true or false.

    Raises:
        InvalidNotation: neither.
    """
    if not isinstance(value, bool):
        raise InvalidNotation(f"true or false is wanted, not {value!r}", 0)
    return value


def want_list(value: object) -> list[object]:
    """Return the list.

    Raises:
        InvalidNotation: it is none.
    """
    if not isinstance(value, list | tuple):
        raise InvalidNotation(f"a list is wanted, not {value!r}", 0)
    return list(value)


def want_object(value: object) -> Mapping[str, object]:
    """Return the JSON object.

    Raises:
        InvalidNotation: it is none.
    """
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise InvalidNotation(f"an object is wanted, not {value!r}", 0)
    return value


def want_tiles(value: object) -> tuple[Tile, ...]:
    """Return the tiles of a text.

    Raises:
        InvalidNotation, IllegalNotation: no text, or not tiles.
    """
    return parse_tiles(want_text(value))


def want_tile(value: object) -> Tile:
    """Return exactly one tile.

    Raises:
        InvalidNotation, IllegalNotation: none, several, or not a tile.
    """
    tiles = want_tiles(value)
    if len(tiles) != 1:
        raise InvalidNotation(f"one tile is wanted, not {value!r}", 0)
    return tiles[0]


def want_options(value: object) -> Options:
    """Return option values by name; whether the rules have them is not asked here.

    Raises:
        InvalidNotation: no object, or a value that no option can have.
    """
    options: dict[str, OptionValue] = {}
    for name, option in want_object(value).items():
        if not isinstance(option, bool | int | str):
            raise InvalidNotation(f"{name} cannot be {option!r}", 0)
        options[name] = option
    return Options(options)


def named(key: str, read: Callable[[Any], T], value: object) -> T:
    """Read the value of a key; an error names the key.

    Raises:
        InvalidNotation, IllegalNotation: what `read` found wrong.
    """
    try:
        return read(value)
    except NotationError as error:
        raise type(error)(f"{key}: {error.plain}", error.position) from None


def given_keys(obj: Mapping[str, Any], known: frozenset[str], what: str) -> dict[str, Any]:
    """What a JSON object says: without `id`, `note`, `expect` and keys whose value is null.

    Raises:
        IllegalNotation: an unknown key; the message names it.
    """
    if unknown := obj.keys() - IGNORED_KEYS - known:
        names = ", ".join(sorted(known))
        raise IllegalNotation(f"there is no key {min(unknown)!r} in {what}; known are {names}", 0)
    return {key: value for key, value in obj.items() if key not in IGNORED_KEYS and value is not None}

"""A claim as a JSON object with the keys of the vector files; use it from `engine.notation`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.claim import Claim, DiscardedWilds, How, Options, OptionValue, Seat
from engine.claimtext import DA_COUNTERS, concealed_text
from engine.melds import Meld
from engine.tiles import Tile
from engine.tiletext import (
    IllegalNotation,
    InvalidNotation,
    NotationError,
    format_meld,
    parse_meld,
    parse_tiles,
)

IGNORED_KEYS = frozenset({"id", "note", "expect"})
"""Keys of a vector which say nothing about the claim."""


def claim_from_object(obj: Mapping[str, Any]) -> Claim:
    """Read a claim from a JSON object (rules README, "Keys of a claim"), passing over `id`, `note`, `expect`.

    >>> claim_from_object({"hand": "11z", "win": "1z", "indicator": "5s", "how": "self", "winner": 0}).win
    Tile.EAST

    Raises:
        InvalidNotation, IllegalNotation: the message names the key; the position is that inside its text.
    """
    facts: dict[str, Any] = {}
    for key, value in obj.items():
        if key in IGNORED_KEYS or value is None:
            continue
        if key not in _READERS:
            raise IllegalNotation(f"there is no key {key!r} in a claim", 0)
        name, read = _READERS[key]
        facts[name] = _named(key, read, value)
    if "hand" in obj and "concealed" in facts:
        facts["spelling"] = obj["hand"]
    if facts.pop("draw", False):
        facts["how"] = How.DRAW
    if "how" not in facts:
        raise InvalidNotation("the key 'how' is missing", 0)
    return Claim(**facts)


def claim_to_object(claim: Claim) -> dict[str, Any]:
    """Write a claim as a JSON object; inverse of `claim_from_object`. Defaults are left out."""
    facts: dict[str, Any] = {
        "indicator": None if claim.indicator is None else claim.indicator.id,
        "hand": concealed_text(claim) or None,
        "melds": [format_meld(meld) for meld in claim.melds] or None,
        "win": None if claim.win is None else claim.win.id,
        "how": claim.how.value,
        "winner": claim.winner,
        "discarder": claim.discarder,
        "da": {name: n for name in DA_COUNTERS if (n := getattr(claim.da, name))} or None,
        "chips": None if claim.chips is None else list(claim.chips),
        "xianggong": claim.xianggong or None,
        "options": dict(claim.options) or None,
    }
    return {key: value for key, value in facts.items() if value is not None}


def _named(key: str, read: Callable[[Any], object], value: object) -> object:
    try:
        return read(value)
    except NotationError as error:
        raise type(error)(f"{key}: {error.plain}", error.position) from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidNotation(f"text is wanted, not {value!r}", 0)
    return value


def _tile(value: object) -> Tile:
    tiles = parse_tiles(_text(value))
    if len(tiles) != 1:
        raise InvalidNotation(f"one tile is wanted, not {value!r}", 0)
    return tiles[0]


def _tiles(value: object) -> tuple[Tile, ...]:
    return parse_tiles(_text(value))


def _melds(value: object) -> tuple[Meld, ...]:
    if not isinstance(value, list | tuple):
        raise InvalidNotation(f"a list of melds is wanted, not {value!r}", 0)
    return tuple(parse_meld(_text(item)) for item in value)


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidNotation(f"a whole number is wanted, not {value!r}", 0)
    if value < 0:
        raise IllegalNotation(f"{value} is below 0", 0)
    return value


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidNotation(f"true or false is wanted, not {value!r}", 0)
    return value


def _how(value: object) -> How:
    text = _text(value)
    if text not in set(How):
        raise IllegalNotation(f"there is no {text!r}; use one of {', '.join(How)}", 0)
    return How(text)


def _da(value: object) -> DiscardedWilds:
    counters = _mapping(value)
    for name in counters:
        if name not in DA_COUNTERS:
            raise IllegalNotation(f"there is no counter {name!r}; use {', '.join(DA_COUNTERS)}", 0)
    return DiscardedWilds(**{name: _count(count) for name, count in counters.items()})


def _chips(value: object) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise InvalidNotation(f"a list of numbers is wanted, not {value!r}", 0)
    return tuple(_count(item) for item in value)


def _options(value: object) -> Options:
    options: dict[str, OptionValue] = {}
    for name, option in _mapping(value).items():
        if not isinstance(option, bool | int | str):
            raise InvalidNotation(f"{name} cannot be {option!r}", 0)
        options[name] = option
    return Options(options)


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise InvalidNotation(f"an object is wanted, not {value!r}", 0)
    return value


_READERS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "indicator": ("indicator", _tile),
    "hand": ("concealed", _tiles),
    "melds": ("melds", _melds),
    "win": ("win", _tile),
    "how": ("how", _how),
    "draw": ("draw", _truth),
    "winner": ("winner", lambda value: Seat(_count(value))),
    "discarder": ("discarder", lambda value: Seat(_count(value))),
    "da": ("da", _da),
    "chips": ("chips", _chips),
    "xianggong": ("xianggong", _truth),
    "options": ("options", _options),
}
"""The keys of an object: the field of `Claim` and how its value is read."""

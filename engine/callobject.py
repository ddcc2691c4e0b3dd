"""A call as a JSON object: `{"call": "pung", "seat": 2, "discarder": 0, "tile": "5m", "with": "55m"}`.

Further keys: the tile turned up under the rule set's own key, `hand`, `passed` and `discarded` (lists of
tiles), `shao`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine import rulesets
from engine.calls import Call
from engine.claim import Seat
from engine.factcodec import want_count, want_text, want_truth
from engine.tiles import Tile
from engine.tiletext import IllegalNotation, InvalidNotation, NotationError, parse_tiles


def call_from_object(obj: Mapping[str, Any], ruleset_id: str) -> Call:
    """Read a call.

    >>> call_from_object({"call": "pung", "seat": 2, "discarder": 0, "tile": "5m"}, "zhenjiang").tile
    Tile.M5

    Raises:
        InvalidNotation, IllegalNotation: the message names the key.
        UnknownRuleSetError: there is no such rule set.
    """
    readers = {**_READERS, rulesets.data(ruleset_id).indicator_key: ("indicator", one_tile)}
    fields: dict[str, Any] = {}
    for key, value in obj.items():
        if key not in readers:
            raise IllegalNotation(f"there is no key {key!r} in a call", 0)
        if value is None:
            continue
        name, read = readers[key]
        try:
            fields[name] = read(value)
        except NotationError as error:
            raise type(error)(f"{key}: {error.plain}", error.position) from None
    for key, name in (("call", "kind"), ("seat", "seat")):
        if name not in fields:
            raise InvalidNotation(f"the key {key!r} is missing", 0)
    return Call(**fields)


def one_tile(value: object) -> Tile:
    """Read exactly one tile.

    Raises:
        InvalidNotation: anything else.
    """
    tiles = parse_tiles(want_text(value))
    if len(tiles) != 1:
        raise InvalidNotation(f"one tile is wanted, not {value!r}", 0)
    return tiles[0]


def _tiles(value: object) -> tuple[Tile, ...]:
    return parse_tiles(want_text(value))


def _tile_list(value: object) -> tuple[Tile, ...]:
    if not isinstance(value, list | tuple):
        raise InvalidNotation(f"a list of tiles is wanted, not {value!r}", 0)
    return tuple(map(one_tile, value))


def _seat(value: object) -> Seat:
    return Seat(want_count(value))


_READERS: Mapping[str, tuple[str, Callable[[Any], object]]] = {
    "call": ("kind", want_text),
    "seat": ("seat", _seat),
    "discarder": ("discarder", _seat),
    "tile": ("tile", one_tile),
    "with": ("own", _tiles),
    "hand": ("hand", _tiles),
    "passed": ("passed", _tile_list),
    "discarded": ("discarded", _tile_list),
    "shao": ("shao", want_truth),
    "locked": ("locked", want_truth),
    "closed": ("closed", want_truth),
}

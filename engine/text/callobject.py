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
from engine.jsonvalues import named, want_count, want_text, want_tile, want_tiles, want_truth
from engine.text.tiletext import IllegalNotation, InvalidNotation
from engine.tiles import Tile


def call_from_object(obj: Mapping[str, Any], ruleset_id: str) -> Call:
    """Read a call.

    >>> call_from_object({"call": "pung", "seat": 2, "discarder": 0, "tile": "5m"}, "zhenjiang").tile
    Tile.M5

    Raises:
        InvalidNotation, IllegalNotation: the message names the key.
        UnknownRuleSetError: there is no such rule set.
    """
    readers = {**_READERS, rulesets.data(ruleset_id).indicator_key: ("indicator", want_tile)}
    fields: dict[str, Any] = {}
    for key, value in obj.items():
        if key not in readers:
            raise IllegalNotation(f"there is no key {key!r} in a call", 0)
        if value is None:
            continue
        name, read = readers[key]
        fields[name] = named(key, read, value)
    for key, name in (("call", "kind"), ("seat", "seat")):
        if name not in fields:
            raise InvalidNotation(f"the key {key!r} is missing", 0)
    return Call(**fields)


def _tile_list(value: object) -> tuple[Tile, ...]:
    if not isinstance(value, list | tuple):
        raise InvalidNotation(f"a list of tiles is wanted, not {value!r}", 0)
    return tuple(map(want_tile, value))


def _seat(value: object) -> Seat:
    return Seat(want_count(value))


_READERS: Mapping[str, tuple[str, Callable[[Any], object]]] = {
    "call": ("kind", want_text),
    "seat": ("seat", _seat),
    "discarder": ("discarder", _seat),
    "tile": ("tile", want_tile),
    "with": ("own", want_tiles),
    "hand": ("hand", want_tiles),
    "passed": ("passed", _tile_list),
    "discarded": ("discarded", _tile_list),
    "shao": ("shao", want_truth),
    "locked": ("locked", want_truth),
    "closed": ("closed", want_truth),
}

"""Facts of a claim which the camera cannot see, as a rule set's file declares them.

Kong context, first turn, counters, flowers, 游金 level: each rule set names its own, with type and limits. A
`FactSpec` is the declaration, a `Facts` mapping holds the values that differ from the defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.errors import EngineError
from engine.frozen import FrozenMap
from engine.tiles import Tile


class Counters(FrozenMap[int]):
    """Numbers by name; what is 0 is left out.

    >>> Counters(shou=1, er=0) == {"shou": 1}
    True
    """

    def __init__(self, values: Mapping[str, int] | None = None, **named: int) -> None:
        given = {**(values or {}), **named}
        super().__init__({name: number for name, number in given.items() if number})

    @property
    def total(self) -> int:
        """The sum of all numbers."""
        return sum(self.values())


FactValue = bool | int | str | Counters | tuple[Tile, ...]


class Facts(FrozenMap[FactValue]):
    """Values of facts by name."""


_DEFAULTS: Mapping[str, FactValue] = {
    "bool": False,
    "int": 0,
    "choice": "",
    "counters": Counters(),
    "tiles": (),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSpec:
    """One fact. `type` is "bool", "int", "choice", "counters" or "tiles".

    `key` is its name in a JSON object, `word` in a line. `inside` is the object that holds it ("" = the claim
    or the player itself). Numbers, counters' too, go from `minimum` to `maximum`; a choice lists `allowed`,
    counters have `names`. `role` tells screens what a fact is for: "flowers", "streak", "red", "".
    """

    name: str
    type: str
    key: str
    word: str
    inside: str = ""
    minimum: int = 0
    maximum: int = 1_000_000
    allowed: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    role: str = ""
    source: str = ""
    section: str
    text: str
    zh: str = ""

    @property
    def default(self) -> FactValue:
        """The value of a fact that is not given."""
        return _DEFAULTS[self.type]


def fact_spec(name: str, table: Mapping[str, Any]) -> FactSpec:
    """Build a spec from its table in the rule set's file.

    Raises:
        EngineError: a key is missing or unknown, or the type is.
    """
    lists = {key: tuple(table[key]) for key in ("allowed", "names") if key in table}
    try:
        spec = FactSpec(name=name, **{"key": name, "word": name, **table, **lists})
    except TypeError as error:
        raise EngineError(f"fact {name} of the rule set's file is wrong: {error}.") from None
    if spec.type not in _DEFAULTS:
        raise EngineError(f"fact {name}: there is no type {spec.type!r}; use {', '.join(_DEFAULTS)}.")
    return spec

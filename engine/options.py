"""Options of a rule set: what may be chosen, what stands otherwise, and where that comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.claim import Options, OptionValue
from engine.errors import EngineError
from engine.frozen import FrozenMap

ASK = ("", "should", "must")
"""Values of `OptionSpec.ask`."""

SOURCES = ("SEED", "PUBLIC", "CHOICE")
"""First word of `OptionSpec.source`: said in the seed document, found in public, or ours."""


class OptionError(EngineError):
    """An option does not exist or cannot have this value; `name` is the option."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionSpec:
    """One option. `type` is "bool", "int" or "choice"; a choice lists `allowed`, a number too or has limits.

    `ask` says whether somebody has to choose at set-up: "" = the default is good, "should" = the event ought
    to fix it, the default stands meanwhile, "must" = a table does not open before it is chosen; its default
    is only what worked examples without the option mean. `effects` are sentences by value.
    """

    name: str
    type: str
    default: OptionValue
    allowed: tuple[str | int, ...] = ()
    minimum: int = 0
    maximum: int = 1_000_000
    source: str
    section: str
    text: str
    zh: str = ""
    ask: str = ""
    effects: Mapping[str, str] = FrozenMap()
    effects_zh: Mapping[str, str] = FrozenMap()

    def check(self, value: OptionValue) -> OptionValue:
        """Return the value if the option can have it.

        Raises:
            OptionError: wrong type or not allowed; the message says what is.
        """
        if self.type == "bool":
            right = isinstance(value, bool)
        elif self.type == "int":
            listed = value in self.allowed or not self.allowed
            right = type(value) is int and listed and self.minimum <= value <= self.maximum
        else:
            right = value in self.allowed
        if not right:
            raise OptionError(f"{self.name} cannot be {value!r}; use {self.wanted}.", self.name)
        return value

    def parse(self, text: str) -> OptionValue:
        """Read a value as it stands in a line of text.

        Raises:
            OptionError: see `check`.
        """
        value: OptionValue = text
        if self.type == "bool" and text in ("true", "false"):
            value = text == "true"
        elif self.type == "int" and text.isascii() and text.isdigit() and len(text) < 10:
            value = int(text)
        return self.check(value)

    @property
    def wanted(self) -> str:
        """The allowed values in words."""
        if self.allowed:
            return ", ".join(map(str, self.allowed))
        return (
            "true or false" if self.type == "bool" else f"a whole number of {self.minimum} to {self.maximum}"
        )


def spec_from_table(name: str, table: Mapping[str, Any]) -> OptionSpec:
    """Build a spec from its table in the rule set's file.

    Raises:
        EngineError: a key is missing or unknown, or the default is not allowed.
    """
    try:
        frozen = {key: FrozenMap(table[key]) for key in ("effects", "effects_zh") if key in table}
        spec = OptionSpec(name=name, **{**table, "allowed": tuple(table.get("allowed", ())), **frozen})
    except TypeError as error:
        raise EngineError(f"option {name} of the rule set's file is wrong: {error}.") from None
    if not spec.source.startswith(SOURCES):
        raise EngineError(f"option {name}: the source starts with one of {', '.join(SOURCES)}.")
    if spec.ask not in ASK:
        raise EngineError(f"option {name}: ask is one of {', '.join(ASK[1:])}, or left out.")
    spec.check(spec.default)
    return spec


def resolve(specs: Mapping[str, OptionSpec], chosen: Mapping[str, OptionValue]) -> Options:
    """Return every option's value: the chosen one, else the default.

    Raises:
        OptionError: an unknown option or a value which is not allowed.
    """
    for name in chosen:
        if name not in specs:
            raise OptionError(f"there is no option {name!r}; known are {', '.join(specs)}.", name)
    return Options({name: spec.check(chosen.get(name, spec.default)) for name, spec in specs.items()})

"""What rule sets of mahjong and score sheets of other games share: an id, options, a hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Protocol, Self

from engine.claim import Options, OptionValue
from engine.options import OptionSpec, resolve


class Documented(Protocol):
    """The data of a rule set, as far as its options go."""

    @property
    def id(self) -> str:
        """The id."""

    @property
    def options(self) -> Mapping[str, OptionSpec]:
        """Every option by name."""

    @property
    def digest(self) -> str:
        """Hash of the data file."""


class OptionsChosen:
    """Rules with their options chosen. They never change; `with_options` returns others."""

    def __init__(self, data: Documented, options: Mapping[str, OptionValue] | None = None) -> None:
        self._documented = data
        self.options: Options = resolve(data.options, options or {})
        self._chosen = dict(self.options)  # the same, and faster

    def __repr__(self) -> str:
        default = resolve(self._documented.options, {})
        chosen = {name: value for name, value in self.options.items() if value != default[name]}
        return f"rulesets.load({self.id!r}, {chosen!r})"

    @property
    def id(self) -> str:
        """The id, e.g. "zhenjiang"."""
        return self._documented.id

    @property
    def hash(self) -> str:
        """SHA-256 over the data file's content and all option values, as hexadecimal text."""
        text = json.dumps([self._documented.digest, dict(self.options)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def with_options(self, options: Mapping[str, OptionValue]) -> Self:
        """Return the same rules with some options chosen anew.

        Raises:
            OptionError: an unknown option or a value which is not allowed.
        """
        return type(self)(self._documented, {**self.options, **options}) if options else self

    def flag(self, name: str) -> bool:
        """Value of a yes/no option."""
        return self._chosen[name] is True

    def number(self, name: str) -> int:
        """Value of a number option or a price."""
        return int(self._chosen[name])

    def choice(self, name: str) -> str:
        """Value of a choice option."""
        return str(self._chosen[name])

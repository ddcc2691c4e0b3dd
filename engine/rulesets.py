"""All rule sets by id. A new one is two new files in `engine/rules/`; nothing else changes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path

from engine.claim import OptionValue
from engine.errors import EngineError
from engine.options import OptionSpec
from engine.ruledata import RuleData, rule_data
from engine.ruleset import RuleSet

__all__ = ["OptionSpec", "RuleSet", "UnknownRuleSetError", "ids", "load", "option_specs"]

RULES = Path(__file__).parent / "rules"
"""Where the data files and hooks lie."""


class UnknownRuleSetError(EngineError):
    """There is no rule set with this id; the message names those there are."""


def ids() -> tuple[str, ...]:
    """The ids of all rule sets.

    >>> ids()
    ('zhenjiang',)
    """
    return tuple(sorted(path.stem for path in RULES.glob("*.toml")))


def load(ruleset_id: str, options: Mapping[str, OptionValue] | None = None) -> RuleSet:
    """Load a rule set with some of its options chosen.

    >>> load("zhenjiang", {"payment": "bao"}).options["payment"]
    'bao'

    Raises:
        UnknownRuleSetError: no such rule set.
        OptionError: an unknown option or a value which is not allowed.
    """
    data = _data(ruleset_id)
    hooks: type[RuleSet] = import_module(f"engine.rules.{ruleset_id}").RULES
    return hooks(data, options)


def option_specs(ruleset_id: str) -> Mapping[str, OptionSpec]:
    """Every option of a rule set by name, prices included: type, default, allowed values, source, section.

    Raises:
        UnknownRuleSetError: no such rule set.
    """
    return _data(ruleset_id).options


@lru_cache
def _data(ruleset_id: str) -> RuleData:
    if ruleset_id not in ids():
        raise UnknownRuleSetError(f"there is no rule set {ruleset_id!r}; known are {', '.join(ids())}.")
    with (RULES / f"{ruleset_id}.toml").open("rb") as file:
        return rule_data(tomllib.load(file))

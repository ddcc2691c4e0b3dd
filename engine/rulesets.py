"""All rule sets by id. A new one is two new files in `engine/rules/`; nothing else changes.

Most are rules of mahjong (`RuleSet`); a file with `kind = "sheet"` is a score sheet of another game
(`engine.sheet.ScoreSheet`), of which only results are recorded.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from engine.claim import OptionValue
from engine.errors import EngineError
from engine.options import OptionSpec
from engine.ruledata import RuleData, rule_data
from engine.ruleset import RuleSet
from engine.sheet import ScoreSheet, SheetData, sheet_data

__all__ = [
    "OptionSpec",
    "RuleSet",
    "ScoreSheet",
    "UnknownRuleSetError",
    "data",
    "ids",
    "load",
    "option_specs",
    "sheet",
    "sheet_ids",
    "unanswered",
]

RULES = Path(__file__).parent / "rules"
"""Where the data files and hooks lie."""


class UnknownRuleSetError(EngineError):
    """There is no rule set with this id; the message names those there are."""


def ids() -> tuple[str, ...]:
    """The ids of all rule sets of mahjong.

    >>> "zhenjiang" in ids()
    True
    """
    return tuple(name for name in _all_ids(RULES) if _kind(name) == "mahjong")


def sheet_ids() -> tuple[str, ...]:
    """The ids of all score sheets.

    >>> set(sheet_ids()) & set(ids())
    set()
    """
    return tuple(name for name in _all_ids(RULES) if _kind(name) == "sheet")


def load(ruleset_id: str, options: Mapping[str, OptionValue] | None = None) -> RuleSet:
    """Load a rule set with some of its options chosen.

    >>> load("zhenjiang", {"payment": "bao"}).options["payment"]
    'bao'

    Raises:
        UnknownRuleSetError: no such rule set of mahjong.
        OptionError: an unknown option or a value which is not allowed.
    """
    found = data(ruleset_id)
    hooks: type[RuleSet] = import_module(f"engine.rules.{ruleset_id}").RULES
    return hooks(found, options)


def sheet(sheet_id: str, options: Mapping[str, OptionValue] | None = None) -> ScoreSheet:
    """Load a score sheet with some of its options chosen.

    Raises:
        UnknownRuleSetError: no such score sheet.
        OptionError: an unknown option or a value which is not allowed.
    """
    found = _sheet_data(RULES, sheet_id)
    hooks: type[ScoreSheet] = import_module(f"engine.rules.{sheet_id}").RULES
    return hooks(found, options)


def option_specs(ruleset_id: str) -> Mapping[str, OptionSpec]:
    """Every option of a rule set or sheet by name, prices included.

    Raises:
        UnknownRuleSetError: there is none with this id.
    """
    if ruleset_id in sheet_ids():
        return _sheet_data(RULES, ruleset_id).options
    if ruleset_id not in ids():
        known = ", ".join((*ids(), *sheet_ids()))
        raise UnknownRuleSetError(f"there is no rule set {ruleset_id!r}; known are {known}.")
    return data(ruleset_id).options


def unanswered(ruleset_id: str, options: Mapping[str, OptionValue]) -> tuple[OptionSpec, ...]:
    """Options which somebody must choose at set-up and nobody has.

    Raises:
        UnknownRuleSetError: there is no such rule set.
    """
    specs = option_specs(ruleset_id).values()
    return tuple(spec for spec in specs if spec.ask == "must" and spec.name not in options)


def data(ruleset_id: str) -> RuleData:
    """The data of a rule set of mahjong.

    Raises:
        UnknownRuleSetError: there is no such rule set.
    """
    return _data(RULES, ruleset_id)


@lru_cache
def _data(folder: Path, ruleset_id: str) -> RuleData:
    if ruleset_id not in ids():
        raise UnknownRuleSetError(f"there is no rule set {ruleset_id!r}; known are {', '.join(ids())}.")
    return rule_data(_table(folder, ruleset_id))


@lru_cache
def _sheet_data(folder: Path, sheet_id: str) -> SheetData:
    if sheet_id not in sheet_ids():
        known = ", ".join(sheet_ids())
        raise UnknownRuleSetError(f"there is no score sheet {sheet_id!r}; known are {known}.")
    return sheet_data(_table(folder, sheet_id))


@lru_cache
def _all_ids(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in folder.glob("*.toml")))


def _kind(name: str) -> str:
    return str(_table(RULES, name).get("kind", "mahjong"))


@lru_cache
def _table(folder: Path, name: str) -> dict[str, Any]:
    with (folder / f"{name}.toml").open("rb") as file:
        return tomllib.load(file)

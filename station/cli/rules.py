"""`rules`: rule sets and score sheets; every option of one, or its page for referees."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import msgspec

from engine import rulesets
from engine.options import OptionSpec
from engine.pages.rulepage import rule_page
from engine.pages.sheetpage import sheet_page
from engine.reasons import LANGUAGES
from station.cli.declared import declared_lines, declared_object
from station.cli.failures import plain_failures
from station.cli.output import OK, emit, say
from station.errors import ConfigError

ASKED = {"must": "; must be chosen before a table opens", "should": "; to be fixed before the event", "": ""}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("id", nargs="?", metavar="ID", help="one rule set, with its options")
    parser.add_argument("--page", action="store_true", help="print its page for referees (Markdown)")
    parser.add_argument("--lang", choices=LANGUAGES, default="en", help="language of the page")
    parser.add_argument("--vectors", metavar="FILE", help="JSON file of worked examples for the page")


def run(arguments: argparse.Namespace) -> int:
    """Print."""
    if arguments.id is None and (arguments.page or arguments.vectors):
        raise ConfigError("A page is that of one rule set.", fix="Name it: quezhuo rules zhenjiang --page.")
    with plain_failures():
        if arguments.id is None:
            return _list(as_json=arguments.json)
        if arguments.page or arguments.vectors:
            return _page(arguments)
        return _one(arguments.id, as_json=arguments.json)


def _load(name: str) -> rulesets.RuleSet | rulesets.ScoreSheet:
    return rulesets.sheet(name) if name in rulesets.sheet_ids() else rulesets.load(name)


def _list(*, as_json: bool) -> int:
    every = [_load(name) for name in (*rulesets.ids(), *rulesets.sheet_ids())]
    if as_json:
        emit({"rulesets": [_told(rules) for rules in every]})
        return OK
    for rules in every:
        players = _players(rules)
        say(f"{rules.id}  {rules.data.name}  " + (f"{players} players" if players else "score sheet"))
    return OK


def _players(rules: rulesets.RuleSet | rulesets.ScoreSheet) -> int | None:
    """How many play; None for a score sheet."""
    return None if isinstance(rules, rulesets.ScoreSheet) else rules.players


def _told(rules: rulesets.RuleSet | rulesets.ScoreSheet) -> dict[str, Any]:
    """A rule set or sheet as one object: what it is, every option, and what it declares."""
    players = _players(rules)
    return {
        "id": rules.id,
        "name": rules.data.name,
        "kind": "mahjong" if players else "sheet",
        "players": players,
        "hash": rules.hash,
        "options": [_option(spec) for spec in rulesets.option_specs(rules.id).values()],
        **declared_object(rules),
    }


def _page(arguments: argparse.Namespace) -> int:
    examples = _examples(arguments.vectors) if arguments.vectors else []
    make = sheet_page if arguments.id in rulesets.sheet_ids() else rule_page
    text = make(arguments.id, arguments.lang, examples)
    if arguments.json:
        emit({"id": arguments.id, "lang": arguments.lang, "page": text})
    else:
        say(text.rstrip())
    return OK


def _examples(name: str) -> list[dict[str, Any]]:
    try:
        return msgspec.json.decode(Path(name).read_bytes(), type=list[dict[str, Any]])
    except OSError as error:
        raise ConfigError(f"{name} can't be read: {error.strerror}.", fix="Name a vector file.") from None
    except msgspec.MsgspecError as error:
        raise ConfigError(f"{name} is not a list of claims: {error}.", fix="Name a vector file.") from None


def _one(name: str, *, as_json: bool) -> int:
    rules = _load(name)
    specs = rulesets.option_specs(name).values()
    if as_json:
        emit(_told(rules))
        return OK
    say(f"{rules.id}  {rules.data.name}  ({rules.data.document})")
    for line in declared_lines(rules):
        say(line)
    say("options:")
    for spec in specs:
        allowed = f" of {', '.join(map(str, spec.allowed))}" if spec.allowed else ""
        about = f"{spec.type}{allowed}; {spec.source} {spec.section}{ASKED[spec.ask]}"
        say(f"  {spec.name} = {spec.default} ({about})")
        say(f"      {spec.text}")
        for value, effect in spec.effects.items():
            say(f"      {value}: {effect}")
    say("source: SEED = the rules as they were given; PUBLIC = published by others (P1, P2, P3);")
    say("        CHOICE = decided here, because the rules leave it open; § = section of the rules")
    return OK


def _option(spec: OptionSpec) -> dict[str, Any]:
    is_number = spec.type == "int"
    return {
        "name": spec.name,
        "type": spec.type,
        "default": spec.default,
        "allowed": list(spec.allowed) if spec.allowed else None,
        "minimum": spec.minimum if is_number else None,
        "maximum": spec.maximum if is_number else None,
        "source": spec.source,
        "section": spec.section,
        "text": spec.text,
        "zh": spec.zh,
        "ask": spec.ask,
        "effects": dict(spec.effects),
    }

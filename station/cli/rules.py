"""`rules`: rule sets, and every option of one: type, default, allowed values, source, section."""

from __future__ import annotations

import argparse
from typing import Any

from engine import rulesets
from station.cli.failures import plain_failures
from station.cli.output import OK, emit, say


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("id", nargs="?", metavar="ID", help="one rule set, with its options")


def run(arguments: argparse.Namespace) -> int:
    """Print."""
    with plain_failures():
        if arguments.id is None:
            return _list(as_json=arguments.json)
        return _one(arguments.id, as_json=arguments.json)


def _list(*, as_json: bool) -> int:
    loaded = [rulesets.load(name) for name in rulesets.ids()]
    if as_json:
        emit([{"id": r.id, "name": r.data.name, "players": r.players, "hash": r.hash} for r in loaded])
    else:
        for rules in loaded:
            say(f"{rules.id}  {rules.data.name}  {rules.players} players")
    return OK


def _one(name: str, *, as_json: bool) -> int:
    rules = rulesets.load(name)
    specs = rulesets.option_specs(name)
    rows: list[dict[str, Any]] = [
        {
            "name": key,
            "type": spec.type,
            "default": spec.default,
            "allowed": list(spec.allowed) if spec.allowed else None,
            "source": spec.source,
            "section": spec.section,
            "text": spec.text,
        }
        for key, spec in specs.items()
    ]
    if as_json:
        emit({"id": rules.id, "name": rules.data.name, "hash": rules.hash, "options": rows})
        return OK
    say(f"{rules.id}  {rules.data.name}  ({rules.data.document})")
    for row in rows:
        allowed = f" of {', '.join(map(str, row['allowed']))}" if row["allowed"] else ""
        say(f"  {row['name']} = {row['default']} ({row['type']}{allowed}; {row['source']} {row['section']})")
        if row["text"]:
            say(f"      {row['text']}")
    say("source: SEED = the rules as they were given; PUBLIC = published by others (P1, P2, P3);")
    say("        CHOICE = decided here, because the rules leave it open; § = section of the rules")
    return OK

"""`notation`: a claim as one line from JSON, or as JSON from one line."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import msgspec

from engine import rulesets
from engine.notation import NotationError, claim_from_object, claim_to_object, format_claim, parse_claim
from station.cli.failures import plain_failures
from station.cli.output import OK, emit, note, say
from station.errors import ConfigError

DEFAULT = "zhenjiang"
"""The rule set of a text when nobody names one."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("text", metavar="LINE|JSON", help="a claim in either form; - reads stdin")
    parser.add_argument(
        "--ruleset",
        metavar="ID",
        help=f"rule set (default: {DEFAULT}, or the only one whose notation the text is)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Convert and print the other form."""
    text = (sys.stdin.read() if arguments.text == "-" else arguments.text).strip()
    if arguments.ruleset in rulesets.sheet_ids():
        raise ConfigError(
            f"{arguments.ruleset} is a score sheet; it has no one-line notation.",
            fix="Give a file of deals to quezhuo check with --vectors.",
            code="notation",
        )
    with plain_failures():
        other_form = _converted_or_refused(text, arguments.ruleset)
    if isinstance(other_form, str) and not arguments.json:
        say(other_form)
    else:
        emit({"line": other_form} if isinstance(other_form, str) else other_form)
    return OK


def _converted(text: str, ruleset: str) -> str | dict[str, Any]:
    """The line of an object, or the object of a line."""
    if text.startswith("{"):
        return format_claim(claim_from_object(_object(text), ruleset), ruleset)
    return claim_to_object(parse_claim(text, ruleset), ruleset)


def _converted_or_refused(text: str, ruleset: str | None) -> str | dict[str, Any]:
    """The other form by the rule set named, else by the default, else by the only one that can read it."""
    try:
        return _converted(text, ruleset or DEFAULT)
    except NotationError as error:
        others = [] if ruleset else _readers(text)
        if len(others) == 1:
            note(f"Read as a claim of {others[0]}.")
            return _converted(text, others[0])
        fix = "See docs/notation.md."
        if others:
            fix = f"It reads as a claim of {' or '.join(others)}: add --ruleset {others[0]}."
        elif ruleset is None:
            fix = "See docs/notation.md; name the rule set with --ruleset."
        raise ConfigError(f"{text!r}: {error}.", fix=fix, code="notation") from None


def _readers(text: str) -> list[str]:
    """The rule sets that can read the text."""
    found = []
    for ruleset in rulesets.ids():
        try:
            _converted(text, ruleset)
        except NotationError:
            continue
        found.append(ruleset)
    return found


def _object(text: str) -> dict[str, object]:
    try:
        value: dict[str, object] = msgspec.json.decode(text, type=dict)
    except msgspec.DecodeError as error:
        raise ConfigError(f"This is not JSON: {error}.", fix="See docs/notation.md.") from None
    return value

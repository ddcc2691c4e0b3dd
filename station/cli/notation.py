"""`notation`: a claim as one line from JSON, or as JSON from one line."""

from __future__ import annotations

import argparse
import sys

import msgspec

from engine.notation import NotationError, claim_from_object, claim_to_object, format_claim, parse_claim
from station.cli.failures import plain_failures
from station.cli.output import OK, emit, say
from station.errors import ConfigError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("text", metavar="LINE|JSON", help="a claim in either form; - reads stdin")
    parser.add_argument("--ruleset", default="zhenjiang", metavar="ID", help="rule set (default: zhenjiang)")


def run(arguments: argparse.Namespace) -> int:
    """Convert and print the other form."""
    text = sys.stdin.read() if arguments.text == "-" else arguments.text
    with plain_failures():
        try:
            _convert(text, arguments)
        except NotationError as error:
            message = f"{text.strip()!r}: {error}."
            raise ConfigError(message, fix="See docs/notation.md.", code="notation") from None
    return OK


def _convert(text: str, arguments: argparse.Namespace) -> None:
    if not text.lstrip().startswith("{"):
        emit(claim_to_object(parse_claim(text.strip(), arguments.ruleset), arguments.ruleset))
        return
    line = format_claim(claim_from_object(_object(text), arguments.ruleset), arguments.ruleset)
    if arguments.json:
        emit({"line": line})
    else:
        say(line)


def _object(text: str) -> dict[str, object]:
    try:
        value: dict[str, object] = msgspec.json.decode(text, type=dict)
    except msgspec.DecodeError as error:
        raise ConfigError(f"This is not JSON: {error}.", fix="See docs/notation.md.") from None
    return value

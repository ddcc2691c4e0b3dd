"""`check`: verdict and settlement of claims in one line each, or of a whole vector file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import msgspec

from engine import rulesets
from engine.answertext import answer_lines, sheet_answer_lines
from engine.errors import MissingExtraError
from engine.notation import NotationError, parse_claim
from engine.reasons import LANGUAGES
from engine.vectors import WITHOUT_RULES, answer_claim, check_vector
from engine.verdict import Outcome
from station.cli.failures import plain_failures
from station.cli.output import NO, OK, emit, say
from station.errors import ConfigError

SETTLED = (Outcome.WIN, Outcome.DRAW)
"""Outcomes that are settled; the answer is yes."""

TOLD = (
    *("outcome", "reason", "cls", "pay", "lei", "fan"),
    *("P", "side", "levels", "thrower", "wall", "stack", "A", "C", "cum"),
)
"""Keys of an answer that the one line of a vector tells."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("lines", nargs="*", metavar="LINE", help="a claim in one-line notation")
    parser.add_argument(
        "--ruleset",
        required=True,
        metavar="ID",
        help="rule set, e.g. zhenjiang; with --vectors also walls or swiss",
    )
    parser.add_argument(
        "--vectors", metavar="FILE", help="JSON file of claims with what must come out; - = stdin"
    )
    parser.add_argument("--lang", choices=LANGUAGES, default="en", help="language of the answer in words")


def run(arguments: argparse.Namespace) -> int:
    """Check and print; status 0 when everything wins, draws or agrees, 1 when not, 2 on bad input."""
    if bool(arguments.lines) == bool(arguments.vectors):
        raise ConfigError("Give claims, or --vectors FILE.", fix="See `quezhuo check --help`.", code="usage")
    with plain_failures():
        if not (arguments.vectors and arguments.ruleset in WITHOUT_RULES):
            rulesets.option_specs(arguments.ruleset)
        if arguments.vectors:
            return _vectors(arguments)
        if arguments.ruleset in rulesets.sheet_ids():
            fix = "Give a file of deals with --vectors."
            raise ConfigError("A score sheet has no one-line notation.", fix=fix, code="usage")
        return max(_line(line, arguments) for line in arguments.lines)


def _line(line: str, arguments: argparse.Namespace) -> int:
    rules = rulesets.load(arguments.ruleset)
    try:
        claim = parse_claim(line, arguments.ruleset)
    except NotationError as error:
        fix = f"`quezhuo rules {arguments.ruleset} --page` tells how a line is written."
        raise ConfigError(f"{line!r}: {error}.", fix=fix, code="notation") from None
    if arguments.json:
        result = answer_claim(claim, rules)
        emit({"line": line, **result})
        return OK if result["outcome"] in SETTLED else NO
    verdict = rules.check(claim)
    settled = verdict.outcome in SETTLED
    settlement = rules.settle(verdict, claim) if settled else None
    if len(arguments.lines) > 1:
        say(f"> {line}")
    for text in answer_lines(claim, rules, verdict, settlement, arguments.lang):
        say(text)
    return OK if settled else NO


def _vectors(arguments: argparse.Namespace) -> int:
    vectors = _load(arguments.vectors)
    wrong = 0
    for vector in vectors:
        try:
            result = check_vector(vector, arguments.ruleset)
        except MissingExtraError:
            raise
        except ValueError as error:
            name = vector.get("id", "?")
            raise ConfigError(f"{name}: {error}", fix="Correct the vector file.", code="vectors") from None
        wrong += result["ok"] is False
        if arguments.json:
            emit(result)
        else:
            _tell(vector, result, arguments)
    compared = sum(bool(vector.get("expect")) for vector in vectors)
    if compared and not arguments.json:
        say(f"{compared} compared, {wrong} wrong")
    return NO if wrong else OK


def _tell(vector: dict[str, Any], result: dict[str, Any], arguments: argparse.Namespace) -> None:
    """One line for a vector that was compared; a deal that is only asked about is answered at length."""
    name = f"{vector['id']}: " if vector.get("id") else ""
    if expect := vector.get("expect"):
        say(f"{name}{'ok' if result['ok'] else 'WRONG'}: {_sentence(result, expect)}")
    elif "levels" in result:
        first, *items = sheet_answer_lines(result, arguments.lang)
        say(name + first)
        for item in items:
            say(item)
    else:
        say(name + _sentence(result, {}))


def _load(name: str) -> list[Any]:
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        vectors = msgspec.json.decode(raw)
    except OSError as error:
        raise ConfigError(f"{name} can't be read: {error.strerror}.", fix="Name a vector file.") from None
    except msgspec.DecodeError as error:
        raise ConfigError(f"{name} is not JSON: {error}.", fix="Name a vector file.") from None
    if not isinstance(vectors, list) or not all(isinstance(v, dict) for v in vectors):
        raise ConfigError(f"{name} is not a list of claims.", fix="See docs/notation.md.")
    return vectors


def _sentence(result: dict[str, Any], expect: dict[str, Any]) -> str:
    """What came out in a few words; where something else was expected, that too."""
    wrong = [key for key in expect if result.get(key) != expect[key]]
    if wrong:
        return ", ".join(f"{key} {result.get(key)} instead of {expect[key]}" for key in wrong)
    return ", ".join(f"{key} {result[key]}" for key in TOLD if result.get(key) is not None)

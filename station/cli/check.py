"""`check`: verdict and settlement of claims in one line each, or of a whole vector file."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import msgspec

from engine import rulesets
from engine.answers.text import answer_lines, notes_of, sheet_answer_lines
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


EXAMPLES = {
    "zhenjiang": "234m567m22z34s P:888m +5s flip=8p how=discard seat=2 from=1 da=shou:1",
    "xiamen": "123p456p789p345s66z78s +9s flip=7m how=ping seat=1 from=3 flowers=15f",
    "fengcheng": "111m234m567p99p78p P:666z +6p how=self seat=2 p0=K:3333p p1.yaoji=single",
    "mcr": "11m33m55p77p22s99s1z +1z how=discard seat=2 from=0 wind=2 prevailing=0",
    "riichi": "234m678m345p56s88s +7s how=discard seat=1 from=2 riichi dora=1m",
}
"""A line of each rule set, for --help."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "lines", nargs="*", metavar="LINE", help="a claim in one-line notation, the whole line in quotes"
    )
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
    examples = [f"example: quezhuo check --ruleset {ruleset} '{line}'" for ruleset, line in EXAMPLES.items()]
    parser.epilog = "\n".join(
        (
            f"rule sets: {', '.join(rulesets.ids())}",
            f"score sheets, with --vectors only: {', '.join(rulesets.sheet_ids())}",
            "how a line is written, with worked examples: quezhuo rules ID --page [--lang zh]",
            *examples,
        )
    )


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
        _refuse_torn_line(arguments)
        return max(_line(line, arguments) for line in arguments.lines)


def _refuse_torn_line(arguments: argparse.Namespace) -> None:
    """One line without quotes comes as many, of which only one says how= (or none)."""
    lines = arguments.lines
    if len(lines) > 1 and sum("how=" in line for line in lines) <= 1:
        fix = f"Put the whole line in quotes: '{' '.join(lines)}'."
        raise ConfigError(f"{lines[0]!r} alone is no claim.", fix=fix, code="notation")


def _line(line: str, arguments: argparse.Namespace) -> int:
    rules = rulesets.load(arguments.ruleset)
    try:
        claim = parse_claim(line, arguments.ruleset)
    except NotationError as error:
        fix = f"`quezhuo rules {arguments.ruleset} --page` tells how a line is written."
        message = f"{_word_at(line, error.position)}{error}, in {line!r}."
        raise ConfigError(message, fix=fix, code="notation") from None
    verdict = rules.check(claim)
    settled = verdict.outcome in SETTLED
    settlement = rules.settle(verdict, claim) if settled else None
    if arguments.json:
        notes = notes_of(claim, rules, verdict, settlement, arguments.lang)
        emit({"line": line, **answer_claim(claim, rules), "notes": notes})
        return OK if settled else NO
    if len(arguments.lines) > 1:
        say(f"> {line}")
    for text in answer_lines(claim, rules, verdict, settlement, arguments.lang):
        say(text)
    return OK if settled else NO


def _word_at(line: str, position: int) -> str:
    """The word at a position, quoted, with a colon; "" behind the end."""
    found = next((word for word in re.finditer(r"\S+", line) if word.start() <= position <= word.end()), None)
    return f"{found.group()!r}: " if found is not None and position < len(line) else ""


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

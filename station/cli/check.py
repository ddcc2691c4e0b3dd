"""`check`: verdict and settlement of claims in one line each, or of a whole vector file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import msgspec

from engine import rulesets
from engine.errors import MissingExtraError
from engine.notation import NotationError
from engine.vectors import check_line, check_vector
from station.cli.failures import plain_failures
from station.cli.output import NO, OK, emit, say
from station.errors import ConfigError
from station.web.sentences import REASONS


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("lines", nargs="*", metavar="LINE", help="a claim in one-line notation")
    parser.add_argument("--ruleset", required=True, metavar="ID", help="rule set, e.g. zhenjiang")
    parser.add_argument(
        "--vectors", metavar="FILE", help="JSON file of claims with what must come out; - = stdin"
    )


def run(arguments: argparse.Namespace) -> int:
    """Check and print; status 0 when everything wins, draws or agrees, 1 when not, 2 on bad input."""
    if bool(arguments.lines) == bool(arguments.vectors):
        raise ConfigError("Give claims, or --vectors FILE.", fix="See `quezhuo check --help`.", code="usage")
    with plain_failures():
        rulesets.load(arguments.ruleset)
        if arguments.vectors:
            return _vectors(arguments)
        statuses = [_line(line, arguments) for line in arguments.lines]
    return max(statuses)


def _line(line: str, arguments: argparse.Namespace) -> int:
    try:
        result = check_line(line, arguments.ruleset)
    except NotationError as error:
        raise ConfigError(f"{line!r}: {error}.", fix="See docs/notation.md.", code="notation") from None
    if arguments.json:
        emit({"line": line, **result})
    else:
        say(_sentence(result))
    return OK if result["outcome"] in ("win", "draw") else NO


def _vectors(arguments: argparse.Namespace) -> int:
    vectors = _load(arguments.vectors)
    wrong = 0
    for vector in vectors:
        try:
            result = check_vector(vector, arguments.ruleset)
        except MissingExtraError:
            raise
        except ValueError as error:
            name = vector.get("id", "?") if isinstance(vector, dict) else "?"
            raise ConfigError(f"{name}: {error}", fix="Correct the vector file.", code="vectors") from None
        wrong += result["ok"] is False
        if arguments.json:
            emit(result)
        else:
            mark = {True: "ok", False: "WRONG", None: "-"}[result["ok"]]
            say(f"{result['id']}: {mark}: {_sentence(result)}")
    if not arguments.json:
        say(f"{len(vectors)} claims, {wrong} wrong")
    return NO if wrong else OK


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


def _sentence(result: dict[str, Any]) -> str:
    if result["outcome"] == "win":
        return f"win, {result['cls']}, pay {result['pay']}"
    reason = result.get("reason")
    if not reason:
        return str(result["outcome"])
    return f"{result['outcome']}: {reason} ({REASONS.get(reason, 'see docs/notation.md')})"

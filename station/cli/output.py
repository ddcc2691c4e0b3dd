"""What a command prints: text for people, or JSON alone on stdout with `--json`."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from station.plain import lines

OK, NO, BAD_INPUT, REFUSED = 0, 1, 2, 3
"""Exit statuses: done/yes, the answer is no, bad usage or input, the environment refuses."""


def emit(value: Any) -> None:
    """Print one JSON value as one line on stdout, at once."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()


def say(text: str = "") -> None:
    """Print one line for a person on stdout, or several."""
    sys.stdout.write(lines(text) + "\n")
    sys.stdout.flush()


def counted(number: int, one: str, many: str = "") -> str:
    """Write a number with its noun, for a person.

    >>> counted(1, "tile"), counted(3, "tile"), counted(0, "entry", "entries")
    ('1 tile', '3 tiles', '0 entries')
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def note(text: str) -> None:
    """Print one line on stderr: progress and remarks, never results."""
    sys.stderr.write(lines(text) + "\n")
    sys.stderr.flush()


def report_error(code: str, message: str, fix: str, *, as_json: bool) -> None:
    """Report an error: one plain line on stderr, or an object on stdout."""
    if as_json:
        emit({"error": {"code": code, "message": message, "fix": fix}})
    else:
        note(f"quezhuo: {message} {fix}".strip())

"""Facts as JSON values and as words of a line; use it from `engine.notation`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from engine.facts import Counters, FactSpec, FactValue
from engine.jsonvalues import want_count, want_object, want_text, want_tiles, want_truth
from engine.text import linehints
from engine.text.tiletext import (
    AmbiguousNotation,
    IllegalNotation,
    InvalidNotation,
    NotationError,
    format_tiles,
    parse_tiles,
)

T = TypeVar("T")
_NUMBER = re.compile(r"-?[0-9]{1,9}")


def at(offset: int, read: Callable[[str], T], text: str) -> T:
    """Read a part of a longer text; an error keeps its place in the longer one."""
    try:
        return read(text)
    except NotationError as error:
        raise error.moved(offset) from None


# words of a line


def read_count(text: str) -> int:
    """Read a whole number from 0.

    Raises:
        InvalidNotation, IllegalNotation: no number, or below 0.
    """
    if not _NUMBER.fullmatch(text):
        raise InvalidNotation(f"{text!r} is not a whole number", 0)
    if int(text) < 0:
        raise IllegalNotation(f"{text} is below 0", 0)
    return int(text)


def read_truth(text: str) -> bool:
    """Read true or false.

    Raises:
        InvalidNotation: neither.
    """
    if text not in ("true", "false"):
        raise InvalidNotation(f"true or false is wanted, not {text!r}", 0)
    return text == "true"


def pieces(text: str) -> Iterator[tuple[int, str, str]]:
    """Split `a:1,b:2` into (position, name, value)."""
    start = 0
    for piece in text.split(","):
        name, _, value = piece.partition(":")
        yield start, name, value
        start += len(piece) + 1


def read_counts(text: str) -> tuple[int, ...]:
    """Read numbers separated by commas."""
    return tuple(at(start, read_count, name) for start, name in _commas(text))


def _commas(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for piece in text.split(","):
        yield start, piece
        start += len(piece) + 1


def fact_from_word(spec: FactSpec, text: str) -> FactValue:
    """Read the value of a fact from a line.

    Raises:
        InvalidNotation, IllegalNotation, AmbiguousNotation: with the position in the text.
    """
    if spec.type == "bool":
        return read_truth(text)
    if spec.type == "choice":
        return _allowed(spec, text)
    if spec.type == "counters":
        return _counters(spec, text)
    try:
        value = read_count(text) if spec.type == "int" else parse_tiles(text)
    except NotationError as error:
        hint = linehints.of_number(spec) if spec.type == "int" else f"; write {linehints.written(spec)}"
        raise error.with_hint(hint) from None
    return within(spec, value) if isinstance(value, int) else value


def _counters(spec: FactSpec, text: str) -> Counters:
    counters: dict[str, int] = {}
    for start, name, value in pieces(text):
        if name not in spec.names:
            hint = linehints.of_counters(spec)
            raise IllegalNotation(f"{spec.word} has no counter {name!r}{hint}", start)
        if name in counters:
            raise AmbiguousNotation(f"the counter {name} is given twice", start)
        if not value:
            raise InvalidNotation(f"{name} needs a number; write {spec.word}={name}:1", start)
        counters[name] = at(start + len(name) + 1, lambda number: within(spec, read_count(number)), value)
    return Counters({name: counters[name] for name in spec.names if name in counters})


def fact_to_word(value: FactValue) -> str:
    """Write the value of a fact; inverse of `fact_from_word`."""
    if isinstance(value, Counters):
        return ",".join(f"{name}:{number}" for name, number in value.items())
    if isinstance(value, tuple):
        return format_tiles(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def within(spec: FactSpec, number: int) -> int:
    """Return the number if the fact can have it.

    Raises:
        IllegalNotation: it is too small or too great.
    """
    if not spec.minimum <= number <= spec.maximum:
        raise IllegalNotation(f"{spec.word} goes from {spec.minimum} to {spec.maximum}, not {number}", 0)
    return number


def _allowed(spec: FactSpec, text: str) -> str:
    if text not in spec.allowed:
        raise IllegalNotation(f"{spec.word} cannot be {text!r}; use {', '.join(spec.allowed)}", 0)
    return text


# JSON values


def fact_from_json(spec: FactSpec, value: object) -> FactValue:
    """Read the value of a fact from a JSON value.

    Raises:
        InvalidNotation, IllegalNotation: what is wrong with it.
    """
    if spec.type == "bool":
        return want_truth(value)
    if spec.type == "int":
        return within(spec, want_count(value))
    if spec.type == "choice":
        return _allowed(spec, want_text(value))
    if spec.type == "tiles":
        return want_tiles(value)
    counters = want_object(value)
    for name in counters:
        if name not in spec.names:
            raise IllegalNotation(f"there is no counter {name!r}; use {', '.join(spec.names)}", 0)
    return Counters(
        {name: within(spec, want_count(counters[name])) for name in spec.names if name in counters}
    )


def fact_to_json(value: FactValue) -> Any:
    """Write the value of a fact as a JSON value."""
    if isinstance(value, Counters):
        return dict(value)
    return format_tiles(value) if isinstance(value, tuple) else value

"""Hints for a line that cannot be read: what was probably meant, and how it is written.

Every function returns words to put behind an error message, starting with "; ", or "".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Final

from engine.claim import DRAW
from engine.facts import FactSpec
from engine.ruledata import RuleData

SEATS: Final = "; a seat is a number: 0 the dealer, 1 to his right, and so on counter-clockwise"

INDICATOR_WORDS: Final = ("gold", "indicator", "wild")
"""What people call the tile that was turned up; its word is `flip`."""


def either(words: Sequence[str]) -> str:
    """Words as a choice: "P, K or A"."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else ""


def ways_to_win(data: RuleData) -> str:
    """Every `how` with its meaning in a few words."""
    told = [f"{how.name} ({re.split('[;.]', how.text)[0]})" for how in data.hows.values()]
    return ", ".join((*told, f"{DRAW} (the wall is exhausted)"))


def written(spec: FactSpec, prefix: str = "") -> str:
    """How a fact is written, with the first value it can have."""
    word = f"{prefix}{spec.word}"
    if spec.type == "counters":
        return f"{word}={spec.names[0]}:1"
    if spec.type == "choice":
        return f"{word}={spec.allowed[0]}"
    if spec.type == "tiles":
        return f"{word}={'15f' if spec.role == 'flowers' else '5m'}"
    inside = f"{prefix}{spec.inside}={spec.word}:1" if spec.inside else f"{word}=1"
    return word if spec.type == "bool" else inside


def of_key(data: RuleData, key: str, keys: Iterable[str]) -> str:
    """What an unknown key may have been; `keys` are the line's own besides facts and options."""
    keys = (*keys, "how")
    if key in INDICATOR_WORDS and "flip" in keys:
        return "; the tile that was turned up is written flip=5m"
    meant = [*_forms(data, key)]
    known = [*keys, *(spec.word for spec in data.facts.values()), *data.options]
    meant += [f"{name}=" for name in get_close_matches(key, known, n=1)]
    return f"; did you mean {meant[0]}?" if meant else ""


def of_bare_word(data: RuleData, word: str) -> str:
    """What a word that is no row of tiles may have been."""
    meant = [*_forms(data, word)]
    flags = [name for name, spec in data.options.items() if spec.type == "bool"]
    flags += [spec.word for spec in data.facts.values() if spec.type == "bool"]
    meant += get_close_matches(word, flags, n=1)
    return f"; did you mean {meant[0]}?" if meant else ""


def _forms(data: RuleData, name: str) -> Iterator[str]:
    """Where a name stands inside something else: a counter, a value of an option, what a player has."""
    for spec in data.facts.values():
        if name in spec.names:
            yield f"{spec.word}={name}:1"
        elif name in spec.allowed:
            yield f"{spec.word}={name}"
        elif name == spec.key:
            yield written(spec)
    for option in data.options.values():
        if name in option.allowed:
            yield f"{option.name}={name}"
    for spec in data.seat_facts.values():
        if name in (spec.word, spec.inside):
            yield written(spec, "p0.")


def of_second_row(word: str) -> str:
    """What to do with a second row of tiles."""
    return (
        f"join {word!r} to the other concealed tiles without a space; a meld is written P:{word},"
        f" the winning tile +{word[-2:]}"
    )


def of_number(spec: FactSpec) -> str:
    """What a number of this fact means."""
    return f"; {spec.word} is a number {spec.minimum} to {spec.maximum}: {spec.text}"


def of_counters(spec: FactSpec) -> str:
    """How the counters of a fact are written."""
    return f"; write {either([f'{spec.word}={name}:1' for name in spec.names])}: {spec.text}"


def of_spread(seat: int, inside: str, name: str, known: Sequence[FactSpec]) -> str:
    """How numbers of one player are written, when `name` is none of them."""
    close = get_close_matches(name, [spec.word for spec in known], n=1)
    if close:
        return f"; did you mean {close[0]}?"
    parts = [f"{spec.word}:1" if spec.type == "int" else spec.word for spec in known[:2]]
    return f"; numbers, no tiles: p{seat}.{inside}={','.join(parts)}"

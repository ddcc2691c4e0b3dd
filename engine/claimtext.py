"""A whole claim as one line of text or as a JSON object; use it from `engine.notation`.

The two forms hold the same data (rules README, "Keys of a claim" and "One line of text").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from engine import rulesets
from engine.claim import Claim, DiscardedWilds, How, Options, OptionValue, Seat
from engine.errors import EngineError
from engine.hand import Hand
from engine.melds import Meld
from engine.tiles import Tile
from engine.tiletext import (
    AmbiguousNotation,
    IllegalNotation,
    InvalidNotation,
    NotationError,
    format_meld,
    format_tiles,
    parse_meld,
    parse_tiles,
)

_WORD = re.compile(r"\S+")
_NUMBER = re.compile(r"-?[0-9]{1,9}")
DA_COUNTERS = ("shou", "er", "peng")
"""The counters of `da`, in the order they are written."""
T = TypeVar("T")


@dataclass
class _Draft:
    """What has been read of a claim so far; `facts` are keyword arguments of `Claim`."""

    facts: dict[str, Any] = field(default_factory=dict)
    options: dict[str, OptionValue] = field(default_factory=dict)
    melds: list[Meld] = field(default_factory=list)

    def put(self, name: str, value: object, what: str) -> None:
        """Keep a fact, once."""
        if name in self.facts:
            raise AmbiguousNotation(f"{what} is given twice; keep one", 0)
        self.facts[name] = value

    def claim(self) -> Claim:
        return Claim(**self.facts, melds=tuple(self.melds), options=Options(self.options))


def _one_tile(text: str) -> Tile:
    tiles = parse_tiles(text)
    if len(tiles) != 1:
        raise InvalidNotation(f"one tile is wanted here, not {text!r}", 0)
    return tiles[0]


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise InvalidNotation(f"{text!r} is not a whole number", 0)
    return int(text)


def _count(text: str) -> int:
    number = _number(text)
    if number < 0:
        raise IllegalNotation(f"{text} is below 0", 0)
    return number


def _how(text: str) -> How:
    try:
        return How(text)
    except ValueError:
        raise IllegalNotation(f"there is no how={text}; use one of {', '.join(How)}", 0) from None


def _da(text: str) -> DiscardedWilds:
    counters: dict[str, int] = {}
    for at, name, value in _pieces(text):
        if name not in DA_COUNTERS:
            raise IllegalNotation(f"da has no counter {name!r}; use {', '.join(DA_COUNTERS)}", at)
        if name in counters:
            raise AmbiguousNotation(f"the counter {name} is given twice", at)
        counters[name] = _at(at + len(name) + 1, _count, value)
    return DiscardedWilds(**counters)


def _pieces(text: str) -> Iterator[tuple[int, str, str]]:
    at = 0
    for piece in text.split(","):
        name, _, value = piece.partition(":")
        yield at, name, value
        at += len(piece) + 1


def _chips(text: str) -> tuple[int, ...]:
    chips = []
    at = 0
    for piece in text.split(","):
        chips.append(_at(at, _count, piece))
        at += len(piece) + 1
    return tuple(chips)


def _truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise InvalidNotation(f"true or false is wanted, not {text!r}", 0)
    return text == "true"


def _at(offset: int, read: Callable[[str], T], text: str) -> T:
    """Read a part of a longer text; an error keeps its place in the longer one."""
    try:
        return read(text)
    except NotationError as error:
        raise error.moved(offset) from None


_KEYS: dict[str, tuple[str, Callable[[str], object]]] = {
    "flip": ("indicator", _one_tile),
    "how": ("how", _how),
    "seat": ("winner", lambda text: Seat(_count(text))),
    "from": ("discarder", lambda text: Seat(_count(text))),
    "da": ("da", _da),
    "chips": ("chips", _chips),
    "xianggong": ("xianggong", _truth),
}
"""The keys of a line: the field of `Claim` and how its value is read."""

_FLAGS = ("xianggong",)
"""Keys which may stand without a value; they then mean true."""


def parse_claim(line: str, ruleset_id: str) -> Claim:
    """Read a claim in one line; the rule set says which options exist.

    >>> parse_claim("11z +1z flip=5s how=self seat=0 payment=bao", "zhenjiang").options["payment"]
    'bao'

    Raises:
        InvalidNotation, IllegalNotation, AmbiguousNotation: with the position in the line.
        UnknownRuleSetError: there is no such rule set.
    """
    specs = rulesets.option_specs(ruleset_id)
    draft = _Draft()
    for word in _WORD.finditer(line):
        _at(word.start(), lambda text: _read_word(text, draft, specs), word.group())
    if "how" not in draft.facts:
        raise InvalidNotation("how= is missing; add how=self, how=discard …", len(line))
    return draft.claim()


def _read_word(word: str, draft: _Draft, specs: Mapping[str, rulesets.OptionSpec]) -> None:
    key, equals, value = word.partition("=")
    if equals:
        _read_pair(key, value, draft, specs)
    elif word in _FLAGS or (word in specs and specs[word].type == "bool"):
        _read_pair(word, "true", draft, specs)
    elif word in specs or word in _KEYS:
        raise InvalidNotation(f"{word} needs a value; write {word}=…", 0)
    elif word.startswith("+"):
        draft.put("win", _at(1, _one_tile, word[1:]), "the winning tile")
    elif ":" in word:
        draft.melds.append(parse_meld(word))
    else:
        tiles = parse_tiles(word)
        draft.put("concealed", tiles, "the row of concealed tiles (write it without spaces)")
        draft.facts["spelling"] = word


def _read_pair(key: str, value: str, draft: _Draft, specs: Mapping[str, rulesets.OptionSpec]) -> None:
    if key in _KEYS:
        name, read = _KEYS[key]
        draft.put(name, _at(len(key) + 1, read, value), key)
    elif key not in specs:
        raise IllegalNotation(f"there is no key {key!r} here", 0)
    elif key in draft.options:
        raise AmbiguousNotation(f"{key} is given twice; keep one", 0)
    else:
        try:
            draft.options[key] = specs[key].parse(value)
        except EngineError as error:
            raise IllegalNotation(str(error).rstrip("."), len(key) + 1) from None


def format_claim(claim: Claim) -> str:
    """Write a claim as one line; inverse of `parse_claim`.

    >>> format_claim(parse_claim("1m1m  flip=5s +1m seat=0 how=self", "zhenjiang"))
    '1m1m +1m flip=5s how=self seat=0'
    """
    return " ".join((*_tile_words(claim), *_fact_words(claim)))


def concealed_text(claim: Claim) -> str:
    """The concealed tiles as they were written, else in the plain form."""
    if claim.spelling is not None:
        try:
            if parse_tiles(claim.spelling) == claim.concealed:
                return claim.spelling
        except NotationError:
            pass
    return format_tiles(claim.concealed)


def _tile_words(claim: Claim) -> Iterator[str]:
    if claim.concealed:
        yield concealed_text(claim)
    yield from map(format_meld, claim.melds)
    if claim.win is not None:
        yield f"+{claim.win.id}"


def _fact_words(claim: Claim) -> Iterator[str]:
    if claim.indicator is not None:
        yield f"flip={claim.indicator.id}"
    yield f"how={claim.how.value}"
    if claim.winner is not None:
        yield f"seat={claim.winner}"
    if claim.discarder is not None:
        yield f"from={claim.discarder}"
    if claim.da.total:
        yield "da=" + ",".join(
            f"{name}:{getattr(claim.da, name)}" for name in DA_COUNTERS if getattr(claim.da, name)
        )
    if claim.chips is not None:
        yield "chips=" + ",".join(map(str, claim.chips))
    if claim.xianggong:
        yield "xianggong"
    for name, value in claim.options.items():
        yield f"{name}={str(value).lower() if isinstance(value, bool) else value}"


def parse_hand(text: str) -> Hand:
    """Read a hand: concealed tiles, melds and `+` winning tile, without facts.

    >>> parse_hand("11z P:555m +1z").win
    Tile.EAST

    Raises:
        InvalidNotation, IllegalNotation, AmbiguousNotation: with the position in the text.
    """
    draft = _Draft()
    for word in _WORD.finditer(text):
        _at(word.start(), lambda part: _read_word(part, draft, {}), word.group())
    facts = draft.facts
    if extra := facts.keys() - {"concealed", "win", "spelling"}:
        raise IllegalNotation(f"a hand has no {min(extra)}", 0)
    return Hand(facts.get("concealed", ()), tuple(draft.melds), facts.get("win"))

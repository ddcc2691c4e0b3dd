"""A whole claim as one line of text; use it from `engine.notation`.

What may stand in a line is the rule set's: its ways to win, its facts, its options (`engine.ruledata`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from engine import rulesets
from engine.claim import DRAW, Claim, Facts, Options, OptionValue, Seat
from engine.errors import EngineError
from engine.facts import FactSpec, FactValue
from engine.hand import Hand
from engine.jsonvalues import want_tile
from engine.melds import Meld
from engine.ruledata import RuleData
from engine.text import linehints
from engine.text.factcodec import at, fact_from_word, fact_to_word, read_count, read_counts, read_truth
from engine.text.showntext import ShownDraft, shown_words
from engine.text.tiletext import (
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
_PLACE = re.compile(r"p([0-9]{1,2})(?:\.(\w+))?")


def how_of(data: RuleData, text: str) -> str:
    """Return the way to win (or "draw") if the rule set has it.

    Raises:
        IllegalNotation: it has not; the message lists those there are.
    """
    if text != DRAW and text not in data.hows:
        raise IllegalNotation(f"there is no how={text}; use {linehints.ways_to_win(data)}", 0)
    return text


def _read_seat(text: str) -> Seat:
    try:
        return Seat(read_count(text))
    except NotationError as error:
        raise error.with_hint(linehints.SEATS) from None


_KEYS: dict[str, tuple[str, Callable[[str], object]]] = {
    "flip": ("indicator", want_tile),
    "seat": ("winner", _read_seat),
    "from": ("discarder", _read_seat),
    "chips": ("chips", read_counts),
    "xianggong": ("xianggong", read_truth),
}
"""The keys of a line besides `how` and facts: the field of `Claim` and how its value is read."""

_FLAGS = ("xianggong",)
"""Keys which may stand without a value; they then mean true. Yes/no facts and options may too."""


@dataclass
class _Draft:
    """What has been read of a claim so far; `fields` are keyword arguments of `Claim`."""

    data: RuleData
    fields: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, FactValue] = field(default_factory=dict)
    options: dict[str, OptionValue] = field(default_factory=dict)
    melds: list[Meld] = field(default_factory=list)
    shown: ShownDraft = field(default_factory=ShownDraft)

    def __post_init__(self) -> None:
        self.words = {spec.word: spec for spec in self.data.facts.values()}
        self.keys = {key: entry for key, entry in _KEYS.items() if entry[0] in (*self.data.keys, "winner")}

    def put(self, name: str, value: object, what: str) -> None:
        """Keep a fact, once."""
        if name in self.fields:
            raise AmbiguousNotation(f"{what} is given twice; keep one", 0)
        self.fields[name] = value

    def put_fact(self, spec: FactSpec, value: FactValue) -> None:
        """Keep a fact of the rule set, once."""
        if spec.name in self.facts:
            raise AmbiguousNotation(f"{spec.word} is given twice; keep one", 0)
        self.facts[spec.name] = value

    def claim(self) -> Claim:
        """Build the claim; facts that have their default are left out."""
        facts = {name: value for name, value in self.facts.items() if value != self.data.facts[name].default}
        return Claim(
            **self.fields,
            melds=tuple(self.melds),
            facts=in_order(self.data, facts),
            shown=self.shown.finished(self.data),
            options=Options(self.options),
        )


def in_order(data: RuleData, facts: dict[str, FactValue]) -> Facts:
    """Facts in the order in which the rule set declares them, so that a line has one form."""
    return Facts({name: facts[name] for name in data.facts if name in facts})


def parse_claim(line: str, ruleset_id: str) -> Claim:
    """Read a claim in one line; the rule set says which facts and options exist.

    >>> parse_claim("11z +1z flip=5s how=self seat=0 payment=bao", "zhenjiang").options["payment"]
    'bao'

    Raises:
        InvalidNotation, IllegalNotation, AmbiguousNotation: with the position in the line.
        UnknownRuleSetError: there is no such rule set.
    """
    draft = _Draft(rulesets.data(ruleset_id))
    for word in _WORD.finditer(line):
        at(word.start(), partial(_read_word, draft), word.group())
    if "how" not in draft.fields:
        ways = linehints.either([f"how={how}" for how in (*draft.data.hows, DRAW)])
        raise InvalidNotation(f"how= is missing; add {ways}", len(line))
    claim = draft.claim()
    check_owner_of_melds(claim, draft.data, len(line))
    return claim


def check_owner_of_melds(claim: Claim, data: RuleData, position: int) -> None:
    """Refuse melds that belong to nobody, where every player's melds are told apart.

    Raises:
        InvalidNotation, AmbiguousNotation: the winner is missing, or his melds stand in two places.
    """
    if not data.seat_facts:
        return
    has_winner = claim.winner is not None and claim.winner < data.players
    if claim.melds and not has_winner:
        raise InvalidNotation("melds need their owner; add seat=, or write p0=P:111m", position)
    if has_winner and claim.shown and claim.shown[claim.winner or 0].melds:
        raise AmbiguousNotation(f"the winner's melds stand alone, without p{claim.winner}=", position)


def _read_word(draft: _Draft, word: str) -> None:
    specs = draft.data.options
    key, equals, value = word.partition("=")
    place = _PLACE.fullmatch(key) if draft.data.seat_facts else None
    if place is not None:
        draft.shown.read(draft.data, int(place[1]), place[2], value if equals else None, len(key) + 1)
    elif equals:
        _read_pair(key, value, draft)
    elif word in (*_FLAGS, *draft.words, *specs, *_KEYS):
        _read_bare(word, draft)
    elif word.startswith("+"):
        draft.put("win", at(1, want_tile, word[1:]), "the winning tile")
    elif ":" in word:
        draft.melds.append(parse_meld(word, draft.data.melds))
    else:
        _read_row(draft, word)


def _read_row(draft: _Draft, word: str) -> None:
    """Read the concealed tiles: one row of digits and suits."""
    try:
        tiles = parse_tiles(word)
    except NotationError as error:
        raise error.with_hint(linehints.of_bare_word(draft.data, word)) from None
    if "concealed" in draft.fields:
        hint = linehints.of_second_row(word)
        raise AmbiguousNotation(f"concealed tiles are given twice; {hint}", 0)
    draft.put("concealed", tiles, "the row of concealed tiles")
    draft.fields["spelling"] = word


def _read_bare(word: str, draft: _Draft) -> None:
    named: dict[str, Any] = {**draft.data.options, **draft.words}
    if word not in _FLAGS and not (word in named and named[word].type == "bool"):
        spec = named.get(word)
        values = f", one of {', '.join(map(str, spec.allowed))}" if spec is not None and spec.allowed else ""
        example = linehints.written(spec) if isinstance(spec, FactSpec) else f"{word}=…"
        raise InvalidNotation(f"{word} needs a value; write {example}{values}", 0)
    _read_pair(word, "true", draft)


def _read_pair(key: str, value: str, draft: _Draft) -> None:
    start = len(key) + 1
    specs = draft.data.options
    if key == "how":
        draft.put("how", at(start, partial(how_of, draft.data), value), key)
    elif key in draft.words:
        spec = draft.words[key]
        draft.put_fact(spec, at(start, partial(fact_from_word, spec), value))
    elif key in draft.keys:
        name, read = draft.keys[key]
        draft.put(name, at(start, read, value), key)
    elif key not in specs:
        hint = linehints.of_key(draft.data, key, draft.keys)
        raise IllegalNotation(f"there is no key {key!r} here{hint}", 0)
    elif key in draft.options:
        raise AmbiguousNotation(f"{key} is given twice; keep one", 0)
    else:
        try:
            draft.options[key] = specs[key].parse(value)
        except EngineError as error:
            raise IllegalNotation(str(error).rstrip("."), start) from None


def format_claim(claim: Claim, ruleset_id: str) -> str:
    """Write a claim as one line; inverse of `parse_claim`.

    >>> format_claim(parse_claim("1m1m  flip=5s +1m seat=0 how=self", "zhenjiang"), "zhenjiang")
    '1m1m +1m flip=5s how=self seat=0'

    Raises:
        UnknownRuleSetError: there is no such rule set.
        InvalidNotation, AmbiguousNotation: see `check_owner_of_melds`.
    """
    data = rulesets.data(ruleset_id)
    check_owner_of_melds(claim, data, 0)
    return " ".join((*_tile_words(claim), *_fact_words(claim, data)))


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


def _fact_words(claim: Claim, data: RuleData) -> Iterator[str]:
    if claim.indicator is not None:
        yield f"flip={claim.indicator.id}"
    yield f"how={claim.how}"
    if claim.winner is not None:
        yield f"seat={claim.winner}"
    if claim.discarder is not None:
        yield f"from={claim.discarder}"
    for name, spec in data.facts.items():
        if name in claim.facts:
            yield fact_word(spec.word, claim.facts[name])
    if claim.chips is not None:
        yield "chips=" + ",".join(map(str, claim.chips))
    if claim.xianggong:
        yield "xianggong"
    yield from shown_words(claim, data)
    for name, value in claim.options.items():
        yield f"{name}={str(value).lower() if isinstance(value, bool) else value}"


def fact_word(word: str, value: FactValue) -> str:
    """A fact as a word: a yes/no fact stands bare."""
    return word if value is True else f"{word}={fact_to_word(value)}"


def parse_hand(text: str) -> Hand:
    """Read a hand: concealed tiles, melds and `+` winning tile, without facts.

    >>> parse_hand("11z P:555m +1z").win
    Tile.EAST

    Raises:
        InvalidNotation, IllegalNotation, AmbiguousNotation: with the position in the text.
    """
    hand = Hand(())
    for word in _WORD.finditer(text):
        hand = at(word.start(), partial(_read_hand_word, hand), word.group())
    return hand


def _read_hand_word(hand: Hand, word: str) -> Hand:
    if word.startswith("+"):
        if hand.win is not None:
            raise AmbiguousNotation("the winning tile is given twice; keep one", 0)
        return replace(hand, win=at(1, want_tile, word[1:]))
    if "=" in word:
        raise IllegalNotation(f"a hand has no {word.partition('=')[0]}", 0)
    if ":" in word:
        return replace(hand, melds=(*hand.melds, parse_meld(word)))
    if hand.concealed:
        raise AmbiguousNotation("the row of concealed tiles is given twice; write it without spaces", 0)
    return replace(hand, concealed=parse_tiles(word))

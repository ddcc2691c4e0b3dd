"""Forms for the facts of a claim: one compact widget a fact, named as the request wants it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.facts import FactSpec
from engine.ruledata import HowSpec
from station.web.place_view import PlaceView
from station.web.rule_texts import RuleTexts

FILLED_ROLES: Final = frozenset({"streak", "round", "seat", "flowers"})
"""Facts with these roles the match or the reading fills in; flowers can still be changed tile by tile."""
WIND_ROLES: Final = frozenset({"round", "seat"})
MOST_ON_BUTTONS: Final = 4
"""Counters up to here are a row of buttons."""


@dataclass(frozen=True)
class Field:
    """One widget. ``kind``: ``toggle``, ``row`` (a number or a word on each button), ``steps`` or ``tiles``.

    ``name``: path in the request's body. ``choices``: value and word of each button of a row.
    """

    kind: str
    name: str
    label: str
    value: Any = None
    choices: tuple[tuple[Any, str], ...] = ()
    most: int = 0
    asked: bool = False
    """Somebody has to say this before a confirm."""


def fields_of(
    specs: Mapping[str, FactSpec],
    texts: RuleTexts,
    path: str,
    values: Mapping[str, Any],
    asks: tuple[str, ...] = (),
    *,
    tiles: bool = False,
) -> list[Field]:
    """Return the widgets for facts that people tap; ``path`` stands before their names.

    ``tiles``: also for facts that are tiles, which are picked from all kinds.
    """
    fields: list[Field] = []
    for name, spec in specs.items():
        if spec.role not in FILLED_ROLES:
            fields += _fields(
                spec, texts, f"{path}.{name}", values.get(name), asked=name in asks, tiles=tiles
            )
    return fields


def _fields(
    spec: FactSpec, texts: RuleTexts, name: str, value: Any, *, asked: bool, tiles: bool
) -> list[Field]:
    label = texts.fact(spec.name)
    if spec.type == "bool":
        return [Field("toggle", name, label, bool(value), asked=asked)]
    if spec.type == "counters":
        numbers = tuple((n, str(n)) for n in range(min(spec.maximum, MOST_ON_BUTTONS) + 1))
        counts = value or {}
        return [
            Field("row", f"{name}.{part}", texts.part(spec.name, part), counts.get(part, 0), numbers)
            for part in spec.names
        ]
    if spec.type == "choice":
        words = tuple((part, texts.part(spec.name, part)) for part in spec.allowed)
        return [Field("row", name, label, value or "", (("", "–"), *words), asked=asked)]
    if spec.type == "int":
        return [Field("steps", name, label, int(value or 0), most=spec.maximum, asked=asked)]
    return [Field("tiles", name, label, value or "")] if tiles else []


def fact_words(specs: Mapping[str, FactSpec], texts: RuleTexts, values: Mapping[str, Any]) -> list[str]:
    """Return the facts in force, one short text each."""
    return [
        text
        for name, value in values.items()
        if name in specs and value
        for text in _told(specs[name], texts, value)
    ]


def _told(spec: FactSpec, texts: RuleTexts, value: Any) -> list[str]:
    label = texts.fact(spec.name)
    if spec.type == "counters":
        return [f"{texts.part(spec.name, part)} {n}" for part, n in value.items()]
    if spec.type == "bool":
        return [label]
    if spec.type == "choice":
        return [f"{label}: {texts.part(spec.name, value)}"]
    if spec.role in WIND_ROLES and isinstance(value, int):
        return [f"{label} {texts.words.wind(f'{value + 1}z')}"]
    if spec.type == "tiles":
        return [f"{label} {sum(sign.isdigit() for sign in value)}"]
    return [f"{label} {value}"]


def _from(spec: HowSpec) -> bool:
    """Whether the sheet asks whose tile it is."""
    return spec.claimed or spec.discarder == "required"


@dataclass(frozen=True)
class HowForm:
    """The ways to win as buttons: those with an own tile (or any), those on a tile of one of the others."""

    drawn: tuple[tuple[str, str], ...]
    claimed: tuple[tuple[str, str], ...]
    """Way to win and what stands over the players whose tile it may be."""


def how_form(texts: RuleTexts, place: PlaceView | None) -> HowForm:
    """Return the ways in which a player can win; None: a player of whom nothing is known."""
    hows = [spec for spec in texts.hows.values() if not spec.dealer or (place is not None and place.dealer)]
    return HowForm(
        drawn=tuple((spec.name, texts.how(spec.name)) for spec in hows if not _from(spec)),
        claimed=tuple((spec.name, texts.how_from(spec.name)) for spec in hows if _from(spec)),
    )

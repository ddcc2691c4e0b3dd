"""Facts of a claim: what people tapped, as JSON values, and what the table fills in itself. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from engine.facts import Facts, FactSpec, FactValue
from engine.notation import NotationError
from engine.rulesets import RuleSet
from engine.text.factcodec import fact_from_json, fact_to_json
from engine.tiles import Tile
from station.places import Place
from station.session import ClaimState, TileState
from station.table.asking import Refused
from station.table.handtiles import FLOWER, MELD, SPREAD, groups_of, kinds_in

Specs = Mapping[str, FactSpec]

FROM_TILES = "flowers"
"""Role of the fact that the claimant's flowers are: their tiles, or how many there are."""
FROM_FIVES = "red"
"""Role of the fact that says how many of the claimant's fives are red."""
RED_FIVES = "red_fives"
"""Option of the rule sets in which one five of each suit is red."""
FIVES = ("5m", "5p", "5s")
COPIES = 4
"""Tiles of each kind: with all fives of a suit the red one is among them."""


def checked(specs: Specs, given: Any, code: str = "bad_fact") -> dict[str, Any]:
    """Return facts of a request as the log keeps them: JSON values by name, without those of no account.

    ``null`` takes a fact back; it stays in the result as None. So does a value that is the default, but where
    the tiles say another one: that a five read as red is none has to be kept.

    Raises:
        Refused: a name or a value which is not allowed; the message names the fact.
    """
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise Refused("Facts are an object.", code=code, fix='Write for example {"last": true}.')
    return {name: _checked(specs, name, value, code) for name, value in given.items()}


def _checked(specs: Specs, name: str, value: Any, code: str) -> Any:
    if name not in specs:
        known = ", ".join(specs) or "none"
        raise Refused(f"There is no fact {name!r} here.", code=code, fix=f"Known are: {known}.")
    if value is None:
        return None
    if specs[name].type == "choice" and value == "":
        return None
    try:
        read = fact_from_json(specs[name], value)
    except NotationError as error:
        raise Refused(f"{name}: {error.plain}.", code=code) from None
    unsaid = read == specs[name].default and specs[name].role != FROM_FIVES
    return None if unsaid else fact_to_json(read)


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts with some changed; None takes one back."""
    return {name: value for name, value in {**old, **new}.items() if value is not None}


def decoded(specs: Specs, kept: Mapping[str, Any]) -> Facts:
    """Return the facts of the log as the engine takes them; a log's value was checked when it was booked."""
    return Facts({name: fact_from_json(specs[name], value) for name, value in kept.items() if name in specs})


def facts_of(rules: RuleSet, pending: ClaimState) -> Facts:
    """Return the facts of the claim: what was tapped comes before what the claimant's tiles show."""
    specs = rules.data.facts
    shown = {
        name: value
        for name, spec in specs.items()
        if spec.role == FROM_TILES and (value := _flowers(spec, kinds_in(pending.tiles, FLOWER)))
    }
    if has_red_fives(rules):
        shown |= {name: _red_fives(pending.tiles) for name, spec in specs.items() if spec.role == FROM_FIVES}
    facts = {**shown, **decoded(specs, pending.facts)}
    return Facts({name: value for name, value in facts.items() if value != specs[name].default})


def has_red_fives(rules: RuleSet) -> bool:
    """Tell whether the table plays with red fives."""
    return RED_FIVES in rules.data.options and rules.flag(RED_FIVES)


def _red_fives(tiles: Collection[TileState]) -> int:
    """How many red fives lie there, one of each suit at most; face-down ones of a kong are fives too."""
    copies = Counter(tile.kind for tile in tiles)
    for group, members in groups_of(tiles).items():
        faces = {tile.kind for tile in members} - {Tile.BACK.id}
        if group.startswith(MELD) and len(faces) == 1:
            copies[faces.pop()] += sum(tile.kind == Tile.BACK.id for tile in members)
    red = {tile.kind for tile in tiles if tile.red}
    return sum(five in red or copies[five] == COPIES for five in FIVES)


def _flowers(spec: FactSpec, tiles: tuple[Tile, ...]) -> FactValue:
    return tiles if spec.type == "tiles" else min(len(tiles), spec.maximum)


def seat_facts_of(rules: RuleSet, pending: ClaimState, place: Place) -> Facts:
    """Return the facts of one player: what was tapped comes before what his spread tiles show."""
    said = _said(rules, pending, place)
    return Facts({**rules.facts_of_spread(_spread(pending, place), said), **said})


def unsaid(rules: RuleSet, pending: ClaimState, place: Place) -> tuple[str, ...]:
    """Return the facts of one player which only a person can tell."""
    return rules.unsaid(_spread(pending, place), _said(rules, pending, place))


def _said(rules: RuleSet, pending: ClaimState, place: Place) -> Facts:
    return decoded(rules.data.seat_facts, pending.seat_facts.get(place, {}))


def _spread(pending: ClaimState, place: Place) -> tuple[Tile, ...]:
    laid = pending.everything.get(place)
    return kinds_in(laid.tiles, SPREAD) if laid else ()


def as_json(facts: Facts) -> dict[str, Any]:
    """Return facts as JSON values by name."""
    return {name: fact_to_json(value) for name, value in facts.items()}

"""A claim as a JSON object with the keys of the vector files; use it from `engine.notation`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from engine import rulesets
from engine.claim import DRAW, Claim, Facts, Seat, Shown
from engine.facts import FactValue
from engine.jsonvalues import (
    IGNORED_KEYS,
    named,
    want_count,
    want_object,
    want_options,
    want_text,
    want_tile,
    want_tiles,
    want_truth,
)
from engine.melds import Meld
from engine.ruledata import RuleData
from engine.text.claimtext import check_owner_of_melds, concealed_text, how_of, in_order
from engine.text.factcodec import fact_from_json, fact_to_json
from engine.text.showntext import seat_facts_in_order, shown_or_none
from engine.text.tiletext import (
    IllegalNotation,
    InvalidNotation,
    format_meld,
    parse_meld,
)


def claim_from_object(obj: Mapping[str, Any], ruleset_id: str) -> Claim:
    """Read a claim from a JSON object (rules README, "Keys of a claim"), passing over `id`, `note`, `expect`.

    >>> obj = {"hand": "11z", "win": "1z", "indicator": "5s", "how": "self", "winner": 0}
    >>> claim_from_object(obj, "zhenjiang").win
    Tile.EAST

    Raises:
        InvalidNotation, IllegalNotation: the message names the key; the position is that inside its text.
        UnknownRuleSetError: there is no such rule set.
    """
    data = rulesets.data(ruleset_id)
    readers = _readers(data)
    fields: dict[str, Any] = {}
    facts: dict[str, FactValue] = {}
    for key, value in obj.items():
        if key in IGNORED_KEYS or value is None:
            continue
        if key in readers:
            name, read = readers[key]
            fields[name] = named(key, read, value)
        elif (spec := _spec_of_key(data, key)) is not None:
            facts[spec.name] = named(key, partial(fact_from_json, spec), value)
        else:
            raise IllegalNotation(f"there is no key {key!r} in a claim", 0)
    if "concealed" in fields:
        fields["spelling"] = obj["hand"]
    if fields.pop("draw", False):
        fields["how"] = DRAW
    if "how" not in fields:
        raise InvalidNotation("the key 'how' is missing", 0)
    given = {name: value for name, value in facts.items() if value != data.facts[name].default}
    return _with_melds_of_winner(fields, in_order(data, given))


def _with_melds_of_winner(fields: dict[str, Any], facts: Facts) -> Claim:
    """In `players` the winner's melds stand with those of the others; a claim keeps them apart."""
    players: tuple[Shown, ...] = fields.pop("players", ())
    fields.pop("dealer", None)
    winner = fields.get("winner")
    if players and winner is not None and winner < len(players):
        fields["melds"] = players[winner].melds
        players = tuple(
            Shown((), entry.facts) if seat == winner else entry for seat, entry in enumerate(players)
        )
    return Claim(**fields, facts=facts, shown=shown_or_none(players))


def claim_to_object(claim: Claim, ruleset_id: str) -> dict[str, Any]:
    """Write a claim as a JSON object; inverse of `claim_from_object`. Defaults are left out.

    Raises:
        UnknownRuleSetError: there is no such rule set.
        InvalidNotation, AmbiguousNotation: melds that belong to nobody.
    """
    data = rulesets.data(ruleset_id)
    check_owner_of_melds(claim, data, 0)
    fields: dict[str, Any] = {
        data.indicator_key: None if claim.indicator is None else claim.indicator.id,
        "hand": concealed_text(claim) or None,
        "melds": None if data.seat_facts else [format_meld(meld) for meld in claim.melds] or None,
        "win": None if claim.win is None else claim.win.id,
        "how": claim.how,
        "winner": claim.winner,
        "discarder": claim.discarder,
        **{
            spec.key: fact_to_json(claim.facts[name])
            for name, spec in data.facts.items()
            if name in claim.facts
        },
        "chips": None if claim.chips is None else list(claim.chips),
        "xianggong": claim.xianggong or None,
        "players": _players_object(claim, data) if data.seat_facts else None,
        "options": dict(claim.options) or None,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _players_object(claim: Claim, data: RuleData) -> list[dict[str, Any]]:
    players: list[dict[str, Any]] = []
    for seat, entry in enumerate(claim.shown or (Shown(),) * data.players):
        melds = claim.melds if seat == claim.winner else entry.melds
        player: dict[str, Any] = {"melds": [format_meld(meld) for meld in melds]} if melds else {}
        for name, value in entry.facts.items():
            spec = data.seat_facts[name]
            home = player.setdefault(spec.inside, {}) if spec.inside else player
            home[spec.key] = fact_to_json(value)
        players.append(player)
    return players


def _spec_of_key(data: RuleData, key: str) -> Any:
    return next((spec for spec in data.facts.values() if spec.key == key), None)


def _melds(value: object) -> tuple[Meld, ...]:
    if not isinstance(value, list | tuple):
        raise InvalidNotation(f"a list of melds is wanted, not {value!r}", 0)
    return tuple(parse_meld(want_text(item)) for item in value)


def _chips(value: object) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise InvalidNotation(f"a list of numbers is wanted, not {value!r}", 0)
    return tuple(want_count(item) for item in value)


def _dealer(value: object) -> int:
    if want_count(value):
        raise IllegalNotation("seats are counted from the dealer, who is 0", 0)
    return 0


def _players(data: RuleData, value: object) -> tuple[Shown, ...]:
    if not isinstance(value, list | tuple) or len(value) != data.players:
        raise InvalidNotation(f"a list of {data.players} players is wanted, not {value!r}", 0)
    return tuple(_player(data, want_object(item)) for item in value)


def _player(data: RuleData, obj: Mapping[str, Any]) -> Shown:
    melds: tuple[Meld, ...] = ()
    facts: dict[str, FactValue] = {}
    insides = {spec.inside for spec in data.seat_facts.values() if spec.inside}
    for key, value in obj.items():
        if value is None:
            continue
        if key == "melds":
            melds = named(key, _melds, value)
        elif key in insides:
            facts |= named(key, partial(_seat_facts, data, key), value)
        else:
            facts |= _seat_facts(data, "", {key: value})
    return Shown(melds, seat_facts_in_order(data, facts))


def _seat_facts(data: RuleData, inside: str, value: object) -> dict[str, FactValue]:
    obj = want_object(value)
    known = {spec.key: spec for spec in data.seat_facts.values() if spec.inside == inside}
    facts: dict[str, FactValue] = {}
    for key, value in obj.items():
        if key not in known:
            raise IllegalNotation(f"there is no key {key!r} of a player; use {', '.join(known)}", 0)
        if value is not None:
            spec = known[key]
            facts[spec.name] = named(key, partial(fact_from_json, spec), value)
    return facts


def _readers(data: RuleData) -> dict[str, tuple[str, Callable[[Any], object]]]:
    """The keys of an object of this rule set: the field of `Claim` and how its value is read."""
    common: dict[str, tuple[str, Callable[[Any], object]]] = {
        data.indicator_key: ("indicator", want_tile),
        "melds": ("melds", _melds),
        "discarder": ("discarder", lambda value: Seat(want_count(value))),
        "chips": ("chips", _chips),
        "xianggong": ("xianggong", want_truth),
    }
    readers = {key: entry for key, entry in common.items() if entry[0] in data.keys}
    if data.seat_facts:
        readers.pop("melds", None)
        readers["players"] = ("players", lambda value: _players(data, value))
        readers["dealer"] = ("dealer", _dealer)
    return readers | {
        "hand": ("concealed", want_tiles),
        "win": ("win", want_tile),
        "how": ("how", lambda value: how_of(data, want_text(value))),
        "draw": ("draw", want_truth),
        "winner": ("winner", lambda value: Seat(want_count(value))),
        "options": ("options", want_options),
    }

"""What a referee taps who sees the table: claims with their facts, mended tiles, facts that were missing.

Pure: the table's state and the truth in, the next request out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.facts import Facts, FactSpec
from engine.notation import format_meld, format_tiles
from engine.rulesets import RuleSet
from engine.text.factcodec import fact_from_json, fact_to_json
from engine.tiles import Tile
from station.demo.laid import LaidOpen, OpenTiles, shown, shown_open
from station.places import Place, place_of, seat_of

Request = tuple[str, dict[str, Any]]
PATIENCE_S = 20.0
"""How long the referee follows what the screen says before a zone has to be read as it is."""
Layout = list[tuple[str, Tile]]

FILLED = frozenset({"streak", "round", "seat", "flowers"})
"""Roles of facts which the table knows without a tap."""


class Patience:
    """Waits for a zone to become fit, but not for ever: as a weak recognizer has it, it may never be."""

    def __init__(self) -> None:
        self._told: tuple[int, float] | None = None
        """The place of which the screen tells, and since when."""

    def is_lost(self, claim: dict[str, Any], guidance: Mapping[str, Any] | None, now: float) -> bool:
        """Whether a zone has to be read as it is; ``guidance``: what the screen says at ``now`` seconds."""
        if guidance is None or guidance["anyway"] or is_read(claim):
            self._told = None
            return False
        if self._told is None or self._told[0] != guidance["place"]:
            self._told = guidance["place"], now
        return now - self._told[1] >= PATIENCE_S


def claim_body(rules: RuleSet, laid: LaidOpen, dealer: Place) -> dict[str, Any]:
    """Return the request that declares a claim."""
    assert laid.seat is not None
    specs = rules.data.facts
    tapped = {name: value for name, value in laid.facts.items() if specs[name].role not in FILLED}
    body: dict[str, Any] = {"place": place_of(laid.seat, dealer, rules.players), "how": laid.how}
    if tapped:
        body["facts"] = as_json(Facts(tapped))
    if laid.source is not None:
        body["from"] = place_of(laid.source, dealer, rules.players)
    said = {
        str(place_of(seat, dealer, rules.players)): facts
        for seat in laid.seats
        if (facts := _said(rules, laid.tables[seat]))
    }
    if said:
        body["shown"] = said
    return body


def _said(rules: RuleSet, table: OpenTiles) -> dict[str, Any]:
    """Facts of a player that his spread tiles do not show."""
    tiles = [tile for group in table.spread for tile in group]
    seen = rules.facts_of_spread(tiles, table.facts)
    return as_json(Facts({name: value for name, value in table.facts.items() if seen.get(name) != value}))


def is_read(claim: dict[str, Any]) -> bool:
    """Whether the camera has looked wherever the claim asks it to."""
    looked = claim["place"] is None or bool(claim["tiles"])
    others = [entry for entry in claim["shown"] if not entry["winner"]]
    return looked and all(entry["read"] or entry["photo"] is not None for entry in others)


def correction(
    claim: dict[str, Any], laid: LaidOpen, rules: RuleSet, dealer: Place, *, mend: bool
) -> Request | None:
    """Return the next thing a referee would mend or approve; None when all is right."""
    if claim["place"] is not None:
        fix = _tiles(claim["tiles"], shown(laid), {}, line_of(laid), mend=mend)
        if fix is not None:
            return fix
    for entry in claim["shown"]:
        if not entry["winner"]:
            fix = _others(entry, laid.tables[seat_of(entry["place"], dealer, rules.players)], mend=mend)
            if fix is not None:
                return fix
    return _facts(claim, laid, rules, dealer) if mend else _unsaid(claim, laid, rules, dealer)


def _others(entry: dict[str, Any], table: OpenTiles, *, mend: bool) -> Request | None:
    """What lies open before a player who claims nothing; where nothing does, a person has to say so."""
    where = {"place": entry["place"]}
    if not entry["read"] and not entry["tiles"]:
        return "hand", {"line": public_line(table) if mend else "", **where}
    return _tiles(entry["tiles"], shown_open(table), where, public_line(table), mend=mend)


def _tiles(
    tiles: Sequence[dict[str, Any]], truth: Layout, where: dict[str, Any], line: str, *, mend: bool
) -> Request | None:
    typed = bool(tiles) and all(tile["box"] is None for tile in tiles)
    if typed and not where:  # a person can't type what a claimant has spread; facts say it
        truth = [(group, tile) for group, tile in truth if not group.startswith("spread")]
    groups = [_part(group) for group, _ in truth]
    same_layout = [_part(tile["group"]) for tile in tiles] == groups
    if mend and not same_layout:
        return None if typed else ("hand", {"line": line, **where})
    for index, tile in enumerate(tiles):
        right = truth[index][1].id if same_layout else tile["kind"]
        if mend and tile["kind"] != right:
            return "tile", {"i": index, "kind": right, **where}
        if tile["doubt"]:
            return "tile", {"i": index, "kind": tile["kind"], **where}
    return None


def _part(group: str) -> str:
    """Spread tiles count together, however they are grouped."""
    return "spread" if group.startswith("spread") else group


def _facts(claim: dict[str, Any], laid: LaidOpen, rules: RuleSet, dealer: Place) -> Request | None:
    """Facts in force that are not those everybody knows."""
    wrong = _differing(claim["facts"], laid.facts, rules.data.facts)
    if wrong:
        return "amend", {"facts": wrong}
    for entry in claim["shown"]:
        facts = laid.tables[seat_of(entry["place"], dealer, rules.players)].facts
        wrong = _differing(entry["facts"], facts, rules.data.seat_facts)
        if wrong:
            return "amend", {"shown": {str(entry["place"]): wrong}}
    return None


def _unsaid(claim: dict[str, Any], laid: LaidOpen, rules: RuleSet, dealer: Place) -> Request | None:
    """Facts of players that nobody has said yet; what the camera reads wrong is left alone."""
    for entry in claim["shown"]:
        said = _said(rules, laid.tables[seat_of(entry["place"], dealer, rules.players)])
        if entry["tapped"] != said:
            return "amend", {"shown": {str(entry["place"]): said}}
    return None


def _differing(found: Mapping[str, Any], truth: Facts, specs: Mapping[str, FactSpec]) -> dict[str, Any]:
    """Facts to change, by name; None takes one back."""
    read = {name: fact_from_json(specs[name], value) for name, value in found.items() if name in specs}
    names = [name for name in specs if _plain(read.get(name)) != _plain(truth.get(name))]
    return {name: fact_to_json(truth[name]) if name in truth else None for name in names}


def _plain(value: Any) -> Any:
    """Tiles in any order are the same; what is not given is the same as nothing."""
    return sorted(value) if isinstance(value, tuple) else value or None


def as_json(facts: Facts) -> dict[str, Any]:
    """Return facts as JSON values by name."""
    return {name: fact_to_json(value) for name, value in facts.items()}


def line_of(laid: LaidOpen) -> str:
    """Return a laid-open hand as a person would type it: tiles, flowers, melds, ``+`` winning tile."""
    words = [format_tiles([*laid.concealed, *laid.own.flowers]), *map(format_meld, laid.melds)]
    return " ".join(words if laid.win is None else [*words, f"+{laid.win.id}"])


def public_line(table: OpenTiles) -> str:
    """Return what lies open before a player as a person would type it: melds, spread tiles."""
    spread = [tile for group in table.spread for tile in group]
    return " ".join([*map(format_meld, table.melds), *([format_tiles(spread)] if spread else [])])

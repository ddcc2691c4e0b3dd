"""Can the tiles and facts of a claim be? Every defect is named; nothing here asks whether the hand wins.

Order of the checks = order of the reasons (rules README): tile count, a fifth copy, tiles the set does not
have, melds, contradictory facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from engine.claim import DEALER, Claim
from engine.melds import Meld, MeldKind
from engine.ruledata import HowSpec, RuleData
from engine.tiles import Tile

Defect = tuple[str, tuple[str, ...]]
"""Reason code and what it is about."""

TILE_DEFECTS = frozenset({"tile_count", "fifth_copy", "foreign_tile", "unknown_tile"})
"""Defects after which it makes no sense to ask whether the hand wins."""


class Bounds(NamedTuple):
    """What a rule set allows a claim to hold; `engine.ruleset` has a hook for each field of the same name.

    `expected`: how many concealed tiles there are.
    """

    data: RuleData
    expected: int
    elsewhere: Sequence[Tile]
    meld_fits: Callable[[Meld], bool]
    indicator_taken: bool


def defects(claim: Claim, bounds: Bounds) -> Iterator[Defect]:
    """Yield every defect of a claimed win, in the documented order."""
    data = bounds.data
    tiles = _tiles_of(claim)
    how = data.hows.get(claim.how)
    yield from _tile_count(claim, bounds.expected, how)
    yield from _tile_defects(tiles, claim.indicator, bounds)
    yield from _melds(claim, bounds)
    yield from _facts(claim, data, how)


def _tiles_of(claim: Claim) -> list[Tile]:
    """All tiles that lie in the claim: the winner's, and the melds of the others."""
    melds = [*claim.melds, *(meld for entry in claim.shown for meld in entry.melds)]
    flowers = [tile for value in claim.facts.values() if isinstance(value, tuple) for tile in value]
    return [*claim.held, *(tile for meld in melds for tile in meld.tiles), *flowers]


def _tile_count(claim: Claim, expected: int, how: HowSpec | None) -> Iterator[Defect]:
    if len(claim.concealed) != expected or expected < 1:
        yield "tile_count", (f"hand={len(claim.concealed)}", f"expected={max(expected, 0)}")
    elif claim.win is None and (how is None or how.tile == "required"):
        yield "tile_count", ("win=none",)
    elif claim.win is not None and how is not None and how.tile == "none":
        yield "tile_count", (f"win={claim.win.id}", f"how={claim.how}")


def _tile_defects(tiles: Sequence[Tile], indicator: Tile | None, bounds: Bounds) -> Iterator[Defect]:
    """More copies of a kind than the set has, and kinds which it does not have.

    Counted are the tiles of the claim, the indicator, and what is known to be elsewhere.
    """
    copies = Counter(tiles)
    if bounds.elsewhere:
        copies.update(bounds.elsewhere)
    if indicator is not None:
        copies[indicator] += not bounds.indicator_taken
    counts, last = bounds.data.tile_set.counts, Tile.BAMBOO
    wrong = sorted([tile for tile, number in copies.items() if tile > last or number > counts[tile]])
    for tile in wrong:
        if tile <= last and counts[tile]:
            yield "fifth_copy", (tile.id,)
    for tile in wrong:
        if tile > last or not counts[tile]:
            yield "unknown_tile" if tile > last else "foreign_tile", (tile.id,)


def _melds(claim: Claim, bounds: Bounds) -> Iterator[Defect]:
    for meld in claim.melds:
        yield from _meld(meld, bounds)
    for entry in claim.shown:
        for meld in entry.melds:
            yield from _meld(meld, bounds)


def _meld(meld: Meld, bounds: Bounds) -> Iterator[Defect]:
    if meld.kind not in bounds.data.melds:
        code = "chow_not_allowed" if meld.kind is MeldKind.CHOW else "unknown_meld"
        yield code, (_meld_text(meld),)
    elif not bounds.meld_fits(meld):
        yield "unknown_meld", (_meld_text(meld),)


def _meld_text(meld: Meld) -> str:
    return f"{meld.kind.value}:{''.join(tile.id for tile in meld.tiles)}"


def _facts(claim: Claim, data: RuleData, how: HowSpec | None) -> Iterator[Defect]:
    if how is None:
        yield "contradictory_facts", (f"how={claim.how}", f"ruleset={data.id}")
    else:
        for about in (*_people(claim, data, how), *_means(claim, how)):
            yield "contradictory_facts", about
    if max(claim.held, default=Tile.M1) >= Tile.SPRING:
        for tile in sorted({tile for tile in claim.held if tile.is_flower and data.tile_set.counts[tile]}):
            yield "contradictory_facts", (f"{tile.id} in the hand", "flowers are replaced")
    if claim.indicator is None and data.deal.indicators:
        yield "contradictory_facts", ("flip=none", f"ruleset={data.id}")
    yield from common_fact_defects(claim, data)


def common_fact_defects(claim: Claim, data: RuleData) -> Iterator[Defect]:
    """Yield what is wrong with facts that a win and an exhausted wall share: chips, tiles among the facts."""
    if claim.chips is not None and len(claim.chips) != data.players:
        yield "contradictory_facts", (f"chips={len(claim.chips)} numbers", f"players={data.players}")
    if claim.shown and len(claim.shown) != data.players:
        yield "contradictory_facts", (f"{len(claim.shown)} players' tiles", f"players={data.players}")
    for name, value in claim.facts.items():
        if name not in data.facts:
            yield "contradictory_facts", (name, f"ruleset={data.id}")
        elif isinstance(value, tuple) and data.facts[name].role == "flowers":
            wrong = sorted(tile.id for tile in set(value) if not tile.is_flower)
            if wrong:
                yield "contradictory_facts", (name, wrong[0])


def _people(claim: Claim, data: RuleData, how: HowSpec) -> Iterator[tuple[str, ...]]:
    said = f"how={claim.how}"
    for name, seat in (("seat", claim.winner), ("from", claim.discarder)):
        if seat is not None and not 0 <= seat < data.players:
            yield f"{name}={seat}", f"players={data.players}"
    if claim.winner is None:
        yield said, "seat=none"
    elif how.dealer and claim.winner != DEALER:
        yield said, f"seat={claim.winner}"
    if how.discarder == "required" and claim.discarder is None:
        yield said, "from=none"
    if how.discarder == "none" and claim.discarder is not None:
        yield said, f"from={claim.discarder}"
    if claim.discarder is not None and claim.discarder == claim.winner:
        yield f"seat={claim.winner}", f"from={claim.discarder}"


def _means(claim: Claim, how: HowSpec) -> Iterator[tuple[str, ...]]:
    """A replacement tile needs its kong; a robbed kong needs three more of the tile, none with the winner."""
    if how.meld and all(meld.kind.value != how.meld for meld in claim.melds):
        yield f"how={claim.how}", f"melds without {how.meld}:"
    if how.robs and claim.win is not None:
        if claim.win in (*claim.concealed, *(tile for meld in claim.melds for tile in meld.tiles)):
            yield f"how={claim.how}", f"{claim.win.id} in the hand"
        if claim.win == claim.indicator:
            yield f"how={claim.how}", f"flip={claim.win.id}"


def draw_defects(claim: Claim, bounds: Bounds) -> Iterator[Defect]:
    """Yield what cannot stand beside an exhausted wall: a hand, a winner, impossible tiles."""
    tiles = [tile for entry in claim.shown for meld in entry.melds for tile in meld.tiles]
    yield from _tile_defects(tiles, claim.indicator, bounds)
    yield from _melds(claim, bounds)
    facts = {
        "hand": bool(claim.concealed or claim.melds or claim.win is not None),
        f"seat={claim.winner}": claim.winner is not None,
        f"from={claim.discarder}": claim.discarder is not None,
    }
    for name, given in facts.items():
        if given:
            yield "contradictory_facts", ("how=draw", name)
    yield from common_fact_defects(claim, bounds.data)

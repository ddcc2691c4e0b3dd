"""Can the tiles and facts of a claim be? Every defect is named; nothing here asks whether the hand wins.

Order of the checks = order of the reasons (rules README): tile count, a fifth copy, tiles the set does not
have, melds, contradictory facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from engine.claim import Claim, How
from engine.melds import Meld, MeldKind
from engine.ruledata import RuleData
from engine.tiles import Tile

Defect = tuple[str, tuple[str, ...]]
"""Reason code and what it is about."""

DEALER = 0


def defects(claim: Claim, data: RuleData, wild: Tile | None, *, kong_of_three: bool) -> Iterator[Defect]:
    """Yield every defect of a claimed win, in the documented order.

    `wild` is the wildcard kind where it is known; `kong_of_three` allows a concealed kong of three tiles of
    the indicator kind (option `indicator_kong3`).
    """
    yield from _tile_count(claim, data)
    yield from _fifth_copies(claim, data, wild)
    yield from _foreign_tiles(claim, data)
    for meld in claim.melds:
        yield from _meld(meld, claim, data, kong_of_three=kong_of_three)
    yield from _facts(claim, data, wild)


def _tile_count(claim: Claim, data: RuleData) -> Iterator[Defect]:
    expected = data.hand_size - 3 * len(claim.melds)
    if len(claim.concealed) != expected or expected < 1:
        yield "tile_count", (f"hand={len(claim.concealed)}", f"expected={max(expected, 0)}")
    elif claim.win is None:
        yield "tile_count", ("win=none",)


def _fifth_copies(claim: Claim, data: RuleData, wild: Tile | None) -> Iterator[Defect]:
    """More copies of a kind than the set has: in the hand, as the indicator, or among the counted 打搭."""
    copies = Counter([*claim.held, *(tile for meld in claim.melds for tile in meld.tiles)])
    if claim.indicator is not None:
        copies[claim.indicator] += 1
    if wild is not None:
        copies[wild] += claim.da.total
    for tile in sorted(copies):
        limit = data.tile_set.counts[tile] if tile <= Tile.BAMBOO else 0
        if 0 < limit < copies[tile]:
            yield "fifth_copy", (tile.id,)


def _foreign_tiles(claim: Claim, data: RuleData) -> Iterator[Defect]:
    tiles = {*claim.held, *(tile for meld in claim.melds for tile in meld.tiles)}
    if claim.indicator is not None:
        tiles.add(claim.indicator)
    for tile in sorted(tiles):
        if tile > Tile.BAMBOO:
            yield "unknown_tile", (tile.id,)
        elif not data.tile_set.counts[tile]:
            yield "foreign_tile", (tile.id,)


def _meld(meld: Meld, claim: Claim, data: RuleData, *, kong_of_three: bool) -> Iterator[Defect]:
    text = f"{meld.kind.value}:{''.join(tile.id for tile in meld.tiles)}"
    if meld.kind not in data.melds:
        yield "chow_not_allowed" if meld.kind is MeldKind.CHOW else "unknown_meld", (text,)
    elif not meld.is_well_formed and not (kong_of_three and _is_indicator_kong(meld, claim)):
        yield "unknown_meld", (text,)


def _is_indicator_kong(meld: Meld, claim: Claim) -> bool:
    """A concealed kong of the three live tiles of the indicator kind (rules/zhenjiang.md §4)."""
    return meld.kind is MeldKind.CONCEALED_KONG and list(meld.tiles) == [claim.indicator] * 3


def _facts(claim: Claim, data: RuleData, wild: Tile | None) -> Iterator[Defect]:
    for about in (*_people(claim, data), *_heaven(claim), *_kongs(claim, wild)):
        yield "contradictory_facts", about
    if claim.how not in data.hows:
        yield "contradictory_facts", (f"how={claim.how.value}", f"ruleset={data.id}")
    if claim.indicator is None and data.deal.indicators:
        yield "contradictory_facts", ("flip=none", f"ruleset={data.id}")
    if claim.chips is not None and len(claim.chips) != data.players:
        yield "contradictory_facts", (f"chips={len(claim.chips)} numbers", f"players={data.players}")


def _people(claim: Claim, data: RuleData) -> Iterator[tuple[str, ...]]:
    how = f"how={claim.how.value}"
    for name, seat in (("seat", claim.winner), ("from", claim.discarder)):
        if seat is not None and not 0 <= seat < data.players:
            yield f"{name}={seat}", f"players={data.players}"
    if claim.winner is None:
        yield how, "seat=none"
    if claim.how.is_from_another and claim.discarder is None:
        yield how, "from=none"
    if not claim.how.is_from_another and claim.discarder is not None:
        yield how, f"from={claim.discarder}"
    if claim.discarder is not None and claim.discarder == claim.winner:
        yield f"seat={claim.winner}", f"from={claim.discarder}"


def _heaven(claim: Claim) -> Iterator[tuple[str, ...]]:
    """天胡 is the dealer's before any discard or kong (rules/zhenjiang.md §5)."""
    if claim.how is not How.HEAVEN:
        return
    if claim.winner is not None and claim.winner != DEALER:
        yield "how=heaven", f"seat={claim.winner}"
    if claim.melds:
        yield "how=heaven", f"melds={len(claim.melds)}"
    if claim.da.total:
        yield "how=heaven", f"da={claim.da.total}"


def _kongs(claim: Claim, wild: Tile | None) -> Iterator[tuple[str, ...]]:
    """A replacement tile needs its kong; a robbed kong needs three more of the tile, none with the winner."""
    needed = {How.KONG_MING: MeldKind.KONG, How.KONG_AN: MeldKind.CONCEALED_KONG}.get(claim.how)
    if needed is not None and all(meld.kind is not needed for meld in claim.melds):
        yield f"how={claim.how.value}", f"melds without {needed.value}:"
    if claim.how is How.ROBKONG and claim.win is not None:
        others = [*claim.concealed, *(tile for meld in claim.melds for tile in meld.tiles)]
        if claim.win in others:
            yield "how=robkong", f"{claim.win.id} in the hand"
        if claim.win == claim.indicator:
            yield "how=robkong", f"flip={claim.win.id}"
        if claim.win == wild and claim.da.total:
            yield "how=robkong", f"da={claim.da.total}"


def draw_defects(claim: Claim, data: RuleData) -> Iterator[Defect]:
    """Yield what cannot stand beside an exhausted wall: a hand, a winner, a discarder."""
    facts = {
        "hand": bool(claim.concealed or claim.melds or claim.win is not None),
        f"seat={claim.winner}": claim.winner is not None,
        f"from={claim.discarder}": claim.discarder is not None,
    }
    for name, given in facts.items():
        if given:
            yield "contradictory_facts", ("how=draw", name)
    if claim.how not in data.hows:
        yield "contradictory_facts", ("how=draw", f"ruleset={data.id}")

"""What the camera double shows of a hand: the tile turned up, walls where it lies on one, opened hands."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from engine.tiles import Tile
from station.demo.films import with_film
from station.demo.laid import LaidOpen, OpenTiles, faces_of
from station.demo.world import Hand
from station.places import SIDES, Place, place_of
from vision.render import LaidHand, Scene


def scene_of(
    hand: Hand | None,
    indicator: str | None,
    laid: LaidOpen | None,
    *,
    sides: Sequence[int],
    dealer: Place,
    seed: str,
) -> Scene:
    """Return the table as it lies.

    Args:
        hand: None before the deal. indicator: the tile in view, ``back`` while it lies face down.
        laid: hands that lie open; None while everybody holds his tiles.
        sides: the side of the table of each place. seed: of light and of how tiles happen to lie.
    """
    hands = {} if laid is None else hands_of(laid, sides, dealer)
    text = f"{seed}/{indicator}/{hands}"
    light = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big")
    if hand is None:
        return Scene(indicator=indicator, hands=hands, light_seed=light)
    turned = hand.wall.turned
    n = len(sides)
    heights = hand.wall.heights()
    walls = {sides[place_of(seat, dealer, n)]: heights[seat] for seat in hand.seats}
    scene = Scene(
        indicator=indicator,
        hands=hands,
        walls=tuple(walls.get(side, 0) for side in range(SIDES)),
        light_seed=light,
        stacks=max(map(len, heights)),
        turned=None if turned is None else (sides[place_of(turned.wall, dealer, n)], turned.stack),
    )
    # Of an exhausted wall the hands are read from the first place on.
    first = None if laid is None else laid.seats[0] if laid.seat is None else laid.seat
    return scene if first is None else with_film(scene, sides[place_of(first, dealer, n)], text)


def hands_of(laid: LaidOpen, sides: Sequence[int], dealer: Place) -> dict[int, LaidHand]:
    """Return what lies open by side: the claimant's hand, and before everybody where that is settled."""
    n = len(sides)
    hands = {}
    for seat in laid.seats:
        side = sides[place_of(seat, dealer, n)]
        hands[side] = _laid_hand(laid.tables[seat], laid if seat == laid.seat else None)
    return hands


def _laid_hand(table: OpenTiles, claimed: LaidOpen | None) -> LaidHand:
    return LaidHand(
        melds=tuple(_ids(faces_of(meld)) for meld in table.melds),
        concealed=_ids(claimed.concealed) if claimed is not None else (Tile.BACK.id,) * table.hidden,
        win=claimed.win.id if claimed is not None and claimed.win is not None else None,
        flowers=_ids(table.flowers),
        spread=tuple(map(_ids, table.spread)),
    )


def _ids(tiles: Sequence[Tile]) -> tuple[str, ...]:
    return tuple(tile.id for tile in tiles)

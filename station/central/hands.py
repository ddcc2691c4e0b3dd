"""The tiles of a winning hand, grouped for drawing."""

from __future__ import annotations

from engine.errors import EngineError
from engine.melds import MeldKind
from engine.notation import parse_claim
from engine.tiles import Tile

__all__ = ["tile_groups"]


def tile_groups(line: str, ruleset: str) -> tuple[tuple[str, ...], ...]:
    """Split a one-line claim into groups of tile ids: melds, then the concealed tiles with the winning one.

    A concealed kong shows its outer tiles face down. A line that cannot be read gives no groups.
    """
    try:
        claim = parse_claim(line, ruleset)
    except EngineError:
        return ()
    groups = []
    for meld in claim.melds:
        ids = [tile.id for tile in meld.tiles]
        if meld.kind is MeldKind.CONCEALED_KONG:
            ids = [Tile.BACK.id, ids[0], ids[0], Tile.BACK.id]
        groups.append(tuple(ids))
    hand = tuple(tile.id for tile in claim.concealed)
    groups.append(hand if claim.win is None else (*hand, claim.win.id))
    return tuple(groups)

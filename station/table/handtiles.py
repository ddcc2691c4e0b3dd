"""Tiles of a claim by the group they lie in, and hands that a person types. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.melds import Meld, MeldKind
from engine.notation import IllegalNotation, parse_hand
from engine.tiles import Tile
from station import messages as m
from station.session import TileState
from vision.shapes import lay_meld

CONCEALED, WIN, FLOWER, LOOSE, MELD, SPREAD = "concealed", "win", "flower", "loose", "meld:", "spread:"
"""Groups a tile can lie in; melds and spread tiles are numbered. ``loose``: open for no reason known."""


def groups_of(tiles: Iterable[TileState]) -> dict[str, list[TileState]]:
    """Return tiles by group, in reading order."""
    groups: dict[str, list[TileState]] = {}
    for tile in tiles:
        groups.setdefault(tile.read.group, []).append(tile)
    return groups


def kinds_in(tiles: Iterable[TileState], group: str) -> tuple[Tile, ...]:
    """Return the kinds of the tiles whose group is or begins so."""
    return tuple(Tile.of(tile.kind) for tile in tiles if tile.read.group.startswith(group))


def melds_in(tiles: Iterable[TileState]) -> tuple[Meld, ...]:
    """Return the melds among the tiles."""
    return tuple(
        meld_of([Tile.of(tile.kind) for tile in members])
        for group, members in groups_of(tiles).items()
        if group.startswith(MELD)
    )


def meld_of(kinds: list[Tile]) -> Meld:
    """Return the meld that a group of tiles on the table shows.

    ``back X X back`` (or any two face-down of four) is a concealed kong, ``X back X`` an opened 韶; four
    alike are an exposed kong. What is none of these is passed on as a chow or a pung by its length: the
    engine names the defect.
    """
    faces = [k for k in kinds if k is not Tile.BACK]
    if len(kinds) == 4:
        covered = 0 < len(faces) < 4
        return Meld(MeldKind.CONCEALED_KONG if covered else MeldKind.KONG, tuple(_filled(kinds, faces)))
    if Tile.BACK in kinds:
        return Meld(MeldKind.SHAO, tuple(_filled(kinds, faces)))
    if len(set(kinds)) == 1:
        return Meld(MeldKind.PUNG, tuple(kinds))
    return Meld(MeldKind.CHOW, tuple(sorted(kinds)))


def _filled(kinds: Sequence[Tile], faces: Sequence[Tile]) -> list[Tile]:
    """Face-down tiles of a meld are what the open ones show."""
    return [faces[0] if kind is Tile.BACK and faces else kind for kind in kinds]


def typed_tiles(line: str) -> list[m.TileRead]:
    """Read a typed hand (tiles, melds, ``+`` winning tile) into the tiles of a reading; flowers lie apart.

    Raises:
        NotationError: the line is no hand; names the position.
    """
    hand = parse_hand(line)
    read = [_typed(tile, CONCEALED) for tile in hand.concealed if not tile.is_flower]
    if hand.win is not None:
        read.append(_typed(hand.win, WIN))
    flowers = [_typed(tile, FLOWER) for tile in hand.concealed if tile.is_flower]
    return [*read, *_laid(hand.melds), *flowers]


def typed_public(line: str) -> list[m.TileRead]:
    """Read what lies open at another place: melds, and loose tiles as spread ones; no text, no tiles.

    Raises:
        NotationError: the line is not such; names the position.
    """
    hand = parse_hand(line)
    if hand.win is not None:
        raise IllegalNotation("only the claimant has a winning tile", line.find("+"))
    return [*_laid(hand.melds), *(_typed(tile, f"{SPREAD}0") for tile in hand.concealed)]


def _laid(melds: Iterable[Meld]) -> list[m.TileRead]:
    return [
        _typed(Tile.of(kind), f"{MELD}{number}")
        for number, meld in enumerate(melds)
        for kind in lay_meld(meld.kind.value, [tile.id for tile in meld.tiles])
    ]


def _typed(tile: Tile, group: str) -> m.TileRead:
    return m.TileRead(kind=tile.id, score=1.0, box=None, alternatives=[(tile.id, 1.0)], group=group)

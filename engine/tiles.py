"""Tile kinds and their ids: the vocabulary which engine, camera, log and screens share.

A `Tile` is a *kind*, not one of its four copies. Order and ids: rules README, "Tiles and melds".
"""

from __future__ import annotations

from enum import IntEnum

from engine.errors import EngineError


class UnknownTileError(EngineError):
    """The text is not the id of any tile kind; `text` holds it."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text!r} is not a tile id; write one like 5m, 5p, 5s, 7z, 8f, back or ?.")
        self.text = text


class Tile(IntEnum):
    """A tile kind: 0..33 are the suits and honours, 34..41 flowers, 42 face down, 43 unknown.

    >>> Tile.of("1m"), Tile.M1.id, Tile(33).id
    (Tile.M1, '1m', '7z')
    """

    M1 = 0
    M2 = 1
    M3 = 2
    M4 = 3
    M5 = 4
    M6 = 5
    M7 = 6
    M8 = 7
    M9 = 8
    P1 = 9
    P2 = 10
    P3 = 11
    P4 = 12
    P5 = 13
    P6 = 14
    P7 = 15
    P8 = 16
    P9 = 17
    S1 = 18
    S2 = 19
    S3 = 20
    S4 = 21
    S5 = 22
    S6 = 23
    S7 = 24
    S8 = 25
    S9 = 26
    EAST = 27
    SOUTH = 28
    WEST = 29
    NORTH = 30
    WHITE = 31
    GREEN = 32
    RED = 33
    SPRING = 34
    SUMMER = 35
    AUTUMN = 36
    WINTER = 37
    PLUM = 38
    ORCHID = 39
    CHRYSANTHEMUM = 40
    BAMBOO = 41
    BACK = 42
    UNKNOWN = 43

    def __repr__(self) -> str:
        return f"Tile.{self.name}"

    @classmethod
    def of(cls, tile_id: str) -> Tile:
        """Return the kind with this id ("1m" … "8f", "back", "?").

        Raises:
            UnknownTileError: there is no such id.
        """
        try:
            return _BY_ID[tile_id]
        except KeyError:
            raise UnknownTileError(tile_id) from None

    @property
    def id(self) -> str:
        """The id of the kind, e.g. "1m"; "back" when face down, "?" when unknown."""
        return TILE_IDS[self]

    @property
    def suit(self) -> str:
        """The letter of the id: "m", "p", "s", "z" (honours), "f" (flowers), or "" for back and unknown."""
        return _SUIT[self]

    @property
    def rank(self) -> int:
        """The number of the id, counted from 1; 0 for back and unknown."""
        return _RANK[self]

    @property
    def is_suited(self) -> bool:
        """Whether the tile can be part of a run: characters, dots or bamboos."""
        return self < Tile.EAST

    @property
    def is_honour(self) -> bool:
        """Whether the tile is a wind or a dragon."""
        return Tile.EAST <= self <= Tile.RED

    @property
    def is_flower(self) -> bool:
        """Whether the tile is one of the eight flowers and seasons."""
        return Tile.SPRING <= self <= Tile.BAMBOO

    @property
    def is_kind(self) -> bool:
        """Whether the tile is one of the 34 kinds a hand is made of."""
        return self <= Tile.RED


KINDS = 34
"""How many kinds a hand can be made of (suits and honours)."""

SUIT_SIZES: dict[str, int] = {"m": 9, "p": 9, "s": 9, "z": 7, "f": 8}
"""The letters of tile ids, in order, and the highest number of each."""

TILE_IDS: tuple[str, ...] = (
    *(f"{rank}{suit}" for suit, size in SUIT_SIZES.items() for rank in range(1, size + 1)),
    "back",
    "?",
)
"""All 44 ids; the index is the value of the `Tile`."""

_BY_ID = {tile_id: Tile(i) for i, tile_id in enumerate(TILE_IDS)}
_SUIT = tuple(tile_id[1] if len(tile_id) == 2 else "" for tile_id in TILE_IDS)
_RANK = tuple(int(tile_id[0]) if len(tile_id) == 2 else 0 for tile_id in TILE_IDS)
HAND_KINDS: tuple[Tile, ...] = tuple(Tile(i) for i in range(KINDS))
"""The 34 kinds a hand can be made of, in order."""

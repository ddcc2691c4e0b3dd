"""Melds: sets laid on the table. A `Meld` may be wrong; `Meld.is_well_formed` says so (a camera misreads)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.tiles import Tile


class MeldKind(StrEnum):
    """The letter of a meld in the notation (rules README, "Tiles and melds")."""

    CHOW = "C"
    PUNG = "P"
    KONG = "K"
    CONCEALED_KONG = "A"
    SHAO = "H"

    @property
    def size(self) -> int:
        """How many tiles such a meld has."""
        return 4 if self.is_kong else 3

    @property
    def is_kong(self) -> bool:
        """Whether it is an exposed (direct or added) or a concealed kong."""
        return self in (MeldKind.KONG, MeldKind.CONCEALED_KONG)


@dataclass(frozen=True, slots=True)
class Meld:
    """A meld as read or typed, tiles in the order given.

    >>> Meld(MeldKind.PUNG, (Tile.M1, Tile.M1, Tile.M1)).is_well_formed
    True
    """

    kind: MeldKind
    tiles: tuple[Tile, ...]

    @property
    def is_well_formed(self) -> bool:
        """Whether the tiles are what the kind says: a run for a chow, else three or four alike."""
        if len(self.tiles) != self.kind.size or not all(tile.is_kind for tile in self.tiles):
            return False
        first, *_, last = sorted(self.tiles)
        if self.kind is MeldKind.CHOW:
            same_suit = first.is_suited and first.suit == last.suit
            return same_suit and sorted(self.tiles) == [first, first + 1, first + 2]
        return first == last

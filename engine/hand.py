"""A hand: the concealed tiles, the melds and perhaps the winning tile, without the facts around it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.melds import Meld
from engine.tiles import Tile


@dataclass(frozen=True, slots=True)
class Hand:
    """Tiles of one player. `concealed` does not hold `win`, the tile that completes the hand.

    >>> Hand((Tile.M1,), win=Tile.M1).held
    (Tile.M1, Tile.M1)
    """

    concealed: tuple[Tile, ...]
    melds: tuple[Meld, ...] = ()
    win: Tile | None = None

    @property
    def held(self) -> tuple[Tile, ...]:
        """The concealed tiles with the winning tile, if there is one."""
        return self.concealed if self.win is None else (*self.concealed, self.win)

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """All tiles, those of the melds last."""
        return (*self.held, *(tile for meld in self.melds for tile in meld.tiles))

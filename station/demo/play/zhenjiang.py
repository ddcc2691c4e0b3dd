"""Zhenjiang: the tile after the indicator is wild, and discarding a wildcard earns a bonus (打搭)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.claim import Counters, Facts, Seat
from engine.melds import Meld, MeldKind
from engine.tiles import KINDS, Tile
from engine.wincheck import MAX_COPIES, deficiency
from station.demo.moves import Chance, Player, Take, Way
from station.demo.play.tactics import Tactics

WILD_DISCARDS = 2
"""Within so many discards a player may part with a wildcard,"""
DARING = 0.25
"""that often."""
AFTER_KONG = {MeldKind.KONG: "kong_ming", MeldKind.CONCEALED_KONG: "kong_an"}


class ZhenjiangTactics(Tactics):
    """Self-drawn wildcards stand for anything; one that another discards has its face value only."""

    asks_worth = False
    adds_kongs = False

    def begin(self) -> None:
        """The wildcard is known."""
        assert self.table.indicator is not None
        self.wild = self.rules.wild_of(self.table.indicator)
        self._parted = [dict.fromkeys(("shou", "er", "peng"), 0) for _ in self.table.players]

    def laid(self, player: Player, chance: Chance, how: str) -> Way:
        """The hand with a tile apart, the way to win by where the tile comes from, discarded wildcards."""
        if chance.source is None:
            how = self._own_how(player, chance)
        da = Counters(self._parted[player.seat])
        return Way(how, tuple(sorted(player.tiles)), chance.tile, Facts(da=da) if da else Facts())

    def _own_how(self, player: Player, chance: Chance) -> str:
        if chance.dealt and self.missing(player, chance) <= 0:
            return "heaven"
        return "self" if chance.kong is None else AFTER_KONG[chance.kong]

    def lacking(
        self,
        tiles: Sequence[Tile],
        claimed: Tile | None = None,
        melds: Sequence[Meld] = (),  # noqa: ARG002
    ) -> int:
        """As in every rule set, with wildcards; a claimed one counts as what it is."""
        counts = [0] * KINDS
        wilds = 0
        if claimed is not None:
            counts[claimed] += 1
        for tile in tiles:
            if tile == self.wild:
                wilds += 1
            else:
                counts[tile] += 1
        return KINDS if max(counts) > MAX_COPIES else deficiency(counts) - wilds

    def choose(self, player: Player) -> Tile:
        """Discard what leaves the hand nearest to a win; now and then a wildcard, for its bonus."""
        early = len(player.discards) < WILD_DISCARDS
        if self.wild in player.tiles and early and self.table.rng.random() < DARING:
            return self.wild
        return super().choose(player)

    def discarded(self, player: Player, tile: Tile, after: str) -> None:
        """Count discarded wildcards: first discards, later ones, those right after a pung."""
        if tile != self.wild:
            return
        first = all(discard == self.wild for discard in player.discards)
        self._parted[player.seat]["peng" if after == "pung" else "shou" if first else "er"] += 1

    def takes(self, player: Player, tile: Tile, source: Seat) -> Iterator[Take]:
        """A discarded wildcard is left lying: its bonus is its owner's."""
        return iter(()) if tile == self.wild else super().takes(player, tile, source)

    def konged(self, tile: Tile) -> bool:
        """Wildcards are worth more in hand."""
        return tile != self.wild

    def options(self, player: Player) -> list[Tile]:
        """Wildcards are kept as long as there is anything else."""
        return sorted({tile for tile in player.tiles if tile != self.wild}) or [self.wild]

"""Rule sets with wildcards: which kind is wild, how a hand splits into natural tiles and wildcards, waits.

A rule set says which kind an indicator makes wild (`wild_of`); options shared by all of them:
`wild_fifth_copy` (a wildcard may stand for a kind of which four copies are already in the hand).
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.claim import Claim
from engine.decompose import Decomposition, decompositions
from engine.errors import EngineError
from engine.hand import Hand
from engine.ruleset import Judged, RuleSet
from engine.tiles import HAND_KINDS, Tile
from engine.wincheck import MAX_COPIES, counts_of, every_tile_wins, wins


class WildRuleSet(RuleSet):
    """Rules in which a flipped tile makes one kind wild."""

    def wild_of(self, indicator: Tile) -> Tile:
        """The wildcard kind for a flipped indicator.

        Raises:
            EngineError: the tile cannot be an indicator.
        """
        raise NotImplementedError

    def wild(self, claim: Claim) -> Tile | None:
        """The wildcard kind of the hand; None where no tile that can be an indicator is known."""
        if claim.indicator is None or not claim.indicator.is_kind:
            return None
        return self.wild_of(claim.indicator)

    def wild_when_claimed(self) -> bool:
        """Whether a wildcard taken from another player stays wild; otherwise it has its face value only."""
        return False

    def judge(self, claim: Claim) -> Judged:
        """Say whether a sound hand wins; nothing is said where no indicator is given."""
        return Judged() if claim.indicator is None else super().judge(claim)

    def readings(self, claim: Claim) -> Iterator[Decomposition]:
        """Yield every reading of the complete hand, those with fewer substitutions first."""
        if claim.indicator is None or not claim.indicator.is_kind:
            return iter(())
        how = self.how(claim)
        hand = Hand(claim.concealed, claim.melds, claim.win)
        return self.decompositions(hand, claim.indicator, claimed=how is not None and how.claimed)

    def decompositions(
        self, hand: Hand, indicator: Tile | None = None, *, claimed: bool = False
    ) -> Iterator[Decomposition]:
        """Yield every reading of a complete hand, those with fewer substitutions first.

        `claimed`: the winning tile is another player's. Without `wild_fifth_copy` readings with a fifth copy
        are left out.

        Raises:
            EngineError: tiles that cannot be part of a set, five of a kind, or no indicator.
        """
        flipped = known(indicator)
        counts, wilds = self.split(hand, flipped, claimed=claimed)
        return self.fitting(decompositions(counts, wilds, self.wild_of(flipped), hand.melds))

    def fitting(self, found: Iterator[Decomposition]) -> Iterator[Decomposition]:
        """Readings that the option `wild_fifth_copy` allows."""
        return found if self.flag("wild_fifth_copy") else filter(copies_fit, found)

    def split(self, hand: Hand, indicator: Tile, *, claimed: bool = False) -> tuple[list[int], int]:
        """Counts of the natural tiles and number of free wildcards among the concealed and winning tiles.

        Raises:
            EngineError: tiles that cannot be part of a set.
        """
        wild = self.wild_of(indicator)
        counts = counts_of(hand.held)
        at_face = hand.win == wild and claimed and not self.wild_when_claimed()
        wilds = counts[wild] - at_face
        counts[wild] = int(at_face)
        return counts, wilds

    def completes(self, hand: Hand, tile: Tile, indicator: Tile | None = None) -> bool:
        """Whether a self-drawn tile completes the hand; wildcards stand for what is needed.

        Raises:
            EngineError: tiles that cannot be part of a set, five of a kind, or no indicator.
        """
        complete = Hand(hand.concealed, hand.melds, tile)
        counts, wilds = self.split(complete, known(indicator))
        if max(counts) > MAX_COPIES or not wins(counts, wilds):
            return False
        return self.flag("wild_fifth_copy") or any(True for _ in self.decompositions(complete, indicator))

    def every_tile_wins(self, hand: Hand, indicator: Tile) -> bool:
        """Whether every one of the 34 kinds completes the hand (跑搭 of Zhenjiang, 游金 of Xiamen).

        Without `wild_fifth_copy` a kind of which the hand has four can never do so.

        Raises:
            EngineError: tiles that cannot be part of a set, or five of a kind.
        """
        if self.wild_of(indicator) not in hand.concealed:
            return False
        before = Hand(hand.concealed, hand.melds)
        counts, wilds = self.split(before, indicator)
        if not every_tile_wins(counts, wilds):
            return False
        return self.flag("wild_fifth_copy") or all(
            self.completes(before, kind, indicator) for kind in HAND_KINDS
        )


def known(indicator: Tile | None) -> Tile:
    """Return the indicator.

    Raises:
        EngineError: it is not given.
    """
    if indicator is None:
        raise EngineError("the wildcard is not known; give the flipped tile.")
    return indicator


def copies_fit(reading: Decomposition) -> bool:
    """Whether no wildcard stands for a fifth copy of a kind.

    Of the wildcard's own kind there cannot be too many, or they are those and the proxies of its face.
    """
    kinds = {tile.stands_for for group in reading.groups for tile in group.tiles} - {reading.wild}
    return all(reading.copies(kind) <= MAX_COPIES for kind in kinds)

"""What is true at a simulated table: the wall, the hands, what lies open. The camera double shows it.

The table process knows none of this; it sees the rendered frames and what is tapped.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.claim import Claim, Facts, Seat
from engine.melds import MeldKind
from engine.rulesets import RuleSet
from engine.tiles import HAND_KINDS, Tile
from engine.wall import DealPlan, Slot, ring_index
from station.demo.players import LaidOpen, Round, Style

STYLES = (Style.PLAIN, Style.BLUFF, Style.PLAIN, Style.SLEEPY, Style.BLUFF, Style.PLAIN)
"""Temperament of successive hands; tables start at different points, so that every run has all kinds."""


@dataclass(frozen=True, slots=True)
class Dealt:
    """The tiles of one hand after the deal: 13 each, 14 for the dealer; seats from 0 = dealer."""

    hands: tuple[tuple[Tile, ...], ...]
    indicator: Tile
    wall: tuple[Tile, ...]


def shuffled(seed: str) -> list[Tile]:
    """Return the 136 tiles in the order of a seeded shuffle (``seed``: any text)."""
    tiles = [tile for tile in HAND_KINDS for _ in range(4)]
    random.Random(seed).shuffle(tiles)  # noqa: S311 (a reproducible game, no secret)
    return tiles


def deal(shuffle: Sequence[Tile], plan: DealPlan) -> Dealt:
    """Deal from the walls by the plan.

    Args:
        shuffle: the tiles of the walls by ring index, upper tile of a stack first.
        plan: of the rule set, for the dice thrown.
    """
    walls, stacks = len(plan.stacks), plan.stacks[0]

    def tile(slot: Slot) -> Tile:
        return shuffle[2 * ring_index(walls, stacks, slot.wall, slot.stack) + (not slot.upper)]

    order = [tile(plan.slot(position)) for position in range(len(shuffle))]
    hands: list[list[Tile]] = [[] for _ in plan.tiles]
    taken: set[int] = set()
    for take in plan.takes:
        hands[take.seat] += [order[position] for position in take.positions]
        taken.update(take.positions)
    left = [position for position in range(len(order)) if position not in taken]
    flipped = next(p for p in left if plan.slot(p) == plan.indicator)
    wall = tuple(order[p] for p in left if p != flipped)
    return Dealt(tuple(tuple(hand) for hand in hands), order[flipped], wall)


class Hand:
    """One hand of the demo as it truly is."""

    def __init__(self, rules: RuleSet, seed: str, style: Style, dice: Sequence[int]) -> None:
        self.dealt = deal(shuffled(f"{seed}/wall"), rules.deal_plan(dice))
        self.wild = rules.wild_of(self.dealt.indicator)
        rng = random.Random(f"{seed}/play")  # noqa: S311 (a reproducible game, no secret)
        self._round = Round(self.dealt.hands, self.dealt.wall, self.wild, style, rng)
        self._claims: Iterator[LaidOpen] = self._round.claims()
        self.called = False
        """Whether the players called the referee because the wall is empty."""

    def next_claim(self) -> LaidOpen | None:
        """Play on to the next claim; None when the wall is exhausted."""
        return next(self._claims, None)

    def bar(self, seat: Seat) -> None:
        """After a false win this seat may not win this hand."""
        self._round.barred.add(seat)

    def claim(self, laid: LaidOpen, chips: tuple[int, ...] | None) -> Claim:
        """Return the true claim of what was laid open (``chips`` by seat)."""
        return Claim(
            indicator=self.dealt.indicator,
            concealed=laid.concealed,
            melds=laid.melds,
            win=laid.win,
            how=laid.how,
            winner=laid.seat,
            discarder=laid.source,
            facts=Facts(da=laid.da) if laid.da else Facts(),
            chips=chips,
        )


def shown(laid: LaidOpen) -> list[tuple[str, Tile]]:
    """Return the tiles as they lie on the table with their group, in the order of the table's claim."""
    tiles = [("concealed", tile) for tile in laid.concealed] + [("win", laid.win)]
    for number, meld in enumerate(laid.melds):
        faces = list(meld.tiles)
        if meld.kind is MeldKind.CONCEALED_KONG:
            faces = [Tile.BACK, faces[0], faces[0], Tile.BACK]
        tiles += [(f"meld:{number}", face) for face in faces]
    return tiles

"""What is true at a simulated table: the wall, the hands, what lies open. The camera double shows it.

The table process knows none of this; it sees the rendered frames and what is tapped.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence

from engine.claim import Claim, Seat
from engine.rulesets import RuleSet
from engine.tiles import Tile
from station.demo.laid import LaidOpen
from station.demo.moves import Style
from station.demo.play import tactics_of
from station.demo.players import Round
from station.demo.wall import Wall, shuffled

STYLES = (Style.PLAIN, Style.BLUFF, Style.PLAIN, Style.SLEEPY, Style.BLUFF, Style.PLAIN)
"""Temperament of successive hands; tables start at different points, so that every run has all kinds."""


class Hand:
    """One hand of the demo as it truly is: dealt, with its flowers replaced.

    Args:
        seed: any text. dice: of the break, one throw or two.
        streak, circle: of the match, where the rule set asks for them.
    """

    def __init__(
        self,
        rules: RuleSet,
        seed: str,
        style: Style,
        dice: Sequence[int],
        *,
        streak: int = 0,
        circle: int = 1,
    ) -> None:
        self._rules = rules
        self._plan = rules.deal_plan(dice)
        self.wall = Wall(shuffled(rules.tile_set, f"{seed}/wall"), self._plan, rules.data.deal.dead)
        rng = random.Random(f"{seed}/play")  # noqa: S311 (a reproducible game, no secret)
        self.round = Round(rules, self.wall, style, rng, tactics_of(rules), streak=streak, circle=circle)
        self.round.replace_flowers()
        self.round.open(self.wall.flip())
        self._claims: Iterator[LaidOpen] = self.round.claims()
        self.called = False
        """Whether the players called the referee because the wall is empty."""

    @property
    def indicator(self) -> Tile | None:
        """The tile that is turned up; None where none is, or not yet."""
        return self.round.indicator

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The seats of the players."""
        return tuple(player.seat for player in self.round.players)

    def turn_up(self, dice: Sequence[int]) -> None:
        """Turn up the tile that dice find, counted from the end of the wall; flowers are passed over."""
        for passed_over in itertools.count():
            slot = self._rules.indicator_slot(
                self._plan, dice, replaced=self.wall.replaced, passed_over=passed_over
            )
            assert slot is not None
            tile = self.wall.turn_up(slot)
            if not tile.is_flower:
                self.round.open(tile)
                return

    def next_claim(self) -> LaidOpen | None:
        """Play on to the next claim; None when the wall is exhausted."""
        return next(self._claims, None)

    def exhausted(self) -> LaidOpen | None:
        """What lies open when the wall is exhausted, where that is settled; None where nothing is."""
        return self.round.exhausted()

    def bar(self, seat: Seat) -> None:
        """After a false win this seat may not win this hand."""
        self.round.barred.add(seat)

    def claim(self, laid: LaidOpen, chips: tuple[int, ...] | None = None) -> Claim:
        """Return the true claim of what was laid open (``chips`` by seat)."""
        return laid.claim(self._rules, self.indicator, chips)

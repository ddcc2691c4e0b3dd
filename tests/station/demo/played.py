"""Rule sets that the demo plays, and hands of theirs."""

import pytest

from engine import rulesets
from station.demo.moves import Style
from station.demo.world import Hand
from tests.engine.extras import marks

RULESETS = [pytest.param(name, marks=marks(name)) for name in rulesets.ids()]


def new_hand(name, seed, style=Style.PLAIN, number=0):
    """Return a hand ready to be played, its indicator turned up."""
    rules = rulesets.load(name)
    dice = [1 + (number + die) % 6 for die in range(2 * rules.dice_throws)]
    hand = Hand(rules, f"{seed}/{number}", style, dice, streak=number % 3, circle=1 + number % 4)
    if rules.data.deal.indicators and hand.indicator is None:
        hand.turn_up((1 + number % 6, 1 + number % 5))
    return rules, hand


def everything(hand):
    """Return all tiles that lie anywhere: hands, melds, spread tiles, flowers, discards, walls."""
    table = hand.round
    found = [*table.lying, *hand.wall.tiles]
    for player in table.players:
        melds = [tile for meld in player.melds for tile in meld.tiles]
        spread = [tile for group in player.spread for tile in group]
        found += [*player.tiles, *player.flowers, *melds, *spread]
    if hand.indicator is not None and hand.wall.turned is None:
        found.append(hand.indicator)
    return found


def claims(hand):
    """Yield every claim of a hand, each one turned down."""
    while (laid := hand.next_claim()) is not None:
        yield laid

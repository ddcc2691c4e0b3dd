from __future__ import annotations

import pytest

from engine import rulesets
from engine.tiles import HAND_KINDS
from engine.verdict import Outcome
from station.demo.players import Style
from station.demo.world import Hand, deal, shuffled

RULES = rulesets.load("zhenjiang")


def test_a_deal_hands_out_every_tile_once() -> None:
    dealt = deal(shuffled("seed"), RULES.deal_plan((3, 4)))
    tiles = [*(t for hand in dealt.hands for t in hand), dealt.indicator, *dealt.wall]
    assert sorted(tiles) == sorted(t for t in HAND_KINDS for _ in range(4))
    assert [len(hand) for hand in dealt.hands] == [14, 13, 13, 13]
    assert len(dealt.wall) == 82


def test_a_game_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    first, again, other = (Hand(RULES, seed, Style.PLAIN, (3, 4)) for seed in ("a", "a", "b"))
    assert first.dealt == again.dealt
    assert first.dealt != other.dealt
    assert first.next_claim() == again.next_claim()


@pytest.mark.parametrize("style", Style)
def test_the_players_claims_are_what_the_rules_say(style: Style) -> None:
    """Claims win, but for the one of a bluff; sleepy players end at an empty wall."""
    for number in range(12):
        hand = Hand(RULES, f"{style}{number}", style, (1 + number % 6, 3))
        outcomes = []
        while (laid := hand.next_claim()) is not None:
            outcomes.append(RULES.check(hand.claim(laid, (50, 50, 50, 50))).outcome)
            if outcomes[-1] is Outcome.WIN:
                break
        if style is Style.SLEEPY:
            assert outcomes == []
        else:
            losing = [o for o in outcomes if o is not Outcome.WIN]
            assert losing == ([Outcome.NO_WIN] * len(losing) if style is Style.BLUFF else [])


def test_a_barred_player_claims_no_more() -> None:
    for number in range(20):
        hand = Hand(RULES, f"bar{number}", Style.BLUFF, (2, 2))
        first = hand.next_claim()
        assert first is not None
        hand.bar(first.seat)
        while (laid := hand.next_claim()) is not None:
            assert laid.seat != first.seat

"""Simulated players of every rule set: what they hold, claim and lay open is what the rules say."""

from collections import Counter
from itertools import islice

import pytest

from engine.melds import MeldKind
from engine.verdict import Outcome
from station.demo.moves import Style, Way
from tests.station.demo.played import RULESETS, claims, everything, new_hand

HANDS = 8
every_rule_set = pytest.mark.parametrize("name", RULESETS)


@every_rule_set
def test_a_deal_hands_out_every_tile_once(name):
    rules, hand = new_hand(name, "deal")
    dealt = Counter(everything(hand))
    assert dealt == Counter({tile: rules.tile_set.counts[tile] for tile in rules.tile_set.kinds})
    extra = [int(seat == 0) for seat in hand.seats]
    assert [len(player.tiles) - rules.hand_size for player in hand.round.players] == extra


@every_rule_set
def test_dealt_flowers_are_replaced_before_play(name):
    for number in range(HANDS):
        _, hand = new_hand(name, "flowers", number=number)
        laid = sum(len(player.flowers) for player in hand.round.players)
        assert hand.wall.replaced == laid
        assert not any(tile.is_flower for player in hand.round.players for tile in player.tiles)


@every_rule_set
def test_a_game_is_the_same_for_the_same_seed_and_another_for_another(name):
    first, again, other = (new_hand(name, seed)[1] for seed in ("a", "a", "b"))
    assert everything(first) == everything(again) != everything(other)
    assert first.next_claim() == again.next_claim()


@every_rule_set
def test_no_tile_gets_lost_or_doubled(name):
    """While somebody claims, at most the tile he claims with is in nobody's hands."""
    for number, style in enumerate((*Style, *Style)):
        rules, hand = new_hand(name, "kept", style, number)
        whole = Counter({tile: rules.tile_set.counts[tile] for tile in rules.tile_set.kinds})
        for _ in islice(claims(hand), 4):
            lying = Counter(everything(hand))
            assert lying <= whole
            assert lying.total() >= whole.total() - 1
        while hand.next_claim() is not None:
            pass
        assert Counter(everything(hand)) == whole


@every_rule_set
def test_everybody_has_as_many_tiles_as_his_melds_say(name):
    for number in range(HANDS):
        rules, hand = new_hand(name, "sizes", number=number)
        laid = hand.next_claim()
        if laid is None or laid.facts.get("rob"):
            continue
        for player in hand.round.players:
            sets = len(player.melds) + sum(len(set(group)) > 2 for group in player.spread)
            assert len(player.tiles) == rules.hand_size - 3 * sets


@every_rule_set
@pytest.mark.parametrize("style", Style)
def test_the_players_claims_are_what_the_rules_say(name, style):
    """Claims win, but for the one of a bluff; sleepy players end at an empty wall."""
    for number in range(HANDS):
        rules, hand = new_hand(name, style, style, number)
        outcomes = []
        for laid in claims(hand):
            outcomes.append(rules.check(hand.claim(laid)).outcome)
            if outcomes[-1] is Outcome.WIN:
                break
        if style is Style.SLEEPY:
            assert outcomes == []
        losing = [outcome for outcome in outcomes if outcome is not Outcome.WIN]
        assert losing == [Outcome.NO_WIN] * len(losing)
        assert len(losing) <= (style is Style.BLUFF)


@every_rule_set
def test_some_hands_are_won_and_some_bluffs_made(name):
    won = bluffed = 0
    for number in range(HANDS):
        rules, hand = new_hand(name, "won", Style.BLUFF, number)
        verdicts = [rules.check(hand.claim(laid)).outcome for laid in islice(claims(hand), 2)]
        won += Outcome.WIN in verdicts
        bluffed += Outcome.NO_WIN in verdicts
    assert won >= 3
    assert bluffed >= 3


@every_rule_set
def test_a_barred_player_claims_no_more(name):
    for number in range(HANDS):
        _, hand = new_hand(name, "bar", Style.BLUFF, number)
        first = hand.next_claim()
        if first is None:
            continue
        hand.bar(first.seat)
        assert all(laid.seat != first.seat for laid in claims(hand))


@every_rule_set
def test_melds_are_those_that_the_rule_set_knows(name):
    for number in range(HANDS):
        rules, hand = new_hand(name, "melds", Style.PLAIN, number)
        list(claims(hand))
        for player in hand.round.players:
            for meld in player.melds:
                assert meld.kind in rules.data.melds
                assert rules.bounds(hand.claim(_claim_of(hand, player))).meld_fits(meld)
                if meld.kind is MeldKind.CHOW:
                    assert "chow" in rules.data.calls


def _claim_of(hand, player):
    """Return a claim that has this player's melds."""
    how = next(iter(hand.round.rules.data.hows))
    return hand.round.laid_open(player, Way(how, tuple(player.tiles), None), None)


@every_rule_set
def test_a_hand_ends_when_nothing_more_may_be_drawn(name):
    for number in range(3):
        rules, hand = new_hand(name, "end", Style.SLEEPY, number)
        assert hand.next_claim() is None
        assert hand.wall.live == 0
        flowers = sum(tile.is_flower for tile in hand.wall.tiles)
        turned = int(hand.wall.turned is not None)
        assert len(hand.wall.tiles) - turned - flowers <= rules.data.deal.dead <= len(hand.wall.tiles)

"""Every hand of one suit, 14 tiles with 0 to 4 wildcards among them, against an independent check."""

from functools import lru_cache

import numpy as np
import pytest
from mahjong.agari import Agari

from engine import batch
from engine.tiles import KINDS
from engine.wincheck import wins
from tests.engine.proof.literal import DIGIT, SUIT, suit_key

RANKS = 9
HANDS = (118_800, 93_600, 69_675, 48_879, 32_211)
WINNERS = (13_259, 40_746, 54_637, 46_848, 32_135)
ONE_MORE = [DIGIT**rank for rank in range(RANKS)]


@lru_cache
def multisets(tiles, ranks=RANKS):
    """Every way to have so many tiles of a suit, at most four of each."""
    if ranks == 0:
        return [()] if tiles == 0 else []
    return [(n, *rest) for n in range(min(4, tiles) + 1) for rest in multisets(tiles - n, ranks - 1)]


class Substituted(dict):
    """Key of a suit → whether it wins with one more wildcard than `before` knows.

    Wildcards need not leave the suit: a group of nothing but wildcards may be of any kind.
    """

    def __init__(self, before):
        super().__init__()
        self.before = before

    def __missing__(self, key):
        self[key] = answer = any(self.before[key + one] for one in ONE_MORE)
        return answer


class Natural(dict):
    def __missing__(self, key):
        self[key] = answer = SUIT[key] == 2
        return answer


@lru_cache
def substituted(wilds):
    return Natural() if wilds == 0 else Substituted(substituted(wilds - 1))


@pytest.mark.slow
@pytest.mark.parametrize("wilds", range(5))
def test_every_hand_of_a_single_suit_agrees(wilds):
    suits = multisets(14 - wilds)
    literal = [substituted(wilds)[suit_key(suit)] for suit in suits]
    assert (sum(literal), len(suits)) == (WINNERS[wilds], HANDS[wilds])
    for first in (0, 9, 18):
        hands = np.zeros((len(suits), KINDS), np.uint8)
        hands[:, first : first + RANKS] = suits
        assert batch.wins(hands, wilds).tolist() == literal
    for nth, (suit, answer) in enumerate(zip(suits, literal, strict=True)):
        before = nth % 3 * RANKS
        assert wins([0] * before + list(suit) + [0] * (KINDS - RANKS - before), wilds) == answer


@pytest.mark.slow
def test_with_seven_pairs_the_library_counts_the_published_13_277_hands():
    suits = multisets(14)
    hands = [list(suit) + [0] * (KINDS - RANKS) for suit in suits]
    standard = batch.wins(hands)
    pairs = np.array([hand.count(2) == 7 for hand in hands])
    assert (standard.sum(), (pairs & ~standard).sum()) == (13_259, 18)
    theirs = [Agari.is_agari(hand) for hand in hands]
    assert sum(theirs) == 13_277
    assert (standard | pairs).tolist() == theirs

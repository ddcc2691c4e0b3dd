"""The win check against literal substitution of the wildcards, and against another library without them.

Engine design, section 3. Every answer is asked of all three doors: counts, tile ids, and the numpy batch.
"""

import random

import pytest
from mahjong.agari import Agari

from engine import batch
from engine.tiles import Tile
from engine.wincheck import WinChecker, wins
from tests.engine.proof.literal import KINDS, random_hand, wins_literally

SIZES = (14, 17)
SMALL_SIZES = (2, 5, 8, 11)


def compare(seed, sizes, wild_counts, number):
    """Compare `number` random hands; none of the answers may be rare."""
    rng = random.Random(seed)
    hands, counts_of_wilds, answers = [], [], []
    for _ in range(number):
        wilds = rng.choice(wild_counts)
        hand = random_hand(rng, rng.choice(sizes), wilds)
        answer = wins_literally(hand, wilds)
        assert wins(hand, wilds) == answer, (hand, wilds)
        hands.append(hand)
        counts_of_wilds.append(wilds)
        answers.append(answer)
    assert batch.wins(hands, counts_of_wilds).tolist() == answers
    assert number * 0.1 < sum(answers) < number * 0.95


def test_small_hands_agree_with_literal_substitution():
    compare(1, SMALL_SIZES, (0, 1, 2), 2_000)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_50_000_hands_with_up_to_two_wildcards_agree(part):
    compare(100 + part, SIZES, (0, 1, 2), 10_000)


@pytest.mark.slow
def test_1_000_hands_with_three_wildcards_agree():
    compare(3, SIZES, (3,), 1_000)


@pytest.mark.slow
def test_100_hands_with_four_wildcards_agree():
    compare(4, SIZES, (4,), 100)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(10))
def test_500_000_hands_with_up_to_two_wildcards_agree(part):
    compare(200 + part, SIZES, (0, 1, 2), 50_000)


@pytest.mark.soak
def test_10_000_hands_with_three_wildcards_agree():
    compare(5, SIZES, (3,), 10_000)


@pytest.mark.soak
def test_1_000_hands_with_four_wildcards_agree():
    compare(6, SIZES, (4,), 1_000)


@pytest.mark.parametrize("wild", [Tile.M1, Tile.P6, Tile.S9, Tile.EAST, Tile.RED])
def test_tile_ids_with_their_wildcards_agree(wild):
    rng = random.Random(wild)
    checker = WinChecker(wild)
    for _ in range(300):
        wilds = rng.choice((0, 1, 1, 2))
        hand = random_hand(rng, rng.choice(SIZES), wilds)
        if hand[wild]:
            continue
        tiles = [kind for kind in range(KINDS) for _ in range(hand[kind])] + [wild] * wilds
        rng.shuffle(tiles)
        assert checker.wins_unchecked(tiles) == wins_literally(hand, wilds)


ORPHANS = (0, 8, 9, 17, 18, 26, *range(27, 34))


def special(hand):
    """The two shapes besides sets and a pair that the library knows."""
    return hand.count(2) == 7 or min(hand[kind] for kind in ORPHANS) > 0


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_100_000_hands_without_wildcards_agree_with_the_mahjong_library(part):
    rng = random.Random(300 + part)
    checker = WinChecker().wins_unchecked
    hands = []
    while len(hands) < 20_000:
        hand = random_hand(rng, 14, 0)
        if not special(hand):
            hands.append(hand)
    theirs = [Agari.is_agari(hand) for hand in hands]
    assert 0.1 < sum(theirs) / len(theirs) < 0.9
    assert batch.wins(hands).tolist() == theirs
    tiles = ([kind for kind in range(KINDS) for _ in range(hand[kind])] for hand in hands)
    assert [checker(hand) for hand in tiles] == theirs

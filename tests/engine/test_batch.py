"""The win check for many hands at once gives the answers of the one for a single hand."""

import random

import numpy as np
import pytest

from engine import batch, wincheck
from engine.tiles import KINDS, Tile
from engine.wincheck import CountsError
from tests.engine.proof.literal import random_hand


def random_hands(seed, number):
    rng = random.Random(seed)
    wilds = [rng.randrange(5) for _ in range(number)]
    return [random_hand(rng, rng.choice((5, 13, 14, 17)), w) for w in wilds], wilds


def test_wins_and_deficiency_are_those_of_single_hands():
    hands, wilds = random_hands(1, 4_000)
    expected = [wincheck.wins(hand, w) for hand, w in zip(hands, wilds, strict=True)]
    assert 0.1 < sum(expected) / len(expected) < 0.9
    assert batch.wins(hands, wilds).tolist() == expected
    assert batch.deficiency(hands).tolist() == [wincheck.deficiency(hand) for hand in hands]


def test_one_number_of_wildcards_serves_all_hands():
    hands, _ = random_hands(2, 500)
    for wilds in range(4):
        assert batch.wins(hands, wilds).tolist() == [wincheck.wins(hand, wilds) for hand in hands]
    assert not batch.wins(hands).all()


def test_more_hands_than_one_chunk():
    hands = np.array(random_hands(3, 300)[0], np.uint8)
    many = np.tile(hands, (batch.CHUNK // 100, 1))
    assert (batch.wins(many, 2) == np.tile(batch.wins(hands, 2), batch.CHUNK // 100)).all()


def test_no_hands_are_no_answers():
    none = np.empty((0, KINDS), np.uint8)
    assert (
        batch.wins(none).shape
        == batch.wins(none, np.empty(0, int)).shape
        == batch.deficiency(none).shape
        == (0,)
    )


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64])
def test_any_integers_will_do(dtype):
    hand = np.zeros((1, KINDS), dtype)
    hand[0, Tile.EAST] = 2
    assert batch.wins(hand).tolist() == [True]


@pytest.mark.parametrize(("count", "dtype"), [(5, np.uint8), (-1, np.int8), (256, np.int64)])
def test_counts_that_no_hand_has_are_refused_by_row_and_tile(count, dtype):
    hands = np.zeros((3, KINDS), dtype)
    hands[1, Tile.S7] = count
    for check in (batch.wins, batch.deficiency):
        with pytest.raises(CountsError, match=rf"row 1: .* {count} of 7s") as caught:
            check(hands)
        assert caught.value.tile is Tile.S7


@pytest.mark.parametrize("hands", [np.zeros(KINDS, int), np.zeros((2, 33), int), np.zeros((2, KINDS))])
def test_other_shapes_and_fractions_are_refused(hands):
    with pytest.raises(CountsError, match=r"\(N, 34\)"):
        batch.wins(hands)


@pytest.mark.parametrize("wilds", [-1, 137, [0], [0, 1, 2], 0.5, [[0, 0]]])
def test_wildcards_that_do_not_fit_are_refused(wilds):
    with pytest.raises(CountsError, match="wildcards"):
        batch.wins(np.zeros((2, KINDS), int), wilds)

"""Exact numbers of winning hands, counted over the very tables of the win check (engine design §3)."""

import sys
from collections import Counter
from functools import lru_cache, reduce
from itertools import combinations
from math import comb

import pytest

from engine.wincheck import wins
from engine.wintable import FLAG, HEAD_RANKS, HONOURS, NEED_OF_SUM, TAIL_RANKS, honour_row, suit_rows

WINNERS = {
    14: (11_498_658, 55_386_588, 118_319_049, 151_127_361, 130_788_695),
    17: (118_856_487, 666_679_947, 1_704_799_909, 2_682_863_385, 2_947_424_487),
}
PHYSICAL = {14: 11_353_128_141_498, 17: 1_554_490_175_889_888}
SINGLE_SUIT = ((13_259, 118_800), (40_746, 93_600), (54_637, 69_675), (46_848, 48_879), (32_135, 32_211))
MOST = 17


@lru_cache
def keys(ranks, weigh):
    """For each key: number of tiles and weight (1, or how many ways to pick the copies)."""
    entries = [(0, 1)]
    for _ in range(ranks):
        entries = [(n + c, w * (comb(4, c) if weigh else 1)) for n, w in entries for c in range(5)]
    return entries


def suit_polynomial(weigh):
    """(tiles, table byte) → number of suits."""
    by_row = {}
    for row, (tiles, weight) in zip(suit_rows(), keys(HEAD_RANKS, weigh), strict=True):
        by_row.setdefault(row, Counter())[tiles] += weight
    result = Counter()
    for row, heads in by_row.items():
        tails = Counter()
        for byte, (tiles, weight) in zip(row, keys(TAIL_RANKS, weigh), strict=True):
            tails[tiles, byte] += weight
        for head_tiles, head_weight in heads.items():
            for (tiles, byte), weight in tails.items():
                if head_tiles + tiles <= MOST:
                    result[head_tiles + tiles, byte] += head_weight * weight
    return result


def honour_polynomial(weigh):
    result = Counter()
    for byte, (tiles, weight) in zip(honour_row(), keys(HONOURS, weigh), strict=True):
        if tiles <= MOST:
            result[tiles, byte] += weight
    return result


def times(one, other):
    """Put two suits together; several flags say no more than one."""
    result = Counter()
    for (tiles, byte), weight in one.items():
        for (more, added), ways in other.items():
            if tiles + more <= MOST:
                total = (byte % FLAG + added % FLAG) | ((byte | added) & FLAG)
                result[tiles + more, total] += weight * ways
    return result


@lru_cache
def hands(weigh):
    suit = suit_polynomial(weigh)
    return reduce(times, [suit, suit, suit, honour_polynomial(weigh)])


def winners(polynomial, tiles, wilds):
    return sum(
        weight
        for (real, byte), weight in polynomial.items()
        if real == tiles - wilds and NEED_OF_SUM[byte] <= wilds
    )


def multisets(polynomial, tiles):
    return sum(weight for (real, _), weight in polynomial.items() if real == tiles)


@pytest.mark.parametrize("tiles", [14, 17])
@pytest.mark.parametrize("wilds", range(5))
def test_number_of_winning_hands(tiles, wilds):
    assert winners(hands(False), tiles, wilds) == WINNERS[tiles][wilds]


@pytest.mark.parametrize("tiles", [14, 17])
def test_number_of_winning_hands_of_physical_tiles(tiles):
    assert winners(hands(True), tiles, 0) == PHYSICAL[tiles]


@pytest.mark.parametrize("wilds", range(5))
def test_number_of_winners_in_a_single_suit(wilds):
    suit = suit_polynomial(False)
    assert (winners(suit, 14, wilds), multisets(suit, 14 - wilds)) == SINGLE_SUIT[wilds]


def test_nine_wildcards_always_win_and_eight_do_not():
    assert winners(hands(False), 14, 9) == multisets(hands(False), 5)
    assert winners(hands(False), 14, 8) < multisets(hands(False), 6)


def test_the_tables_take_less_than_half_a_megabyte():
    rows = {id(row): row for row in suit_rows()}
    assert len(rows) == 239
    assert sum(map(sys.getsizeof, [*rows.values(), suit_rows(), honour_row()])) < 500_000


def test_seven_pairs_make_13_277_winners_in_a_single_suit():
    pairs = [tuple(2 * (rank not in left_out) for rank in range(9)) for left_out in combinations(range(9), 2)]
    more = [suit for suit in pairs if not wins([*suit, *[0] * 25])]
    assert (len(pairs), len(more), SINGLE_SUIT[0][0] + len(more)) == (36, 18, 13_277)

"""The win check against literal substitution, another library, and on hands other engines got wrong."""

import random
from itertools import combinations_with_replacement

import pytest
from mahjong.agari import Agari

from engine.notation import parse_tiles
from engine.tiles import KINDS, Tile
from engine.wincheck import (
    CountsError,
    WinChecker,
    counts_of,
    deficiency,
    every_tile_wins,
    sets_deficiency,
    wins,
)


def counts(text):
    return counts_of(parse_tiles(text))


# --- an independent answer: replace the wildcards by every multiset of kinds, then take sets away one by one

DIGIT = 16
ADD = [[DIGIT ** (kind % 9) if kind // 9 == suit else 0 for suit in range(4)] for kind in range(KINDS)]


class SuitAnswers(dict):
    """Key of a suit (hexadecimal digits = counts) → 1 when it is sets, 2 sets and a pair, 0 neither."""

    def __init__(self, runs):
        super().__init__()
        self.runs = runs

    def __missing__(self, key):
        self[key] = answer = self.split(key)
        return answer

    def split(self, key):
        if key == 0:
            return 1
        rank = next(r for r in range(9) if key // DIGIT**r % DIGIT)
        one = DIGIT**rank
        have = key // one % DIGIT
        answers = set()
        if have >= 3:
            answers.add(self[key - 3 * one])
        if have >= 2 and self[key - 2 * one] == 1:
            answers.add(2)
        if self.runs and rank <= 6 and key // (one * DIGIT) % DIGIT and key // (one * DIGIT**2) % DIGIT:
            answers.add(self[key - one * (1 + DIGIT + DIGIT**2)])
        assert not {1, 2} <= answers  # the number of tiles tells sets from sets and a pair
        return max(answers, default=0)


SUIT, HONOURS = SuitAnswers(runs=True), SuitAnswers(runs=False)
SUBSTITUTES = {
    n: [
        tuple(sum(ADD[kind][suit] for kind in kinds) for suit in range(4))
        for kinds in combinations_with_replacement(range(KINDS), n)
    ]
    for n in range(5)
}


def wins_literally(hand, wilds):
    m, p, s, z = (sum(n * ADD[kind][suit] for kind, n in enumerate(hand)) for suit in range(4))
    suit, honours = SUIT, HONOURS
    for dm, dp, ds, dz in SUBSTITUTES[wilds]:
        if suit[m + dm] * suit[p + dp] * suit[s + ds] * honours[z + dz] == 2:
            return True
    return False


def random_hand(rng, size, wilds):
    """Half the hands are one or no tile away from a win, half are random over few kinds."""
    while True:
        hand = [0] * KINDS
        if rng.random() < 0.5:
            for _ in range(size // 3):
                first = rng.randrange(KINDS)
                step = 1 if first < 27 and first % 9 < 7 and rng.random() < 0.7 else 0
                for nth in range(3):
                    hand[first + nth * step] += 1
            hand[rng.randrange(KINDS)] += 2
            tiles = [kind for kind in range(KINDS) for _ in range(hand[kind])]
            rng.shuffle(tiles)
            tiles = tiles[: size - wilds]
            if tiles and rng.random() < 0.5:
                tiles[0] = rng.randrange(KINDS)
        else:
            kinds = rng.sample(range(KINDS), rng.randint(6, 14))
            tiles = rng.choices(kinds, k=size - wilds)
        hand = [tiles.count(kind) for kind in range(KINDS)]
        if max(hand) <= 4:
            return hand


def compare(seed, sizes, wild_counts, hands):
    rng = random.Random(seed)
    won = 0
    for _ in range(hands):
        wilds, size = rng.choice(wild_counts), rng.choice(sizes)
        hand = random_hand(rng, size, wilds)
        answer = wins(hand, wilds)
        assert answer == wins_literally(hand, wilds), (hand, wilds)
        won += answer
    assert hands * 0.1 < won < hands * 0.95
    return won


def test_agrees_with_literal_substitution():
    compare(1, (14, 17), (0, 1, 2), 1_000)
    compare(2, (5, 8, 11), (0, 1, 2), 500)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_agrees_with_literal_substitution_on_50_000_hands(part):
    compare(100 + part, (14, 17), (0, 1, 2), 10_000)


@pytest.mark.slow
def test_agrees_with_literal_substitution_of_three_wildcards():
    compare(3, (14, 17), (3,), 1_000)


@pytest.mark.slow
def test_agrees_with_literal_substitution_of_four_wildcards():
    compare(4, (14, 17), (4,), 100)


def multisets(tiles, ranks=9):
    """Every way to have so many tiles of one suit, at most four of each."""
    if ranks == 0:
        return [()] if tiles == 0 else []
    return [(n, *rest) for n in range(min(4, tiles) + 1) for rest in multisets(tiles - n, ranks - 1)]


@pytest.mark.slow
@pytest.mark.parametrize("wilds", [0, 1])
def test_agrees_on_every_hand_of_a_single_suit(wilds):
    for suit in multisets(14 - wilds):
        key = sum(n * DIGIT**rank for rank, n in enumerate(suit))
        literal = any(SUIT[key + add] == 2 for add in ([DIGIT**rank for rank in range(9)] if wilds else [0]))
        assert wins([0] * 9 + list(suit) + [0] * 16, wilds) == literal


def test_fast_checker_agrees_with_the_counts_for_every_wildcard_kind():
    rng = random.Random(5)
    for wild in Tile(rng.randrange(KINDS)), Tile.M1, Tile.S9, Tile.RED:
        checker = WinChecker(wild)
        for _ in range(400):
            hand = random_hand(rng, rng.choice((14, 17)), 0)
            tiles = [kind for kind in range(KINDS) for _ in range(hand[kind])]
            rng.shuffle(tiles)
            wilds, hand[wild] = hand[wild], 0
            assert checker.wins_unchecked(tiles) == wins(hand, wilds)
    assert WinChecker().wins_unchecked(parse_tiles("11122233344455m"))


def test_agrees_with_the_mahjong_library_without_wildcards():
    rng = random.Random(6)
    compared = 0
    while compared < 5_000:
        hand = random_hand(rng, 14, 0)
        if hand.count(2) == 7 or min(hand[k] for k in (0, 8, 9, 17, 18, 26, *range(27, 34))):
            continue  # its two special shapes
        compared += 1
        assert wins(hand) == Agari.is_agari(hand)


# --- hands that other engines got wrong (engine design §4)


def test_wildcards_spent_in_one_suit_are_missing_in_the_next():
    assert deficiency(counts("33334m4p4s1z")) == 6
    assert not wins(counts("33334m4p4s1z"), 5)
    assert wins(counts("33334m4p4s1z"), 6)


@pytest.mark.parametrize(("text", "wilds"), [("12334455677m1z", 2), ("1334455677m1p", 3)])
def test_wins_that_a_library_missed(text, wilds):
    assert wins(counts(text), wilds)
    assert not wins(counts(text), wilds - 1)


def test_four_sets_and_two_single_tiles_do_not_win():
    assert not wins(counts("1z2z"))
    assert not wins(counts("111222333m444p12z"))


def test_many_wildcards():
    assert not wins(counts("147m1z4z7z"), 8)
    assert wins(counts("147m14z"), 9)
    assert wins([0] * KINDS, 2)
    assert wins([0] * KINDS, 14)
    assert not wins([0] * KINDS, 3)


def test_any_number_of_tiles():
    assert wins(counts("11z"))
    assert not wins(counts("12z"))
    assert wins(counts("123456789m123456789p11z"))
    assert wins(counts("1z"), 1)


@pytest.mark.parametrize(
    ("hand", "names"),
    [
        ([5] + [0] * 33, "1m"),
        ([0] * 33 + [5], "7z"),
        ([0, -1] + [0] * 32, "2m"),
        ([0] * 33, "34"),
    ],
)
def test_impossible_counts_are_refused_and_the_tile_named(hand, names):
    for check in (wins, deficiency, sets_deficiency, lambda c: every_tile_wins(c, 1)):
        with pytest.raises(CountsError, match=names):
            check(hand)


def test_flowers_and_unread_tiles_cannot_be_counted():
    for tile in (Tile.SPRING, Tile.BACK, Tile.UNKNOWN):
        with pytest.raises(CountsError) as caught:
            counts_of([Tile.M1, tile])
        assert caught.value.tile is tile


def test_every_tile_wins_is_the_same_as_trying_all_34():
    rng = random.Random(7)
    positive = 0
    for _ in range(3_000):
        wilds = rng.choice((1, 1, 2, 3))
        size = rng.choice((4, 7, 13, 16))
        if rng.random() < 0.6:  # n sets with some tiles replaced by wildcards, and one wildcard
            hand = random_hand(rng, size + 1, 0)
            tiles = [kind for kind in range(KINDS) for _ in range(hand[kind])]
            rng.shuffle(tiles)
            hand = [tiles[: size - wilds].count(kind) for kind in range(KINDS)]
        else:
            hand = random_hand(rng, size, wilds)
        if max(hand) == 4:
            continue
        tried = all(wins([n + (k == kind) for k, n in enumerate(hand)], wilds) for kind in range(KINDS))
        assert every_tile_wins(hand, wilds) == tried
        positive += tried
    assert positive > 50
    assert not every_tile_wins(counts("123456789m111z"), 0)


def test_distance_counts_the_wildcards_in_hand():
    assert deficiency(counts("123m45p"), 0) == 1 + 2 - 0
    assert deficiency(counts("123m45p"), 1) == 2
    assert deficiency(counts("123m45p"), 9) == 0

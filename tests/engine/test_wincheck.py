"""The win check and its relatives: small examples, limits, refusals. The proof is in `proof/`."""

import random

import pytest

from engine.notation import parse_tiles
from engine.tiles import KINDS, Tile
from engine.wincheck import (
    CountsError,
    WinChecker,
    counts_of,
    deficiency,
    every_tile_wins,
    sets_deficiency,
    suit_keys,
    waits,
    wins,
)
from tests.engine.proof.literal import random_hand, wins_literally


def counts(text):
    return counts_of(parse_tiles(text))


def plus(hand, kind):
    return [n + (k == kind) for k, n in enumerate(hand)]


def test_any_number_of_tiles():
    assert wins(counts("11z"))
    assert not wins(counts("12z"))
    assert wins(counts("123456789m123456789p11z"))
    assert wins(counts("1z"), 1)
    assert wins([0] * KINDS, 2)
    assert wins([0] * KINDS, 14)
    assert not wins([0] * KINDS, 3)


def test_a_wrong_number_of_tiles_never_wins():
    assert not wins(counts("123m11z"), 1)
    assert not wins(counts("123m1z"))
    assert not wins([0] * KINDS)


def test_the_fast_checker_knows_its_wildcard():
    assert WinChecker().wins_unchecked(parse_tiles("11122233344455m"))
    assert WinChecker(Tile.RED).wins_unchecked(parse_tiles("12m456m789m11z7p777z"))
    assert not WinChecker(Tile.GREEN).wins_unchecked(parse_tiles("12m456m789m11z7p777z"))


@pytest.mark.parametrize(
    ("text", "natural"),  # 7z is wild
    [
        ("11z", True),
        ("1z7z", False),
        ("12m11z7z", False),
        ("123p77z456s", True),
        ("12m1z77z", False),
        ("123p77z456s111z999m222s", True),
        ("123p77z46s111z999m2222s", False),
    ],
)
def test_the_fast_checker_takes_hands_of_any_size(text, natural):
    assert WinChecker(Tile.RED).wins_unchecked(parse_tiles(text))
    assert WinChecker(Tile.GREEN).wins_unchecked(parse_tiles(text)) == natural


@pytest.mark.parametrize(
    ("hand", "names"),
    [
        ([5] + [0] * 33, "1m"),
        ([0] * 33 + [5], "7z"),
        ([0, -1] + [0] * 32, "2m"),
        ([0] * 33, "34"),
    ],
)
@pytest.mark.parametrize(
    "check",
    [wins, deficiency, sets_deficiency, waits, suit_keys, lambda hand: every_tile_wins(hand, 1)],
    ids=["wins", "deficiency", "sets_deficiency", "waits", "suit_keys", "every_tile_wins"],
)
def test_impossible_counts_are_refused_and_the_tile_named(check, hand, names):
    with pytest.raises(CountsError, match=names):
        check(hand)


def test_flowers_and_unread_tiles_cannot_be_counted():
    for tile in (Tile.SPRING, Tile.BACK, Tile.UNKNOWN):
        with pytest.raises(CountsError) as caught:
            counts_of([Tile.M1, tile])
        assert caught.value.tile is tile


def test_keys_of_the_suits_put_the_lowest_rank_first():
    assert suit_keys(counts("1m9p5s7z")) == (5**8, 1, 5**4, 1)
    assert suit_keys(counts("4444m1z")) == (4 * 5**5, 0, 0, 5**6)


def test_every_tile_wins_is_the_same_as_trying_all_34():
    rng = random.Random(7)
    positive = 0
    for _ in range(2_000):
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
        tried = all(wins(plus(hand, kind), wilds) for kind in range(KINDS))
        assert every_tile_wins(hand, wilds) == tried
        positive += tried
    assert positive > 50
    assert not every_tile_wins(counts("123456789m111z"), 0)
    assert not every_tile_wins(counts("123456789m11z"), 1)


def test_distance_counts_the_wildcards_in_hand():
    assert deficiency(counts("123m45p"), 0) == 1 + 2 - 0
    assert deficiency(counts("123m45p"), 1) == 2
    assert deficiency(counts("123m45p"), 9) == 0
    assert sets_deficiency(counts("123m45p")) == 1


@pytest.mark.parametrize(
    ("seed", "check", "wild_counts", "number"),
    [
        (8, wins, (0, 0, 1, 2, 4), 2_000),
        (9, wins_literally, (0, 0, 1), 400),
    ],
    ids=["wins", "literally"],
)
def test_waits_are_the_tiles_that_win_when_tried_one_by_one(seed, check, wild_counts, number):
    rng = random.Random(seed)
    numbers = set()
    for _ in range(number):
        wilds = rng.choice(wild_counts)
        size = rng.choice((4, 13, 16))
        hand = random_hand(rng, size, wilds)
        if rng.random() < 0.7:
            hand = random_hand(rng, size + 1, wilds)
            hand[rng.choice([kind for kind in range(KINDS) if hand[kind]])] -= 1
        tried = [kind for kind in range(KINDS) if hand[kind] < 4 and check(plus(hand, kind), wilds)]
        assert waits(hand, wilds) == tuple(tried)
        numbers.add(len(tried))
    assert {0, 1, 2, 3} <= numbers
    assert max(numbers) > 25


def test_a_drawn_wildcard_completes_every_waiting_hand():
    hand = counts("12m456m1z")
    assert waits(hand, 1) == (Tile.M3, Tile.EAST)
    assert waits(hand, 1, Tile.P1) == (Tile.M3, Tile.P1, Tile.EAST)
    assert waits(hand, 1, Tile.M3) == (Tile.M3, Tile.EAST)
    assert waits(counts("147m147p147s123z"), 1, Tile.P1) == ()


def test_a_fifth_wildcard_cannot_come():
    assert Tile.P1 in waits(counts("12m456m11z"), 3, Tile.P1)
    assert Tile.P1 not in waits(counts("1m456m11z"), 4, Tile.P1)
    assert Tile.P1 not in waits(counts("12m456m1p1z"), 3, Tile.P1)
    assert Tile.M3 in waits(counts("12m456m1p1z"), 3, Tile.P1)


def test_waits_of_a_hand_that_is_no_tile_short_are_none():
    assert waits(counts("11z")) == ()
    assert waits(counts("123m11z")) == ()
    assert waits([0] * KINDS) == ()

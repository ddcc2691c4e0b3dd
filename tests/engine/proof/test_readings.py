"""All readings of a hand and no others: against two enumerations that know nothing of the engine."""

import random

import pytest

from engine.decompose import GroupKind, decompositions
from engine.tiles import KINDS, Tile
from engine.wincheck import counts_of
from tests.engine.proof.literal import near_win
from tests.engine.proof.readings import all_readings, groups, slow_readings

CHARACTERS = tuple(range(9))
HONOURS = tuple(range(27, 34))


def plain(reading):
    """A reading of the engine in the form of the enumerations; what each group says of itself is checked."""
    found = []
    for group in (*reading.sets, reading.pair):
        tiles = tuple((int(tile.stands_for), tile.actual != tile.stands_for) for tile in group.tiles)
        kinds = [kind for kind, _ in tiles]
        expected = GroupKind.PAIR if len(tiles) == 2 else GroupKind.PUNG
        assert group.kind is (expected if len(set(kinds)) == 1 else GroupKind.CHOW)
        assert all(tile.actual in (reading.wild, tile.stands_for) for tile in group.tiles)
        found.append(tiles)
    return tuple(sorted(found))


def readings(counts, wilds, wild):
    """The engine's readings of a hand; none comes twice, and substitutions never become fewer."""
    found = list(decompositions(counts, wilds, wild))
    assert [reading.substituted for reading in found] == sorted(reading.substituted for reading in found)
    result = {plain(reading) for reading in found}
    assert len(result) == len(found)
    return result


def compare_all(expected, wild):
    for (natural, wilds), hand_readings in expected.items():
        assert readings(counts_of(natural), wilds, wild) == hand_readings, (natural, wilds)


def test_the_enumeration_knows_the_groups_of_a_suit():
    assert len(groups(CHARACTERS, 3, None)) == 7 * 7 + 9 * 3
    assert len(groups(CHARACTERS, 2, None)) == 9 * 2
    assert len(groups(CHARACTERS, 3, 0)) == 6 * 7 + 4 + 8 * 3 + 1


@pytest.mark.slow
@pytest.mark.parametrize("wild", [Tile.P5, Tile.S9, Tile.WHITE])
def test_all_readings_of_all_hands_of_five_tiles(wild):
    expected = all_readings(range(KINDS), 1, wild, 4)
    assert len(expected) > 5_000
    compare_all(expected, wild)


@pytest.mark.slow
@pytest.mark.parametrize("wild", [Tile.M1, Tile.M5, Tile.M8])
def test_all_readings_of_all_hands_of_eight_tiles_in_one_suit(wild):
    compare_all(all_readings(CHARACTERS, 2, wild, 4), wild)


@pytest.mark.slow
def test_all_readings_of_all_hands_of_eight_tiles_in_one_suit_and_honours():
    compare_all(all_readings((*CHARACTERS, *HONOURS), 2, Tile.RED, 3), Tile.RED)


def test_no_other_hand_of_five_tiles_in_one_suit_and_honours_has_a_reading():
    wild = Tile.M4
    kinds = (*CHARACTERS, *HONOURS)
    expected = all_readings(kinds, 1, wild, 3)
    rng = random.Random(1)
    for _ in range(2_000):
        wilds = rng.randrange(4)
        natural = tuple(sorted(rng.choices([kind for kind in kinds if kind != wild], k=5 - wilds)))
        if max(map(natural.count, natural)) <= 4:
            assert readings(counts_of(natural), wilds, wild) == expected.get((natural, wilds), set())


def compare_random(seed, number, sizes, wild_counts):
    """Random hands; the wildcard kind may be among the natural tiles, as after a claimed wildcard."""
    rng = random.Random(seed)
    several = 0
    for _ in range(number):
        wild, wilds = Tile(rng.randrange(KINDS)), rng.choice(wild_counts)
        natural = near_win(rng, rng.choice(sizes), wilds)
        if max(map(natural.count, natural)) > 4:
            continue
        expected = set()
        for as_itself in range(wilds + 1):
            tiles = tuple(sorted([*natural, *[wild] * as_itself]))
            if tiles.count(wild) <= 4:
                expected |= slow_readings(tiles, wilds - as_itself, wild)
        assert readings(counts_of(natural), wilds, wild) == expected, (natural, wilds, wild)
        several += len(expected) > 1
    assert several > number / 10


def test_all_readings_of_random_hands():
    compare_random(1, 100, (5, 8, 11), (0, 1, 2))


@pytest.mark.slow
def test_all_readings_of_random_hands_of_14_and_17_tiles():
    compare_random(2, 2_000, (14, 17), (0, 1, 2, 3))
    compare_random(3, 200, (14, 17), (4,))


@pytest.mark.soak
def test_all_readings_of_many_random_hands():
    compare_random(4, 20_000, (14, 17), (0, 1, 2, 3))
    compare_random(5, 2_000, (14, 17), (4,))


@pytest.mark.soak
@pytest.mark.parametrize("wild", [Tile.P1, Tile.P6])
def test_all_readings_of_all_hands_of_eleven_tiles_in_one_suit(wild):
    compare_all(all_readings(range(9, 18), 3, wild, 3), wild)

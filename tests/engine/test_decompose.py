"""Every reading is a reading, none is missing, none comes twice."""

import random
from itertools import combinations_with_replacement

import pytest

from engine.decompose import GroupKind, Placed, decompositions
from engine.notation import parse_meld, parse_tiles
from engine.tiles import KINDS, Tile
from engine.wincheck import counts_of, wins

WILD = Tile.S5


def readings(text, wilds=0, wild=WILD, melds=()):
    return list(decompositions(counts_of(parse_tiles(text)), wilds, wild, tuple(map(parse_meld, melds))))


def shape(reading):
    return sorted("".join(tile.stands_for.id for tile in group.tiles) for group in reading.groups)


def splits_literally(tiles, *, has_pair=False):
    """Every way to split natural tiles, each once, as a set of sorted tuples of groups."""
    if not tiles:
        return {()} if has_pair else set()
    first, rest = tiles[0], tiles[1:]
    found = set()
    groups = [(first,) * 3, (first, first + 1, first + 2)]
    for group in groups if has_pair else [(first, first), *groups]:
        is_run = len(set(group)) == 3
        if is_run and (first >= 27 or first % 9 > 6):
            continue
        left = list(rest)
        if all(tile in left and left.remove(tile) is None for tile in group[1:]):
            for others in splits_literally(tuple(left), has_pair=has_pair or len(group) == 2):
                found.add(tuple(sorted([group, *others])))
    return found


def substituted_literally(tiles, wilds, wild):
    """What the readings of a hand with wildcards come to when only the kinds they stand for are looked at."""
    found = set()
    for kinds in combinations_with_replacement(range(KINDS), wilds):
        found |= splits_literally(tuple(sorted([*tiles, *kinds])))
    return found


def random_hand(rng, wilds):
    tiles = []
    for _ in range(2):
        first = rng.choice((rng.randrange(7), 18 + rng.randrange(7), 27 + rng.randrange(7)))
        tiles += [first] * 3 if first >= 27 or rng.random() < 0.3 else [first, first + 1, first + 2]
    tiles += [rng.randrange(KINDS)] * 2
    rng.shuffle(tiles)
    return sorted(tile for tile in tiles[wilds:] if tile != WILD)


def test_readings_are_exactly_those_of_literal_substitution():
    rng = random.Random(1)
    for _ in range(150):
        wilds = rng.choice((0, 1, 1, 2))
        tiles = random_hand(rng, wilds)
        if len(tiles) + wilds != 8 or max(map(tiles.count, tiles)) > 4:
            continue
        found = set()
        for reading in decompositions(counts_of(tiles), wilds, WILD):
            found.add(tuple(sorted(tuple(sorted(t.stands_for for t in g.tiles)) for g in reading.groups)))
        literal = substituted_literally(tiles, wilds, WILD)
        assert found <= literal
        for groups in literal - found:  # only those in which a group is made of nothing but wildcards
            left = list(tiles)
            backed = [[tile for tile in g if tile in left and left.remove(tile) is None] for g in groups]
            assert len(groups) == 3
            assert wilds == 2
            assert any(not group for group in backed) or not tiles


def test_every_reading_uses_each_tile_once_and_wins_exactly_when_there_is_one():
    rng = random.Random(2)
    for _ in range(200):
        wilds = rng.choice((0, 1, 2, 3, 4))
        tiles = random_hand(rng, min(wilds, 3))
        while (len(tiles) + wilds) % 3 != 2:
            tiles.append(rng.randrange(9))
        tiles = [tile for tile in tiles if tile != WILD]
        if (len(tiles) + wilds) % 3 != 2 or max(map(tiles.count, tiles)) > 4:
            continue
        found = list(decompositions(counts_of(tiles), wilds, WILD))
        assert bool(found) == wins(counts_of(tiles), wilds)
        assert len(set(found)) == len(found)
        assert [r.substituted for r in found] == sorted(r.substituted for r in found)
        for reading in found:
            actual = sorted(tile.actual for group in reading.groups for tile in group.tiles)
            assert actual == sorted([*tiles, *[WILD] * wilds])
            assert reading.substituted + reading.as_itself == wilds
            assert all(is_group(group) for group in reading.groups)
            assert reading.pair.kind is GroupKind.PAIR


def is_group(group):
    kinds = sorted(tile.stands_for for tile in group.tiles)
    if group.kind is GroupKind.CHOW:
        return (
            kinds[0].is_suited
            and kinds[0].suit == kinds[2].suit
            and kinds == [kinds[0] + n for n in range(3)]
        )
    return len(set(kinds)) == 1 and len(kinds) == {"pair": 2, "pung": 3, "kong": 4}[group.kind]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("111222333m11p789s", 2),  # three triplets or three runs
        ("112233344s222z33m", 0),
        ("22233344455566s", 4),
        ("11222333444s222z", 3),
        ("11z", 1),
        ("12z", 0),
    ],
)
def test_all_readings_are_found_not_only_the_first(text, number):
    assert len(readings(text)) == number
    assert len(splits_literally(parse_tiles(text))) == number


def test_a_hand_that_reads_in_two_ways_gives_both():
    shapes = [shape(reading) for reading in readings("234m11123567774s")]
    assert ["1s1s", "1s2s3s", "2m3m4m", "4s5s6s", "7s7s7s"] in shapes
    assert all(len(groups) == 5 for groups in shapes)


def test_a_kong_removes_readings():
    assert len(readings("111222333m11p789s")) == 2
    assert len(readings("222333m11p789s", melds=["A:1111m"])) == 1


def test_melds_keep_their_tiles():
    for reading in readings("11233444m22z", melds=["P:555p"], wilds=1):
        laid = [group for group in reading.sets if group.melded]
        assert [group.tiles for group in laid] == [(Placed(Tile.P5, Tile.P5),) * 3]
        assert laid[0] is reading.sets[0]


def test_a_wildcard_says_what_it_stands_for_and_whether_as_itself():
    only = readings("46s11z", wilds=1)
    assert [(r.substituted, r.as_itself) for r in only] == [(0, 1)]
    assert only[0].sets[0].tiles[1] == (Tile.S5, Tile.S5)
    other = readings("12m11z", wilds=1)
    assert [(r.substituted, r.as_itself) for r in other] == [(1, 0)]
    assert other[0].sets[0].tiles == ((Tile.M1, Tile.M1), (Tile.M2, Tile.M2), (Tile.S5, Tile.M3))


def test_wildcards_only_are_read_as_themselves():
    assert next(r.substituted for r in readings("11z", wilds=3)) == 0
    assert readings("111z", wilds=2)[0].pair.tiles == (Placed(Tile.S5, Tile.S5),) * 2


def test_wildcards_without_a_kind_are_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="wild"):
        list(decompositions([0] * KINDS, 2, None))

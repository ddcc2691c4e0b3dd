"""What readings say of themselves, and examples. That none is missing is proved in `proof/`."""

import random

import pytest

from engine.decompose import Group, GroupKind, Placed, decompositions
from engine.notation import parse_meld, parse_tiles
from engine.tiles import KINDS, Tile
from engine.wincheck import CountsError, counts_of, wins

WILD = Tile.S5


def readings(text, wilds=0, wild=WILD, melds=()):
    return list(decompositions(counts_of(parse_tiles(text)), wilds, wild, tuple(map(parse_meld, melds))))


def shape(reading):
    return sorted("".join(tile.stands_for.id for tile in group.tiles) for group in reading.groups)


def random_hand(rng, wilds):
    tiles = []
    for _ in range(2):
        first = rng.choice((rng.randrange(7), 18 + rng.randrange(7), 27 + rng.randrange(7)))
        tiles += [first] * 3 if first >= 27 or rng.random() < 0.3 else [first, first + 1, first + 2]
    tiles += [rng.randrange(KINDS)] * 2
    rng.shuffle(tiles)
    return sorted(tile for tile in tiles[wilds:] if tile != WILD)


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
    with pytest.raises(ValueError, match=r"^wildcards without their kind: give `wild`\.$"):
        list(decompositions([0] * KINDS, 2, None))


def test_a_group_knows_its_kinds_and_substitutes_and_is_equal_by_its_tiles():
    tiles = (Placed(Tile.M1, Tile.M1), Placed(WILD, Tile.M2), Placed(WILD, Tile.M3))
    group = Group(GroupKind.CHOW, tiles)
    assert group.kinds == (Tile.M1, Tile.M2, Tile.M3)
    assert group.substituted == 2
    assert group == Group(GroupKind.CHOW, tiles)
    assert hash(group) == hash(Group(GroupKind.CHOW, tiles))
    assert group != Group(GroupKind.CHOW, tiles, melded=True)
    assert "substituted" not in repr(group)
    names = {"Group": Group, "GroupKind": GroupKind, "Placed": Placed, "Tile": Tile}
    assert eval(repr(group), names) == group


def test_concealed_sets_are_in_tile_order_by_what_the_tiles_stand_for():
    for reading in readings("34m99m789p111222z", wilds=1):
        concealed = [group.kinds for group in reading.sets]
        assert concealed == sorted(concealed)
    starts = {reading.sets[0].kinds[0] for reading in readings("34m99m789p111222z", wilds=1)}
    assert starts == {Tile.M2, Tile.M3}


def shown(reading):
    """The groups in their order, what wildcards stand for in brackets."""
    return " ".join(
        "".join(str(kind.id) if actual == kind else f"({kind.id})" for actual, kind in group.tiles)
        for group in reading.groups
    )


@pytest.mark.parametrize(("suit", "wild"), [("m", Tile.S5), ("p", Tile.S5), ("s", Tile.M5)])
def test_in_every_suit_two_wildcards_fill_the_same_gaps(suit, wild):
    expected = [
        "2x(2x)(2x) 1x1x",
        "(1x)2x(3x) 1x1x",
        "2x(3x)(4x) 1x1x",
        "1x2x(3x) 1x(1x)",
        "1x1x(1x) 2x(2x)",
    ]
    found = [shown(reading) for reading in readings(f"112{suit}", wilds=2, wild=wild)]
    assert sorted(found) == sorted(text.replace("x", suit) for text in expected)


def test_honours_make_triplets_and_pairs_only():
    assert [shown(reading) for reading in readings("112z", wilds=2)] == ["2z(2z)(2z) 1z1z", "1z1z(1z) 2z(2z)"]
    assert {shown(reading) for reading in readings("1z11s", wilds=2, wild=Tile.P2)} == {
        "1z(1z)(1z) 1s1s",
        "1s1s(1s) 1z(1z)",
    }


def test_no_set_is_all_wildcards_for_other_tiles():
    found = [shown(reading) for reading in readings("88m", wilds=3, wild=Tile.P2)]
    assert sorted(found) == sorted([
        "2p2p2p 8m8m", "8m8m(8m) 2p2p", "(1p)2p(3p) 8m8m", "2p(3p)(4p) 8m8m", "8m(8m)(8m) 8m(8m)",
        "(6m)(7m)8m 8m(8m)", "(7m)8m(9m) 8m(8m)",
    ])  # fmt: skip


@pytest.mark.parametrize("text", ["789m11z", "678p11z", "999s11z"])
def test_every_set_with_a_substitute_has_a_natural_tile(text):
    for reading in readings(text, wilds=3, wild=Tile.M1):
        assert all(group.substituted < len(group.tiles) for group in reading.groups)


@pytest.mark.parametrize("suit", "mps")
def test_no_reading_comes_twice(suit):
    found = [shown(reading) for reading in readings(f"5667{suit}11z", wilds=2, wild=Tile.EAST)]
    assert len(found) == len(set(found))
    assert "(4x)(5x)6x 5x6x7x 1z1z".replace("x", suit) in found


@pytest.mark.parametrize(
    ("text", "wilds", "wild", "sets"),
    [
        ("111234m55z", 0, None, ["1m1m1m 2m3m4m 5z5z"]),
        ("23m456m11z", 1, Tile.P2, ["(1m)2m3m 4m5m6m 1z1z", "2m3m(4m) 4m5m6m 1z1z"]),
        ("23p123p11z", 1, Tile.M1, ["(1p)2p3p 1p2p3p 1z1z", "1p2p3p 2p3p(4p) 1z1z"]),
    ],
)
def test_sets_are_ordered_by_what_they_stand_for_then_by_their_tiles(text, wilds, wild, sets):
    found = [shown(reading) for reading in readings(text, wilds, wild)]
    assert set(sets) <= set(found)


def test_a_claimed_wildcard_is_a_natural_tile():
    reading = readings("46s5s11z")[0]
    assert (reading.substituted, reading.as_itself) == (0, 1)
    assert readings("45m5s11z") == []
    assert [r.substituted for r in readings("5s11z", wilds=2)] == [0, 1, 2, 2, 2]


def test_more_than_four_tiles_of_the_wildcard_kind_are_not_all_as_themselves():
    found = readings("11z55s", wilds=4, wild=WILD)
    assert found
    assert max(reading.as_itself for reading in found) == 4
    assert max(reading.as_itself for reading in readings("11z11m", wilds=4, wild=Tile.M1)) == 4
    assert all(reading.as_itself + reading.substituted == 6 for reading in found)


def test_copies_are_counted_by_what_the_tiles_stand_for():
    (reading,) = readings("111123m11z")
    assert reading.copies(Tile.M1) == 4
    (substituted,) = readings("13m11z", wilds=1)
    assert (substituted.copies(Tile.M2), substituted.copies(WILD)) == (1, 0)
    assert any(r.copies(Tile.EAST) == 5 for r in readings("1111z", wilds=1))


def test_impossible_counts_are_refused():
    with pytest.raises(CountsError, match="1m") as caught:
        list(decompositions([5] + [0] * 33, 0, None))
    assert caught.value.tile is Tile.M1


def test_equal_groups_are_the_same_object_from_hand_to_hand():
    first, second = readings("123m11z"), readings("123m456p11z")
    assert first[0].sets[0] is second[0].sets[0]
    assert first[0].pair is second[0].pair

"""Hands that other engines got wrong, each by the number of its case (engine design, section 4).

Cases here are those of the win check, the waits and the readings; the others belong to the rule sets.
"""

import pytest

from engine import batch
from engine.decompose import GroupKind, decompositions
from engine.notation import parse_meld, parse_tiles
from engine.tiles import KINDS, Tile
from engine.wincheck import CountsError, WinChecker, counts_of, deficiency, suit_keys, waits, wins


def counts(text):
    return counts_of(parse_tiles(text))


def readings(text, wilds=0, wild=None, melds=()):
    laid = tuple(map(parse_meld, melds))
    return list(decompositions(counts(text), wilds, wild, laid))


def shapes(found):
    """Each reading as what its groups stand for, e.g. ["11z", "123m"]; melds are among them."""
    return sorted(sorted(shape(group) for group in reading.groups) for reading in found)


def shape(group):
    return "".join(str(kind.rank) for kind in group.kinds) + group.kinds[0].suit


def test_case_1_wildcards_spent_in_one_suit_are_missing_in_the_next():
    hand = counts("33334m4p4s1z")
    assert deficiency(hand) == 6
    assert [wins(hand, wilds) for wilds in range(7)] == [False] * 6 + [True]
    assert not readings("33334m4p4s1z", 4, Tile.RED)


def test_case_2_eight_wildcards_do_not_always_win_but_nine_do():
    assert not wins(counts("147m1z4z7z"), 8)
    assert wins(counts("147m14z"), 9)
    assert wins(counts("1m1p1s1z2z"), 9)


@pytest.mark.parametrize(("text", "wilds"), [("12334455677m1z", 2), ("1334455677m1p", 3)])
def test_case_3_wins_that_a_wildcard_library_missed(text, wilds):
    assert wins(counts(text), wilds)
    assert not wins(counts(text), wilds - 1)
    assert readings(text, wilds, Tile.S9)


def test_case_3_the_missed_win_reads_as_published():
    assert ["111z", "123m", "345m", "456m", "77m"] in shapes(readings("12334455677m1z", 2, Tile.S9))


@pytest.mark.parametrize("rest", ["12z", "1m1p", "12m", "19p"])
def test_case_4_four_melds_and_no_pair_do_not_win(rest):
    assert not wins(counts(rest))
    assert not readings(rest, melds=["P:111p", "C:123s", "K:2222z", "A:3333z"])
    assert not wins(counts(f"111222333s444p{rest}"))


@pytest.mark.parametrize("text", ["123456789m1111z", "1111z", "1111m", "2223m1111z"])
def test_case_5_nobody_waits_for_a_fifth_copy(text):
    assert waits(counts(text)) == ()


def test_case_5_the_other_waits_of_such_a_hand_remain():
    assert waits(counts("1111222m")) == (Tile.M3,)
    assert waits(counts("1111m23z"), 1) == ()  # 111 and a lone 1, wildcard and one honour too many
    assert waits(counts("1111m5z"), 2) == (Tile.M2, Tile.M3, Tile.WHITE)


@pytest.mark.parametrize("kind", range(KINDS))
def test_case_6_five_copies_are_an_invalid_hand_and_the_tile_is_named(kind):
    hand = [0] * KINDS
    hand[kind] = 5
    hand[(kind + 1) % KINDS] = 3
    for check in (wins, deficiency, waits, suit_keys, lambda h: batch.wins([h]), all_readings):
        with pytest.raises(CountsError, match=rf"\b5 of {Tile(kind).id}\b") as caught:
            check(hand)
        assert caught.value.tile is Tile(kind)


def all_readings(hand):
    return list(decompositions(hand, 0, None))


def test_case_9_a_long_bamboo_hand_waits_on_four_kinds():
    assert waits(counts("1113456666788s")) == (Tile.S2, Tile.S5, Tile.S7, Tile.S8)


def test_case_10_every_reading_is_found_not_only_the_first():
    assert shapes(readings("234m11123567774s")) == [
        ["111s", "234m", "234s", "567s", "77s"],
        ["11s", "123s", "234m", "456s", "777s"],
    ]


@pytest.mark.parametrize(
    ("winning", "expected"),
    [
        (
            "1s",
            [
                ["111s", "222s", "222z", "333s", "44s"],
                ["11s", "123s", "222z", "234s", "234s"],
                ["123s", "123s", "123s", "222z", "44s"],
            ],
        ),
        (
            "4s",
            [
                ["11s", "222s", "222z", "333s", "444s"],
                ["11s", "222z", "234s", "234s", "234s"],
                ["123s", "123s", "222z", "234s", "44s"],
            ],
        ),
    ],
)
def test_case_10_every_winning_tile_gives_all_its_readings(winning, expected):
    assert waits(counts("1122233344s222z")) == (Tile.S1, Tile.S4)
    assert shapes(readings("1122233344s222z" + winning)) == expected


def test_case_11_a_tile_of_a_laid_chow_is_not_in_a_concealed_triplet():
    with_triplet = ["111m", "123m", "234m", "44m", "555p"]
    without = ["11m", "123m", "123m", "444m", "555p"]
    assert shapes(readings("11112233444m555p")) == [with_triplet, without]
    assert shapes(readings("11444m555p", melds=["C:123m", "C:123m"])) == [without]
    assert shapes(readings("11144m555p", melds=["C:123m", "C:234m"])) == [with_triplet]


def test_case_13_a_kong_removes_readings():
    assert waits(counts("111222333m11p79s")) == waits(counts("222333m11p79s")) == (Tile.S8,)
    assert shapes(readings("111222333m11p79s8s")) == [
        ["111m", "11p", "222m", "333m", "789s"],
        ["11p", "123m", "123m", "123m", "789s"],
    ]
    assert shapes(readings("222333m11p79s8s", melds=["A:1111m"])) == [
        ["1111m", "11p", "222m", "333m", "789s"]
    ]


@pytest.mark.parametrize("meld", ["A:5555z", "K:5555z"])
def test_case_14_a_kong_is_neither_a_triplet_nor_loose_tiles(meld):
    (only,) = readings("123456m11p789s", melds=[meld])
    kong = only.sets[0]
    assert (kong.kind, len(kong.tiles), kong.melded) == (GroupKind.KONG, 4, True)
    assert only.copies(Tile.WHITE) == 4
    assert [group.melded for group in only.sets] == [True, False, False, False]


def test_case_15_a_hand_that_waits_on_several_kinds_says_so():
    assert waits(counts("1112m456p789s111z")) == (Tile.M2, Tile.M3)  # 12 waits for 3, yet 2 wins too
    assert waits(counts("12m11p456p789s111z")) == (Tile.M3,)


def test_case_17_melds_are_never_also_among_the_concealed_tiles():
    melds = ["P:222p", "C:345p"]
    for reading in readings("2p34m11z345p", 1, Tile.S9, melds):
        actual = sorted(tile.actual for group in reading.groups for tile in group.tiles)
        assert actual == sorted([*parse_tiles("2p34m11z345p222p345p"), Tile.S9])
        assert [shape(group) for group in reading.sets if group.melded] == ["222p", "345p"]


def test_case_18_a_kong_of_white_dragons_stays_one():
    (only,) = readings("123m11p456p789s", melds=["K:5555z"])
    assert shape(only.sets[0]) == "5555z"
    assert only.copies(Tile.WHITE) == 4
    assert not any(only.copies(five) for five in (Tile.M5, Tile.S5))


def test_case_18_no_two_kinds_look_alike_to_the_win_check():
    checker = WinChecker().wins_unchecked
    for one in range(KINDS):
        assert [other for other in range(KINDS) if checker([one, other])] == [one]
        assert [other for other in range(KINDS) if wins(counts_of([one, other]))] == [one]

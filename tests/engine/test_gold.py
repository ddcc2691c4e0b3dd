"""Readings with gold: White has its face, wherever it lies, and gold alone is wild."""

import pytest

from engine import rulesets
from engine.gold import any_tile_readings, readings
from engine.notation import parse_hand
from engine.tiles import Tile


def told(found):
    """Groups in their order, what a tile stands for in brackets; then substituted, as itself, proxies."""
    return [
        (
            " ".join(
                "".join(
                    actual.id if actual == kind else f"{actual.id}({kind.id})" for actual, kind in group.tiles
                )
                for group in reading.groups
            ),
            (reading.substituted, reading.as_itself, reading.proxies),
        )
        for reading in found
    ]


def of_hand(text, gold):
    hand = parse_hand(text)
    return told(readings(hand.concealed, gold, hand.melds))


@pytest.mark.parametrize(
    ("text", "reading", "counted"),
    [
        ("46p5z11z", "4p5z(5p)6p 1z1z", (0, 0, 1)),
        ("46p11z5p", "4p5p6p 1z1z", (0, 1, 0)),
        ("11z C:4p5z6p", "4p5z(5p)6p 1z1z", (0, 0, 1)),
        ("11z P:555z", "5z(5p)5z(5p)5z(5p) 1z1z", (0, 0, 3)),
        ("55z P:111z", "1z1z1z 5z(5p)5z(5p)", (0, 0, 2)),
        ("12m11z5p C:4p5z6p", "4p5z(5p)6p 1m2m5p(3m) 1z1z", (1, 0, 1)),
        ("456s11z P:222m", "2m2m2m 4s5s6s 1z1z", (0, 0, 0)),
    ],
)
def test_white_is_the_face_of_the_gold_in_hand_and_in_melds(text, reading, counted):
    assert of_hand(text, Tile.P5)[0] == (reading, counted)


def test_those_with_fewer_substitutes_come_first_beside_white():
    found = of_hand("46p5z55p", Tile.P5)
    assert {reading for reading, (substituted, _, _) in found if not substituted} == {
        "4p5p6p 5z(5p)5p",
        "4p5z(5p)6p 5p5p",
    }
    assert [substituted for _, (substituted, _, _) in found] == sorted(s for _, (s, _, _) in found)
    assert len(found) > 4


def test_white_that_is_gold_is_wild_and_nobodys_face():
    assert of_hand("12m5z11z", Tile.WHITE) == [("1m2m5z(3m) 1z1z", (1, 0, 0))]
    assert of_hand("111m55z", Tile.WHITE)[0] == ("1m1m1m 5z5z", (0, 2, 0))


@pytest.mark.parametrize(
    ("text", "gold", "expected"),
    [
        ("46p5z5p", Tile.P5, [("4p5z(5p)6p 5p", (0, 1, 1))]),
        ("5p C:4p5z6p", Tile.P5, [("4p5z(5p)6p 5p", (0, 1, 1))]),
        ("123m5z", Tile.WHITE, [("1m2m3m 5z", (0, 1, 0))]),
        ("12m55z", Tile.WHITE, [("1m2m5z(3m) 5z", (1, 1, 0))]),
        ("124m5p", Tile.P5, []),
    ],
)
def test_where_any_tile_wins_one_gold_waits_alone(text, gold, expected):
    hand = parse_hand(text)
    assert told(any_tile_readings(hand.concealed, gold, hand.melds)) == expected


def test_four_copies_are_no_fifth_and_golds_and_whites_are_counted_apart():
    strict = rulesets.load("xiamen", {"wild_fifth_copy": False})
    four = parse_hand("111123m456s789s11z22z +2z")
    assert [reading.copies(Tile.M1) for reading in strict.decompositions(four, Tile.P5)] == [4]
    whites = parse_hand("5555z5p111z22m +2m")  # five faces of the gold: the gold and all Whites
    assert {reading.copies(Tile.P5) for reading in strict.decompositions(whites, Tile.P5)} == {5}

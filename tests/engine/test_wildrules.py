"""What all rule sets with a flipped wildcard share: cycles, readings, waits, the wait for any tile."""

import re

import pytest

from engine import rulesets
from engine.errors import EngineError
from engine.notation import parse_claim, parse_hand, parse_tiles
from engine.tiles import Tile
from engine.wildcard import SUIT_CYCLES, WINDS, honour_cycles, next_in_cycle, wild_after
from engine.wildrules import WildRuleSet
from engine.wincheck import counts_of

RULES = rulesets.load("zhenjiang")
STRICT = RULES.with_options({"wild_fifth_copy": False})
READY = parse_hand("123m456m789m11z34s")


class Plain(WildRuleSet):
    """The kind after the flipped one is wild, and nothing else is said."""

    def wild_of(self, indicator):
        return wild_after(indicator, "red_green_white", "split")


def counts(text):
    return counts_of(parse_tiles(text))


def says(sentence):
    return pytest.raises(EngineError, match=f"^{re.escape(sentence)}$")


def test_after_the_last_of_a_cycle_comes_its_first():
    assert [next_in_cycle(cycle[8], SUIT_CYCLES) for cycle in SUIT_CYCLES] == [Tile.M1, Tile.P1, Tile.S1]
    assert [next_in_cycle(cycle[0], SUIT_CYCLES) for cycle in SUIT_CYCLES] == [Tile.M2, Tile.P2, Tile.S2]
    assert next_in_cycle(Tile.NORTH, [WINDS]) is Tile.EAST
    with says("1f cannot be the indicator; flip a suit or honour tile."):
        next_in_cycle(Tile.SPRING, SUIT_CYCLES)


def test_winds_and_dragons_turn_by_themselves_or_together():
    dragons = (Tile.WHITE, Tile.GREEN, Tile.RED)
    assert honour_cycles("white_green_red", "split") == (WINDS, dragons)
    assert honour_cycles("red_green_white", "joint") == ((*WINDS, *dragons[::-1]),)


def test_a_claimed_wildcard_has_its_face_value_where_the_rules_say_nothing_else():
    hand = parse_hand("13m456p789s11z +2m")  # 2m is wild
    for rules in (Plain(RULES.data), RULES):
        assert rules.split(hand, Tile.M1, claimed=True) == (counts("123m456p789s11z"), 0)
        assert rules.split(hand, Tile.M1) == (counts("13m456p789s11z"), 1)
    always = RULES.with_options({"claimed_wild_value": "wild"})
    assert always.split(hand, Tile.M1, claimed=True) == (counts("13m456p789s11z"), 1)


def test_own_wildcards_stay_wild_whatever_is_claimed():
    assert RULES.split(parse_hand("213m456p789s11z +2m"), Tile.M1, claimed=True) == (
        counts("123m456p789s11z"),
        1,
    )
    assert RULES.split(parse_hand("2m13m456p789s1z +1z"), Tile.M1, claimed=True) == (
        counts("13m456p789s11z"),
        1,
    )


@pytest.mark.parametrize("flip", ["", " flip=1f", " flip=?"])
def test_without_an_indicator_nothing_is_wild_and_nothing_can_be_read(flip):
    claim = parse_claim(f"123m456m789m11z34s +5s how=self seat=0{flip}", "zhenjiang")
    assert RULES.wild(claim) is None
    assert list(RULES.readings(claim)) == []


def test_readings_are_those_of_a_claimed_tile_or_of_a_drawn_one():
    line = "13m456m789m11z345s +2p flip=1p how={} seat=0"  # 2p is wild
    drawn = parse_claim(line.format("self"), "zhenjiang")
    assert [reading.substituted for reading in RULES.readings(drawn)] == [1]
    assert list(RULES.readings(parse_claim(line.format("discard"), "zhenjiang"))) == []


def test_waits_for_a_wildcard_need_its_kind():
    assert RULES.completes(READY, Tile.S5, Tile.P1)
    with says("the wildcard is not known; give the flipped tile."):
        RULES.completes(READY, Tile.S5)


@pytest.mark.parametrize("rules", [RULES, STRICT], ids=["any number", "four copies"])
def test_a_self_drawn_tile_completes_the_hand_or_does_not(rules):
    winning = [tile.id for tile in map(Tile, range(34)) if rules.completes(READY, tile, Tile.P1)]
    assert winning == ["2p", "2s", "5s"]


def test_a_fifth_copy_completes_a_hand_only_as_a_wildcard_and_by_option():
    hand = parse_hand("1111z123m456p789s")
    assert RULES.completes(hand, Tile.P2, Tile.P1)
    assert not RULES.completes(hand, Tile.EAST, Tile.P1)
    assert not STRICT.completes(hand, Tile.P2, Tile.P1)
    laid = parse_hand("1z123m456p789s P:111z")
    assert RULES.completes(laid, Tile.P2, Tile.P1)
    assert not STRICT.completes(laid, Tile.P2, Tile.P1)


def test_readings_with_a_fifth_copy_are_left_out_by_option():
    hand = parse_hand("1111z123m456p789s +2p")
    assert [reading.copies(Tile.EAST) for reading in RULES.decompositions(hand, Tile.P1)] == [5, 5]
    assert list(STRICT.decompositions(hand, Tile.P1)) == []
    four = parse_hand("1111m23m456p789s1z +1z")
    assert [reading.copies(Tile.M1) for reading in STRICT.decompositions(four, Tile.P1)] == [4]


def test_every_tile_wins_only_beside_a_wildcard_that_nothing_needs():
    assert RULES.every_tile_wins(parse_hand("123m456p789s111z2p"), Tile.P1)
    assert STRICT.every_tile_wins(parse_hand("123m456p789s234m2p"), Tile.P1)
    assert not STRICT.every_tile_wins(parse_hand("1111m23m456p789s2p"), Tile.P1)
    laid = parse_hand("2p123m456p789s P:111z")
    assert RULES.every_tile_wins(laid, Tile.P1)
    assert not STRICT.every_tile_wins(laid, Tile.P1)  # the fourth East would pair with a fifth
    assert not RULES.every_tile_wins(parse_hand("123m456p789s111z2p"), Tile.P2)  # 3p is wild
    assert not RULES.every_tile_wins(parse_hand("123m456p79s111z3m2p"), Tile.P1)
    assert not RULES.every_tile_wins(READY, Tile.P1)

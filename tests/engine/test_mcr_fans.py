"""Fans of the official game: every one by name and points, and the reading of the hand that was counted."""

import random
from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import rulesets
from engine.adapters.pymahjonggb import fans
from engine.claim import Claim, Facts, Seat
from engine.hand import Hand
from engine.melds import Meld, MeldKind
from engine.notation import format_tiles, parse_claim
from engine.rules import mcr_fans, mcr_shapes
from engine.rules.mcr import SHAPES
from engine.tiles import HAND_KINDS, Tile
from engine.verdict import Outcome
from engine.wincheck import counts_of
from tests.engine.extras import needs

pytestmark = needs("mcr")

RULES = rulesets.load("mcr", {"minimum": 0})

WINS = """
big_four_winds 96: 333z5m P:111z P:222z P:444z +5m how=self
big_three_dragons 89: 23m44s777z P:555z P:666z +4m how=discard from=2
all_green 139: 22334466s88s C:234s +8s how=self
nine_gates 92: 1112345678999p +5p how=self
four_kongs 93: 5m K:1111m A:3333p K:7777s A:2222z +5m how=self
seven_shifted_pairs 91: 2233445566778s +8s how=self
thirteen_orphans 89: 19m19p19s1234567z +1m how=self
all_terminals 80: 99m11s P:111m P:999p P:999s +9m how=discard from=1
little_four_winds 76: 12s11z222z P:333z P:444z +3s how=self
little_three_dragons 65: 23m55z666z P:777z P:444p +1m how=discard from=1
all_honors 82: 11z33z55z1z P:222z P:777z +3z how=discard from=1
four_concealed_pungs 70: 222m555p777s111z4s +4s how=self
pure_terminal_chows 64: 12355m78m C:123m C:789m +9m how=discard from=1
quadruple_chow 61: 223344p5s C:234p C:234p +5s how=discard from=1
four_pure_shifted_pungs 61: 22333p55s P:111p P:444p +2p how=self
four_pure_shifted_chows 59: 345m4566m C:123m C:234m +6m how=self
three_kongs 36: 12s55m K:1111m A:3333p K:7777s +3s how=self
all_terminals_and_honors 38: 11m999p11z P:999m P:222z +1m how=self
seven_pairs 24: 1122m3344p5566s7z +7z how=discard from=1
greater_honors_and_knitted_tiles 24: 147m25p39s123456z +7z how=discard from=2
all_even_pungs 27: 22m444p88s P:666p P:888m +2m how=self
full_flush 26: 2378999p C:456p P:111p +4p how=discard from=1
pure_triple_chow 30: 223344p77p67s C:234p +8s how=self
pure_shifted_pungs 44: 333444555m7p C:678s +7p how=self
upper_tiles 35: 99p789m78p C:789s P:888p +9p how=self
middle_tiles 26: 55m44p456p C:456s P:666m +5m how=self
lower_tiles 37: 22p123m13p C:123s P:111p +2p how=self
pure_straight 22: 123456789m12p55s +3p how=discard from=2
three_suited_terminal_chows 16: 123m55s78m C:123p C:789p +9m how=discard from=1
pure_shifted_chows 17: 123234m34m88p P:777s +5m how=discard from=1
all_five 25: 456m55p34s C:567p P:555m +5s how=self
triple_pung 16: 22m222p678s44z P:222s +2m how=discard from=1
three_concealed_pungs 22: 222m555p111z4s C:678s +4s how=self
lesser_honors_and_knitted_tiles 12: 147m258p36s12345z +7z how=discard from=2
knitted_straight 24: 147m258p369s1234z +5z how=discard from=1
upper_four 13: 99m789p66678s C:678m +9s how=discard from=3
lower_four 15: 22m123p23444s C:123m +4s how=discard from=3
big_three_winds 19: 12s55m444z P:111z P:333z +3s how=self
mixed_straight 11: 678m22456p89s C:123m +7s how=discard from=1
reversible_tiles 14: 22s888p99p P:555z C:123p +9p how=self
mixed_triple_chow 13: 22345p34578s C:345m +6s how=discard from=1
mixed_shifted_pungs 13: 333p44s55m P:222m C:678m +4s how=self
chicken_hand 8: 67m456s33z C:234m P:777p +8m how=discard from=3
last_tile_draw 17: 234m567p345s67s88p +8s how=self last
last_tile_claim 10: 12399m45789s P:666p +6s how=discard from=2 last
out_with_replacement_tile 14: 678m34p55s A:9999s C:345m +5p how=self kong
robbing_the_kong 11: 567m13789p77z C:123s +2p how=discard from=3 rob
all_pungs 22: 5z P:222m P:444p P:666s P:111z +5z how=discard from=1
half_flush 13: 56799s11z C:234s P:777z +1z how=discard from=3
mixed_shifted_chows 6: 123m22z34s C:234p P:777s +5s how=discard from=1
all_types 7: 234m567p78s66z P:333z +6s how=discard from=2
melded_hand 22: 5z P:222m P:444p P:666s P:111z +5z how=discard from=1
two_concealed_kongs 9: 23m55p C:678s A:9999m A:2222z +1m how=self
two_dragons_pungs 6: 23m44s C:678p P:555z P:666z +1m how=discard from=1
outside_hand 18: 123m123p123s789m9s +9s how=discard from=2
fully_concealed_hand 9: 234678m5567p345s +8p how=self
two_melded_kongs 7: 23m55p C:678s K:9999m K:2222z +1m how=self
last_tile 15: 678m22456p89s C:123m +7s how=discard from=1 fourth
dragon_pung 13: 56799s11z C:234s P:777z +1z how=discard from=3
prevalent_wind 9: 44m88m P:222z P:999p P:555s +8m how=discard from=2 wind=2 prevailing=1
seat_wind 11: 44m88m P:222z P:999p P:555s +8m how=discard from=2 wind=1 prevailing=1
concealed_hand 9: 234567m34567s88p +2s how=discard from=3
all_chows 9: 234567m34567s88p +2s how=discard from=3
tile_hog 9: 23m55p456s C:678s P:111m +1m how=self
double_pung 9: 22m222p67855s P:111z +2m how=self
two_concealed_pungs 9: 22m222p67855s P:111z +2m how=self
concealed_kong 14: 678m34p55s A:9999s C:345m +5p how=self kong
all_simples 9: 234567m34567s88p +2s how=discard from=3
pure_double_chow 6: 22334m99p C:678s P:111z +4m how=self
mixed_double_chow 5: 567p23457s11z K:4444m +6s how=self
short_straight 5: 567p23457s11z K:4444m +6s how=self
two_terminal_chows 11: 567m13789p77z C:123s +2p how=discard from=3 rob
pung_of_terminals_or_honors 9: 123m567p789s999m4s +4s how=self flowers=2
melded_kong 5: 567p23457s11z K:4444m +6s how=self
one_voided_suit 89: 23m44s777z P:555z P:666z +4m how=discard from=2
no_honors 9: 123m567p789s999m4s +4s how=self flowers=2
edge_wait 22: 123456789m12p55s +3p how=discard from=2
closed_wait 5: 567p23457s11z K:4444m +6s how=self
single_wait 9: 123m567p789s999m4s +4s how=self flowers=2
self_drawn 5: 567p23457s11z K:4444m +6s how=self
flower_tiles 9: 123m567p789s999m4s +4s how=self flowers=2
concealed_kong_and_melded_kong 8: 23m55p C:678s K:9999m A:2222z +1m how=self
"""


def claimed(line):
    return parse_claim(f"{line} seat=0", "mcr")


def check(line):
    return RULES.check(claimed(line))


def groups(reading):
    """A reading in words: what it has concealed, the pair last."""
    concealed = [group for group in reading.sets if not group.melded]
    return " ".join(format_tiles(group.kinds) for group in (*concealed, reading.pair))


@pytest.mark.parametrize("entry", WINS.strip().splitlines(), ids=lambda entry: entry.split(" ")[0])
def test_fan_by_name_and_points(entry):
    head, line = entry.split(": ", 1)
    code, total = head.split()
    verdict = check(line)
    assert verdict.outcome is Outcome.WIN
    assert verdict.totals["fan"] == int(total) == sum(item.amount for item in verdict.items)
    points = {item.code: item.amount for item in verdict.items}
    assert code in points
    for item in verdict.items:
        worth = RULES.data.items[item.code]
        assert item.amount % worth.amount == 0
        assert (item.section, item.unit) == (worth.section, "fan")


def test_every_fan_has_such_a_hand():
    assert {entry.split(" ")[0] for entry in WINS.strip().splitlines()} == RULES.data.items.keys() - {"fan"}
    assert len(RULES.data.items) == 83  # 81 fans, 明暗杠 which was added to them later, and their sum


# which reading was counted


ONE_READING_IS_WORTH_MOST = """
1122334789m123p +4m: 123m 123m 789m 123p 44m
12333344455m77p +5m: 123m 333m 444m 555m 77p
1234455566777m +6m: 123m 555m 666m 777m 44m
4445556667788m +7m: 444m 555m 666m 777m 88m
6667778888999m +7m: 678m 777m 888m 999m 66m
"""
READINGS_PAY_ALIKE = """
2466778899m345p +3m: 234m 789m 789m 345p 66m = 234m 678m 678m 345p 99m
66778899m34599p +9p: 789m 789m 345p 999p 66m = 678m 678m 345p 999p 99m
1234455667777m +4m: 123m 444m 567m 567m 77m = 123m 456m 567m 777m 44m
"""


@pytest.mark.parametrize("entry", [*ONE_READING_IS_WORTH_MOST.strip().splitlines()])
def test_the_reading_that_was_counted_is_named(entry):
    line, reading = entry.split(": ")
    verdict = check(f"{line} how=self")
    assert groups(verdict.decomposition) == reading
    assert verdict.alternatives == ()


@pytest.mark.parametrize("entry", [*READINGS_PAY_ALIKE.strip().splitlines()])
def test_readings_that_pay_alike_are_named(entry):
    line, both = entry.split(": ")
    counted, other = both.split(" = ")
    verdict = check(f"{line} how=self")
    assert groups(verdict.decomposition) == counted  # it has the fans of the bill, the other one other fans
    assert [groups(reading) for reading in verdict.alternatives] == [other]


def test_hands_without_sets_are_named_by_their_class():
    named = {
        "1122m3344p5566s7z +7z": "seven_pairs",
        "19m19p19s1234567z +1m": "thirteen_orphans",
        "147m25p39s123456z +7z": "knitted",
        "147m258p369s1234z +5z": "knitted",
        "147m258p369s4z P:222z +4z": "knitted",
    }
    for line, cls in named.items():
        verdict = check(f"{line} how=self")
        assert (verdict.cls, verdict.decomposition) == (cls, None)


def test_a_hand_that_is_seven_pairs_and_sets_counts_as_what_is_worth_more():
    pairs = check("1122336677889m +9m how=self")
    assert (pairs.cls, pairs.decomposition) == ("seven_pairs", None)
    sets = check("1122335778899m +5m how=self")  # 一色双龙会 64
    assert (sets.cls, groups(sets.decomposition)) == ("self", "123m 123m 789m 789m 55m")


def test_nine_gates_are_counted_as_a_whole():
    verdict = check("1112345678999p +2p how=self")
    assert verdict.cls == "self"
    readings = list(RULES.readings(claimed("1112345678999p +2p how=self")))
    assert (verdict.decomposition, *verdict.alternatives) == tuple(readings)


def test_a_wait_for_a_tile_of_which_all_four_are_in_hand_is_a_wait_all_the_same():
    three = check("1114m234567s P:222z +4m how=self")
    assert {"single_wait", "edge_wait"} & {item.code for item in three.items} == {"single_wait"}
    four = check("1111234m C:567s P:222z +4m how=self")  # 1m would be the fifth
    assert not {"single_wait", "edge_wait"} & {item.code for item in four.items}


# every reading by itself, against the library's answer for the whole


def random_win(rng):
    """Four sets and a pair out of few suits and ranks, so that many hands read in several ways."""
    while True:
        suits, ranks = rng.choice([(1, 9), (1, 5), (2, 6), (3, 9)])
        sets = [random_set(rng, suits, ranks) for _ in range(4)]
        pair = rng.randrange(suits) * 9 + rng.randrange(ranks)
        copies = Counter(kind for kinds in sets for kind in kinds)
        copies[pair] += 2
        if max(copies.values()) <= 4:
            break
    laid = rng.choice([0, 0, 0, 1, 2])
    melds = tuple(random_meld(rng, kinds, copies) for kinds in sets[:laid])
    held = [Tile(kind) for kinds in sets[laid:] for kind in kinds] + [Tile(pair)] * 2
    rng.shuffle(held)
    win = held.pop()
    facts = {"wind": rng.randrange(4), "prevailing": rng.randrange(4), "last": rng.random() < 0.1}
    facts["fourth"] = win not in held and rng.random() < 0.2
    discarder = rng.choice([None, Seat(1)])
    return Claim(
        concealed=tuple(held),
        melds=melds,
        win=win,
        how="self" if discarder is None else "discard",
        winner=Seat(0),
        discarder=discarder,
        facts=Facts({name: value for name, value in facts.items() if value}),
    )


def random_set(rng, suits, ranks):
    suit, honours = rng.randrange(suits), rng.random() < 0.1
    if honours:
        return (rng.randrange(Tile.EAST, Tile.RED + 1),) * 3
    if rng.random() < 0.4:
        return (suit * 9 + rng.randrange(ranks),) * 3
    first = suit * 9 + rng.randrange(ranks - 2)
    return (first, first + 1, first + 2)


def random_meld(rng, kinds, copies):
    tiles = tuple(map(Tile, kinds))
    if kinds[0] != kinds[1]:
        return Meld(MeldKind.CHOW, tiles)
    if copies[kinds[0]] == 3 and rng.random() < 0.4:
        return Meld(rng.choice([MeldKind.KONG, MeldKind.CONCEALED_KONG]), (*tiles, tiles[0]))
    return Meld(MeldKind.PUNG, tiles)


seeds = st.integers(0, 2**32).map(random.Random)


@settings(max_examples=300, deadline=None)
@given(seeds)
def test_the_best_reading_is_worth_what_the_library_says(rng):
    claim = random_win(rng)
    verdict = RULES.check(claim)
    assert verdict.outcome is Outcome.WIN
    points = {item.code: item.amount for item in verdict.items}
    if points.keys() & SHAPES.keys():
        assert verdict.decomposition is None
        return
    readings = list(RULES.readings(claim))
    named = [verdict.decomposition, *verdict.alternatives]
    assert set(map(groups, named)) <= set(map(groups, readings))
    if "nine_gates" in points:
        return
    hand = RULES._fan_hand(claim, claim.win)
    unique = mcr_fans._waits_on_one(claim.concealed)
    for_each = [mcr_fans._points(fans, hand, reading, points, unique=unique) for reading in readings]
    total = sum(points.values())
    assert max(sum(found.values()) for found in for_each) == total
    assert for_each[readings.index(verdict.decomposition)] == points
    sums = [sum(found.values()) for found in for_each]
    best = [reading for reading, worth in zip(readings, sums, strict=True) if worth == total]
    assert sorted(map(groups, best)) == sorted(map(groups, named))


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_the_order_of_the_tiles_does_not_matter(rng):
    claim = random_win(rng)
    verdict = RULES.check(claim)
    mixed = replace(
        claim,
        concealed=tuple(rng.sample(claim.concealed, len(claim.concealed))),
        melds=tuple(rng.sample(claim.melds, len(claim.melds))),
    )
    again = RULES.check(mixed)
    assert (again.items, again.cls, again.totals) == (verdict.items, verdict.cls, verdict.totals)


@settings(max_examples=100, deadline=None)
@given(seeds, st.integers(0, 8))
def test_payments_sum_to_nothing_and_flowers_only_add(rng, flowers):
    claim = random_win(rng)
    with_flowers = replace(claim, facts=Facts({**claim.facts, "flowers": flowers}))
    plain, more = RULES.check(claim), RULES.check(with_flowers)
    assert more.totals["fan"] == plain.totals["fan"] + flowers
    settlement = RULES.settle(more, with_flowers)
    assert sum(settlement.pay) == 0
    assert min(settlement.pay) == -8 - more.totals["fan"]


# special hands, against the library's answer


def random_special(rng):
    """A special hand, or one tile away from it."""
    kind = rng.randrange(4)
    if kind == 0:
        tiles = [tile for tile in rng.choices(range(34), k=7) for _ in range(2)]
    elif kind == 1:
        tiles = [*mcr_shapes.ORPHANS, rng.choice([*mcr_shapes.ORPHANS])]
    else:
        knitted = sorted(rng.choice(mcr_shapes.KNITTED))
        if kind == 2:
            tiles = rng.sample([*knitted, *range(27, 34)], 14)
        else:
            first = rng.randrange(25)
            triple = rng.choice([(first,) * 3, (first, first + 1, first + 2)])
            tiles = [*knitted, *triple, *[rng.randrange(34)] * 2]
    if rng.random() < 0.4:
        tiles[rng.randrange(14)] = rng.randrange(34)
    return [Tile(tile) for tile in tiles]


@settings(max_examples=300, deadline=None)
@given(seeds)
def test_special_hands_are_those_of_the_library(rng):
    tiles = random_special(rng)
    rng.shuffle(tiles)
    if max(Counter(tiles).values()) > 4:
        return
    *concealed, win = tiles
    claim = Claim(concealed=tuple(concealed), win=win, how="self", winner=Seat(0))
    verdict = RULES.check(claim)
    completes = RULES.completes(Hand(tuple(concealed)), win)
    assert (verdict.outcome is Outcome.WIN) == completes
    if verdict.outcome is Outcome.WIN and verdict.decomposition is None:
        assert mcr_shapes.is_special(counts_of(tiles))
    if not completes:
        assert verdict.problems == ("no_decomposition",)


def test_a_knitted_straight_may_have_one_meld():
    hand = partial(Hand, melds=(Meld(MeldKind.PUNG, (Tile.SOUTH,) * 3),))
    tiles = claimed("147m258p369s4z P:222z +4z how=self").concealed
    assert [tile for tile in HAND_KINDS if RULES.completes(hand(tiles), tile)] == [Tile.NORTH]

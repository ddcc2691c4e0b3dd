"""Xiamen's gold against an enumeration that shares no code with it: who wins, what the best water is."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import rulesets
from engine.claim import Claim, Seat
from engine.hand import Hand
from engine.melds import Meld, MeldKind
from engine.tiles import HAND_KINDS, Tile
from engine.verdict import Outcome

RULES = rulesets.load("xiamen")
NO_FIFTH = rulesets.load("xiamen", {"wild_fifth_copy": False})
WHITE = 31


# --- the enumeration: every tile is looked at, every gold becomes every kind


def faces_of(tiles, gold):
    """Faces of the natural tiles, and the number of golds."""
    return (
        sorted(gold if tile == WHITE else tile for tile in tiles if tile != gold),
        sum(tile == gold for tile in tiles),
    )


def groups_with(face):
    """Every set or pair (as faces) that holds a face."""
    yield (face, face)
    yield (face,) * 3
    if face < 27:
        for first in range(face - 2, face + 1):
            if first >= face // 9 * 9 and first + 2 <= face // 9 * 9 + 8:
                yield (first, first + 1, first + 2)


def best(faces, golds, pair, claimed=None, limit=None):
    """The most water of natural triplets over all ways to split the tiles; None when there is none.

    `pair` tells whether a pair is still to come; `claimed` is the face of another's tile, which makes no
    natural triplet unless three more are there; `limit` counts the faces that may still be used.
    """
    if not faces:
        if golds == (2 if pair else 0) or (golds > 2 and golds % 3 == (2 if pair else 0)):
            return 0
        return None
    most = None
    for group in groups_with(faces[0]):
        if len(group) == 2 and not pair:
            continue
        wanted, have = Counter(group), Counter(faces)
        for natural in range(1, wanted[faces[0]] + 1):
            taken = {face: min(number, have[face]) for face, number in wanted.items()}
            taken[faces[0]] = min(natural, have[faces[0]])
            options = [taken]
            if len(wanted) == 3:  # any tile of a run but the lowest may be a gold too
                others = [face for face in wanted if face != faces[0]]
                options = [
                    {**taken, others[0]: min(one, taken[others[0]]), others[1]: min(two, taken[others[1]])}
                    for one in (0, 1)
                    for two in (0, 1)
                ]
            for option in options:
                used = sum(option.values())
                if len(group) - used > golds or not fits(limit, option, wanted):
                    continue
                rest = list(faces)
                for face, number in option.items():
                    for _ in range(number):
                        rest.remove(face)
                left = None if limit is None else limit - (wanted - Counter(option))
                found = best(rest, golds - len(group) + used, pair and len(group) == 3, claimed, left)
                if found is not None:
                    most = max(found + triplet_water(group, used, faces[0], claimed), most or 0)
    return most


def fits(limit, option, wanted):
    """Whether the golds of a group do not make a fifth copy of a kind."""
    if limit is None:
        return True
    return all(limit[face] >= number for face, number in (wanted - Counter(option)).items())


def triplet_water(group, used, face, claimed):
    if len(set(group)) > 1 or len(group) != 3 or used < 3 or face == claimed:
        return 0
    return 2 if face >= 27 else 1


# --- hands


@st.composite
def hands(draw, sets=2, golds=2):
    """Nearly complete hands of `sets` sets and a pair, the rest of 16 tiles melded; some tiles are golds."""
    gold = draw(st.sampled_from([0, 4, 8, 13, 27, 31, 33]) | st.integers(0, 33))
    near = st.integers(0, 6).map(lambda up: min(33, gold // 9 * 9 + up)) | st.integers(0, 33)
    tiles = []
    for _ in range(sets):
        first = draw(near)
        run = first < 27 and first % 9 < 7 and draw(st.booleans())
        tiles += [first, first + 1, first + 2] if run else [first] * 3
    tiles += [draw(near)] * 2
    tiles = [WHITE if tile == gold != WHITE else tile for tile in tiles]
    for _ in range(draw(st.integers(0, golds))):
        tiles[draw(st.integers(0, len(tiles) - 1))] = gold
    if draw(st.booleans()):
        tiles[draw(st.integers(0, len(tiles) - 1))] = draw(near)
    tiles = draw(st.permutations(tiles))
    melds = []
    for kind in (10, 20, 28, 6, 15, 23, 30, 1):  # kinds that are not in the hand
        if len(melds) < 5 - sets and kind not in tiles and kind != gold:
            melds.append(Meld(MeldKind.PUNG, (Tile(kind),) * 3))
    return Tile(gold), [Tile(tile) for tile in tiles], tuple(melds)


def claim_of(gold, tiles, melds, how="zimo"):
    win = None if how == "youjin" else tiles[-1]
    held = tiles if win is None else tiles[:-1]
    return Claim(
        indicator=gold, concealed=tuple(held), win=win, melds=melds, how=how, winner=Seat(1)
    )  # fmt: skip


def possible(claim):
    return not any(code in ("fifth_copy", "tile_count") for code in RULES.check(claim).problems)


def triplets(verdict):
    return sum(item.amount for item in verdict.items if item.code.startswith("water_triplet"))


@pytest.mark.parametrize("how", ["zimo", "ping"])
@settings(max_examples=200, deadline=None)
@given(hand=hands())
def test_the_best_water_is_that_of_the_enumeration(how, hand):
    gold, tiles, melds = hand
    claim = claim_of(gold, tiles, melds, how)
    if not possible(claim):
        return
    faces, golds = faces_of(tiles, gold)
    win = gold if tiles[-1] == WHITE else tiles[-1]
    claimed = win if how == "ping" and faces.count(win) < 4 else None
    verdict = RULES.check(claim)
    if how == "ping" and golds:
        assert verdict.reason.startswith("gold_")
        return
    most = best(faces, golds, True, claimed)
    assert (verdict.outcome is Outcome.WIN) == (most is not None)
    if most is not None:
        assert triplets(verdict) == most


@settings(max_examples=25, deadline=None)
@given(hand=hands(sets=4, golds=3))
def test_the_best_water_of_longer_hands_with_three_golds(hand):
    test_the_best_water_is_that_of_the_enumeration.hypothesis.inner_test("zimo", hand)


@settings(max_examples=150, deadline=None)
@given(hand=hands(golds=3))
def test_a_gold_that_may_not_be_a_fifth_copy(hand):
    gold, tiles, melds = hand
    claim = claim_of(gold, tiles, melds)
    if not possible(claim):
        return
    faces, golds = faces_of(tiles, gold)
    known = Counter([*faces, *(int(tile) for meld in melds for tile in meld.tiles)])
    limit = Counter({int(kind): 4 - known[kind] for kind in HAND_KINDS})
    limit[int(gold)] = 99  # its face has golds and Whites enough
    most = best(faces, golds, True, limit=limit)
    verdict = NO_FIFTH.check(claim)
    assert (verdict.outcome is Outcome.WIN) == (most is not None)
    if most is not None:
        assert triplets(verdict) == most


@settings(max_examples=60, deadline=None)
@given(hand=hands(golds=3), drawn=st.none() | st.sampled_from(HAND_KINDS))
def test_youjin_is_a_hand_that_every_kind_completes(hand, drawn):
    gold, tiles, melds = hand
    claim = claim_of(gold, tiles[1:], melds, "youjin")
    if drawn is not None:
        claim = replace(claim, facts=type(claim.facts)(drawn=(drawn,)))
    if not possible(claim):
        return
    faces, golds = faces_of(tiles[1:], gold)
    kinds = [kind for kind in range(34) if gold == WHITE or kind != WHITE]  # every face
    every = all(best(sorted([*faces, kind]), golds, True) is not None for kind in kinds)
    verdict = RULES.check(claim)
    assert RULES.every_tile_wins(Hand(claim.concealed, melds), gold) == every
    assert (verdict.outcome is Outcome.WIN) == every
    if every:
        waiting = best(faces, golds - 1, False)
        complete = None if drawn is None else best(*faces_of([*tiles[1:], drawn], gold), True)
        assert triplets(verdict) == max(waiting or 0, complete or 0)


@settings(max_examples=80, deadline=None)
@given(hand=hands(sets=3, golds=3))
def test_readings_hold_just_the_tiles_of_the_hand_and_come_once(hand):
    gold, tiles, melds = hand
    if not possible(claim_of(gold, tiles, melds)):
        return
    readings = list(RULES.decompositions(Hand(tuple(tiles), melds), gold))
    assert len(set(readings)) == len(readings)
    for reading in readings:
        lying = Counter(tile.actual for group in reading.groups for tile in group.tiles)
        assert lying == Counter([*tiles, *(tile for meld in melds for tile in meld.tiles)])
        for group in reading.groups:
            kinds = [int(tile.stands_for) for tile in group.tiles]
            assert kinds[1:] == kinds[:-1] or kinds == [kinds[0], kinds[0] + 1, kinds[0] + 2]
            for tile in group.tiles:
                proxied = tile.actual == WHITE != gold and tile.stands_for == gold
                assert tile.actual in (tile.stands_for, gold) or proxied


# --- what must not matter


@settings(max_examples=100, deadline=None)
@given(hand=hands(sets=3, golds=3), data=st.data(), how=st.sampled_from(["zimo", "ping", "youjin"]))
def test_neither_the_order_of_tiles_nor_the_names_of_suits_matter(hand, data, how):
    gold, tiles, melds = hand
    tiles = tiles[1:] if how == "youjin" else tiles
    claim = claim_of(gold, tiles, melds, how)
    suits = data.draw(st.permutations(range(3)))

    def named(tile):
        return Tile(suits[tile // 9] * 9 + tile % 9) if tile < 27 else tile

    other = replace(
        claim,
        indicator=named(gold),
        concealed=tuple(named(tile) for tile in data.draw(st.permutations(claim.concealed))),
        win=None if claim.win is None else named(claim.win),
        melds=tuple(Meld(meld.kind, tuple(map(named, meld.tiles))) for meld in melds),
    )
    one, two = RULES.check(claim), RULES.check(other)
    assert (one.outcome, one.problems, one.totals) == (two.outcome, two.problems, two.totals)
    assert [(item.code, item.amount) for item in one.items] == [
        (item.code, item.amount) for item in two.items
    ]

"""The winner of Zhenjiang gets the best legal reading: against every replacement of every wildcard.

One thing is read one way only: wildcards that make a group among themselves stand for themselves. It could
matter only if a substitution were dearer than none, so that price is tried with hands of one wildcard.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import rulesets
from engine.tiles import Tile
from engine.verdict import Outcome
from tests.engine.proof.zhenjiang_hands import claims, next_kind, splits, unit_price

OPTIONS = st.fixed_dictionaries(
    {
        "combine": st.sampled_from(["max", "sum"]),
        "wild_fifth_copy": st.booleans(),
        "self_sub": st.sampled_from([3, 9]),  # 9: a substitution pays more than the natural hand
    }
)


def compare(claim, options):
    if claim.how in ("discard", "robkong"):
        return
    if claim.held.count(next_kind(claim.indicator)) > 1:
        options = {**options, "self_sub": 3}
    rules = rulesets.load("zhenjiang", options)
    verdict = rules.check(claim)
    if verdict.outcome is Outcome.INCONSISTENT:
        return
    unit = unit_price(claim, rules.options)
    assert (verdict.outcome is Outcome.WIN) == (unit is not None)
    assert sum(item.amount for item in verdict.items) == (unit or 0)
    if unit is not None:
        pay = rules.settle(verdict, claim, (10**6,) * 4).pay
        assert pay == tuple(3 * unit if seat == claim.winner else -unit for seat in range(4))


@settings(max_examples=150, deadline=None)
@given(claims(wilds=2), OPTIONS)
def test_no_replacement_of_the_wildcards_pays_more(claim, options):
    compare(claim, options)


@settings(max_examples=25, deadline=None)
@given(claims(melds=3, wilds=3), OPTIONS)
def test_three_wildcards_in_a_small_hand(claim, options):
    compare(claim, options)


@pytest.mark.soak
@pytest.mark.timeout(900)
@settings(max_examples=1_500, deadline=None)
@given(claims(wilds=2), OPTIONS)
def test_no_replacement_of_the_wildcards_pays_more_in_many_hands(claim, options):
    compare(claim, options)


@settings(max_examples=100, deadline=None)
@given(claims(wilds=2), st.booleans())
def test_a_win_on_anothers_tile_takes_it_at_its_face(claim, natural):
    if claim.how not in ("discard", "robkong"):
        return
    rules = rulesets.load("zhenjiang", {"ron_needs_natural": natural})
    verdict = rules.check(claim)
    if verdict.outcome is Outcome.INCONSISTENT:
        return
    wild = next_kind(claim.indicator)
    at_face = splits(tuple(sorted(map(int, claim.held))))
    free = claim.concealed.count(wild)
    if natural or not free:
        assert (verdict.outcome is Outcome.WIN) == at_face
    elif at_face:
        assert verdict.outcome is Outcome.WIN


def test_the_price_finder_knows_the_documents_examples():
    from engine.notation import parse_claim

    base = {"combine": "max", "wild_fifth_copy": True, "self_sub": 3}
    for line, unit in (
        ("77z123m456p789s11p +7z flip=5z how=self seat=0", 10),
        ("77z123m456p789s11p +9m flip=5z how=self seat=0", 5),
        ("123m456p789p11z3s6s +4s flip=5s how=self seat=0 da=er:2", 11),
        ("123m456p789p11z19s +6s flip=5s how=self seat=0", None),
    ):
        assert unit_price(parse_claim(line, "zhenjiang"), base) == unit
    assert [next_kind(Tile.of(tile)).id for tile in ("9m", "4z", "7z", "6z", "5z")] == [
        "1m", "1z", "6z", "5z", "7z",
    ]  # fmt: skip

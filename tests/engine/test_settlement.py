"""Money: sums to zero, never more than a payer has, fair to every seat."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import rulesets
from engine.claim import Claim, Counters, Facts, Seat
from engine.errors import EngineError
from engine.notation import parse_tiles
from engine.settlement import Settlement, check_chips, nothing
from engine.tiles import Tile
from engine.verdict import Outcome

HANDS = [
    ("123m456p789p11z3s6s", "4s", "5s"),
    ("123m456m789m11z34s", "5s", "1p"),
    ("77z123m456p789s11p", "9m", "5z"),
    ("77z123m456p789s11p", "7z", "5z"),
    ("123m456p789p11z45s", "6s", "5s"),
]


@st.composite
def claims(draw):
    hand, win, flip = draw(st.sampled_from(HANDS))
    how = draw(st.sampled_from(["self", "discard", "robkong"]))
    if how == "robkong" and win == "7z":
        how = "discard"  # the winner holds two of it: no kong to rob
    winner, discarder = draw(st.permutations(range(4)))[:2]
    counter = draw(st.sampled_from(["shou", "er", "peng", None]))
    return Claim(
        indicator=Tile.of(flip),
        concealed=parse_tiles(hand),
        win=Tile.of(win),
        how=how,
        winner=Seat(winner),
        discarder=Seat(discarder) if how != "self" else None,
        facts=Facts() if how == "robkong" or counter is None else Facts(da=Counters({counter: 1})),
        chips=draw(st.none() | st.tuples(*[st.integers(0, 40)] * 4)),
    )


options = st.fixed_dictionaries(
    {},
    optional={
        "payment": st.sampled_from(["pei", "bao", "discarder"]),
        "base": st.integers(1, 9),
        "combine": st.sampled_from(["max", "sum"]),
        "cap_at_chips": st.booleans(),
        "first_wild": st.integers(0, 20),
    },
)


@settings(max_examples=200, deadline=None)
@given(claims(), options)
def test_money_goes_from_losers_to_the_winner_and_nowhere_else(claim, chosen):
    rules = rulesets.load("zhenjiang", chosen)
    verdict = rules.check(claim)
    assert verdict.outcome is Outcome.WIN
    settlement = rules.settle(verdict, claim)
    assert sum(settlement.pay) == settlement.bank == 0
    assert settlement.pay[claim.winner] >= 0 == settlement.unpaid[claim.winner]
    for seat in range(4):
        if seat == claim.winner:
            continue
        assert settlement.pay[seat] <= 0 <= settlement.unpaid[seat]
        if claim.chips is None or not rules.flag("cap_at_chips"):
            assert settlement.unpaid[seat] == 0
        else:
            assert -settlement.pay[seat] <= claim.chips[seat]
            assert settlement.unpaid[seat] == 0 or settlement.pay[seat] == -claim.chips[seat]


@settings(max_examples=100, deadline=None)
@given(claims(), options, st.integers(1, 3))
def test_a_turned_table_pays_the_same(claim, chosen, turn):
    from dataclasses import replace

    def turned(values):
        return tuple(values[(seat - turn) % 4] for seat in range(4))

    rules = rulesets.load("zhenjiang", chosen)
    other = replace(
        claim,
        winner=Seat((claim.winner + turn) % 4),
        discarder=None if claim.discarder is None else Seat((claim.discarder + turn) % 4),
        chips=None if claim.chips is None else turned(claim.chips),
    )
    one, two = (rules.settle(rules.check(c), c) for c in (claim, other))
    assert turned(one.pay) == two.pay
    assert turned(one.unpaid) == two.unpaid


@settings(max_examples=100, deadline=None)
@given(claims())
def test_the_discarder_pays_for_all_or_only_for_himself(claim):
    def pay(payment):
        rules = rulesets.load("zhenjiang", {"payment": payment, "cap_at_chips": False})
        return rules.settle(rules.check(claim), claim).pay

    pei, bao, alone = pay("pei"), pay("bao"), pay("discarder")
    assert pei[claim.winner] == bao[claim.winner]
    if claim.discarder is None:
        assert pei == bao == alone
    else:
        assert [seat for seat in range(4) if bao[seat] < 0] == [claim.discarder]
        assert alone[claim.discarder] == pei[claim.discarder]


@given(
    st.integers(0, 3),
    st.sampled_from(["bank", "each_other", "split"]),
    st.integers(0, 50),
)
def test_fines_sum_to_zero_with_the_bank(offender, fine_to, amount):
    rules = rulesets.load("zhenjiang", {"fine_to": fine_to, "false_win": amount})
    fine = rules.false_win(Seat(offender), chips=[1] * 4)
    assert sum(fine.deferred) + fine.deferred_bank == 0
    shares = [fine.deferred[seat] for seat in range(4) if seat != offender]
    assert min(shares) >= 0
    assert max(shares) - min(shares) <= 1
    assert -fine.deferred[offender] == amount * (3 if fine_to == "each_other" else 1)


def test_a_settlement_that_makes_or_loses_chips_cannot_be_built():
    nobody = (0, 0, 0, 0)
    one = (1, 0, 0, 0)
    for wrong in (
        {"pay": one},
        {"pay": nobody, "bank": 1},
        {"pay": one, "bank": 1},
        {"pay": nobody, "outside": one},
        {"pay": nobody, "deferred": one},
        {"pay": nobody, "deferred_bank": -1},
    ):
        with pytest.raises(EngineError, match="a settlement must sum to 0 per account: Settlement"):
            Settlement(unpaid=nobody, **wrong)
    assert Settlement(pay=one, bank=-1, deferred=one, deferred_bank=-1, unpaid=nobody).loans == nobody


def test_chips_are_one_number_per_seat_and_below_zero_only_where_that_can_be():
    check_chips((0, 0, 5), 3)
    check_chips((-1, 0, 5), 3, below_zero=True)
    for chips, players, below in (((-1, 0, 5), 3, False), ((0, 0), 3, True), ((1, 1, 1, 1), 3, False)):
        with pytest.raises(
            EngineError, match=re.escape(f"chips must be 3 numbers from 0, not {list(chips)}.")
        ):
            check_chips(chips, players, below_zero=below)
    with pytest.raises(EngineError, match="chips must be"):
        check_chips((0, -1), 2)


def test_where_nobody_pays_nobody_owes():
    free = nothing(3)
    assert (free.pay, free.unpaid, free.outside, free.deferred, free.loans) == ((0, 0, 0),) * 5
    assert (free.hand_over, free.redeal) == (True, False)
    assert nothing(4, hand_over=False).hand_over is False
    again = nothing(4, redeal=True, hand_over=False)
    assert (again.hand_over, again.redeal) == (True, True)

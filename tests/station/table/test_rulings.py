"""Rulings and accounts in every rule set: who pays where, whether the hand goes on, when a match is over."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from engine import rulesets
from station.places import Place
from station.session import Stage, replay
from station.table import decide
from station.table.asking import Refused
from station.table.matching import booking, match_of
from tests.engine.extras import needs
from tests.station.table.booth import LOSING, Booth


def _booth(ruleset: str, chips: int = 100, **options: Any) -> Booth:
    rules = rulesets.load(ruleset, options)
    booth = Booth(rules, [chips] * rules.players)
    booth.to_play("5p" if ruleset == "xiamen" else "1p")
    return booth


def _losing_claim(booth: Booth, place: int) -> None:
    booth.do("claim", place=place, how=booth._self_drawn())
    booth.do("hand", line=LOSING[booth.rules.id])
    if booth.rules.data.seat_facts:
        for other in {0, 1, 2} - {place}:
            booth.do("hand", place=other, line="")


def _code(act: Any, *given: Any, **body: Any) -> str:
    with pytest.raises(Refused) as refused:
        act(*given, **body)
    return refused.value.code


def test_a_false_win_is_fined_later_or_at_once_as_the_rules_say() -> None:
    booth = _booth("zhenjiang", 50)
    _losing_claim(booth, 1)
    assert booth.state()["claim"]["fine"] == 6
    booth.do("ruling", kind="false_win")
    place = booth.state()["places"][1]
    assert (place["chips"], place["deferred"], place["barred"]) == (50, 6, True)
    assert booth.session.stage is Stage.PLAY


@needs("mcr")
def test_points_are_paid_at_once_and_may_fall_below_nothing() -> None:
    booth = _booth("mcr", 0)
    _losing_claim(booth, 2)
    assert booth.state()["claim"]["fine"] == 30
    booth.do("ruling", kind="false_win")
    assert [place["chips"] for place in booth.state()["places"]] == [10, 10, -30, 10]
    assert booth.state()["places"][2]["barred"]


def test_a_false_win_may_kill_the_hand() -> None:
    booth = _booth("fengcheng", lei_per_point=1)
    _losing_claim(booth, 1)
    booth.do("ruling", kind="false_win")
    place = booth.state()["places"][1]
    assert (place["xianggong"], place["barred"], booth.session.stage) == (True, False, Stage.PLAY)


def test_a_false_win_may_end_the_hand_and_be_paid_outside_the_chips() -> None:
    booth = _booth("xiamen")
    _losing_claim(booth, 3)
    assert booth.state()["claim"]["fine"] == 150
    booth.do("ruling", kind="false_win", reason="claim_does_not_win")
    state = booth.state()
    assert [place["outside"] for place in state["places"]] == [50, 50, 50, -150]
    assert [place["chips"] for place in state["places"]] == [100] * 4
    assert (booth.session.stage, state["dealer"], state["streak"]) == (Stage.RULED, 0, 0)
    assert state["last"]["outcome"] == "false_win"


@pytest.mark.parametrize(
    ("ruleset", "spoiled"),
    [
        ("xiamen", "a line"),
        ("xiamen", [1]),
        ("xiamen", ["x"]),
        ("xiamen", ["123m456m789m123s45s5p9m how=youjin seat=1"]),
        ("xiamen", ["11z how=youjin seat=1"] * 4),
        ("zhenjiang", ["123m456m789m11z34s +5s how=self seat=1"]),
    ],
)
def test_wins_that_were_not_spoiled_are_not_paid_for(ruleset: str, spoiled: Any) -> None:
    booth = _booth(ruleset)
    _losing_claim(booth, 3)
    booked = len(booth.events)
    assert _code(booth.do, "ruling", kind="false_win", spoiled=spoiled) == "bad_spoiled"
    assert len(booth.events) == booked


def test_a_hand_that_may_win_is_no_false_win() -> None:
    booth = _booth("xiamen")
    booth.do("claim", place=1, how="zimo")
    booth.do("hand", line="123m456m789m123s45s22z +6s")
    assert _code(booth.do, "ruling", kind="false_win") == "false_win_needs_no_win"


# the end of a match


def _until_ended(booth: Booth) -> None:
    """Place 1 wins hand after hand until two have nothing."""
    while booth.session.ended is None:
        booth.to_play()
        pay = [-min(20, place.chips) if i in (2, 3) else 0 for i, place in enumerate(booth.session.places)]
        pay[1] = -sum(pay)
        booth.do("ruling", kind="win", place=1, reason="x", pay=pay)


def test_a_match_that_is_over_starts_no_hand_until_the_last_one_is_taken_back() -> None:
    booth = _booth("zhenjiang", 50)
    _until_ended(booth)
    state = booth.state()
    assert state["ended"] == "two_broke"
    assert {"code": "match.two_broke", "params": {}} in state["messages"]
    with pytest.raises(Refused) as refused:
        decide.start(booth.session, booth.rules, None, None)
    assert refused.value.code == "match_ended"
    booth.do("undo")
    booth.session = replay(booth.events)
    assert booth.session.ended is None
    _until_ended(booth)
    booth.do("close")
    assert booth.session.stage is Stage.CLOSED


def test_among_friends_nothing_ends_a_match() -> None:
    friends = Booth(rulesets.load("zhenjiang"), [20, 20, 20, 20])
    friends.session = msgspec.structs.replace(friends.session, format="casual")
    friends.to_play()
    friends.do("ruling", kind="win", place=1, reason="x", pay=[0, 40, -20, -20])
    assert [place.chips for place in friends.session.places] == [20, 60, 0, 0]
    assert friends.session.ended is None
    assert decide.start(friends.session, friends.rules, None, None)


def test_the_books_follow_the_match_also_when_a_stake_ends() -> None:
    booth = _booth("xiamen")
    booth.do("claim", place=1, how="sanyou")
    booth.do("hand", line="123m456m789m123s456s5p")
    match = match_of(booth.session, booth.rules)
    claim = booth.state()["claim"]
    assert claim["can_confirm"]
    booth.do("confirm")
    places = booth.session.places
    assert [place.chips for place in places] == [100] * 4
    assert [place.carried for place in places] == [-100, 300, -100, -100]
    assert [place.outside for place in places] == [-250, 750, -250, -250]
    assert match_of(booth.session, booth.rules).result == (0, 400, 0, 0)
    assert match.issued == match_of(booth.session, booth.rules).issued == 400


# accounts


@pytest.mark.parametrize(
    ("ruleset", "body", "code"),
    [
        ("zhenjiang", {"kind": "loan", "place": 1, "amount": 50}, "bad_amount"),
        ("fengcheng", {"kind": "loan", "place": 1, "amount": 0}, "bad_amount"),
        ("fengcheng", {"kind": "loan", "place": 1, "amount": -5}, "bad_amount"),
        ("fengcheng", {"kind": "loan", "place": 1, "amount": True}, "bad_amount"),
        ("fengcheng", {"kind": "loan", "place": 1, "amount": 10**9}, "bad_amount"),
        ("fengcheng", {"kind": "repay", "place": 1, "amount": 1}, "bad_amount"),
        ("fengcheng", {"kind": "forfeit", "place": 1, "amount": 101}, "bad_amount"),
        ("fengcheng", {"kind": "gift", "place": 1, "amount": 1}, "bad_account"),
        ("fengcheng", {"kind": "loan", "place": 3, "amount": 1}, "bad_place"),
    ],
)
def test_chips_that_cannot_be_moved(ruleset: str, body: dict[str, Any], code: str) -> None:
    assert _code(_booth(ruleset).do, "account", **body) == code


def test_chips_are_borrowed_given_back_and_taken_out_and_the_last_step_is_undone() -> None:
    booth = _booth("fengcheng", lei_per_point=1)
    booth.do("account", kind="loan", place=1, amount=100)
    booth.do("account", kind="repay", place=1, amount=40)
    booth.do("account", kind="forfeit", place=2, amount=30)
    state = booth.state()
    assert [(p["chips"], p["loans"]) for p in state["places"]] == [(100, 0), (160, 60), (70, 0)]
    assert state["forfeited"] == 30
    booth.do("undo")
    booth.session = replay(booth.events)
    assert booth.state()["forfeited"] == 0


@needs("mcr")
def test_where_points_are_written_down_a_fine_may_exceed_them() -> None:
    booth = _booth("mcr", 0)
    booth.do("penalty", place=1, kind="chips", amount=20)
    assert booth.state()["places"][1]["chips"] == -20
    booth.do("claim", place=1, how="self")
    booth.do("ruling", kind="win", place=2, reason="x", pay=[-8, -8, 24, -8])
    assert [place["chips"] for place in booth.state()["places"]] == [-8, -28, 24, -8]
    assert _code(_booth("zhenjiang", 5).do, "penalty", place=1, kind="chips", amount=20) == "bad_amount"


def test_a_step_that_pays_nobody_books_nothing() -> None:
    booth = _booth("xiamen")
    match = match_of(booth.session, booth.rules)
    booked = booking(booth.session, match, match.redeal(), None)
    assert (booked["pay"], booked["outside"], booked["stake"]) == ([0] * 4, [0] * 4, None)
    assert (booked["next_dealer"], booked["match_hand"]) == (Place(0), 1)

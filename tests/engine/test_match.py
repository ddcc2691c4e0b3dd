"""Between hands: deal and streak, accounts that never make or lose a chip, rulings, the end of a match."""

from dataclasses import replace

import pytest

from engine import rulesets
from engine.accounts import collect, shared
from engine.claim import Claim, Facts, Seat
from engine.errors import EngineError
from engine.match import Match
from engine.matchrules import MatchRules
from engine.notation import parse_claim
from engine.ruledata import FactSpec
from engine.rules.zhenjiang import Zhenjiang
from engine.settlement import Settlement, nothing
from engine.tiles import Tile
from engine.verdict import Outcome

RULES = rulesets.load("zhenjiang")
HAND = "123m456m789m11z34s +5s flip=1p"
NONE = (0, 0, 0, 0)


def claim(words):
    return parse_claim(f"{HAND} {words}", "zhenjiang")


def other_rules(**hooks):
    """Zhenjiang with other answers to some of the hooks of a match."""
    hooks = {
        name: hook if callable(hook) else property(lambda self, value=hook: value)
        for name, hook in hooks.items()
    }
    return type("Other", (Zhenjiang,), hooks)(RULES.data, {})


# --- state


def test_everybody_starts_with_the_stake_or_with_the_chips_given():
    assert Match.start(RULES).issued == 200
    match = Match.start(RULES, (1, 2, 3, 4), first_dealer=2)
    assert (match.issued, match.dealer, match.circle, match.hand) == (10, 2, 1, 1)
    with pytest.raises(EngineError, match="player 4"):
        Match.start(RULES, first_dealer=4)
    with pytest.raises(EngineError, match="one per player"):
        Match.start(RULES, (1, 2, 3))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"chips": (51, 50, 50, 50)}, "made or lost"),
        ({"bank": 1}, "made or lost"),
        ({"forfeited": -1}, "made or lost"),
        ({"loans": (1, 0, 0, 0)}, "made or lost"),
        ({"carried": (1, 0, 0, 0)}, "made or lost"),
        ({"outside": (1, 0, 0, 0)}, "made or lost"),
        ({"chips": (-1, 51, 75, 75)}, "fewer chips than 0"),
        ({"chips": (50.0, 50, 50, 50)}, "whole numbers"),
        ({"bank": 0.0}, "whole numbers"),
        ({"deferred": (0, 0, 0)}, "one per player"),
    ],
)
def test_a_state_that_makes_or_loses_chips_cannot_be_built(change, says):
    with pytest.raises(EngineError, match=says):
        replace(Match.start(RULES), **change)


def test_points_may_fall_below_zero_where_they_are_no_chips():
    rules = RULES.with_options({"cap_at_chips": False})
    match = Match.start(rules, (2, 2, 2, 2)).claim(claim("how=self seat=1")).match
    assert match.chips == (-4, 20, -4, -4)


def test_players_and_seats_turn_with_the_dealer():
    match = replace(Match.start(RULES), dealer=3)
    assert [match.seat_of(player) for player in range(4)] == [1, 2, 3, 0]
    assert [match.player_of(seat) for seat in range(4)] == [3, 0, 1, 2]
    assert match.by_seat("abcd") == ("d", "a", "b", "c")
    assert match.by_player(match.by_seat("abcd")) == ("a", "b", "c", "d")


# --- hands


def test_a_win_is_judged_settled_and_booked_by_player():
    match = replace(Match.start(RULES), dealer=1)
    played = match.claim(claim("how=discard seat=1 from=3"))
    assert played.verdict.outcome is Outcome.WIN
    assert played.settlement.pay == (-2, 8, -2, -4)
    assert played.match.chips == (46, 48, 58, 48)
    assert (played.match.dealer, played.match.hand, played.match.streak) == (2, 2, 0)


def test_what_does_not_win_changes_nothing():
    match = Match.start(RULES)
    for words in ("how=self seat=1 from=2", "how=self seat=1 xianggong"):
        played = match.claim(claim(words))
        assert played.match is match
        assert played.settlement is None


def test_a_circle_ends_when_the_deal_is_back_at_the_first_dealer():
    match = Match.start(RULES, first_dealer=2)
    circles = []
    for _ in range(5):
        match = match.claim(claim("how=discard seat=1 from=2")).match
        circles.append((match.dealer, match.circle))
    assert circles == [(3, 1), (0, 1), (1, 1), (2, 2), (3, 2)]


def test_the_match_supplies_chips_streak_round_seat_and_dead_hands():
    def spec(name, role):
        return FactSpec(name=name, type="int", key=name, word=name, role=role, section="§1", text="n")

    specs = {name: spec(name, name) for name in ("streak", "round", "seat")}
    rules = Zhenjiang(replace(RULES.data, facts=specs), {})
    match = replace(Match.start(rules), dealer=1, streak=2, circle=7, dead=(3,))
    supplied = match.supplied(claim("how=self seat=2 chips=1,1,1,1"))
    assert supplied.facts == {"streak": 2, "round": 2, "seat": 2}
    assert supplied.chips == (50, 50, 50, 50)
    assert supplied.xianggong
    given = match.supplied(replace(claim("how=self seat=1"), facts=Facts(streak=5)))
    assert given.facts == {"streak": 5, "round": 2, "seat": 1}
    assert not given.xianggong
    assert match.supplied(Claim(how="draw")).facts == {}
    without = Zhenjiang(replace(RULES.data, keys=("indicator",)), {})
    assert Match.start(without).supplied(claim("how=self seat=1")).chips is None


def test_a_settlement_can_be_booked_that_a_person_has_ruled():
    match = Match.start(RULES)
    ruled = Settlement(pay=(5, -5, 0, 0), unpaid=NONE, outside=(0, 0, 1, -1), bank=0)
    after = match.book(ruled, Seat(0))
    assert (after.chips, after.outside, after.streak) == ((55, 45, 50, 50), (0, 0, 1, -1), 1)
    to_the_bank = match.book(Settlement(pay=(-3, 0, 0, 0), unpaid=NONE, bank=3, hand_over=False))
    assert (to_the_bank.bank, to_the_bank.hand) == (3, 1)
    with pytest.raises(EngineError, match="fewer chips"):
        match.book(Settlement(pay=(-51, 51, 0, 0), unpaid=NONE))


def test_a_loan_named_by_a_settlement_is_booked_before_it_is_paid():
    match = Match.start(RULES, (30, 50, 50, 50))
    after = match.book(Settlement(pay=(-80, 80, 0, 0), unpaid=NONE, loans=(100, 0, 0, 0)))
    assert (after.chips, after.loans, after.result) == ((50, 130, 50, 50), (100, 0, 0, 0), (-50, 130, 50, 50))


def test_a_new_stake_carries_the_net():
    rules = other_rules(stake_is_over=lambda self, chips: sorted(chips)[:3] == [0, 0, 0])
    match = Match.start(rules, (60, 60, 40, 40))
    assert match.book(nothing(4)).carried == NONE
    after = match.book(Settlement(pay=(140, -60, -40, -40), unpaid=NONE))
    assert (after.chips, after.carried) == ((50, 50, 50, 50), (150, -50, -50, -50))
    assert after.result == (200, 0, 0, 0)


# --- rulings


def test_a_barred_player_may_not_win_in_this_hand():
    match = Match.start(RULES).false_win(Seat(1)).match
    assert match.barred == (1,)
    won = match.claim(claim("how=self seat=1"))
    assert won.verdict.problems == ("barred",)
    assert (won.verdict.section, won.verdict.outcome) == ("§7", Outcome.NO_WIN)
    dead = match.xianggong(Seat(1)).claim(claim("how=self seat=1"))
    assert dead.verdict.problems == ("xianggong", "barred")
    broken = match.claim(claim("how=self seat=1 from=2"))
    assert broken.verdict.problems == ("contradictory_facts", "barred")
    assert broken.verdict.outcome is Outcome.INCONSISTENT
    assert match.claim(claim("how=self seat=2")).verdict.outcome is Outcome.WIN


def test_a_false_win_may_kill_the_hand_end_it_or_deal_it_again():
    killing = Match.start(other_rules(false_win_kills=True)).false_win(Seat(2)).match
    assert (killing.dead, killing.barred) == ((2,), ())
    again = other_rules(settle_false_win=lambda self, offender, chips: nothing(4, redeal=True))
    match = replace(Match.start(again), streak=3, dead=(0,))
    after = match.false_win(Seat(2)).match
    assert (after.dead, after.barred, after.streak, after.hand) == ((), (), 3, 1)


def test_a_false_win_pays_for_spoiled_wins_only_where_the_rules_say_so():
    with pytest.raises(EngineError, match="does not pay for other wins"):
        Match.start(RULES).false_win(Seat(2), [claim("how=self seat=1")])
    seen = []

    def spoiled(self, offender, chips, wins):
        seen.extend((offender, chips, wins))
        return nothing(4, redeal=True)

    Match.start(other_rules(settle_spoiled=spoiled)).false_win(Seat(2), [claim("how=self seat=1")])
    assert seen[:2] == [2, (50, 50, 50, 50)]
    assert seen[2][0].chips == (50, 50, 50, 50)


def test_who_may_not_win_gets_no_tile_by_winning():
    match = replace(Match.start(RULES), dealer=1).false_win(Seat(2)).match.xianggong(Seat(3))
    wants = [(Seat(2), "win"), (Seat(3), "win"), (Seat(0), "pung")]
    award = match.award(Tile.M5, Seat(1), wants)
    assert (award.seat, award.call) == (0, "pung")
    assert [(want, problem.code) for want, problem in award.refused] == [
        ((2, "win"), "barred"), ((3, "win"), "xianggong"),
    ]  # fmt: skip


@pytest.mark.parametrize("rule", [lambda m: m.xianggong(Seat(4)), lambda m: m.false_win(Seat(-1))])
def test_rulings_need_a_seat_of_the_table(rule):
    with pytest.raises(EngineError, match="no seat"):
        rule(Match.start(RULES))


# --- chips


def test_loans_are_given_and_repaid_where_the_rules_lend():
    with pytest.raises(EngineError, match="nobody can borrow"):
        Match.start(RULES).loan(0, 10)
    match = Match.start(other_rules(lends=True), (5, 50, 50, 50)).loan(0, 100)
    assert (match.chips[0], match.loans[0], match.result[0]) == (105, 100, 5)
    assert match.repay(0, 60).loans[0] == 40
    for wrong in (
        lambda: match.repay(0, 101),  # more than he borrowed
        lambda: match.forfeit(0, 50).repay(0, 56),  # more than he has
        lambda: match.repay(1, 1),
        lambda: match.repay(0, -1),
        lambda: match.loan(0, -1),
        lambda: match.loan(0, 0),
    ):
        with pytest.raises(EngineError, match="cannot be moved"):
            wrong()
    with pytest.raises(EngineError, match="no player 4"):
        match.loan(4, 1)


def test_forfeited_chips_leave_the_game():
    match = Match.start(RULES).forfeit(2, 50)
    assert (match.chips, match.forfeited) == ((50, 50, 0, 50), 50)
    for amount in (0, 1, -5):
        with pytest.raises(EngineError, match="cannot be moved"):
            match.forfeit(2, amount)


def test_fines_are_collected_as_far_as_there_are_chips():
    match = replace(Match.start(RULES, (9, 50, 50, 50)), deferred=(-18, 6, 6, 6)).close()
    assert (match.chips, match.unpaid, match.deferred) == ((0, 53, 53, 53), (9, 0, 0, 0), NONE)
    assert (match.ended, match.close()) == ("closed", match)
    below = RULES.with_options({"cap_at_chips": False})
    assert replace(Match.start(below, (1, 0, 0, 0)), deferred=(-6, 0, 0, 0)).close().chips == (-5, 0, 0, 0)


@pytest.mark.parametrize(
    ("deferred", "chips", "changes", "bank", "unpaid"),
    [
        ((-6, -6, 6, 6), (1, 4, 0, 0), (-1, -4, 3, 2), 0, (5, 2, 0, 0)),
        ((-6, 2, 2, 0), (4, 0, 0, 0), (-4, 2, 1, 0), 1, (2, 0, 0, 0)),
        ((-6, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0), 0, (6, 0, 0, 0)),
        ((0, 0, 0, 0), (5, 5, 5, 5), (0, 0, 0, 0), 0, (0, 0, 0, 0)),
    ],
)
def test_a_short_payer_pays_all_his_creditors_the_same_part(deferred, chips, changes, bank, unpaid):
    assert collect(deferred, chips, limited=True) == (changes, bank, unpaid)


def test_shares_add_up_and_nobody_gets_more_than_his_claim():
    for total in range(13):
        parts = shared(total, (5, 4, 3, 0))
        assert sum(parts) == total
        assert all(part <= claim for part, claim in zip(parts, (5, 4, 3, 0), strict=True))
    assert shared(0, (0, 0)) == (0, 0)


# --- the end


def test_time_breaks_the_running_hand_off_or_lets_it_be_played():
    void = Match.start(RULES).time_up()
    assert void.ended == "time_up"
    finish = Match.start(RULES.with_options({"running_hand": "finish"})).time_up()
    assert (finish.ended, finish.last_hand) == (None, True)
    assert finish.false_win(Seat(1)).match.ended is None
    assert finish.draw().match.ended == "time_up"
    assert finish.time_up(running=False).ended == "time_up"


def test_two_players_without_chips_end_the_match_only_if_the_event_wants_it():
    poor = (6, 6, 50, 50)
    assert Match.start(RULES, poor).claim(claim("how=self seat=2")).match.ended == "two_broke"
    on = RULES.with_options({"two_broke_ends": False})
    assert Match.start(on, poor).claim(claim("how=self seat=2")).match.ended is None


def test_the_number_of_circles_is_an_option():
    match = Match.start(RULES.with_options({"circles": 1}))
    for _ in range(4):
        assert match.ended is None
        match = match.claim(claim("how=discard seat=1 from=2")).match
    assert match.ended == "match_over"


@pytest.mark.parametrize(
    "step",
    [
        lambda match: match.draw(),
        lambda match: match.claim(claim("how=self seat=1")),
        lambda match: match.false_win(Seat(1)),
        lambda match: match.xianggong(Seat(1)),
        lambda match: match.redeal(),
        lambda match: match.time_up(),
        lambda match: match.book(nothing(4)),
        lambda match: match.award(Tile.M1, Seat(0), [(Seat(1), "pung")]),
    ],
)
def test_nothing_is_played_after_the_end(step):
    with pytest.raises(EngineError, match="over"):
        step(Match.start(RULES).time_up())


def test_rules_without_hooks_let_a_match_go_on():
    rules = MatchRules()
    assert rules.dealer_stays(None)
    assert rules.dealer_stays(Seat(0))
    assert not rules.dealer_stays(Seat(1))
    assert rules.match_end(99, 99, (0, 0, 0, 0)) is None
    assert not rules.stake_is_over((0, 0, 0, 200))
    assert not rules.lends
    assert not rules.false_win_kills
    assert not rules.plays_running_hand
    assert not rules.chips_below_zero

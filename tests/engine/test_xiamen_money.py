"""Money in Xiamen: three equal payments, caps, the account beside the chips, 杀三, 诈胡, 包赔."""

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import rulesets
from engine.claim import Claim, Facts, Seat
from engine.errors import EngineError
from engine.match import Match
from engine.notation import parse_claim, parse_tiles
from engine.tiles import Tile
from engine.vectors import check_line
from engine.verdict import Outcome

RULES = rulesets.load("xiamen")
READY = "123m456m789m123s45s22z +6s flip=5p"
ANY = "123m456m789m123s456s5p flip=5p"
YOUJIN = parse_claim(f"{ANY} how=youjin seat=1", "xiamen")


def settled(line, rules=RULES):
    claim = parse_claim(line, "xiamen")
    return rules.settle(rules.check(claim), claim)


# --- wins


def test_nobody_pays_more_than_he_has():
    money = settled(f"{READY} how=zimo seat=1 chips=3,50,60,16")
    assert (money.pay, money.unpaid) == ((-3, 35, -16, -16), (13, 0, 0, 0))
    assert money.outside == (0, 0, 0, 0)
    assert "kill_three" not in money.totals


def test_bonuses_do_not_depend_on_chips():
    money = settled(f"{ANY} how=youjin seat=1 chips=0,0,400,0")
    assert (money.pay, money.outside) == ((0, 36, -36, 0), (-50, 150, -50, -50))


@pytest.mark.parametrize(
    ("chips", "kills"),
    [
        ("16,400,16,10", True),
        ("17,400,16,10", False),
        ("0,90,0,10", True),  # two were emptied before
        ("0,90,0,17", False),
        ("0,0,0,16", True),
    ],
)
def test_three_killed(chips, kills):
    money = settled(f"{READY} how=zimo seat=1 chips={chips}")
    assert money.outside == ((-100, 300, -100, -100) if kills else (0, 0, 0, 0))
    assert money.totals.get("kill_three") == ((-100, 300, -100, -100) if kills else None)
    assert ("kill_three" in [item.code for item in money.items]) == kills


def test_a_stake_is_over_when_three_players_have_nothing():
    assert RULES.stake_is_over([0, 99, 0, 0])
    assert not RULES.stake_is_over([1, 99, 0, 0])
    assert not RULES.stake_is_over([0, 0, 0, 0])


def test_sanyou_empties_everybody_by_option_whatever_the_sum():
    line = f"{ANY} how=sanyou seat=1 sanyou=auto_kill"
    money = settled(f"{line} chips=178,10,0,300")
    assert (money.pay, money.unpaid) == ((-178, 478, 0, -300), (0, 0, 0, 0))
    assert money.outside == (-250, 750, -250, -250)
    unknown = settled(line)  # without chips there is only the formula
    assert (unknown.pay, unknown.outside) == ((-108, 324, -108, -108), (-250, 750, -250, -250))
    assert settled(f"{ANY} how=shuangyou seat=1 sanyou=auto_kill chips=178,10,0,300").pay == (
        -72,
        144,
        0,
        -72,
    )


def test_a_losing_dealer_pays_on_his_base_by_option():
    line = f"{ANY} how=youjin seat=2 dealer_loser_pays_dealer_base"
    assert settled(line).pay == (-68, -36, 140, -36)
    assert settled(f"{line} streak=2").pay == (-260, -36, 332, -36)
    assert settled(f"{ANY} how=youjin seat=2 streak=2").pay == (-36, -36, 108, -36)
    assert settled(line.replace("seat=2", "seat=0")).pay == (204, -68, -68, -68)


def test_a_draw_scores_nothing_and_keeps_the_dealer():
    result = check_line("how=draw", "xiamen")
    assert (result["outcome"], result["pay"], result["section"]) == ("draw", [0, 0, 0, 0], "§8")
    assert RULES.dealer_stays(None)
    assert RULES.dealer_stays(Seat(0))
    assert not RULES.dealer_stays(Seat(1))


# --- rulings


def test_a_false_win_costs_half_a_stake_to_each_beside_the_chips():
    fine = RULES.false_win(Seat(2), chips=(0, 0, 0, 0))
    assert (fine.pay, fine.outside, fine.redeal) == ((0, 0, 0, 0), (50, 50, -150, 50), True)
    assert fine.items[0].section == "§9"
    assert RULES.with_options({"false_win": 20}).false_win(Seat(0)).outside == (-60, 20, 20, 20)


def test_who_spoils_a_youjin_pays_it_alone():
    money = RULES.false_win(Seat(3), wins=[YOUJIN])  # the example of the document
    assert money.pay == (0, 108, 0, -108)
    assert money.outside == (50, 50 + 150, 50, -150 - 150)
    assert money.redeal


def test_what_the_offender_has_not_in_chips_he_owes_beside_them():
    money = RULES.false_win(Seat(3), chips=(100, 100, 100, 100), wins=[YOUJIN])
    assert (money.pay, money.outside) == ((0, 100, 0, -100), (50, 208, 50, -308))
    killed = RULES.false_win(Seat(3), chips=(30, 320, 20, 30), wins=[YOUJIN])
    assert (killed.pay, killed.outside) == ((0, 30, 0, -30), (50, 550, 50, -650))


def test_every_spoiled_youjin_is_counted_on_the_chips_before_the_ruling():
    wins = [replace(YOUJIN, winner=Seat(seat)) for seat in (2, 3, 1)]
    rich = RULES.false_win(Seat(0), chips=(370, 10, 10, 10), wins=wins)
    assert rich.pay == (-168, 56, 56, 56)
    poor = RULES.false_win(Seat(0), chips=(70, 110, 110, 110), wins=wins)
    assert poor.pay == (-70, 70, 0, 0)  # the nearest seats get the chips there are
    assert poor.outside == (-600 - 3 * 108 + 70, 200 + 38, 200 + 108, 200 + 108)
    assert RULES.false_win(Seat(0), chips=(70, 110, 110, 110), wins=wins[::-1]) == poor
    dealer = RULES.false_win(Seat(1), wins=[replace(YOUJIN, winner=Seat(0), facts=Facts(streak=1))])
    assert dealer.pay == (396, -396, 0, 0)


def test_the_seats_after_the_offender_get_his_chips_in_their_turn():
    wins = [replace(YOUJIN, winner=Seat(seat)) for seat in (0, 3, 2)]
    for order in permutations(wins):
        money = RULES.false_win(Seat(1), chips=(40, 150, 40, 40), wins=order)
        # first 2 his 3 x 36, then 3 what is left for his, and nothing for the dealer's 68 + 40 + 40
        assert money.pay == (0, -150, 108, 42)
        assert money.outside == (200 + 148, -600 - 66 - 148, 200, 200 + 66)


@pytest.mark.parametrize(
    ("wins", "says"),
    [
        ([replace(YOUJIN, winner=Seat(3))], "name every 游金 of another than seat 3 once, not of seats"),
        ([YOUJIN, YOUJIN], "name every 游金 of another than seat 3 once, not of seats"),
        ([replace(YOUJIN, xianggong=True)], "how=youjin of seat 1 is no winning 游金 that 3 pays"),
        ([replace(YOUJIN, indicator=Tile.P6)], "how=youjin of seat 1 is no winning 游金 that 3 pays"),
        ([parse_claim(f"{READY} how=zimo seat=1", "xiamen")], "how=zimo of seat 1 is no winning 游金"),
        ([replace(YOUJIN, winner=None)], "how=youjin of seat None is no winning 游金"),
    ],
)
def test_only_a_winning_youjin_of_another_is_paid(wins, says):
    with pytest.raises(EngineError, match=says):
        RULES.false_win(Seat(3), wins=wins)


def test_a_false_win_of_nobody_is_refused():
    with pytest.raises(EngineError, match="seat 4"):
        RULES.false_win(Seat(4))
    with pytest.raises(EngineError, match="chips"):
        RULES.false_win(Seat(0), chips=(1, 2, 3))


# --- properties

HANDS = [
    ("123m456m789m123s45s22z", "6s", "5p", ("ping", "zimo", "robkong", "tianting")),
    ("123m456m789m123s5p5s22z", "6s", "5p", ("zimo", "tianting")),
    ("123m456m789m123s456s5p", None, "5p", ("youjin", "shuangyou", "sanyou")),
    ("123m456m789m123s45s22z", "5p", "5p", ("qiangjin",)),
    ("555p147m258s369p1234z", None, "5p", ("sanjin_start", "sanjin_mid")),
]
WAYS = [(hand, win, flip, how) for hand, win, flip, hows in HANDS for how in hows]


@st.composite
def claims(draw):
    hand, win, flip, how = draw(st.sampled_from(WAYS))
    streak = draw(st.integers(0, 5))
    flowers = parse_tiles(draw(st.sampled_from(["", "1f", "1234f", "56782f", "12345678f"])))
    facts = {"flowers": flowers} | ({"streak": streak} if streak else {})
    return Claim(
        indicator=Tile.of(flip),
        concealed=parse_tiles(hand),
        win=None if win is None else Tile.of(win),
        how=how,
        winner=Seat(draw(st.integers(0, 3))),
        facts=Facts({name: value for name, value in facts.items() if value != ()}),
        chips=draw(st.none() | st.tuples(*[st.integers(0, 400)] * 4)),
    )


options = st.fixed_dictionaries(
    {},
    optional={
        "sanyou": st.sampled_from(["extra_round", "auto_kill"]),
        "dealer_loser_pays_dealer_base": st.booleans(),
        "times_zimo": st.integers(0, 5),
        "water_flower": st.integers(0, 5),
        "base_dealer": st.integers(0, 50),
        "kill_three": st.integers(0, 200),
    },
)


@settings(max_examples=150, deadline=None)
@given(claims(), options)
def test_money_goes_from_losers_to_the_winner_and_nowhere_else(claim, chosen):
    rules = rulesets.load("xiamen", chosen)
    verdict = rules.check(claim)
    assert verdict.outcome is Outcome.WIN
    money = rules.settle(verdict, claim)
    assert sum(money.pay) == sum(money.outside) == money.bank == 0
    assert all(type(amount) is int for amount in (*money.pay, *money.outside, *money.unpaid))
    losers = [seat for seat in range(4) if seat != claim.winner]
    assert len({money.outside[seat] for seat in losers}) == 1
    for seat in losers:
        assert money.pay[seat] <= 0 <= money.unpaid[seat]
        assert money.outside[seat] <= 0
        if claim.chips is None:
            assert money.unpaid[seat] == 0
        else:
            assert -money.pay[seat] <= claim.chips[seat]
            assert money.unpaid[seat] == 0 or money.pay[seat] == -claim.chips[seat]
    if claim.chips is None and not rules.flag("dealer_loser_pays_dealer_base"):
        each = (verdict.totals["base"] + verdict.totals["water"]) * verdict.totals["times"]
        assert {money.pay[seat] for seat in losers} == {-each}


@settings(max_examples=60, deadline=None)
@given(claims(), st.tuples(*[st.integers(0, 300)] * 4), st.integers(0, 3))
def test_a_booked_win_makes_and_loses_no_chips(claim, chips, first):
    match = Match.start(RULES, chips, first_dealer=first)
    after = match.claim(claim).match
    assert sum(after.chips) + sum(after.carried) == sum(chips)
    assert sum(after.outside) == 0
    assert min(after.chips) >= 0


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_ruling_sums_to_zero_and_the_offender_alone_pays(data):
    offender = data.draw(st.integers(0, 3))
    others = [seat for seat in range(4) if seat != offender]
    seats = data.draw(st.sampled_from([order[:k] for order in permutations(others) for k in range(4)]))
    hows = st.sampled_from(["youjin", "shuangyou", "sanyou"])
    wins = [replace(YOUJIN, winner=Seat(seat), how=data.draw(hows)) for seat in seats]
    chips = data.draw(st.none() | st.tuples(*[st.integers(0, 400)] * 4))
    money = RULES.false_win(Seat(offender), chips=chips, wins=wins)
    due = {seat: RULES.settle(RULES.check(win), win, chips) for seat, win in zip(seats, wins, strict=True)}
    for seat in others:
        assert money.pay[seat] >= 0
        got = money.pay[seat] + money.outside[seat] - 50
        assert got == (due[seat].pay[seat] + due[seat].outside[seat] if seat in due else 0)
    assert chips is None or -money.pay[offender] <= chips[offender]
    assert money.redeal

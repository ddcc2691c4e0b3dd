"""Riichi mahjong by a library: well-known hands, payments, facts that contradict each other, options."""

import random
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import rulesets
from engine.claim import Seat
from engine.errors import EngineError, MissingExtraError
from engine.match import Match
from engine.notation import (
    claim_from_object,
    claim_to_object,
    format_claim,
    format_tiles,
    parse_claim,
    parse_hand,
)
from engine.options import OptionError
from engine.vectors import check_line
from engine.verdict import Outcome
from tests.engine.extras import needs

pytestmark = needs("riichi")

RULES = rulesets.load("riichi")

RON = "123456789m12p55s +3p how=discard seat=1 from=2 prevailing=1"
TSUMO = "234m567p345s67s88p +8s how=self seat=1"
KONG = "678m34p55s A:9999s C:345m +5p how=self seat=3"
DEALER = "234m567p345s67s88p +8s how=discard seat=0 from=1"
ROB = "567m13567p77z P:555z +2p how=discard seat=1 from=3 rob"


def answer(line):
    return check_line(line, "riichi")


def check(line):
    return RULES.check(parse_claim(line, "riichi"))


def bill(line):
    return {item.code: item.amount for item in check(line).items}


def contradictions(line):
    return [problem.about for problem in check(line).details if problem.code == "contradictory_facts"]


def groups(reading):
    concealed = [group for group in reading.sets if not group.melded]
    return " ".join(format_tiles(group.kinds) for group in (*concealed, reading.pair))


# han, fu and payment: the numbers of the score table


@pytest.mark.parametrize(
    ("line", "han", "fu", "pay"),
    [
        ("234m567p345s67s99p +8s how=self seat=1", 2, 20, [-700, 1500, -400, -400]),
        ("234m567p345s67s99p +8s how=self seat=0", 2, 20, [2100, -700, -700, -700]),
        ("234m567p345s67s99p +8s how=discard seat=1 from=3 riichi", 2, 30, [0, 2000, 0, -2000]),
        ("234m567p345s67s99p +8s how=discard seat=0 from=3 riichi", 2, 30, [2900, 0, 0, -2900]),
        ("1122m3344p5566s7z +7z how=discard seat=3 from=1 riichi", 3, 25, [0, -3200, 0, 3200]),
        ("2345678m C:123m P:999m +8m how=discard seat=2 from=0", 5, 30, [-8000, 0, 8000, 0]),
        (f"{TSUMO} riichi dora=1m", 5, 20, [-4000, 8000, -2000, -2000]),
        (f"{DEALER} riichi ippatsu dora=1m4p", 6, 30, [18000, -18000, 0, 0]),
        (f"{DEALER} riichi ippatsu dora=1m4p2s5s", 8, 30, [24000, -24000, 0, 0]),
        (f"{DEALER} double_riichi ippatsu dora=1m4p2s5s red=2", 11, 30, [36000, -36000, 0, 0]),
        ("119m19p19s123456z +7z how=discard seat=0 from=3", 13, 0, [48000, 0, 0, -48000]),
        ("19m19p19s1234567z +9m how=self seat=2", 26, 0, [-32000, -16000, 64000, -16000]),
    ],
)
def test_hands_of_the_score_table(line, han, fu, pay):
    found = answer(line)
    assert (found["outcome"], found["han"], found["fu"]) == ("win", han, fu)
    assert found["pay"] == pay


def test_counters_are_paid_by_the_discarder_for_all_or_by_each():
    assert answer(f"{TSUMO} honba=2")["pay"] == [-1500, 3300, -900, -900]  # 1300 and 700, 200 from each
    assert answer(f"{RON} honba=2")["pay"] == [0, 3200, -3200, 0]  # 2600 and 600
    assert answer(f"{RON} honba=2 honba_points=500")["pay"] == [0, 5600, -5600, 0]


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        (RON, "ittsu"),
        ("567m13567p77z P:555z +2p how=discard seat=1 from=3", "haku"),
        ("567m13567p77z P:555z +2p how=discard seat=1 from=3 rob", "haku chankan"),
        ("67m456s33z C:234m P:222z +8m how=self seat=1", "seat_wind_south"),
        (
            "67m456s33z C:234m P:222z +8m how=self seat=1 prevailing=1",
            "seat_wind_south round_wind_south",
        ),
        ("678m34p55s A:9999s C:345m +5p how=self seat=3 kong", "rinshan"),
        ("234567m34p88s C:567p +2p how=discard seat=2 from=3 last", "tanyao houtei"),
        ("234567m34p88s C:567p +2p how=self seat=2 last", "tanyao haitei"),
        ("222m555p777s111z4s +4s how=self seat=0", "suuankou_tanki"),
        ("222333444m8p888s +8p how=discard seat=0 from=1", "suuankou_tanki"),
        ("1112345678999p +5p how=self seat=0", "daburu_chuuren_poutou"),
        ("1112345667899p +9p how=self seat=1", "chuuren_poutou"),
        ("234m567p345s67s88p +8s how=self seat=0 first", "tenhou"),
        ("234m567p345s67s88p +8s how=self seat=2 first", "chiihou"),
        (
            "234m567p345s67s99p +8s how=self seat=1 riichi dora=1m ura=4p",
            "tsumo riichi pinfu dora ura_dora",
        ),
        (
            "234m567p345s67s99p +8s how=self seat=1 double_riichi red=2",
            "tsumo daburu_riichi pinfu aka_dora",
        ),
    ],
)
def test_yaku_by_name(line, codes):
    assert {code for code in bill(line) if not code.startswith("fu_")} == set(codes.split())
    known = RULES.data.items
    for item in check(line).items:
        assert item.section == known[item.code].section
        assert item.unit == ("fu" if item.code.startswith("fu_") else "han")


def test_a_hand_without_a_yaku_does_not_win_whatever_its_dora():
    found = answer("234567m34p99s C:567p +2p how=discard seat=2 from=3 dora=1m1m")
    assert (found["outcome"], found["reason"], found["section"]) == ("no_win", "no_yaku", "§4")
    assert RULES.data.words("no_yaku") == "the hand has no yaku; dora alone do not win"
    assert answer("123m456m789p13s77z +2p how=self seat=1")["reason"] == "no_decomposition"


# the reading


def test_the_reading_that_was_counted_is_named():
    verdict = check("11122233399m67p +8p how=self seat=1")
    assert groups(verdict.decomposition) == "111m 222m 333m 678p 99m"
    assert verdict.alternatives == ()
    both = check("22233344m55p C:345s +4m how=discard seat=0 from=1")
    assert len(both.alternatives) == 1
    assert check("1122m3344p5566s7z +7z how=self seat=3").decomposition is None


def test_nine_gates_are_counted_as_a_whole():
    claim = parse_claim("1112345678999p +2p how=self seat=0", "riichi")
    verdict = RULES.check(claim)
    assert (verdict.decomposition, *verdict.alternatives) == tuple(RULES.readings(claim))


def test_a_first_draw_adds_its_yakuman_to_those_of_the_tiles():
    line = "111222333m555p9s +9s how=self seat=0 first"
    assert bill(line) == {"suuankou_tanki": 26, "tenhou": 13}
    assert groups(check(line).decomposition) == "111m 222m 333m 555p 99s"
    assert check(line).alternatives == ()
    assert check(line).cls == "3x_yakuman"


# what cannot be


@pytest.mark.parametrize(
    ("line", "one", "other"),
    [
        (f"{TSUMO} riichi double_riichi", "riichi", "double_riichi"),
        (f"{KONG} riichi", "riichi", "open melds"),
        (f"{KONG} double_riichi", "double_riichi", "open melds"),
        (f"{TSUMO} ippatsu", "ippatsu", "no riichi"),
        (f"{TSUMO} dora=1m ura=1p", "ura", "no riichi"),
        (f"{TSUMO} riichi dora=1m ura=1p2p", "ura=2 tiles", "dora=1 tiles"),
        (f"{TSUMO} kong", "kong", "melds without K: or A:"),
        (KONG.replace("how=self", "how=discard from=0 kong"), "kong", "how=discard"),
        (f"{KONG} kong last", "last", "kong"),
        (f"{ROB} last", "last", "rob"),
        (ROB.replace("how=discard", "how=self").replace(" from=3", ""), "rob", "how=self"),
        (ROB.replace("567p77z", "222p77z"), "rob", "2p in the hand"),
        (f"{TSUMO} first last", "first", "last"),
        (f"{TSUMO} first riichi", "first", "riichi"),
        (f"{KONG} first", "first", "melds=2"),
        (f"{RON} first", "first", "how=discard"),
        (f"{TSUMO} red=3", "red=3", "fives of 2 suits"),
        (f"{TSUMO} red=1 red_fives=false", "red=1", "red_fives=false"),
        (
            "55556m678p34s99s +5s how=self seat=1".replace("55556m", "555567m"),
            "red=0",
            "four fives of 1 suits",
        ),
        ("567p345s67s88p A:1111z +8s how=self seat=1 riichi ippatsu kong", "ippatsu", "kong"),
    ],
)
def test_facts_that_contradict_each_other_are_named_together(line, one, other):
    assert (one, other) in contradictions(line)
    assert check(line).outcome is Outcome.INCONSISTENT


def test_indicators_are_tiles_of_the_set():
    assert answer(f"{TSUMO} dora=8p8p8p")["reason"] == "fifth_copy"
    assert answer(f"{TSUMO} dora=1f")["reason"] == "foreign_tile"
    assert answer(f"{TSUMO} dora=?")["reason"] == "unknown_tile"
    assert answer(TSUMO.replace("seat=1", "seat=5"))["reason"] == "contradictory_facts"
    assert answer(KONG.replace("A:9999s", "H:999s"))["reason"] == "unknown_meld"
    assert answer("how=draw")["pay"] == [0, 0, 0, 0]


def test_red_fives_are_told_by_number():
    four = "678p34s99s K:5555m C:678p +5s how=self seat=1 red="
    assert contradictions(f"{four}0") == [("red=0", "four fives of 1 suits")]
    line = "234678p34s99s A:5555m +5s how=self seat=1 red="
    assert bill(f"{line}1")["aka_dora"] == 1
    assert bill(f"{line}2")["aka_dora"] == 2
    assert "aka_dora" not in bill(f"{TSUMO} red_fives=false")


# options


def test_options_reach_the_library():
    open_simples = "234567m34p88s C:567p +2p how=discard seat=2 from=3"
    assert answer(f"{open_simples} open_tanyao=false")["reason"] == "no_yaku"
    assert answer("19m19p19s1234567z +9m how=self seat=2 double_yakuman=false")["han"] == 13
    four_thirty = "234m567p345s67s99p +8s how=discard seat=1 from=3 riichi ippatsu dora=1m"
    assert answer(four_thirty)["pay"] == [0, 7700, 0, -7700]
    assert answer(f"{four_thirty} kiriage")["pay"] == [0, 8000, 0, -8000]
    counted = f"{TSUMO} riichi ippatsu dora=1m4p2s5s7p ura=1m4p2s5s7p"  # 5 yaku, twice six dora
    assert (answer(counted)["han"], answer(counted)["points"]) == (17, 16000)
    assert answer(f"{counted} counted_yakuman=sanbaiman")["points"] == 12000
    with pytest.raises(OptionError):
        rulesets.load("riichi", {"circles": 9})


# the match


def test_the_dealer_stays_by_winning_and_a_draw_passes_the_deal():
    stays = rulesets.load("riichi", {"dealer_stays_on_draw": True})
    assert [RULES.dealer_stays(winner) for winner in (None, 0, 1)] == [False, True, False]
    assert [stays.dealer_stays(winner) for winner in (None, 0, 1)] == [True, True, False]
    assert [RULES.match_end(circles, 9, ()) for circles in (1, 2)] == [None, "match_over"]
    assert RULES.plays_running_hand
    assert not rulesets.load("riichi", {"running_hand": "void"}).plays_running_hand


def test_a_match_tells_round_and_counters():
    match = Match.start(RULES)
    first = match.claim(parse_claim(TSUMO.replace("seat=1", "seat=0"), "riichi"))
    assert first.match.chips == (25000 + 3 * 1300, 23700, 23700, 23700)
    second = first.match.claim(parse_claim(TSUMO.replace("seat=1", "seat=0"), "riichi"))
    assert second.settlement.pay == (4200, -1400, -1400, -1400)  # one counter
    chombo = second.match.false_win(Seat(1))
    assert chombo.settlement.pay == (4000, -8000, 2000, 2000)
    assert (chombo.match.dealer, chombo.match.streak) == (0, 2)
    assert RULES.false_win(Seat(0)).pay == (-12000, 4000, 4000, 4000)


def test_four_walls_of_17_and_a_dead_wall():
    plan = RULES.deal_plan((3, 4))
    assert (plan.tiles, plan.jump, plan.indicator) == ((14, 13, 13, 13), True, None)
    assert (RULES.tile_set.total, RULES.data.deal.dead) == (136, 14)


@pytest.mark.parametrize(
    ("hand", "kinds"),
    [
        ("1122m3344p5566s7z", "7z"),
        ("1111m3344p5566s7z", ""),
        ("19m19p19s1234567z", "1m 9m 1p 9p 1s 9s 1z 2z 3z 4z 5z 6z 7z"),
        ("234m567p345s67s88p", "2s 5s 8s"),
        ("1111222233334s", "4s 5s"),
    ],
)
def test_waits_know_the_special_hands(hand, kinds):
    assert {tile.id for tile in RULES.waits(parse_hand(hand))} == set(kinds.split())


# the library


def test_without_the_library_one_sentence_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mahjong", None)
    for name in [name for name in sys.modules if name.startswith("mahjong.")]:
        monkeypatch.delitem(sys.modules, name)
    for asked in (lambda: answer(TSUMO), RULES.load_libraries):
        with pytest.raises(MissingExtraError, match="extra riichi") as caught:
            asked()
        assert caught.value.extra == "riichi"


def test_with_the_library_nothing_is_missed():
    RULES.load_libraries()


def test_another_complaint_of_the_library_is_not_taken_for_no_win():
    from engine.adapters.riichi import value

    hand = RULES._riichi_hand(parse_claim(f"{TSUMO} ippatsu", "riichi"), parse_claim(TSUMO, "riichi").win)
    with pytest.raises(EngineError, match="ippatsu"):
        value(hand)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32).map(random.Random))
def test_payments_sum_to_nothing_and_tile_order_does_not_matter(rng):
    line = rng.choice(
        [TSUMO, RON, "1122334789m123p +4m how=self seat=2", "33344455577m23p +4p how=self seat=3"]
    )
    claim = parse_claim(f"{line} honba={rng.randrange(4)}", "riichi")
    verdict = RULES.check(claim)
    mixed = replace(claim, concealed=tuple(rng.sample(claim.concealed, len(claim.concealed))))
    assert RULES.check(mixed) == verdict
    assert sum(RULES.settle(verdict, claim).pay) == 0
    assert parse_claim(format_claim(claim, "riichi"), "riichi") == claim
    assert claim_from_object(claim_to_object(claim, "riichi"), "riichi") == claim

"""What an answer adds for a referee: premises, notes and plain sentences for what is missing."""

import pytest

from engine import rulesets
from engine.answers.text import answer_lines, notes_of
from engine.notation import parse_claim
from engine.vectors import answer_claim
from engine.verdict import Outcome
from tests.engine.extras import marks


def asked(line, ruleset):
    rules, claim = rulesets.load(ruleset), parse_claim(line, ruleset)
    verdict = rules.check(claim)
    settled = verdict.outcome in (Outcome.WIN, Outcome.DRAW)
    return claim, rules, verdict, rules.settle(verdict, claim) if settled else None


def told(line, ruleset, lang="en"):
    return answer_lines(*asked(line, ruleset), lang)


def row(lines, name):
    return [line.removeprefix(name).strip() for line in lines if line.startswith(f"{name} ")]


# winds

WINDY = "88m55p P:333z P:222m P:666s +8m how=discard seat=2 from=0"
MCR = pytest.mark.parametrize("mcr", [pytest.param("mcr", marks=marks("mcr"))])


@MCR
def test_the_winds_that_were_assumed_are_told_and_that_the_seat_has_another(mcr):
    lines = told(WINDY, mcr)
    assert lines[0].startswith("no_win: below_minimum")
    assert row(lines, "winds") == [
        "seat East (assumed where wind= is not given), "
        "prevailing East (assumed where prevailing= is not given)"
    ]
    assert "seat 2 is West" in row(lines, "note")[0]
    assert "write wind=2" in row(lines, "note")[0]
    assert "座位2是西" in row(told(WINDY, mcr, "zh"), "注意")[0]


@MCR
def test_winds_that_were_given_need_no_note_and_another_wind_is_no_error(mcr):
    lines = told(f"{WINDY} wind=2 prevailing=1", mcr)
    assert lines[0].startswith("win: ")
    assert row(lines, "winds") == ["seat West (wind=2), prevailing South (prevailing=1)"]
    assert not row(lines, "note")
    assert row(told(f"{WINDY} wind=3", mcr), "note")


@pytest.mark.parametrize("riichi", [pytest.param("riichi", marks=marks("riichi"))])
def test_where_the_wind_follows_from_the_seat_the_answer_says_so(riichi):
    lines = told("22z345m678m345p77s +2z how=self seat=1 riichi", riichi)
    assert row(lines, "winds")[0].startswith("seat South (by seat=1")


# too little


@MCR
def test_a_hand_below_the_minimum_is_told_what_it_has(mcr):
    line = "234m678m345p56s88s +7s how=discard seat=1 from=2 wind=1"
    lines = told(line, mcr)
    assert "too few fans" in lines[0]
    assert "6 of 8 fans, 2 short" in lines[0]
    assert [bill[:5] for bill in row(lines, "bill")] == ["2 fan"] * 3
    assert "差2番" in told(line, mcr, "zh")[0]
    answer = answer_claim(parse_claim(line, mcr), rulesets.load(mcr))
    assert sum(item["amount"] for item in answer["items"]) == 6


# missing words

HAND = "123m456m789m11z34s +5s"


@pytest.mark.parametrize(
    ("line", "ruleset", "says", "zh"),
    [
        (f"{HAND} flip=1p how=discard seat=1", "zhenjiang", "from= is missing", "缺少 from="),
        (f"{HAND} how=self seat=1", "zhenjiang", "flip= is missing", "缺少 flip="),
        (f"{HAND} flip=1p how=self", "zhenjiang", "seat= is missing", "缺少 seat="),
        (f"{HAND} flip=1p how=self seat=4", "zhenjiang", "there is no seat 4", "没有座位4"),
        (f"{HAND} flip=1p how=discard seat=1 from=7", "zhenjiang", "from=7: there is no seat 7", "没有座位7"),
        (f"{HAND} flip=1p how=discard seat=1 from=1", "zhenjiang", "his own discard", "自己打出"),
        (f"{HAND} flip=1p how=self seat=1 chips=1", "zhenjiang", "chips= needs 4 numbers", "chips= 要4个数"),
        (f"{HAND} flip=1p how=kong_an seat=1", "zhenjiang", "needs a meld A:", "牌组 A:"),
        (f"{HAND} flip=1p how=heaven seat=1", "zhenjiang", "the dealer's alone", "只有庄家"),
        ("11z how=draw", "zhenjiang", "with how=draw leave out the hand", "不写手牌"),
        ("how=draw seat=0", "zhenjiang", "leave out seat=0", "不写 seat=0"),
        ("11z34s flip=1p how=self seat=1", "zhenjiang", "4 concealed tiles, 13 are needed", "应为13张"),
        ("11z3s P:555m +5s flip=1p how=self seat=1", "zhenjiang", "beside 1 meld,", "另有牌组1副"),
        ("11z3s P:555m P:666m +5s flip=1p how=self seat=1", "zhenjiang", "beside 2 melds,", "牌组2副"),
        ("123m456m789m11z34s flip=1p how=self seat=1", "zhenjiang", "+ is missing", "缺少 +"),
        (
            "123m456m777p345s678s +2s flip=2s how=youjin seat=0",
            "xiamen",
            "without a + tile",
            "不写 + 牌",
        ),
        ("123m456m777p345s678s2s +5m flip=2s how=youjin seat=0", "xiamen", "leave out +5m", "不写 +5m"),
    ],
)
def test_what_is_missing_is_called_missing(line, ruleset, says, zh):
    lines = told(line, ruleset)
    assert lines[0].startswith("inconsistent: ")
    assert any(says in one for one in lines)
    assert any(zh in one for one in told(line, ruleset, "zh"))
    assert not any("cannot both be" in one for one in lines if says in one)


# what may have been forgotten


def test_a_hand_that_does_not_win_is_told_what_would():
    line = "123m456m78p99s555z +6m flip=1z how=self seat=0"
    lines = told(line, "zhenjiang")
    assert row(lines, "wild") == ["2z: none in the hand"]
    assert "69p, 2z would complete" in row(lines, "note")[0]
    assert "69p、2z" in row(told(line, "zhenjiang", "zh"), "注意")[0]
    assert (
        "no tile completes"
        in row(told("159m159p159s1234z +6m flip=1p how=self seat=0", "zhenjiang"), "note")[0]
    )


@pytest.mark.parametrize(
    ("line", "ruleset", "word"),
    [
        ("123p678p44z56s A:9999m +7s flip=4z how=self seat=3", "zhenjiang", "how=kong_an"),
        ("123p678p44z56s K:9999m +7s flip=4z how=self seat=3", "zhenjiang", "how=kong_ming"),
        pytest.param("123p678p44s56s K:9999m +7s how=self seat=0", "mcr", "kong", marks=marks("mcr")),
    ],
)
def test_a_self_draw_beside_a_kong_asks_for_the_replacement_tile(line, ruleset, word):
    assert f"write {word}" in " ".join(row(told(line, ruleset), "note"))
    assert f"请写 {word}" in " ".join(row(told(line, ruleset, "zh"), "注意"))


def test_a_win_on_the_replacement_tile_asks_nothing():
    assert not row(told("123p678p44z56s A:9999m +7s flip=4z how=kong_an seat=3", "zhenjiang"), "note")
    assert not row(told("123p678p44z56s A:9999m +7s flip=4z how=discard seat=3 from=1", "zhenjiang"), "note")


# money

YOUJIN = "123m456m777p345s678s2s flip=2s how=youjin seat=0 streak=1"


def test_what_is_paid_beside_the_chips_is_taken_apart_and_the_stake_is_over():
    lines = told(f"{YOUJIN} chips=100,100,100,100", "xiamen")
    assert row(lines, "outside") == ["+450  -150  -150  -150   (each: 50 bonus_youjin + 100 kill_three)"]
    assert row(lines, "of it 杀三") == ["+300  -100  -100  -100"]
    assert row(lines, "note") == ["杀三: the 课 is over, everybody begins anew with the stake (§7)"]


def test_a_payment_above_the_stake_asks_for_the_chips():
    notes = row(told(YOUJIN, "xiamen"), "note")
    assert (
        notes[0] == "seat 1 owes 136, more than the 100 chips of the stake; give chips= to limit what is paid"
    )
    assert notes[1] == "without chips= no 杀三 is seen"
    assert "超过底牌100" in row(told(YOUJIN, "xiamen", "zh"), "注意")[0]
    assert not row(told("123m456m789m123s45s22z +6s flip=5p how=ping seat=1", "xiamen"), "note")


def test_an_option_that_is_not_the_default_is_told_and_the_bill_agrees_with_the_payment():
    hand = "234m567m22z34s P:888m +5s flip=8p how=discard seat=2 from=1 da=shou:1"
    bao = told(f"{hand} payment=bao", "zhenjiang")
    assert row(bao, "options") == ["payment=bao (default pei)"]
    assert [bill.split(": ")[0].split("  ")[1] for bill in row(bao, "bill")] == [
        "the discarder, for each other",
        "the discarder",
        "the discarder, for each loser",
    ]
    assert row(bao, "note") == ["payment=bao: the discarder pays for all, 2×2 + 4 + 3×6 = 26"]
    own = told(f"{hand} payment=discarder", "zhenjiang", "zh")
    assert "无人付" in row(own, "计分")[0]
    assert row(told(f"{hand} kong_fee", "zhenjiang"), "options") == ["kong_fee=true (default false)"]
    assert not row(told(hand, "zhenjiang"), "options")


def test_who_pays_whom_is_told_where_more_than_one_is_paid():
    line = "111m234m567p99p78p P:666z +6p how=self seat=2 p0=K:3333p p1.spread=honors:4,groups:1"
    assert row(told(line, "fengcheng"), "who") == [
        "seat 0 pays seat 1: 70",
        "seat 0 pays seat 2: 120",
        "seat 1 pays seat 2: 25",
    ]
    assert answer_claim(parse_claim(line, "fengcheng"), rulesets.load("fengcheng"))["pay"] == [-190, 45, 145]


def test_an_exhausted_wall_says_that_melds_count_nothing():
    line = "how=draw p0.seven_less_two p1=P:555z p2.yaoji=single"
    assert "melds count nothing" in row(told(line, "fengcheng"), "note")[0]
    assert not row(told("how=draw p0.seven_less_two", "fengcheng"), "note")


@pytest.mark.parametrize(
    ("line", "ruleset"),
    [
        ("123p456p789p345s66z78s +9s flip=7m how=ping seat=1 from=3 flowers=15f", "xiamen"),
        ("2z P:111z P:333z P:444z P:555z P:666z +2z how=discard seat=1 from=0", "fengcheng"),
    ],
)
def test_a_discarder_who_pays_like_the_others_is_told_so(line, ruleset):
    assert "nobody pays more for the discard itself" in row(told(line, ruleset), "note")[0]


# duties


@pytest.mark.parametrize(("value", "says"), [("warn", "nothing to do"), ("xianggong", "ruled dead")])
def test_a_duty_that_was_not_kept_says_whether_there_is_anything_to_do(value, says):
    line = "77z123m456p789s11p +9m flip=5z how=self seat=0"
    option = f"first_wild_must_be_discarded={value}"
    first = row(told(f"{line} {option}", "zhenjiang"), "warning")[0]
    assert first == (
        "first_wild_not_discarded (首搭必打 was not kept): 2 wildcards, 0 discarded; "
        + ("nothing to do" if value == "warn" else "the event has the hand ruled dead")
        + f" ({option}) [zhenjiang.md §4]"
    )
    assert says in first


def test_the_notes_alone_are_what_the_answer_shows():
    assert [f"note     {note}" for note in notes_of(*asked(YOUJIN, "xiamen"))] == [
        line for line in told(YOUJIN, "xiamen") if line.startswith("note")
    ]

"""Answers in words: what a referee reads, in both languages, for every rule set."""

import json
from pathlib import Path

import pytest

from engine import rulesets
from engine.answers.notes import WORDS
from engine.answers.text import answer_lines
from engine.answers.words import LABELS, PAYERS, POLICY_PAYERS, WINDS
from engine.notation import claim_from_object, parse_claim
from engine.reasons import COMMON, LANGUAGES
from engine.settlement import Settlement
from engine.vectors import check_vector
from engine.verdict import Outcome
from tests.engine.extras import marks

GOLDEN = Path(__file__).parents[1] / "golden"


def told(rules, claim, lang="en"):
    verdict = rules.check(claim)
    settled = verdict.outcome in (Outcome.WIN, Outcome.DRAW)
    return answer_lines(claim, rules, verdict, rules.settle(verdict, claim) if settled else None, lang)


def told_of(line, ruleset, lang="en"):
    return told(rulesets.load(ruleset), parse_claim(line, ruleset), lang)


def test_a_capped_win_on_a_discard():
    line = "123m456m789m11z34s +5s flip=1p how=discard seat=1 from=2 da=shou:1 chips=50,50,3,50"
    assert told_of(line, "zhenjiang") == [
        "win: seat 1, how=discard (on another player's discard), cls=discard [zhenjiang.md §6]",
        "wild     2p: none in the hand",
        "reading  123m  456m  789m  345s  pair 11z",
        "bill     2 chips  each other: 放冲: each loser who did not discard (discard_other §6)",
        "bill     4 chips  the discarder: 放冲: the discarder (discard_discarder §6)",
        "bill     6 chips  each loser: 打首搭: added per wildcard among the winner's very first discards"
        " (first_wild §6)",
        "seat         0    1    2    3",
        "pay         -8  +19   -3   -8",
        "unpaid       0    0    7    0",
    ]


def test_what_each_wildcard_stands_for_and_what_else_could_be_read():
    lines = told_of("77z123m456p789s11p +9m flip=5z how=self seat=0", "zhenjiang")
    assert lines[1] == "wild     7z: 0 as itself, 2 for another tile"
    assert lines[2] == "reading  123m  111p (7z for 1p)  456p  789s  pair 99m (7z for 9m)"
    assert lines[3] == "         2 other readings pay alike"
    assert any(line.startswith("warning  ") for line in lines)
    one = told_of("2222p13m46m79m11z5s +5s flip=1p how=self seat=0", "zhenjiang")
    assert "         1 other reading pays alike" in one


def test_every_seat_has_its_bill_where_losers_score():
    line = "123m456m45p789p22m A:3333z +6p how=self seat=2 p0=H:777m,K:1111p"
    assert told_of(line, "fengcheng", "zh") == [
        "win: 座位 2, how=self (自摸（杠开、补牌也算自摸）), cls=self [fengcheng.md §6]",
        "牌型     3333z  123m  456m  456p  789p  将 22m",
        "计分     座位 0:   2 垒  韶 2–8（自摸者手中的暗刻也算） (shao_low §6)",
        "计分     座位 0:  10 垒  明杠 1、9 (kong_end §6)",
        "计分     座位 2:  50 垒  自摸胡 (win_self §6)",
        "计分     座位 2: 100 垒  暗杠字 (concealed_kong_honour §6)",
        "座位          0     1     2",
        "lei          12     0   150",
        "net        -252  -174  +426",
        "收付       -252  -174  +426",
        "谁付谁   座位1付座位0：24",
        "谁付谁   座位0付座位2：276",
        "谁付谁   座位1付座位2：150",
    ]


def test_every_defect_has_its_line_and_nothing_is_settled():
    assert told_of("123m456m789m11z39s +5s flip=1p how=self seat=1 from=2", "zhenjiang") == [
        "inconsistent: contradictory_facts (these cannot both be): how=self, from=2 [zhenjiang.md §5]",
        "inconsistent: no_decomposition (the tiles do not make sets and a pair) [zhenjiang.md §5]",
    ]


def test_an_exhausted_wall():
    assert told_of("how=draw flip=1p", "zhenjiang") == [
        "draw: the wall is exhausted [zhenjiang.md §5]",
        "seat       0  1  2  3",
        "pay        0  0  0  0",
    ]


def test_every_account_that_moves_has_its_row():
    rules = rulesets.load("zhenjiang")
    claim = parse_claim("how=draw flip=1p", "zhenjiang")
    moved = Settlement(
        pay=(0, 0, -3, 0),
        unpaid=(0, 0, 7, 0),
        bank=3,
        outside=(5, -5, 0, 0),
        deferred=(0, 0, 0, -6),
        deferred_bank=6,
        loans=(0, 100, 0, 0),
    )
    assert answer_lines(claim, rules, rules.check(claim), moved)[1:] == [
        "seat         0    1    2    3",
        "pay          0    0   -3    0",
        "outside     +5   -5    0    0",
        "deferred     0    0    0   -6",
        "unpaid       0    0    7    0",
        "loans        0  100    0    0",
        "bank     +3",
    ]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("ruleset", [pytest.param(name, marks=marks(name)) for name in rulesets.ids()])
def test_every_worked_example_is_answered_in_words(ruleset, lang):
    rules = rulesets.load(ruleset)
    for vector in json.loads((GOLDEN / f"{ruleset}.json").read_text(encoding="utf-8")):
        lines = told(rules, claim_from_object(vector, ruleset), lang)
        assert lines[0].startswith(f"{vector['expect'].get('outcome', 'win')}: ")
        assert check_vector(vector, ruleset)["ok"], vector["id"]
        assert not any("()" in line or line != line.rstrip() for line in lines)


@pytest.mark.parametrize("ruleset", rulesets.ids())
def test_every_reason_and_every_item_has_words_in_both_languages(ruleset):
    data = rulesets.data(ruleset)
    for code in (*data.sections, *data.prices, *data.items):
        assert data.words(code, "en"), code
        assert data.words(code, "zh"), code
    assert data.words("nonsense") == ""


def test_both_languages_say_the_same_things():
    assert LABELS["en"].keys() == LABELS["zh"].keys()
    assert PAYERS["en"].keys() == PAYERS["zh"].keys()
    assert POLICY_PAYERS["en"].keys() == POLICY_PAYERS["zh"].keys()
    assert WORDS["en"].keys() == WORDS["zh"].keys()
    assert len(WINDS["en"]) == len(WINDS["zh"])
    assert all(text.in_language("zh") and text.in_language("en") for text in COMMON.values())

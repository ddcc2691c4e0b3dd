"""Pages of tables with other rule sets: they render, in words, and say what belongs to their rules."""

import re

import pytest

from engine import rulesets
from station.web.catalogue import LANGUAGES
from station.web.forms import FILLED_ROLES, fields_of, how_form
from station.web.pages import render_fragment, render_page
from station.web.rule_texts import RuleTexts
from tests.engine.extras import needs
from tests.station.table.booth import Booth
from tests.station.table.states import STATES
from tests.station.web.test_pages import text_of

CODES = re.compile(r"\b[a-z]+_[a-z_]+\b")


@pytest.fixture(scope="module")
def states():
    return {name: make() for name, make in STATES.items()}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", STATES)
def test_every_state_is_said_in_words(states, name, lang):
    for view in ("referee", "players"):
        text = text_of(render_fragment(view, states[name], lang))
        assert not CODES.findall(text)
        assert "%(" not in text
        assert "None" not in text.split()


@pytest.mark.parametrize("name", STATES)
def test_every_drawn_tile_exists(states, name):
    html = render_page("referee", states[name], "en")
    used = set(re.findall(r'href="#(t-[^"]+)"', html))
    assert used <= set(re.findall(r'id="(t-[^"]+)"', html))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("ruleset", rulesets.ids())
def test_nothing_a_rule_set_declares_is_shown_as_a_code(ruleset, lang):
    texts = RuleTexts.of(ruleset, lang)
    data = rulesets.data(ruleset)
    said = [
        *(texts.how(code) for code in data.hows),
        *(texts.fact(code) for code in (*data.facts, *data.seat_facts)),
        *(texts.item(code) for code in (*data.prices, *data.items)),
        *(texts.reason(code) for code in data.sections if code in data.reasons),
    ]
    assert all(said)
    assert not [word for word in said if CODES.fullmatch(word)]


@pytest.mark.parametrize("ruleset", rulesets.ids())
def test_every_fact_that_people_tap_has_a_widget(ruleset):
    texts = RuleTexts.of(ruleset, "en")
    data = rulesets.data(ruleset)
    for specs in (data.facts, data.seat_facts):
        tapped = {name for name, spec in specs.items() if spec.role not in FILLED_ROLES}
        names = {field.name.split(".")[1] for field in fields_of(specs, texts, "facts", {}, tiles=True)}
        assert names == tapped
        names = {field.name.split(".")[1] for field in fields_of(specs, texts, "facts", {})}
        assert names == {name for name in tapped if specs[name].type != "tiles"}
    form = how_form(texts, None)
    dealers = {name for name, spec in data.hows.items() if spec.dealer}
    assert {how for how, _ in (*form.drawn, *form.claimed)} == set(data.hows) - dealers


@pytest.mark.parametrize("ruleset", rulesets.ids())
def test_a_table_of_any_rule_set_has_pages(ruleset):
    rules = rulesets.load(ruleset)
    table = Booth(rules, [100] * rules.players)
    table.to_play("5p")
    for lang in LANGUAGES:
        html = render_page("referee", table.state(), lang)
        assert html.count('class="player"') == rules.players


def test_an_unknown_rule_set_is_shown_by_its_codes(states):
    state = {**states["xiamen_win"], "ruleset": "of_a_newer_program"}
    text = text_of(render_fragment("referee", state, "en"))
    assert "times_zimo" not in text
    assert "Self-draw ×2" in text


def test_the_bill_of_xiamen_is_counted_up(states):
    text = text_of(render_fragment("referee", states["xiamen_win"], "zh-Hans"))
    for words in ("底 8 · 花牌 +4 · 整套花 +4 · 暗杠 +3 · 自摸 ×2", "花牌 4", "金", "确认 王芳 +114"):
        assert words in text
    assert "百搭" not in text


def test_chips_beside_the_stake_are_told(states):
    text = text_of(render_fragment("referee", states["xiamen_youjin"], "zh-Hans"))
    assert "课外 +150" in text
    assert "课外 -50" in text


@needs("mcr")
def test_fans_and_their_sum_are_told(states):
    text = text_of(render_fragment("referee", states["mcr_win"], "zh-Hans"))
    for words in ("17 番", "杠上开花 8", "暗杠 2", "门风 北", "杠后补牌"):
        assert words in text
    assert "翻牌" not in text


@needs("mcr")
def test_below_the_minimum_is_told_with_the_points(states):
    text = text_of(render_fragment("referee", states["mcr_below"], "en"))
    assert "Not a win 4 fan" in text
    assert "Below the minimum" in text


def test_what_lies_open_before_each_player_is_told(states):
    text = text_of(render_fragment("referee", states["fengcheng_reading"], "zh-Hans"))
    for words in ("60 垒", "尚未读取", "摊么鸡?", "先读取其他玩家亮出的牌", "胡牌者"):
        assert words in text
    text = text_of(render_fragment("referee", states["fengcheng_win"], "zh-Hans"))
    for words in ("没有亮牌", "七缺二", "借 100"):
        assert words in text


def test_a_drawn_hand_is_confirmed_where_losers_score(states):
    text = text_of(render_fragment("referee", states["fengcheng_draw"], "en"))
    assert "Wall exhausted" in text
    assert "Confirm Drawn hand" in text
    assert "What lies open is settled" in text
    text = text_of(render_fragment("players", states["fengcheng_exhausted"], "en"))
    assert "Everybody leaves melds and spread tiles open" in text


def test_three_walls_are_drawn_for_three_players(states):
    html = render_fragment("players", states["dealing_of_three"], "en")
    assert html.count("rotate(") == 3 + 1
    assert "17 tiles" in text_of(html)


def test_tiles_that_a_set_lacks_cannot_be_tapped(states):
    html = render_fragment("referee", states["fengcheng_win"], "en")
    assert re.search(r'data-kind="5s"[^>]*disabled', html)
    assert not re.search(r'data-kind="1s"[^>]*disabled', html)
    assert 'data-kind="1f"' not in html
    assert 'data-kind="1f"' in render_fragment("referee", states["xiamen_win"], "en")


def test_accounts_stand_beside_the_players(states):
    assert "borrowed 100" in text_of(render_fragment("players", states["borrowed"], "en"))
    text = text_of(render_fragment("referee", states["xiamen_ruled"], "en"))
    assert "outside +150" in text


@pytest.mark.parametrize(("unit", "words"), [("tile", "Count 11 tiles"), ("stack", "Count 11 stacks")])
def test_the_way_to_the_gold_is_told(states, unit, words):
    state = states["gold_waited_for"]
    gold = {**state["break"]["gold"], "unit": unit}
    text = text_of(render_fragment("players", {**state, "break": {**state["break"], "gold": gold}}, "en"))
    assert words in text


def test_nobody_is_asked_for_a_photo_of_a_drawn_hand(states):
    html = render_fragment("referee", states["fengcheng_draw"], "en")
    assert 'class="photo-buttons"' not in html
    assert 'data-sheet="hand">' not in html


def test_an_obligation_that_was_not_kept_is_told(states):
    state = states["xiamen_win"]
    warnings = [{"code": "first_wild_not_discarded", "about": [], "section": "§4"}]
    verdict = {**state["claim"]["verdict"], "warnings": warnings}
    state = {**state, "claim": {**state["claim"], "verdict": verdict}}
    assert "First wildcard must be discarded" in text_of(render_fragment("referee", state, "en"))

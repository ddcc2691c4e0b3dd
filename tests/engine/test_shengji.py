"""Score sheet of 升级: the worked examples, every band edge, every fault, the match and its locks."""

import json
import re
import tomllib
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import rulesets
from engine.errors import EngineError
from engine.options import OptionError
from engine.rules.shengji import DealEntry, Penalty, Shengji, Side
from engine.rules.shengji_match import Match, PenaltyLocked
from engine.sheet import ScoreSheet, sheet_data
from engine.text.tiletext import IllegalNotation, InvalidNotation, NotationError
from engine.vectors import check_vector

TABLE = tomllib.loads((rulesets.RULES / "shengji.toml").read_text(encoding="utf-8"))
DATA = sheet_data(TABLE)
RULES = Shengji(DATA)
VECTORS = json.loads((Path(__file__).parents[1] / "golden/shengji.json").read_text(encoding="utf-8"))
BANKER, DEFENDER = Side.BANKER, Side.DEFENDER

# The table as printed: first and last number of points of each band, who rises, levels.
BANDS = [
    (-900, 0, "banker", 5),
    (5, 20, "banker", 4),
    (25, 40, "banker", 3),
    (45, 60, "banker", 2),
    (65, 75, "banker", 1),
    (80, 95, "defender", 0),
    (100, 115, "defender", 1),
    (120, 135, "defender", 2),
    (140, 155, "defender", 3),
    (160, 175, "defender", 4),
    (180, 1200, "defender", 5),
]


def at(points):
    """An entry that comes to so many points."""
    if points < 0:
        return DealEntry(penalties=(Penalty(DEFENDER, -points),))
    more = max(0, points - 200)
    return DealEntry(tricks=points - more, penalties=(Penalty(BANKER, more),) if more else ())


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_worked_examples(vector):
    answer = RULES.answer(vector)
    assert {key: answer[key] for key in vector["expect"]} == vector["expect"]


@pytest.mark.parametrize(("first", "last", "side", "levels"), BANDS)
def test_every_band_from_its_first_to_its_last_point(first, last, side, levels):
    for points in (first, last):
        result = RULES.score(at(points))
        assert (result.points, result.side, result.levels) == (points, side, levels)


@given(st.integers(-40, 60).map(lambda steps: steps * 5))
def test_the_table_is_the_formula_of_the_document(points):
    result = RULES.score(at(points))
    if points >= 80:
        assert (result.side, result.levels) == (DEFENDER, min(5, (points - 80) // 20))
    else:
        assert (result.side, result.levels) == (BANKER, min(5, (80 - points) // 20 + 1))


def test_points_have_no_lower_end():
    entry = DealEntry(penalties=(Penalty(DEFENDER, 1000),) * 1500)
    assert (RULES.score(entry).points, RULES.score(entry).levels) == (-1_500_000, 5)


def test_the_heading_taken_literally_makes_bands_of_fifteen():
    rules = RULES.with_options({"level_table": "fifteen"})
    for points in range(-100, 300, 5):
        result = rules.score(at(points))
        levels = (points - 80) // 15 if points >= 80 else (80 - points - 1) // 15 + 1
        assert (result.side, result.levels) == (DEFENDER if points >= 80 else BANKER, min(5, levels))


@pytest.mark.parametrize(("last", "times"), [("single", 2), ("pair", 4), ("tractor2", 8), ("tractor3", 16)])
def test_the_bottom_counts_by_what_the_last_trick_was_won_with(last, times):
    assert RULES.score(DealEntry(tricks=20, bottom=5, last=last)).points == 20 + 5 * times
    assert RULES.score(DealEntry(tricks=20, bottom=5)).points == 20


def test_a_result_tells_how_it_came_about():
    entry = DealEntry(
        tricks=75,
        bottom=10,
        last="pair",
        penalties=(RULES.penalty(BANKER, "1B"), RULES.penalty(DEFENDER, "2", 4)),
    )
    result = RULES.score(entry)
    assert [(item.code, item.points, item.section, item.fault) for item in result.items] == [
        ("tricks", 75, "§2", ""),
        ("bottom", 40, "§2", ""),
        ("penalty", 10, "§3", "1B"),
        ("penalty", -40, "§3", "2"),
    ]
    assert (result.points, result.document, result.section) == (85, "shengji.md", "§2")
    assert RULES.score(DealEntry(forced_lost=True)).section == "§3"


@given(
    tricks=st.integers(0, 24).map(lambda steps: steps * 5),
    bottom=st.integers(0, 16).map(lambda steps: steps * 5),
    last=st.sampled_from([None, "single", "pair", "tractor2", "tractor3"]),
    penalties=st.lists(
        st.tuples(st.sampled_from(list(Side)), st.integers(0, 20).map(lambda n: n * 10)), max_size=4
    ),
    must_play=st.booleans(),
)
def test_points_are_the_sum_of_the_items_and_levels_stay_in_range(tricks, bottom, last, penalties, must_play):
    entry = DealEntry(
        tricks=tricks,
        bottom=bottom,
        last=last,
        penalties=tuple(Penalty(side, points) for side, points in penalties),
        defender_on_must_play=must_play,
    )
    result = RULES.score(entry)
    assert result.points == sum(item.points for item in result.items)
    assert (result.side is DEFENDER) == (result.points >= 80)
    assert 0 <= result.levels <= (0 if must_play and result.side is DEFENDER else 5)
    worse = RULES.score(replace(entry, penalties=(*entry.penalties, Penalty(DEFENDER, 10))))
    assert worse.points == result.points - 10


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (DealEntry(tricks=77), "tricks: 77 is not a multiple of 5"),
        (DealEntry(tricks=-5), "tricks: -5 is not between 0 and 200"),
        (DealEntry(tricks=205), "tricks: 205"),
        (DealEntry(bottom=12), "bottom: 12"),
        (DealEntry(bottom=85), "bottom: 85"),
        (DealEntry(last="triple"), "last: there is no 'triple'"),
        (DealEntry(penalties=(Penalty(BANKER, 3),)), "penalties: 3"),
        (DealEntry(penalties=(Penalty(BANKER, -10),)), "penalties: -10"),
        (DealEntry(tricks=190, bottom=15), "tricks=190 and bottom=15"),
        (DealEntry(forced_lost=True, last="single"), "forced_lost and last=single"),
        (DealEntry(forced_lost=True, penalties=(Penalty(BANKER, 20, "4"),)), "forced_lost and fault 4"),
    ],
)
def test_entries_that_cannot_be_are_refused_by_name(entry, says):
    with pytest.raises(EngineError, match=re.escape(says)):
        RULES.score(entry)


def test_tricks_and_bottom_may_be_all_points_there_are():
    assert RULES.score(DealEntry(tricks=185, bottom=15)).points == 185
    assert RULES.score(DealEntry(tricks=200)).levels == 5


def test_must_play_is_an_option():
    assert RULES.with_options({"must_play": "none"}).score(DealEntry(tricks=140)).levels == 3
    with pytest.raises(EngineError, match="must_play=none"):
        RULES.with_options({"must_play": "none"}).score(DealEntry(defender_on_must_play=True))
    wide = RULES.with_options({"must_play": "5_10_K_A"})
    assert [level for level in range(2, 18) if wide.is_must_play(level)] == [5, 10, 13, 14]


# what is entered as JSON


@pytest.mark.parametrize(
    ("obj", "error", "says"),
    [
        ({"tricks": 0, "trick": 0}, IllegalNotation, "'trick'"),
        ({"tricks": 0, "zoo": None}, IllegalNotation, "'zoo'"),
        ({}, IllegalNotation, "'tricks' is missing"),
        ({"tricks": None}, IllegalNotation, "'tricks' is missing"),
        ({"tricks": "75"}, InvalidNotation, "tricks: a whole number"),
        ({"tricks": True}, InvalidNotation, "tricks: a whole number"),
        ({"tricks": 7.5}, InvalidNotation, "tricks: a whole number"),
        ({"tricks": -5}, IllegalNotation, "tricks: -5"),
        ({"tricks": 77}, IllegalNotation, "tricks: 77 is not a multiple of 5"),
        ({"tricks": 0, "last": 2}, InvalidNotation, "last: text"),
        ({"tricks": 0, "last": ""}, IllegalNotation, "last: there is no ''"),
        ({"tricks": 0, "penalties": {"banker": 10}}, InvalidNotation, "penalties: a list"),
        ({"tricks": 0, "penalties": ["banker"]}, InvalidNotation, "penalties: a list"),
        ({"tricks": 0, "penalties": [["banker"]]}, InvalidNotation, "penalties"),
        ({"tricks": 0, "penalties": [["banker", "10"]]}, InvalidNotation, "penalties: a whole number"),
        ({"tricks": 0, "penalties": [[1, 10]]}, InvalidNotation, "penalties: text"),
        ({"tricks": 0, "penalties": [["dealer", 10]]}, IllegalNotation, "use one of banker, defender"),
        ({"tricks": 0, "forced_lost": 1}, InvalidNotation, "forced_lost: true or false"),
        ({"tricks": 0, "forced_lost": True, "last": "pair"}, IllegalNotation, "contradict"),
        ({"tricks": 0, "options": 3}, InvalidNotation, "options: an object"),
        ({"tricks": 0, "options": {"must_play": [1]}}, InvalidNotation, "must_play"),
        ({"tricks": 0, "options": {"must_play": "B"}}, OptionError, "must_play"),
        ({"tricks": 0, "options": {"nonsense": 1}}, OptionError, "nonsense"),
    ],
)
def test_objects_that_cannot_be_read_are_refused_by_name(obj, error, says):
    with pytest.raises(error, match=re.escape(says)):
        RULES.answer(obj)


def test_options_of_an_example_come_before_those_of_the_sheet():
    obj = {"id": "X", "note": "", "expect": {}, "tricks": 20, "options": {"level_table": "fifteen"}}
    assert RULES.answer(obj)["levels"] == 4
    assert RULES.answer({"forced_lost": True})["side"] == "defender"


def test_an_example_is_answered_by_its_sheet():
    vector = {"id": "X", "forced_lost": True, "expect": {"side": "defender"}}
    assert check_vector(vector, "shengji")["ok"]
    answer = check_vector({**vector, "expect": {"side": "banker"}}, "shengji")
    assert (answer["id"], answer["ok"], answer["side"]) == ("X", False, "defender")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 300) | st.sampled_from(["single", "banker", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from([*DATA.facts, "options", "other"]), JSON, max_size=4))
@settings(max_examples=60)
def test_any_object_is_answered_or_refused(obj):
    try:
        answer = RULES.answer(obj)
    except (NotationError, OptionError):
        return
    assert answer["side"] in ("banker", "defender")
    json.dumps(answer)


# penalties


@pytest.mark.parametrize(
    ("fault", "count", "points"),
    [
        ("1A", 1, 0),
        ("1B", 1, 10),
        ("1C", 1, 10),
        ("2", 4, 40),
        ("3", 3, 30),
        ("4", 1, 20),
        ("5", 1, 20),
        ("6", 2, 20),
        ("7", 2, 40),
        ("8", 1, 20),
        ("9", 1, 80),
    ],
)
def test_every_fault_has_its_points(fault, count, points):
    assert RULES.penalty(BANKER, fault, count) == Penalty(BANKER, points, fault)
    assert len(RULES.faults) == 11
    assert RULES.faults[fault].text
    assert RULES.faults[fault].zh


def test_faults_that_cannot_be_are_refused():
    for side, fault, count, says in [
        (BANKER, "10", 1, "there is no fault '10'"),
        (DEFENDER, "4", 1, "one of the banker"),
        (BANKER, "2", 0, "cards, not 0"),
        (BANKER, "7", 34, "times, not 34"),
    ]:
        with pytest.raises(EngineError, match=says):
            RULES.penalty(side, fault, count)


# levels


def test_levels_are_named_by_rank_and_go_on_in_the_next_lap():
    names = [RULES.rank(level) for level in range(2, 17)]
    assert names == ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A", "2", "3"]
    with pytest.raises(EngineError, match="level 1"):
        RULES.rank(1)


def test_a_rise_stops_at_a_must_play_level_on_its_way():
    assert [RULES.rise(level, 3) for level in (2, 11, 12, 13, 14, 15)] == [5, 14, 14, 14, 17, 18]
    assert RULES.rise(25, 5) == 27  # the ace of the second lap
    free = RULES.with_options({"stop_at_must_play": False})
    assert [free.rise(level, 3) for level in (12, 13)] == [15, 16]


# the match


def played(*deals, rules=RULES):
    """A match in which each (banker, tricks) was played."""
    match = Match(rules=rules)
    for banker, tricks in deals:
        match = match.start(banker).finish(tricks)
    return match


def test_the_bank_goes_over_at_eighty_points_and_levels_add_up():
    match = played((0, 0), (2, 60), (0, 95), (3, 120), (2, 65))
    assert [deal.levels for deal in match.deals] == [(7, 2), (9, 2), (9, 2), (11, 2), (12, 2)]
    assert [deal.bank for deal in match.deals] == [0, 0, 1, 0, 0]
    assert match.bank == 0
    assert not any(deal.warnings for deal in match.deals)


def test_anybody_may_bid_for_the_first_bank_then_the_pair_takes_turns():
    match = Match(rules=RULES)
    assert (match.bank, match.next_bankers, match.warnings) == (None, (0, 1, 2, 3), ())
    match = match.start(1).finish(0)
    assert match.next_bankers == (3,)
    match = match.start(3).finish(80)
    assert match.next_bankers == (0, 2)
    match = match.start(2).finish(80)
    assert match.next_bankers == (1,)


def test_the_same_banker_twice_in_a_row_is_warned_of_and_dealt_again():
    match = played((0, 0)).start(0)
    assert [(each.code, each.about, each.fatal) for each in match.warnings] == [
        ("banker_twice", ("banker=0",), False)
    ]
    again = match.redeal()
    assert (again.bank, again.levels, again.redeals, len(again.deals)) == (0, (7, 2), 1, 1)
    assert again.start(2).warnings == ()
    assert [each.code for each in match.finish(0).deals[-1].warnings] == ["banker_twice"]


def test_a_banker_out_of_turn_after_the_other_pair_is_warned_of():
    match = played((0, 80), (1, 80)).start(0)
    assert [each.code for each in match.warnings] == ["banker_out_of_turn"]
    assert all(each.section == "§2" for each in match.warnings)


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (lambda: Match(rules=RULES).start(4), "seat 0 to 3"),
        (lambda: Match(rules=RULES).start(-1), "seat 0 to 3"),
        (lambda: played((0, 0)).start(1), "seat 0 or 2"),
        (lambda: Match(rules=RULES).start(0).start(0), "a deal is running"),
        (lambda: Match(rules=RULES).finish(0), "no deal is running"),
        (lambda: Match(rules=RULES).redeal(), "no deal is running"),
        (lambda: Match(rules=RULES).stop().start(0), "time is up"),
        (lambda: Match(rules=RULES).penalize(0, "9"), "no deal has started"),
        (lambda: Match(rules=RULES).start(0).penalize(2, "9"), "no pair 2"),
        (lambda: Match(rules=RULES).result, "still running"),
    ],
)
def test_steps_that_cannot_be_are_refused(step, says):
    with pytest.raises(EngineError, match=says):
        step()


def test_penalties_go_against_the_pair_by_its_part_in_the_deal():
    match = Match(rules=RULES).start(1).penalize(0, "2", 4).penalize(1, "1C").finish(75)
    assert match.deals[0].entry.penalties == (Penalty(DEFENDER, 40, "2"), Penalty(BANKER, 10, "1C"))
    assert match.deals[0].result.points == 45


def test_a_penalty_after_the_deal_changes_it_until_the_next_one_starts():
    match = played((0, 75))
    assert match.levels == (3, 2)
    mended = match.penalize(0, "1B")
    assert (mended.levels, mended.bank, mended.next_bankers) == ((2, 2), 1, (1, 3))
    assert mended.penalize(1, "1B").levels == (3, 2)
    running = match.start(2)
    assert running.penalize(0, "9").running.penalties == (Penalty(BANKER, 80, "9"),)
    assert running.penalize(0, "9").levels == (3, 2)
    with pytest.raises(PenaltyLocked, match="has started"):
        running.redeal().penalize(0, "1B")
    assert running.finish(40).penalize(1, "1B").deals[-1].result.points == 30


def test_a_lost_deal_gives_the_bank_away_without_levels():
    match = Match(rules=RULES).start(0).finish(forced_lost=True)
    assert (match.levels, match.bank) == ((2, 2), 1)
    with pytest.raises(EngineError, match="fault 4"):
        Match(rules=RULES).start(0).penalize(0, "4").finish(forced_lost=True)


def test_defenders_on_ace_take_the_bank_but_do_not_rise():
    match = played((0, 140), rules=RULES.with_options({"start_level": 14}))
    assert match.deals[0].entry.defender_on_must_play
    assert (match.levels, match.bank) == ((14, 14), 1)
    assert match.start(1).finish(0).levels == (14, 19)


def test_a_rise_that_ended_at_ace_is_marked():
    match = played((0, 0), rules=RULES.with_options({"start_level": 12}))
    assert (match.levels, match.deals[0].stopped) == ((14, 12), True)
    assert not match.start(2).finish(60).deals[-1].stopped


@pytest.mark.parametrize(
    ("deals", "points"),
    [([(0, 0)], (2, 0)), ([(1, 0)], (0, 2)), ([], (1, 1)), ([(0, 80)], (1, 1))],
)
def test_more_levels_win_the_match(deals, points):
    result = played(*deals).stop().result
    assert result.points == points
    assert sum(result.points) == 2


def test_the_running_deal_counts_only_by_option():
    match = played((0, 60)).start(2)
    assert match.stop().result.levels == (4, 2)
    with pytest.raises(PenaltyLocked):
        match.stop().penalize(0, "9")
    counting = replace(match, rules=RULES.with_options({"count_running_deal": True})).stop()
    with pytest.raises(EngineError, match="still running"):
        counting.result  # noqa: B018
    assert counting.finish(0).result.levels == (9, 2)
    assert played((0, 60)).stop().penalize(0, "9").result.levels == (2, 5)


STEPS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.integers(0, 40).map(lambda steps: steps * 5),
        st.lists(st.tuples(st.integers(0, 1), st.sampled_from(["1B", "2", "9"])), max_size=2),
        st.lists(st.tuples(st.integers(0, 1), st.sampled_from(["1A", "7"])), max_size=2),
        st.booleans(),
    ),
    max_size=12,
)


@given(STEPS)
@settings(max_examples=60)
def test_any_match_keeps_its_books(steps):
    match = Match(rules=RULES)
    for pick, tricks, faults, late, again in steps:
        seats = match.next_bankers
        if again:
            match = match.start(seats[0]).redeal()
        match = match.start(seats[pick % len(seats)])
        for pair, fault in faults:
            match = match.penalize(pair, fault)
        before, match = match, match.finish(tricks)
        for pair, fault in late:
            match = match.penalize(pair, fault)
        deal = match.deals[-1]
        rose = [after - level for after, level in zip(match.levels, before.levels, strict=True)]
        assert rose[1 - match.bank] == 0
        assert 0 <= rose[match.bank] <= deal.result.levels <= 5
        assert (rose[match.bank] < deal.result.levels) == deal.stopped
        assert (match.bank == deal.banker % 2) == (deal.result.side is BANKER)
        assert deal.warnings == ()
    assert sum(match.stop().result.points) == 2


def test_a_match_is_a_value():
    match = played((0, 60))
    assert match == played((0, 60))
    with pytest.raises(FrozenInstanceError):
        match.locked = True


# the data file


def test_the_sheet_is_loaded_by_id():
    sheet = rulesets.sheet("shengji", {"must_play": "none"})
    assert isinstance(sheet, Shengji)
    assert sheet == RULES.with_options({"must_play": "none"})
    assert sheet != RULES
    assert len({sheet, RULES, Shengji(DATA)}) == 2
    assert repr(sheet) == "rulesets.sheet('shengji', {'must_play': 'none'})"
    assert sheet.id == "shengji"
    assert re.fullmatch("[0-9a-f]{64}", sheet.hash)


@pytest.mark.parametrize("spec", DATA.options.values(), ids=DATA.options)
def test_every_option_is_documented_in_both_languages(spec):
    assert re.fullmatch(r"§[0-9]", spec.section)
    assert spec.check(spec.default) == spec.default
    assert len(spec.text) > 5
    assert re.search("[\u4e00-\u9fff]", spec.zh)
    assert bool(spec.allowed) == (spec.type == "choice")
    assert spec.effects.keys() == spec.effects_zh.keys() <= {*spec.allowed}


def test_the_effects_that_are_told_are_true():
    for table, points, levels in [("seed", 45, 2), ("seed", 155, 3), ("fifteen", 45, 3), ("fifteen", 155, 5)]:
        assert RULES.with_options({"level_table": table}).score(at(points)).levels == levels


def test_choices_of_the_options_are_the_tables_of_the_file():
    assert set(DATA.options["level_table"].allowed) == DATA.tables["levels"].keys()
    assert set(DATA.options["must_play"].allowed) == DATA.tables["must_play"].keys()
    assert set(DATA.facts["last"].allowed) == DATA.tables["bottom"].keys()
    assert all(fact.text and fact.zh and fact.section for fact in DATA.facts.values())


def test_the_tournament_follows_the_options():
    swiss = RULES.with_options({"total_score_reading": "reached", "bye_opponent_score": "zero"}).swiss("ab")
    assert (swiss.teams, swiss.reading, swiss.bye_opponent) == (("a", "b"), "reached", "zero")
    assert [RULES.prize_places(teams) for teams in (12, 9, 8, 2, 0)] == [8, 8, 7, 1, 0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda table: table.pop("facts"), "facts"),
        (lambda table: table.update(colour="red"), "colour"),
        (lambda table: table.update(kind="mahjong"), "mahjong"),
        (lambda table: table["facts"]["tricks"].update(type="float"), "float"),
        (lambda table: table["facts"]["tricks"].update(colour="red"), "colour"),
        (lambda table: table["options"]["must_play"].update(default="B"), "must_play"),
    ],
)
def test_a_wrong_data_file_is_refused(change, says):
    table = tomllib.loads((rulesets.RULES / "shengji.toml").read_text(encoding="utf-8"))
    change(table)
    with pytest.raises(EngineError, match=says):
        sheet_data(table)


def test_a_reason_without_a_section_is_refused():
    with pytest.raises(EngineError, match="weather"):
        DATA.section("weather")


def test_the_base_sheet_leaves_the_judgement_open():
    with pytest.raises(NotImplementedError):
        ScoreSheet(DATA).judge({})

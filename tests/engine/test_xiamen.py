"""Rules of Xiamen: the worked examples, ways to win, refusals, contradictions, options."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine import rulesets
from engine.claim import Facts
from engine.errors import EngineError
from engine.gold import any_tile_readings
from engine.hand import Hand
from engine.notation import (
    NotationError,
    claim_from_object,
    claim_to_object,
    format_claim,
    parse_claim,
    parse_hand,
)
from engine.options import OptionError
from engine.tiles import HAND_KINDS, Tile
from engine.vectors import check_line, check_vector
from engine.verdict import Outcome

GOLDEN = Path(__file__).parents[1] / "golden"
VECTORS = json.loads((GOLDEN / "xiamen.json").read_text(encoding="utf-8"))
RULES = rulesets.load("xiamen")
DATA = RULES.data
HAND = "123m456m789m123s45s22z"
READY = f"{HAND} +6s flip=5p"
ANY = "123m456m789m123s456s5p"
WINDS = "flip=9p how=zimo seat=1"


def answer(line):
    return check_line(line, "xiamen")


def check(line):
    return RULES.check(parse_claim(line, "xiamen"))


def about(line, code):
    return [problem.about for problem in check(line).details if problem.code == code]


def water(line):
    result = answer(line)
    assert result["outcome"] == "win", result
    return {item["code"]: item["amount"] for item in result["items"] if item["code"].startswith("water_")}


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_worked_example(vector):
    result = check_vector(vector, "xiamen")
    assert result["ok"], result
    claim = claim_from_object(vector, "xiamen")
    assert claim_from_object(claim_to_object(claim, "xiamen"), "xiamen") == claim
    assert parse_claim(format_claim(claim, "xiamen"), "xiamen") == claim


def test_unknown_keys_are_refused_by_name():
    for key in ("indicator", "da", "kong", "gilt"):
        with pytest.raises(NotationError, match=key):
            check_vector({**VECTORS[0], key: "1m"}, "xiamen")
    with pytest.raises(NotationError, match="streak"):
        answer(f"{READY} how=zimo seat=0 streak=41")


# --- ways to win


@pytest.mark.parametrize(
    ("line", "totals", "pay", "bonus"),
    [
        (f"{READY} how=ping seat=1 from=0", (8, 0, 1), (-8, 24, -8, -8), 0),
        (f"{READY} how=ping seat=0", (16, 0, 1), (48, -16, -16, -16), 0),
        (f"{READY} how=zimo seat=2", (8, 0, 2), (-16, -16, 48, -16), 0),
        (f"{READY} how=robkong seat=1 from=3", (8, 0, 2), (-16, 48, -16, -16), 0),
        (f"{READY} how=tianting seat=1", (8, 0, 4), (-32, 96, -32, -32), 0),
        (f"{READY} how=tianting seat=1 from=2", (8, 0, 4), (-32, 96, -32, -32), 0),
        (f"{READY} how=tianhe seat=0 streak=1", (32, 0, 4), (384, -128, -128, -128), 0),
        (f"{HAND} +5p flip=5p how=qiangjin seat=3", (8, 1, 4), (-36, -36, -36, 108), 0),
        (f"{HAND} +5p flip=5p how=qiangjin seat=0", (16, 1, 4), (204, -68, -68, -68), 0),
        (f"{ANY} flip=5p how=youjin seat=0 streak=2", (64, 1, 4), (780, -260, -260, -260), 50),
        (f"{ANY} flip=5p how=shuangyou seat=2", (8, 1, 8), (-72, -72, 216, -72), 100),
        (f"{ANY} flip=5p how=sanyou seat=1", (8, 1, 12), (-108, 324, -108, -108), 150),
        (f"{ANY} flip=5p how=sanyou seat=1 times_sanyou=16", (8, 1, 16), (-144, 432, -144, -144), 150),
        ("555p147m258s369p1234z +1z flip=5p how=sanjin_start seat=0", (16, 3, 4), (228, -76, -76, -76), 50),
        ("555p147m258s369p1234z flip=5p how=sanjin_mid seat=1", (8, 3, 3), (-33, 99, -33, -33), 0),
        ("55p147m258s369p12345z +5p flip=5p how=sanjin_mid seat=1", (8, 3, 3), (-33, 99, -33, -33), 0),
    ],
)  # fmt: skip
def test_ways_to_win(line, totals, pay, bonus):
    result = answer(line)
    assert result["outcome"] == "win", result
    assert (result["base"], result["water"], result["times"]) == totals
    assert tuple(result["pay"]) == pay
    assert result["bonus"] == [3 * bonus if amount > 0 else -bonus for amount in pay]
    assert result["cls"] == line.split("how=")[1].split()[0]
    assert result["section"] == "§5"
    assert result["unpaid"] == [0, 0, 0, 0]


def test_every_way_to_win_has_a_factor_and_is_explained_in_both_languages():
    for name, how in DATA.hows.items():
        assert DATA.prices[f"times_{name}"].unit == "times"
        assert how.text
        assert how.zh
    for spec in (*DATA.options.values(), *DATA.facts.values(), *DATA.calls.values()):
        assert spec.text
        assert spec.zh, spec.name
    for spec in DATA.options.values():
        assert spec.effects.keys() == spec.effects_zh.keys()
        assert spec.effects.keys() <= {str(value) for value in spec.allowed}


@pytest.mark.parametrize("seat", range(1, 4))
def test_the_streak_counts_for_the_dealer_only(seat):
    assert answer(f"{READY} how=zimo seat={seat} streak=3")["base"] == 8
    assert answer(f"{READY} how=zimo seat=0 streak=3")["base"] == 128


def test_hand_of_13_wins_with_four_sets_and_melds_shorten_every_hand():
    assert answer("123m456m789m45s22z +6s flip=5p how=zimo seat=1 hand_size=13")["outcome"] == "win"
    assert answer("123m456m45s22z C:789m +6s flip=5p how=zimo seat=1 hand_size=13")["outcome"] == "win"
    assert answer(f"{READY} how=zimo seat=1 hand_size=13")["reason"] == "tile_count"
    assert answer("2z C:123m C:456m C:789m C:123s P:555s +2z flip=5p how=zimo seat=1")["outcome"] == "win"
    melded = "5p C:123m C:456m C:789m C:123s P:555s flip=5p how=youjin seat=1"
    assert answer(melded)["outcome"] == "win"
    assert answer("5p C:123m C:456m C:789m C:123s P:555s P:666s flip=5p how=youjin seat=1")["reason"] == (
        "tile_count"
    )


# --- gold and White


def test_the_turned_up_kind_itself_is_gold():
    assert [RULES.wild_of(tile) for tile in HAND_KINDS] == list(HAND_KINDS)
    for tile in (Tile.SPRING, Tile.BACK, Tile.UNKNOWN):
        with pytest.raises(EngineError, match="gold"):
            RULES.wild_of(tile)
    assert check(f"{READY} how=zimo seat=1").wild is Tile.P5


def test_the_reading_says_what_gold_and_white_stand_for():
    reading = answer("123m456m789m12p4s35s22z +5z flip=4s how=zimo seat=3")["decomposition"]
    groups = {"".join(group["as"]): group["tiles"] for group in [*reading["sets"], reading["pair"]]}
    assert groups["1p2p3p"] == ["1p", "2p", "4s"]  # the gold as 3p
    assert groups["3s4s5s"] == ["3s", "5z", "5s"]  # White as the face of the gold
    assert (reading["as_itself"], reading["substituted"]) == (0, 1)
    melded = answer("456m789m12p44s C:3s5z5s P:333z +3p flip=4s how=zimo seat=3")["decomposition"]
    assert (melded["as_itself"], melded["substituted"]) == (2, 0)
    itself = answer("123m456m789m123p34s22z +5s flip=4s how=zimo seat=3")["decomposition"]
    assert (itself["as_itself"], itself["substituted"]) == (1, 0)


def test_readings_in_which_fewer_golds_substitute_come_first():
    hand = parse_hand("123m456m789m5z4s6s4s4s22z +5s")
    readings = list(RULES.decompositions(hand, Tile.S4))
    golds = [
        sum(tile.actual is Tile.S4 != tile.stands_for for group in reading.groups for tile in group.tiles)
        for reading in readings
    ]
    assert len(set(readings)) == len(readings) > 3
    assert golds == sorted(golds)
    assert (
        RULES.check(
            parse_claim("123m456m789m5z4s6s4s4s22z +5s flip=4s how=zimo seat=3", "xiamen")
        ).decomposition
        in readings
    )


def test_white_is_the_face_of_the_gold_and_no_honour():
    assert water("123m456m789m12p22z555z +3p flip=4s how=zimo seat=3") == {"water_triplet": 1}
    assert water("123m456m789m12p22z555z +3p flip=4z how=zimo seat=3") == {"water_triplet_honour": 2}
    assert water("123m456m789m12p22z P:555z +3p flip=4s how=zimo seat=3") == {}
    assert water("123m456m789m12p22z P:555z +3p flip=4z how=zimo seat=3") == {"water_pung_honour": 1}
    assert water("123m456m789m12p22z A:5555z +3p flip=4s how=zimo seat=3") == {"water_concealed_kong": 3}
    assert water("123m456m789m12p22z P:666z +3p flip=5z how=zimo seat=3") == {"water_pung_honour": 1}


def test_white_makes_runs_with_the_face_of_the_gold():
    chow = "123m456m789m12p22z +3p how=ping seat=3"
    assert answer(f"{chow} C:6s5z8s flip=7s")["outcome"] == "win"
    assert answer(f"{chow} C:5z5z8s flip=7s")["reason"] == "unknown_meld"
    assert answer(f"{chow} C:6s5z8s flip=4s")["reason"] == "unknown_meld"
    assert answer(f"{chow} C:6s5z8s flip=5z")["reason"] == "unknown_meld"
    assert answer(f"{chow} C:678s flip=7s")["reason"] == "unknown_meld"
    assert answer(f"{chow} P:111z flip=1z")["reason"] == "unknown_meld"
    assert answer("123m456m789m55z22z678s +5z flip=4s how=zimo seat=3")["outcome"] == "win"
    assert answer("123m456m789m35s22z678s +5z flip=4s how=ping seat=3")["outcome"] == "win"
    assert answer("123m456m789m35s22z678s +5z flip=9p how=ping seat=3")["reason"] == "no_decomposition"


def test_waits_know_gold_and_white():
    def waits(text, flip, **options):
        rules = RULES.with_options(options)
        return [tile.id for tile in rules.waits(parse_hand(text), Tile.of(flip))]

    assert waits(HAND, "5p") == ["5p", "3s", "6s"]
    assert waits("123m456m789m123s35s22z", "4s") == ["4s", "5z"]
    assert waits("123m456m789m123s35s22z", "5z") == ["4s", "5z"]
    assert len(waits(ANY, "5p")) == 34
    assert waits("12m123s456s78s22z5p A:3333m", "5p") == ["5p", "3s", "6s", "9s"]
    assert waits("12m123s456s78s22z5p A:3333m", "5p", wild_fifth_copy=False) == []


def test_an_any_tile_wait_needs_a_gold_that_is_left_over():
    assert RULES.every_tile_wins(parse_hand(ANY), Tile.P5)
    assert not RULES.every_tile_wins(parse_hand(ANY), Tile.P6)
    assert not RULES.every_tile_wins(parse_hand("123m456m789m123s45s5p9m"), Tile.P5)
    assert RULES.every_tile_wins(parse_hand("123m456m789m123s456s5z"), Tile.WHITE)
    assert not RULES.every_tile_wins(parse_hand("123m456m789m123s456s5z"), Tile.P5)


@pytest.mark.parametrize(
    "line",
    [
        "12m5p123s456s78s22z A:3333m +9s flip=5p how=zimo seat=1",  # the gold can only be a fifth 3m
        "12m55p123s456s789s A:3333m flip=5p how=youjin seat=1",
    ],
)
def test_a_gold_may_stand_for_a_fifth_copy_by_option(line):
    assert answer(line)["outcome"] == "win"
    refused = answer(f"{line} wild_fifth_copy=false")
    assert refused["reason"] in ("no_decomposition", "not_any_tile_wait")


def test_golds_and_whites_are_more_than_four_with_one_face():
    line = "123m456m789m12p555z4s4s +3p flip=4s how=zimo seat=1 wild_fifth_copy=false"
    assert answer(line)["outcome"] == "win"


# --- water


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"123m456m789m12p222z33s +3p {WINDS}", {"water_triplet_honour": 2}),
        (f"123m456m789m12p22z333s +3p {WINDS}", {"water_triplet": 1}),
        (f"123m456m789m12p22z33s9p +3p {WINDS}", {"water_gold": 1}),  # 33s and the gold
        (f"123m456m789m12p22z P:333z +3p {WINDS}", {"water_pung_honour": 1}),
        (f"123m456m789m12p22z P:333s +3p {WINDS}", {}),
        (f"123m456m789m12p22z K:3333s +3p {WINDS}", {"water_kong": 2}),
        (f"123m456m789m12p22z K:3333z +3p {WINDS}", {"water_kong_honour": 3}),
        (f"123m456m789m12p22z A:3333s +3p {WINDS}", {"water_concealed_kong": 3}),
        (f"123m456m789m12p22z A:3333z +3p {WINDS}", {"water_concealed_kong_honour": 4}),
        (f"123m456m2z A:3333z A:4444z K:1111z +2z {WINDS}",
         {"water_concealed_kong_honour": 8, "water_kong_honour": 3}),
        (f"{HAND} +6s {WINDS} flowers=1f", {"water_flower": 1}),
        (f"{HAND} +6s {WINDS} flowers=158f", {"water_flower": 3}),
        (f"{HAND} +6s {WINDS} flowers=2341f", {"water_flower": 4, "water_family": 4}),
        (f"{HAND} +6s {WINDS} flowers=56781f", {"water_flower": 5, "water_family": 4}),
        (f"{HAND} +6s {WINDS} flowers=12345678f", {"water_flower": 8, "water_family": 8}),
    ],
)  # fmt: skip
def test_water(line, expected):
    assert water(line) == expected


def test_a_triplet_completed_by_anothers_tile_is_none():
    hand = "123m456m789m44s22z123p"
    assert water(f"{hand} +4s flip=9p how=zimo seat=1") == {"water_triplet": 1}
    assert water(f"{hand} +2z flip=9p how=tianhe seat=0") == {"water_triplet_honour": 2}
    assert water(f"{hand} +4s flip=9p how=ping seat=1") == {}
    assert water(f"{hand} +2z flip=9p how=tianting seat=1") == {"water_triplet_honour": 2}
    assert water(f"{hand} +2z flip=9p how=tianting seat=1 from=0") == {}
    natural = "123m456m789m444s56s22z"  # a discarded 4s can only go into the run: the triplet is natural
    assert water(f"{natural} +4s flip=9p how=ping seat=1") == {"water_triplet": 1}
    whites = "123m456m789m55z22z123p"
    assert water(f"{whites} +5z flip=4s how=ping seat=1") == {}
    assert water(f"{whites} +5z flip=4s how=zimo seat=1") == {"water_triplet": 1}


def test_the_reading_with_the_most_water_is_taken():
    line = "222333444m67p111z99s +8p flip=9p how=zimo seat=1"
    assert water(line) == {"water_triplet": 3, "water_triplet_honour": 2}
    result = answer(line)
    assert {group["kind"] for group in result["decomposition"]["sets"][:3]} == {"pung"}
    with_golds = "222m34m444m67p111z99p9s +8p flip=9p how=zimo seat=1"
    assert water(with_golds) == {"water_gold": 2, "water_triplet": 2, "water_triplet_honour": 2}


def test_three_golds_count_golds_flowers_and_melds_only():
    line = "222z14m25s9m9m9m P:444z A:1111p flip=9m how=sanjin_mid seat=1 flowers=5678f"
    assert water(line) == {
        "water_gold": 3,
        "water_flower": 4,
        "water_family": 4,
        "water_pung_honour": 1,
        "water_concealed_kong": 3,
    }


def test_a_reading_is_worth_what_each_pays():
    claim = parse_claim(f"{HAND} +6s flip=5p how=zimo seat=1 flowers=1f", "xiamen")
    (reading,) = RULES.readings(claim)
    assert RULES.price(claim, reading).value == (8 + 1) * 2


@pytest.mark.parametrize(
    ("line", "code", "named"),
    [
        (f"{READY} how=ping seat=1 passed=6s", "passed_tile", ("win=6s", "passed")),
        (f"{READY} how=ping seat=1 gold_discarded",
         "xianggong", ("gold_discarded", "gold_discard=forbidden")),
        (f"{READY} how=ping seat=1 gold_discarded gold_discard=lock",
         "gold_lock", ("how=ping", "gold_discarded")),
        (f"{READY} how=robkong seat=1 pung_same_round",
         "rob_kong_not_allowed", ("how=robkong", "pung_same_round")),
        ("123m456m789m123s45s5p2z +6s flip=5p how=ping seat=1",
         "gold_in_hand_no_discard_win", ("how=ping", "5p in the hand")),
        ("123m456m5p456s789s A:3333z flip=5p how=youjin seat=1 kong_same_round",
         "youjin_after_concealed_kong", ("how=youjin", "kong_same_round")),
        ("555p147m258s369p1234z flip=5p how=sanjin_mid seat=1 midgame_three_gold=must_youjin",
         "midgame_three_gold_not_allowed", ("how=sanjin_mid", "midgame_three_gold=must_youjin")),
        ("55p147m258s369p12345z flip=5p how=sanjin_mid seat=1",
         "not_three_gold", ("how=sanjin_mid", "golds=2")),
        (f"{HAND} flip=5p how=sanyou seat=1", "not_any_tile_wait", ("how=sanyou",)),
    ],
)  # fmt: skip
def test_what_refuses_a_win_is_named(line, code, named):
    assert about(line, code) == [named]


def test_without_the_gold_nothing_is_said_of_discarded_golds():
    line = f"{HAND} +6s how=zimo seat=1 gold_discarded"
    assert check(line).problems == ("contradictory_facts",)
    assert about(line, "contradictory_facts") == [("flip=none", "ruleset=xiamen")]


def test_the_tile_drawn_in_youjin_makes_the_water_exact():
    line = f"{ANY} flip=5p how=youjin seat=1"
    assert answer(line)["water"] == 1
    assert answer(f"{line} drawn=9m")["water"] == 1
    assert answer(f"{line} drawn=5p")["water"] == 2
    two = "123m456m789m22z456s55p flip=5p how=youjin seat=1"
    assert answer(two)["water"] == 2
    assert answer(f"{two} drawn=2z")["water"] == 4  # 222z natural, the golds are the pair
    assert answer(f"{two} drawn=2z")["decomposition"]["pair"]["tiles"] == ["5p", "5p"]
    assert answer(f"{two} drawn=9s")["decomposition"]["pair"]["tiles"] == ["5p"]  # it changes no water
    assert answer(two)["decomposition"]["pair"] == {
        "kind": "pair", "tiles": ["5p"], "as": ["5p"], "melded": False
    }  # fmt: skip
    assert answer(f"{ANY} flip=5p how=shuangyou seat=1 drawn=5p")["pay"] == [-80, 240, -80, -80]


def test_every_price_can_be_chosen():
    line = f"{HAND} +6s flip=5p how=zimo seat=1 flowers=1f"
    assert answer(f"{line} water_flower=3 times_zimo=5 base_other=10")["pay"] == [-65, 195, -65, -65]
    assert answer(f"{line} water_flower=0")["items"] == answer(f"{HAND} +6s flip=5p how=zimo seat=1")["items"]
    assert answer(f"{READY} how=tianting seat=1 bonus_tianting=20")["bonus"] == [-20, 60, -20, -20]


# --- what does not win


@pytest.mark.parametrize(
    ("line", "problems"),
    [
        (f"{HAND} +7s flip=5p how=zimo seat=1", ("no_decomposition",)),
        (f"{HAND} +7s flip=5p how=tianhe seat=0", ("no_decomposition",)),
        ("123m456m789m123s45s5p2z +6s flip=5p how=ping seat=1", ("gold_in_hand_no_discard_win",)),
        ("123m456m789m123s45s5p2z +6s flip=5p how=robkong seat=1", ("gold_in_hand_no_discard_win",)),
        ("123m456m789m123s45s5p2z +6s flip=5p how=tianting seat=1 from=0", ("gold_in_hand_no_discard_win",)),
        ("123m456m789m123s45s5p2z +9p flip=5p how=ping seat=1",
         ("gold_in_hand_no_discard_win", "no_decomposition")),
        ("123m456m789m123s45s5p2z +5p flip=5p how=ping seat=1",
         ("gold_in_hand_no_discard_win", "gold_discard_not_claimable")),
        (f"{HAND} +5p flip=5p how=ping seat=1", ("gold_discard_not_claimable",)),
        (f"{HAND} +5p flip=5p how=tianting seat=1 from=3", ("gold_discard_not_claimable",)),
        (f"{READY} how=ping seat=1 passed=6s", ("passed_tile",)),
        (f"{READY} how=tianting seat=1 from=2 passed=61s", ("passed_tile",)),
        (f"{READY} how=robkong seat=1 pung_same_round", ("rob_kong_not_allowed",)),
        (f"{READY} how=zimo seat=1 gold_discarded", ("xianggong",)),
        (f"{READY} how=ping seat=1 gold_discarded xianggong", ("xianggong",)),
        (f"{READY} how=ping seat=1 gold_discarded gold_discard=lock", ("gold_lock",)),
        (f"{ANY} flip=5p how=youjin seat=1 gold_discarded", ("xianggong",)),
        ("123m456m789m123s45s5p9m flip=5p how=shuangyou seat=1", ("not_any_tile_wait",)),
        (f"{HAND} flip=5p how=sanyou seat=1", ("not_any_tile_wait",)),
        ("123m456m5p456s789s A:3333z flip=5p how=youjin seat=1 kong_same_round",
         ("youjin_after_concealed_kong",)),
        ("55p147m258s369p12345z flip=5p how=sanjin_start seat=1", ("not_three_gold",)),
        ("55p147m258s369p12345z +5p flip=5p how=sanjin_start seat=1", ("not_three_gold",)),
        ("555p147m258s369p1234z flip=5p how=sanjin_mid seat=1 midgame_three_gold=must_youjin",
         ("midgame_three_gold_not_allowed",)),
        ("55p147m258s369p12345z flip=5p how=sanjin_mid seat=1 xianggong midgame_three_gold=must_youjin",
         ("xianggong", "midgame_three_gold_not_allowed", "not_three_gold")),
    ],
)  # fmt: skip
def test_no_win(line, problems):
    verdict = check(line)
    assert verdict.outcome is Outcome.NO_WIN
    assert verdict.problems == problems
    assert verdict.section == DATA.section(problems[0])
    with pytest.raises(EngineError, match="no_win"):
        RULES.settle(verdict, parse_claim(line, "xiamen"))


@pytest.mark.parametrize(
    "line",
    [
        f"{READY} how=ping seat=1 passed=1s",
        f"{READY} how=zimo seat=1 passed=6s",
        f"{READY} how=robkong seat=1 passed=6s",  # the rule speaks of discards
        f"{READY} how=zimo seat=1 gold_discarded gold_discard=lock",
        "123m456m789m123s45s5p2z +6s flip=5p how=tianting seat=1",  # self-drawn
        f"{ANY} flip=5p how=shuangyou seat=1 gold_discarded",
        "123m456m5p456s789s A:3333z flip=5p how=youjin seat=1",
    ],
)
def test_what_is_like_a_refusal_and_is_none(line):
    assert check(line).outcome is Outcome.WIN


# --- what cannot be


@pytest.mark.parametrize(
    ("line", "problems"),
    [
        ("123m456m789m5555p22z1s +6s flip=5p how=zimo seat=1", ("fifth_copy",)),
        ("11111m23m45s22z123s99p +6s flip=5p how=zimo seat=1", ("fifth_copy",)),
        (f"{READY} how=zimo seat=1 flowers=11f", ("fifth_copy",)),
        ("123m456m789m123s4s55p5p flip=5p how=shuangyou seat=1", ("fifth_copy",)),  # one lies discarded
        ("123m456m789m123s45s55p flip=5p how=sanyou seat=1", ("fifth_copy",)),  # two do
        (f"{ANY} flip=5p how=sanyou seat=1 drawn=5p", ("fifth_copy",)),
        ("123m456m789m12s555p22z +6s flip=5p how=zimo seat=1 gold_discarded", ("fifth_copy",)),
        (f"{HAND} flip=5p how=zimo seat=1", ("tile_count",)),
        (f"{READY} how=youjin seat=1", ("tile_count",)),
        ("23m456m789m123s45s22z +6s flip=5p how=zimo seat=1", ("tile_count",)),
        ("?23m456m789m123s45s22z +6s flip=5p how=zimo seat=1", ("unknown_tile",)),
        ("456m789m123s45s22z H:111m +6s flip=5p how=zimo seat=1", ("unknown_meld",)),
        ("456m789m123s45s22z P:112m +6s flip=5p how=zimo seat=1", ("unknown_meld",)),
        ("456m789m123s45s22z C:135m +6s flip=5p how=zimo seat=1", ("unknown_meld",)),
        ("456m789m123s45s22z C:123z +6s flip=5p how=zimo seat=1", ("unknown_meld",)),
        ("456m789m123s45s22z P:555p +6s flip=5p how=zimo seat=1", ("unknown_meld",)),
        ("1f23m456m789m123s45s22z +6s flip=5p how=zimo seat=1", ("contradictory_facts",)),
        (f"{HAND} +6f flip=5p how=zimo seat=1", ("contradictory_facts",)),
        (f"{HAND} +6s flip=6f how=zimo seat=1", ("contradictory_facts",)),
        (f"{HAND} +6s flip=back how=zimo seat=1", ("unknown_tile",)),
        (f"{HAND} +6s how=zimo seat=1", ("contradictory_facts",)),
    ],
)  # fmt: skip
def test_inconsistent(line, problems):
    verdict = check(line)
    assert verdict.outcome is Outcome.INCONSISTENT
    assert verdict.problems == problems
    with pytest.raises(EngineError, match="inconsistent"):
        RULES.settle(verdict, parse_claim(line, "xiamen"))


def test_the_robbed_gold_is_the_indicator_and_no_copy_more():
    three = "123m456m789m1s555p123z"
    assert check(f"{three} +5p flip=5p how=qiangjin seat=1").problems == ("no_decomposition",)
    won = "123m456m789m1s555p2s22z +5p flip=5p how=qiangjin seat=1"
    assert answer(won)["water"] == 4
    assert check(won.replace("qiangjin", "zimo")).problems == ("fifth_copy",)


@pytest.mark.parametrize(
    ("line", "both"),
    [
        (f"{READY} how=tianhe seat=1", ("how=tianhe", "seat=1")),
        ("456m789m123s45s22z P:111z +6s flip=5p how=tianhe seat=0", ("how=tianhe", "melds=1")),
        ("456m789m123s45s22z P:111z +6s flip=5p how=tianting seat=0", ("how=tianting", "melds=1")),
        ("456m789m123s45s22z A:1111z +5p flip=5p how=qiangjin seat=0", ("how=qiangjin", "melds=1")),
        ("555p47m258s369p12z P:444z flip=5p how=sanjin_start seat=0", ("how=sanjin_start", "melds=1")),
        (f"{READY} how=qiangjin seat=1", ("how=qiangjin", "win=6s")),
        (f"{READY} how=zimo seat=1 from=2", ("how=zimo", "from=2")),
        (f"{READY} how=ping seat=1 from=1", ("seat=1", "from=1")),
        (f"{READY} how=zimo seat=1 drawn=6s", ("how=zimo", "drawn=6s")),
        (f"{ANY} flip=5p how=youjin seat=1 drawn=12m", ("how=youjin", "drawn=1m2m")),
        (f"{ANY} flip=5p how=youjin seat=1 drawn=1f", ("how=youjin", "drawn=1f")),
        (f"{ANY} flip=5p how=youjin seat=1 kong_same_round", ("how=youjin", "kong_same_round")),
        (f"{READY} how=zimo seat=1 kong_same_round", ("how=zimo", "kong_same_round")),
        (f"{READY} how=ping seat=1 pung_same_round", ("how=ping", "pung_same_round")),
        (f"{READY} how=tianhe seat=0 gold_discarded", ("how=tianhe", "gold_discarded")),
        (f"{READY} how=tianhe seat=0 passed=1m", ("how=tianhe", "passed")),
        (f"{READY} how=zimo seat=1 flowers=1f1m", ("flowers", "1m")),
        (f"{HAND} +6s flip=6f how=zimo seat=1", ("flip=6f", "ruleset=xiamen")),
        ("1f23m456m789m123s45s22z +6s flip=5p how=zimo seat=1", ("1f in the hand", "flowers are replaced")),
        (f"{HAND} +6s flip=6s how=robkong seat=1", ("how=robkong", "flip=6s")),
        (f"{READY} how=zimo seat=1 chips=1,2", ("chips=2 numbers", "players=4")),
    ],
)  # fmt: skip
def test_contradictory_facts_name_both(line, both):
    assert check(line).outcome is Outcome.INCONSISTENT
    assert both in about(line, "contradictory_facts")


def test_every_defect_is_named_in_the_documented_order():
    line = "11111m1f6m789m34s C:555p +5s flip=5p how=tianhe seat=1 xianggong flowers=1m"
    assert check(line).problems == (
        "tile_count", "fifth_copy", "unknown_meld", *["contradictory_facts"] * 4, "xianggong",
    )  # fmt: skip


def test_a_claim_without_winner_or_with_a_wild_fact_is_answered_not_raised():
    assert check(f"{READY} how=zimo").problems == ("contradictory_facts",)
    claim = parse_claim(f"{READY} how=zimo seat=1", "xiamen")
    assert RULES.check(replace(claim, facts=Facts(shou=1))).problems == ("contradictory_facts",)
    assert RULES.check(replace(claim, how="heaven")).problems[0] == "contradictory_facts"


# --- options


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("hand_size", 14, "16, 13"),
        ("hand_size", "16", "16, 13"),
        ("hand_size", True, "16, 13"),
        ("sanyou", "off", "extra_round, auto_kill"),
        ("water_gold", -1, "0 to"),
    ],
)
def test_options_that_cannot_be_are_refused(name, value, says):
    with pytest.raises(OptionError, match=says) as caught:
        rulesets.load("xiamen", {name: value})
    assert caught.value.name == name


def test_the_hand_size_must_be_chosen_at_set_up():
    assert [spec.name for spec in rulesets.unanswered("xiamen", {})] == ["hand_size"]
    assert rulesets.unanswered("xiamen", {"hand_size": 13}) == ()
    spec = DATA.options["hand_size"]
    assert (spec.default, spec.parse("13"), spec.effects["13"].split()[0]) == (16, 13, "four")
    with pytest.raises(OptionError):
        spec.parse("15")


def test_options_of_the_document_are_there():
    assert {
        "hand_size", "gold_roller", "gold_count_unit", "gold_flower", "wild_fifth_copy", "gold_discard",
        "midgame_three_gold", "shuangyou_discard", "sanyou", "dealer_loser_pays_dealer_base",
    } == DATA.options.keys() - DATA.prices.keys()  # fmt: skip
    assert {price.unit for price in DATA.prices.values()} == {"water", "times", "outside"}


def test_without_gold_nothing_waits_for_every_tile():
    assert list(any_tile_readings(parse_hand(HAND).concealed, Tile.P5, ())) == []


def test_hands_that_any_tile_wins_are_read_with_the_gold_that_waits():
    hand = Hand(parse_hand("11223344556677m55p").concealed)
    readings = list(RULES.any_tile_readings(hand, Tile.P5))
    assert len(set(readings)) == len(readings) > 1
    for reading in readings:
        lying = [tile.actual for group in reading.groups for tile in group.tiles]
        assert sorted(lying) == sorted(hand.concealed)

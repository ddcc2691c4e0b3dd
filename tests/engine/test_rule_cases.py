"""Cases other engines got wrong, each by its number: those of whole rule sets (engine design, section 4)."""

import pytest

from engine import rulesets
from engine.match import Match
from engine.notation import claim_from_object, parse_claim
from engine.vectors import answer_claim, check_line, check_vector
from engine.verdict import Outcome

HAND = "123m456m789m11z34s"


def answer(line):
    return check_line(line, "zhenjiang")


def stands_for(result, wild):
    groups = [*result["decomposition"]["sets"], result["decomposition"]["pair"]]
    return [
        kind
        for group in groups
        for tile, kind in zip(group["tiles"], group["as"], strict=True)
        if tile == wild
    ]


@pytest.mark.parametrize(
    "line",
    [
        "1122m3344p55s66s7z +7z",
        "1111m22p33p44s55s6z +6z",  # four alike as two pairs
        "1122m33p44s56z P:777s +5z",  # pairs beside a meld
        "19m19p19s1234567z +1m",
        "9m19p9s234567z P:111m +9s",
    ],
)
def test_case_7_and_8_special_shapes_win_only_where_the_rules_name_them(line):
    assert answer(f"{line} flip=8p how=self seat=0")["reason"] == "no_decomposition"


def test_case_12_a_wildcard_stands_for_what_pays_most():
    line = (
        "23455p12345678m +9m flip=1p how=self seat=0"  # 234p 55p, or 345p and the wildcard 2p as the other 5p
    )
    natural = answer(line)
    assert (natural["cls"], stands_for(natural, "2p")) == ("self_nosub", ["2p"])
    substituted = answer(f"{line} self_nosub=1")
    assert (substituted["cls"], stands_for(substituted, "2p")) == ("self_sub", ["5p"])


def test_case_12_only_legal_readings_count():
    line = "123m456p789p11z4s6s +5s flip=5s how=discard seat=0 from=3"
    assert stands_for(answer(line), "6s") == ["6s"]
    other = "123m456p789p11z3s6s +4s flip=5s how=discard seat=0 from=3"
    assert stands_for(answer(other), "6s") != ["6s"]
    assert answer(f"{other} ron_needs_natural")["reason"] == "ron_with_wild_substitution"


@pytest.mark.parametrize(("meld", "fee"), [("A:8888p", 2), ("K:8888p", 1), ("P:888p", 0)])
def test_case_14_a_concealed_kong_is_neither_an_open_one_nor_a_triplet_in_zhenjiang(meld, fee):
    result = answer(f"123m456m11z45s {meld} +3s flip=1p how=self seat=0 kong_fee")
    assert result["pay"] == [3 * (6 + fee), *[-6 - fee] * 3]


@pytest.mark.parametrize(("meld", "lei"), [("A:7777p", 10), ("K:7777p", 5), ("H:777p", 2), ("P:777p", 1)])
def test_case_14_nor_in_fengcheng(meld, lei):
    players = [{"melds": [meld]}, {}, {}]
    vector = {"players": players, "hand": "123m456m789m123p45p22z", "win": "6p", "how": "self", "winner": 1}
    vector["options"] = {"lei_per_point": 1}
    assert check_vector(vector, "fengcheng")["lei"] == [lei, 50, 0]


@pytest.mark.parametrize(
    ("line", "both"),
    [
        ("123m456m789m11z55s +5s flip=1p how=robkong seat=1 from=0", ["how=robkong", "5s in the hand"]),
        ("456m789m11z34s P:555s +5s flip=1p how=robkong seat=1 from=0", ["how=robkong", "5s in the hand"]),
        (f"{HAND} +5s flip=1p how=kong_an seat=1", ["how=kong_an", "melds without A:"]),
        (f"{HAND} +5s flip=1p how=self seat=1 from=2", ["how=self", "from=2"]),
        (f"{HAND} +5s flip=1p how=heaven seat=2", ["how=heaven", "seat=2"]),
        (f"{HAND} +5s flip=1p how=heaven seat=0 da=shou:1", ["how=heaven", "da=1"]),
    ],
)
def test_case_16_contradictory_facts_are_refused_and_both_are_named(line, both):
    result = answer(line)
    assert (result["outcome"], result["reason"]) == ("inconsistent", "contradictory_facts")
    assert both in [detail["about"] for detail in result["details"]]


@pytest.mark.parametrize(
    "ruleset", [name for name in rulesets.ids() if "robkong" in rulesets.data(name).hows]
)
def test_case_16_nobody_robs_a_kong_of_a_tile_he_holds_in_any_rule_set(ruleset):
    data = rulesets.data(ruleset)
    hand = {13: "55s12345678m123p", 16: "55s123456789m12345p"}[data.hand_size]
    obj = {"hand": hand, "win": "5s", "how": "robkong", "winner": 1, data.indicator_key: "1z"}
    if data.hows["robkong"].discarder == "required":
        obj["discarder"] = 0
    result = answer_claim(claim_from_object(obj, ruleset), rulesets.load(ruleset))
    assert ["how=robkong", "5s in the hand"] in [detail["about"] for detail in result["details"]]


@pytest.mark.parametrize("line", [f"{HAND} P:111m", f"{HAND} P:888p", "123m456m789m11z3s P:111z"])
def test_case_17_a_meld_is_never_counted_among_the_concealed_tiles(line):
    assert answer(f"{line} +5s flip=1p how=self seat=1")["reason"] in ("tile_count", "fifth_copy")


def test_case_18_three_players_pay_three_ways_in_whole_chips():
    players = [{"melds": ["P:777p"]}, {}, {"melds": ["K:9999p"]}]
    claim = claim_from_object(
        {"players": players, "hand": "123m456m789m123p45p22z", "win": "6p", "how": "self", "winner": 1},
        "fengcheng",
    )
    for per_point in (1, 10):
        match = Match.start(rulesets.load("fengcheng", {"lei_per_point": per_point}))
        played = match.claim(claim)
        assert played.verdict.outcome is Outcome.WIN
        assert len(played.settlement.pay) == 3
        assert sum(played.settlement.pay) == 0
        assert all(type(amount) is int for amount in played.match.chips)


def test_case_18_a_fine_that_cannot_be_shared_evenly_stays_whole():
    rules = rulesets.load("zhenjiang", {"fine_to": "split", "false_win": 7})
    fine = rules.false_win(parse_claim(f"{HAND} +5s flip=1p how=self seat=2", "zhenjiang").winner)
    assert fine.deferred == (2, 2, -7, 3)

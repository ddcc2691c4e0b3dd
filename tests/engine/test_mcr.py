"""Rules of the official game: worked examples, minimum, payment, facts that contradict, matches."""

import json
import sys
from pathlib import Path

import pytest

from engine import rulesets
from engine.claim import Facts, Seat
from engine.errors import EngineError, MissingExtraError
from engine.notation import (
    NotationError,
    claim_from_object,
    claim_to_object,
    format_claim,
    parse_claim,
    parse_hand,
)
from engine.options import OptionError
from engine.tiles import Tile
from engine.vectors import check_line, check_vector
from engine.verdict import Outcome
from tests.engine.extras import needs

pytestmark = needs("mcr")

GOLDEN = Path(__file__).parents[1] / "golden"
VECTORS = json.loads((GOLDEN / "mcr.json").read_text(encoding="utf-8"))
RULES = rulesets.load("mcr")
SELF = "234m567p345s67s88p +8s how=self seat=1"
KONG = "678m34p55s A:9999s C:345m +5p how=self seat=3 kong"
ROB = "567m13789p77z C:123s +2p how=discard seat=1 from=3 rob"
FOURTH = "678m22456p89s C:123m +7s how=discard seat=1 from=0 fourth"


def answer(line):
    return check_line(line, "mcr")


def check(line):
    return RULES.check(parse_claim(line, "mcr"))


def contradictions(line):
    return [problem.about for problem in check(line).details if problem.code == "contradictory_facts"]


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_worked_example(vector):
    result = check_vector(vector, "mcr")
    assert result["ok"], result
    claim = claim_from_object(vector, "mcr")
    assert claim_from_object(claim_to_object(claim, "mcr"), "mcr") == claim
    assert parse_claim(format_claim(claim, "mcr"), "mcr") == claim


def test_keys_of_an_object_are_words_of_a_line():
    line = "678m34p55s A:9999s C:345m +5p how=self seat=3 wind=2 prevailing=1 kong last flowers=3"
    obj = {
        "hand": "678m34p55s",
        "melds": ["A:9999s", "C:345m"],
        "win": "5p",
        "how": "self",
        "winner": 3,
        "seat": 2,
        "prev": 1,
        "kong": True,
        "last": True,
        "flowers": 3,
    }
    assert claim_from_object(obj, "mcr") == parse_claim(line, "mcr")
    assert format_claim(claim_from_object(obj, "mcr"), "mcr") == line
    assert claim_to_object(parse_claim(line, "mcr"), "mcr") == obj


@pytest.mark.parametrize(
    "key", ["indicator", "gold", "chips", "da", "streak", "players", "wind", "prevailing", "kongs"]
)
def test_keys_of_other_rule_sets_are_refused_by_name(key):
    with pytest.raises(NotationError, match=key):
        check_vector({**VECTORS[0], key: 1}, "mcr")


@pytest.mark.parametrize(
    ("key", "value"), [("seat", 4), ("prev", 4), ("flowers", 9), ("kong", 1), ("seat", -1)]
)
def test_facts_have_limits(key, value):
    with pytest.raises(NotationError, match=key):
        check_vector({**VECTORS[0], key: value}, "mcr")


# what cannot be


@pytest.mark.parametrize(
    ("line", "one", "other"),
    [
        (ROB.replace("how=discard", "how=self").replace(" from=3", ""), "rob", "how=self"),
        (ROB.replace("C:123s", "C:123p"), "rob", "2p in the hand"),
        (ROB.replace("13789p", "12789p"), "rob", "2p in the hand"),
        (f"{ROB} last", "rob", "last"),
        (f"{KONG} last", "kong", "last"),
        (KONG.replace("how=self", "how=discard from=0"), "kong", "how=discard"),
        (f"{SELF} kong", "kong", "melds without K: or A:"),
        (FOURTH.replace("22456p89s", "2245p789s"), "fourth", "7s in the hand"),
    ],
)
def test_facts_that_contradict_each_other_are_named_together(line, one, other):
    assert (one, other) in contradictions(line)
    assert check(line).outcome is Outcome.INCONSISTENT


def test_facts_that_can_stand_together_do():
    assert contradictions(f"{KONG} fourth") == []
    assert contradictions(f"{ROB} fourth") == []  # the other three lie open in the pung
    assert contradictions(FOURTH.replace("C:123m", "C:678s").replace("678m22456p", "12322456p")) == []
    assert contradictions(ROB.replace("C:123s", "K:5555s")) == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (SELF.replace("88p", "8p"), "tile_count"),
        (SELF.replace("88p +8s", "88p"), "tile_count"),
        (SELF.replace("345s67s", "888s88s"), "fifth_copy"),
        ("234m567p345s67s8p? +8s how=self seat=1", "unknown_tile"),
        ("234m567p345s67s8p1f +8s how=self seat=1", "contradictory_facts"),  # flowers are laid aside
        (KONG.replace("A:9999s", "H:999s"), "unknown_meld"),
        (KONG.replace("C:345m", "C:346m"), "unknown_meld"),
        (f"{SELF} from=2", "contradictory_facts"),
        (SELF.replace("how=self", "how=discard"), "contradictory_facts"),
    ],
)
def test_impossible_claims_are_inconsistent(line, reason):
    found = answer(line)
    assert (found["outcome"], found["reason"]) == ("inconsistent", reason)


def test_a_dead_hand_does_not_win():
    found = answer(f"{SELF} xianggong")
    assert (found["outcome"], found["reason"]) == ("no_win", "xianggong")
    assert answer("3377m2288p1199s6z +7z how=self seat=0 xianggong")["problems"] == [
        "xianggong",
        "no_decomposition",
    ]


# the minimum


def test_the_minimum_is_reached_without_flowers():
    line = "234678m5567p345s +8p how=discard seat=3 from=1 flowers=1"
    found = answer(line)
    assert (found["reason"], found["fan"]) == ("below_minimum", 8)
    assert found["details"][0]["about"] == ["fan=7", "minimum=8"]
    assert found["details"][0]["section"] == "§3"
    assert found["pay"] is None
    assert answer(f"{line} minimum=7")["pay"] == [-8, -16, -8, 32]
    assert answer(f"{line} minimum=0")["outcome"] == "win"


@pytest.mark.parametrize(
    ("option", "value"),
    [("minimum", -1), ("minimum", 89), ("circles", 0), ("dealer_stays", 1), ("hands", 16)],
)
def test_options_have_limits(option, value):
    with pytest.raises(OptionError, match=option):
        rulesets.load("mcr", {option: value})


def test_every_text_is_there_in_both_languages():
    data = RULES.data
    texts = [*data.hows.values(), *data.calls.values(), *data.facts.values(), *data.options.values()]
    assert all(len(spec.text) > 3 and spec.zh for spec in (*texts, *data.items.values()))
    assert len({item.zh for item in data.items.values()}) == len(data.items)


# money


def test_a_self_draw_is_paid_by_all_and_a_discard_most_by_the_discarder():
    verdict = check(SELF)
    claim = parse_claim(SELF, "mcr")
    assert verdict.totals["fan"] == 9
    settlement = RULES.settle(verdict, claim, (0, -300, 5, 0))
    assert settlement.pay == (-17, 51, -17, -17)
    assert settlement.unpaid == (0, 0, 0, 0)
    assert [(item.code, item.amount, item.section) for item in settlement.items] == [
        ("base_points", 8, "§4"),
        ("fan", 9, "§4"),
    ]
    assert answer(FOURTH)["pay"] == [-23, 39, -8, -8]
    assert answer(f"{FOURTH} base_points=1")["pay"] == [-16, 18, -1, -1]


def test_an_exhausted_wall_pays_nothing():
    found = answer("how=draw")
    assert (found["outcome"], found["pay"], found["section"]) == ("draw", [0, 0, 0, 0], "§4")


def test_a_false_win_pays_each_other_player_and_the_hand_goes_on():
    fine = RULES.false_win(Seat(2), (0, 0, -50, 0))
    assert (fine.pay, fine.hand_over, fine.redeal) == ((10, 10, -30, 10), False, False)
    assert rulesets.load("mcr", {"false_win": 0}).false_win(Seat(0)).pay == (0, 0, 0, 0)
    with pytest.raises(EngineError, match="seat 4"):
        RULES.false_win(Seat(4))


def test_the_deal_passes_every_time_unless_the_option_says_otherwise():
    stays = rulesets.load("mcr", {"dealer_stays": True})
    assert [RULES.dealer_stays(winner) for winner in (None, 0, 1)] == [False, False, False]
    assert [stays.dealer_stays(winner) for winner in (None, 0, 1)] == [True, True, False]


def test_a_match_is_four_rounds():
    assert [RULES.match_end(circles, 4 * circles, (0,) * 4) for circles in (3, 4)] == [None, "match_over"]
    assert rulesets.load("mcr", {"circles": 1}).match_end(1, 4, (-9, 3, 3, 3)) == "match_over"
    assert not RULES.plays_running_hand
    assert rulesets.load("mcr", {"running_hand": "finish"}).plays_running_hand


# the deal


def test_144_tiles_are_dealt_by_two_throws_with_a_jump():
    assert RULES.tile_set.total == 144
    plan = RULES.deal_plan((2, 3, 4, 3))
    assert (plan.start.thrower, plan.start.wall, plan.start.stack) == (0, 0, 13)  # W01
    assert plan.tiles == (14, 13, 13, 13)
    assert plan.drawable == 91
    assert [take.positions for take in plan.takes][-4:] == [(48, 52), (49,), (50,), (51,)]
    assert plan.jump
    with pytest.raises(EngineError, match="4 dice"):
        RULES.deal_plan((2, 3))


# waits


@pytest.mark.parametrize(
    ("hand", "kinds"),
    [
        ("19m19p19s1234567z", "1m 9m 1p 9p 1s 9s 1z 2z 3z 4z 5z 6z 7z"),
        ("1122m3344p5566s7z", "7z"),
        ("22334455p77779s", "9s 8s"),
        ("147m258p369s1234z", "5z 6z 7z"),
        ("147m258p36s12345z", "9s 6z 7z"),
        ("258m369p1445677s", "4s 7s"),
        ("258m369p1447s P:222z", "4s"),
        ("1112345678999s", "1s 2s 3s 4s 5s 6s 7s 8s 9s"),
        ("1122m33p C:345s P:111z", ""),
        ("1111222233334s", "4s 5s"),
    ],
)
def test_waits_know_the_special_hands(hand, kinds):
    found = RULES.waits(parse_hand(hand))
    assert {tile.id for tile in found} == set(kinds.split())


def test_flowers_are_no_part_of_a_hand():
    with pytest.raises(EngineError, match="1f"):
        RULES.waits(parse_hand("123m456m789m11z3s1f"))


# the library


def test_without_the_library_one_sentence_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "MahjongGB", None)
    for asked in (lambda: answer(SELF), RULES.load_libraries):
        with pytest.raises(MissingExtraError, match=r"extra mcr.*pip install") as caught:
            asked()
        assert caught.value.extra == "mcr"
    assert answer(SELF.replace("88p", "8p"))["reason"] == "tile_count"  # what needs no counting still works
    assert answer("how=draw")["outcome"] == "draw"


def test_another_complaint_of_the_library_is_not_taken_for_no_win():
    from engine.adapters.pymahjonggb import fans
    from engine.rules.mcr_fans import FanHand

    with pytest.raises(EngineError, match="TILES_COUNT"):
        fans(FanHand(packs=(), concealed=(Tile.M1,), win=Tile.M1, self_drawn=True))


def test_facts_that_have_their_default_are_left_out():
    assert parse_claim(f"{SELF} wind=0 flowers=0", "mcr").facts == Facts()

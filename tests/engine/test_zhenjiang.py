"""Rules of Zhenjiang: the worked examples, every option, every refusal, every contradiction."""

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from engine import rulesets
from engine.claim import Facts, Seat
from engine.errors import EngineError
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
VECTORS = json.loads((GOLDEN / "zhenjiang.json").read_text(encoding="utf-8"))
RULES = rulesets.load("zhenjiang")
HAND = "123m456m789m11z34s"
DISCARD = f"{HAND} +5s flip=1p how=discard seat=1 from=0"
CHENG = "flip=5s how=discard seat=2 from=0 claimed_wild_value=wild"


def answer(line):
    return check_line(line, "zhenjiang")


def check(line):
    return RULES.check(parse_claim(line, "zhenjiang"))


def about(line, code):
    return [problem.about for problem in check(line).details if problem.code == code]


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_worked_example(vector):
    result = check_vector(vector)
    assert result["ok"], result
    assert result["id"] == vector["id"]
    claim = claim_from_object(vector, "zhenjiang")
    assert claim_from_object(claim_to_object(claim, "zhenjiang"), "zhenjiang") == claim
    assert parse_claim(format_claim(claim, "zhenjiang"), "zhenjiang") == claim


def test_a_vector_is_only_right_when_every_expected_key_is_equal():
    assert not check_vector({**VECTORS[0], "expect": {"outcome": "win", "cls": "self_sub"}})["ok"]
    assert not check_vector({**VECTORS[0], "expect": {"fan": 3}})["ok"]
    assert check_vector({key: value for key, value in VECTORS[0].items() if key != "expect"})["ok"]
    with pytest.raises(NotationError, match="gold"):
        check_vector({**VECTORS[0], "gold": "1m"})
    with pytest.raises(NotationError, match="expect"):
        check_vector({**VECTORS[0], "expect": 3})


# --- wildcard


@pytest.mark.parametrize(
    "pair",
    ["1m2m", "9m1m", "9p1p", "9s1s", "1z2z", "4z1z", "7z6z", "6z5z", "5z7z"],
)
def test_wildcard_is_the_next_kind(pair):
    assert RULES.wild_of(Tile.of(pair[:2])) is Tile.of(pair[2:])


@pytest.mark.parametrize(
    ("order", "cycle", "chain"),
    [
        ("white_green_red", "split", "5z6z7z5z"),
        ("red_green_white", "joint", "4z7z6z5z1z2z3z4z"),
        ("white_green_red", "joint", "4z5z6z7z1z2z"),
    ],
)
def test_other_orders_of_the_honours(order, cycle, chain):
    rules = RULES.with_options({"dragon_order": order, "honour_cycle": cycle})
    ids = [chain[at : at + 2] for at in range(0, len(chain), 2)]
    for indicator, wild in pairwise(ids):
        assert rules.wild_of(Tile.of(indicator)).id == wild


def test_wildcards_are_a_permutation_of_the_kinds():
    assert sorted(map(RULES.wild_of, HAND_KINDS)) == list(HAND_KINDS)
    for tile in (Tile.SPRING, Tile.BACK, Tile.UNKNOWN):
        with pytest.raises(EngineError):
            RULES.wild_of(tile)


# --- prices


@pytest.mark.parametrize(
    ("line", "cls", "pay"),
    [
        ("1m23m456m789m11z34s +5s flip=9m how=self seat=0", "self_nosub", (18, -6, -6, -6)),  # 缺搭
        ("123m456p789s11z34s +6s flip=5s how=self seat=0", "self_sub", (9, -3, -3, -3)),
        ("123m456p789p11z45s +6s flip=5s how=self seat=2", "self_nosub", (-6, -6, 18, -6)),
        ("123m456p789p11z4s6s +5s flip=5s how=self seat=2", "self_nosub", (-6, -6, 18, -6)),
        ("123m456m11z45s A:8888p K:9999p +3s flip=1p how=kong_an seat=0", None, None),
        (f"{DISCARD} payment=discarder", "discard", (-4, 4, 0, 0)),
        (f"{DISCARD} payment=bao da=shou:1,er:1,peng:1", "discard", (-44, 44, 0, 0)),
        (f"{DISCARD} payment=discarder da=shou:1", "discard", (-10, 10, 0, 0)),
        (f"{DISCARD} da=shou:1,er:1,peng:1", "discard", (-16, 44, -14, -14)),
        (f"{HAND} +5s flip=1p how=self seat=1 base=3", "self_nosub", (-18, 54, -18, -18)),
        (f"{HAND} +5s flip=1p how=heaven seat=0", "tianhu", (36, -12, -12, -12)),
        (f"{HAND} +5s flip=1p how=heaven seat=0 combine=sum", "tianhu", (54, -18, -18, -18)),
        ("77z123m456p789s11p +9m flip=5z how=heaven seat=0 combine=sum", "tianhu", (45, -15, -15, -15)),
        (f"{HAND} +5s flip=1p how=self seat=0 self_nosub=7", "self_nosub", (21, -7, -7, -7)),
        ("2p123m456p789s P:111z +9m flip=1p how=self seat=0", "pao", (15, -5, -5, -5)),
        ("2p123m456p789s P:111z +9m flip=1p how=self seat=0 wild_fifth_copy=false",
         "self_sub", (9, -3, -3, -3)),
        ("11z45s123m A:8888p A:7777p +3s flip=1p how=self seat=0 kong_fee",
         "self_nosub", (30, -10, -10, -10)),
        ("77z123m456p789s11p +9m flip=5z how=self seat=0 combine=sum", "pao", (24, -8, -8, -8)),
        ("77z123m456p789s11p +9m flip=5z how=self seat=0 pao_da=false", "self_sub", (9, -3, -3, -3)),
        ("77z123m456p789s11p +9m flip=5z how=discard seat=0 from=1", "discard", (8, -4, -2, -2)),
        ("77z123m456p11p K:8888s +9m flip=5z how=kong_ming seat=0", "gk", (15, -5, -5, -5)),
        ("77z123m456p11p K:8888s +7z flip=5z how=kong_ming seat=0", "pao_nosub", (30, -10, -10, -10)),
        ("123m456m11z4s6s A:8888p +3s flip=5s how=kong_an seat=3", "gk", (-5, -5, -5, 15)),
        ("123m456m11z45s A:8888p +3s flip=1p how=kong_an seat=0 kong_fee", "gk", (33, -11, -11, -11)),
        ("123m456m11z45s K:8888p +3s flip=1p how=self seat=0 kong_fee", "self_nosub", (21, -7, -7, -7)),
        ("123m456p789p11z45s +6s flip=5s how=robkong seat=2 from=0", "discard", (-4, -2, 8, -2)),
        (f"123m456p789p11z19s +6s {CHENG}", None, None),
        (f"123m456p789p11z13s +6s {CHENG}", "discard", (-5, -2, 9, -2)),
    ],
)  # fmt: skip
def test_price(line, cls, pay):
    result = answer(line)
    if pay is None:
        assert result["outcome"] != "win"
        assert result["pay"] is None
    else:
        assert (result["outcome"], result["cls"], tuple(result["pay"])) == ("win", cls, pay)


def test_items_name_the_sections_and_add_up():
    verdict = check(f"{HAND} +5s flip=1p how=discard seat=1 from=2 da=shou:2,er:1")
    assert [(item.code, item.amount, item.section) for item in verdict.items] == [
        ("discard_other", 2, "§6"), ("discard_discarder", 4, "§6"),
        ("first_wild", 12, "§6"), ("later_wild", 4, "§6"),
    ]  # fmt: skip
    assert (verdict.document, verdict.section, verdict.wild) == ("zhenjiang.md", "§6", Tile.P2)
    claim = parse_claim(f"{HAND} +5s flip=1p how=discard seat=1 from=2 da=shou:2,er:1", "zhenjiang")
    assert RULES.settle(verdict, claim).items == verdict.items


def test_the_reading_says_what_each_wildcard_stands_for():
    reading = answer("2222p13m46m79m11z5s +5s flip=1p how=self seat=0")["decomposition"]
    assert reading["substituted"] == 4
    groups = {"".join(group["as"]): group["tiles"] for group in [*reading["sets"], reading["pair"]]}
    assert groups["1m2m3m"] == ["1m", "2p", "3m"]
    assert groups["4m5m6m"] == ["4m", "2p", "6m"]
    assert groups["7m8m9m"] == ["7m", "2p", "9m"]


@pytest.mark.parametrize(
    "line",
    [
        "2222p13m46m79m11z5s +5s flip=1p how=self seat=0",
        "1122p12233344s22z +2s flip=1p how=self seat=0",
        "22p1112333m4m55m66m +7m flip=1p how=self seat=0",
        "2p34p111222333m4m +4m flip=1p how=discard seat=0 from=1",
        "22234p5566s77s88s +1z flip=1p how=self seat=0",
    ],
)
def test_no_other_reading_pays_more(line):
    claim = parse_claim(line, "zhenjiang")
    verdict = RULES.check(claim)
    hand = Hand(claim.concealed, claim.melds, claim.win)
    every = [
        RULES.price(claim, reading).value
        for reading in RULES.decompositions(hand, claim.indicator, claimed=claim.how == "discard")
    ]
    assert bool(every) == (verdict.outcome is Outcome.WIN)
    assert not every or max(every) == sum(item.amount for item in verdict.items)


# --- what does not win


@pytest.mark.parametrize(
    ("line", "problems"),
    [
        ("1z P:111m P:222m P:333m P:555m +2z flip=1p how=self seat=0", ("no_decomposition",)),
        (f"{HAND} +5s flip=1p how=robkong seat=1 from=0 rob_kong=false", ("rob_kong_not_allowed",)),
        ("1111m2222s33m44s5z +5z flip=1p how=self seat=0", ("no_decomposition",)),
        ("1122m3344p5566s7z +7z flip=1z how=self seat=1 xianggong", ("xianggong", "no_decomposition")),
        ("123m456p789p11z3s6s +4s flip=5s how=discard seat=0 from=3 ron_needs_natural xianggong",
         ("xianggong", "ron_with_wild_substitution")),
    ],
)  # fmt: skip
def test_no_win(line, problems):
    verdict = check(line)
    assert verdict.outcome is Outcome.NO_WIN
    assert verdict.problems == problems
    assert verdict.reason == problems[0]
    assert verdict.section == RULES.data.section(problems[0])
    with pytest.raises(EngineError, match="no_win"):
        RULES.settle(verdict, parse_claim(line, "zhenjiang"))


def test_a_robbed_kong_is_refused_by_its_name():
    refused = f"{HAND} +5s flip=1p how=robkong seat=1 from=0 rob_kong=false"
    assert about(refused, "rob_kong_not_allowed") == [("how=robkong",)]


def test_natural_wins_pass_where_a_discard_needs_them():
    line = "123m456p789p11z4s6s +5s flip=4s how=discard seat=0 from=3 ron_needs_natural"
    assert answer(line)["outcome"] == "win"
    assert answer(line)["decomposition"]["substituted"] == 0


def test_seven_pairs_with_four_alike_and_thirteen_orphans_are_no_forms():
    assert check("1111m22p33p44s55s6z +6z flip=1z how=self seat=0").reason == "no_decomposition"
    assert check("19m19p19s1234567z +7z flip=5m how=self seat=0").reason == "no_decomposition"


# --- what cannot be


@pytest.mark.parametrize(
    ("line", "problems"),
    [
        ("1111m1m23m456p78s1z +1z flip=1p how=self seat=0", ("fifth_copy",)),
        ("123m456p789s111z2z P:222z +2z flip=1p how=self seat=0", ("tile_count", "fifth_copy")),
        ("111m123m456p78s11z +9s flip=1m how=self seat=0", ("fifth_copy",)),
        ("222p123m456p78s11z +9s flip=1p how=self seat=0 da=er:2", ("fifth_copy",)),
        ("1f23m456m789m11z34s +5s flip=1p how=self seat=0", ("foreign_tile",)),
        ("?23m456m789m11z34s +5s flip=1p how=self seat=0", ("unknown_tile",)),
        (f"{HAND} +5s flip=3f how=self seat=0", ("foreign_tile",)),
        (f"{HAND} how=self seat=0 flip=1p", ("tile_count",)),
        ("456m789m11z34s H:111p +5s flip=1p how=self seat=1", ("unknown_meld",)),
        ("456m789m11z34s P:112p +5s flip=1s how=self seat=1", ("unknown_meld",)),
        ("456m789m11z34s A:222s +5s flip=2s how=self seat=1", ("unknown_meld",)),
        ("456m789m11z34s K:333p C:123m +5s flip=1p how=self seat=1",
         ("tile_count", "unknown_meld", "chow_not_allowed")),
        ("1z P:111m P:222m P:333m P:555m P:666m +1z flip=1p how=self seat=0", ("tile_count",)),
        (f"{HAND} +5s flip=1p how=self seat=4 from=5 chips=1,2",
         ("contradictory_facts",) * 4),
        (f"{HAND} +5s how=self seat=0", ("contradictory_facts",)),
        (f"{HAND} +5s how=self seat=0 da=er:1", ("contradictory_facts",)),
    ],
)  # fmt: skip
def test_inconsistent(line, problems):
    verdict = check(line)
    assert verdict.outcome is Outcome.INCONSISTENT
    assert verdict.problems == problems
    with pytest.raises(EngineError, match="inconsistent"):
        RULES.settle(verdict, parse_claim(line, "zhenjiang"))


def test_a_fifth_copy_is_named():
    assert about("1111m1m23m456p78s1z +1z flip=1p how=self seat=0", "fifth_copy") == [("1m",)]
    assert about("111m123m456p78s11z +9s flip=1m how=self seat=0", "fifth_copy") == [("1m",)]


@pytest.mark.parametrize(
    ("facts", "both"),
    [
        ("how=heaven seat=1", ("how=heaven", "seat=1")),
        ("how=heaven seat=0 da=er:1", ("how=heaven", "da=1")),
        ("how=self seat=1 from=2", ("how=self", "from=2")),
        ("how=heaven seat=0 from=2", ("how=heaven", "from=2")),
        ("how=discard seat=1", ("how=discard", "from=none")),
        ("how=robkong seat=1", ("how=robkong", "from=none")),
        ("how=discard seat=1 from=1", ("seat=1", "from=1")),
        ("how=self", ("how=self", "seat=none")),
        ("how=kong_ming seat=1", ("how=kong_ming", "melds without K:")),
        ("how=kong_an seat=1", ("how=kong_an", "melds without A:")),
        ("how=self seat=4", ("seat=4", "players=4")),
        ("how=self seat=1 chips=1,2,3", ("chips=3 numbers", "players=4")),
    ],
)
def test_contradictory_facts_name_both(facts, both):
    line = f"{HAND} +5s flip=1p {facts}"
    assert check(line).outcome is Outcome.INCONSISTENT
    assert check(line).reason == "contradictory_facts"
    assert both in about(line, "contradictory_facts")


@pytest.mark.parametrize(
    ("line", "both"),
    [
        ("123m456m789m11z55s +5s flip=1p how=robkong seat=1 from=0", ("how=robkong", "5s in the hand")),
        ("123m456m789m11z34s +5s flip=5s how=robkong seat=1 from=0", ("how=robkong", "flip=5s")),
        ("123m456m789m11z45s +6s flip=5s how=robkong seat=1 from=0 da=er:1", ("how=robkong", "da=1")),
        ("456m789m11z34s P:222z +5s flip=1p how=heaven seat=0", ("how=heaven", "melds=1")),
    ],
)
def test_contradictions_of_kongs_and_heaven(line, both):
    assert about(line, "contradictory_facts") == [both]


def test_every_defect_is_named_in_the_documented_order():
    line = "11111m1f6m789m34s C:123m +5s flip=1p how=heaven seat=1 from=1 xianggong"
    assert check(line).problems == (
        "tile_count", "fifth_copy", "foreign_tile", "chow_not_allowed",
        *["contradictory_facts"] * 4, "xianggong",
    )  # fmt: skip


def test_three_of_the_indicator_kind_are_a_kong_only_by_option():
    line = "456m789m11z34s A:222s +5s flip=2s how=self seat=1 indicator_kong3"
    assert answer(line)["outcome"] == "win"
    assert answer(line.replace("A:222s", "K:222s"))["reason"] == "unknown_meld"
    assert answer(line.replace("flip=2s", "flip=2p"))["reason"] == "unknown_meld"


# --- fifth copies by wildcard, waits, any-tile wait


def test_a_wildcard_may_stand_for_a_fifth_copy_by_option():
    line = (
        "1111z123m456p789s +2p flip=1p how=self seat=0"  # 111z, and the fourth East pairs with the wildcard
    )
    assert answer(line)["cls"] == "self_sub"
    assert answer(line + " wild_fifth_copy=false")["reason"] == "no_decomposition"
    melded = "1z123m456p789s P:111z +2p flip=1p how=self seat=0"
    assert answer(melded)["cls"] == "self_sub"
    assert answer(melded + " wild_fifth_copy=false")["reason"] == "no_decomposition"
    other = "1111z123m456p79s +2p flip=1p how=self seat=0 wild_fifth_copy=false"
    assert answer(other)["reason"] == "tile_count"


def test_waits():
    def waits(text, flip="1z", **options):
        rules = RULES.with_options(options)
        return [tile.id for tile in rules.waits(parse_hand(text), Tile.of(flip))]

    assert waits("1113456666788s", "3z") == ["2s", "5s", "7s", "8s", "4z"]
    assert waits("123456789m1111z", "3z", wild_fifth_copy=False) == []  # five Easts do not exist
    assert waits("123456789m1111z", "3z") == ["4z"]  # but a wildcard may stand for one
    assert waits("123m456m789m11z34s", "1p") == ["2p", "2s", "5s"]
    assert len(waits("77z123m456p789s11p", "5z")) == 34
    assert waits("1z P:111m P:222m P:333m P:555m", "1p") == ["2p", "1z"]


def test_any_tile_wait_needs_all_34_kinds_and_a_fifth_copy_decides():
    hand = parse_hand("1111m23m456p789s2p")
    assert len(hand.concealed) == 13
    assert RULES.every_tile_wins(hand, Tile.P1)
    assert not RULES.with_options({"wild_fifth_copy": False}).every_tile_wins(hand, Tile.P1)
    assert not RULES.every_tile_wins(parse_hand("123m456p789s2p1m3m5m"), Tile.P1)


# --- obligations

NOT_FIRST, NOT_SECOND = "first_wild_not_discarded", "second_wild_not_shown"
ONE_WILD = "123m456p789p11z3s6s +4s flip=5s how=self seat=0"
TWO_WILDS = "123m456p789p1z3s66s +4s flip=5s how=self seat=0"


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        (ONE_WILD, [NOT_FIRST]),
        (f"{ONE_WILD} da=shou:1", [NOT_SECOND]),
        (f"{ONE_WILD} da=shou:1,er:1", []),
        (f"{ONE_WILD} da=shou:2", []),
        (f"{ONE_WILD} da=er:1", []),
        (f"{ONE_WILD} da=peng:1", []),
        (f"{ONE_WILD} da=er:1,peng:1", []),
        (TWO_WILDS, [NOT_FIRST, NOT_SECOND]),
        (f"{TWO_WILDS} first_wild_must_be_discarded=off", [NOT_SECOND]),
        (f"{TWO_WILDS} second_wild_must_be_shown=off", [NOT_FIRST]),
        (f"{HAND} +5s flip=1p how=self seat=1", []),
        (f"{HAND} +5s flip=1p how=self seat=1 da=shou:1", []),
        ("123m456p789p11z45s +6s flip=5s how=self seat=0", []),  # the winning tile is the first wildcard
        ("123m456p789p11z3s6s +4s flip=5s how=heaven seat=0", []),  # no discard yet
    ],
)
def test_obligations_that_were_not_kept_are_warnings_and_change_nothing(line, codes):
    verdict = check(line)
    assert verdict.outcome is Outcome.WIN
    assert [warning.code for warning in verdict.warnings] == codes
    assert all(warning.section == "§4" and not warning.fatal for warning in verdict.warnings)
    quiet = check(f"{line.split(' first_')[0].split(' second_')[0]} "
                  "first_wild_must_be_discarded=off second_wild_must_be_shown=off")  # fmt: skip
    assert (quiet.warnings, quiet.items) == ((), verdict.items)


def test_a_warning_names_the_consequence_that_the_event_has_chosen():
    [warned] = check(ONE_WILD).warnings
    assert warned.about == ("wildcards=1", "discarded=0", "first_wild_must_be_discarded=warn")
    [dead] = check(f"{ONE_WILD} first_wild_must_be_discarded=xianggong").warnings
    assert dead.about[-1] == "first_wild_must_be_discarded=xianggong"
    assert check(f"{ONE_WILD} first_wild_must_be_discarded=xianggong").outcome is Outcome.WIN


def test_punging_a_first_wildcard_is_paid_only_by_option():
    line = "123m456p11z34s P:666s +5s flip=5s how=self seat=0 punged_first"
    assert answer(line)["pay"] == [18, -6, -6, -6]
    paid = answer(f"{line} punged_first_wild_counts")
    assert paid["pay"] == [72, -24, -24, -24]
    assert ("punged_first_wild", 18) in [(item["code"], item["amount"]) for item in paid["items"]]
    without = line.replace("P:666s", "P:777s")
    assert about(without, "contradictory_facts") == [("punged_first", "no pung of wildcards")]
    chow = line.replace("P:666s", "C:678s")
    assert about(chow, "contradictory_facts") == [("punged_first", "no pung of wildcards")]


# --- caps, xianggong, fines, draw


def test_nobody_pays_more_than_he_has():
    claim = parse_claim(f"{HAND} +5s flip=1p how=self seat=1 chips=3,50,60,1", "zhenjiang")
    settlement = RULES.settle(RULES.check(claim), claim)
    assert (settlement.pay, settlement.unpaid) == ((-3, 10, -6, -1), (3, 0, 0, 5))
    given = RULES.settle(RULES.check(claim), claim, chips=(0, 0, 0, 0))
    assert (given.pay, given.unpaid) == ((0, 0, 0, 0), (6, 0, 6, 6))
    free = replace(claim, options={"cap_at_chips": False})
    assert RULES.settle(RULES.check(free), free).pay == (-6, 18, -6, -6)
    with pytest.raises(EngineError, match="chips"):
        RULES.settle(RULES.check(claim), claim, chips=(1, 2, 3))


@pytest.mark.parametrize(
    ("fine_to", "pay", "bank"),
    [("bank", (0, -6, 0, 0), 6), ("each_other", (6, -18, 6, 6), 0), ("split", (2, -6, 2, 2), 0)],
)
def test_fine_of_a_false_win(fine_to, pay, bank):
    fine = RULES.with_options({"fine_to": fine_to}).false_win(Seat(1))
    assert (fine.deferred, fine.deferred_bank, fine.pay) == (pay, bank, (0, 0, 0, 0))
    assert fine.hand_over is False
    assert fine.items[0].section == "§7"


def test_a_fine_is_not_limited_before_it_is_collected_and_shared_in_whole_chips():
    assert RULES.false_win(Seat(0), chips=(4, 50, 50, 50)).deferred == (-6, 0, 0, 0)
    assert RULES.false_win(Seat(0), chips=(4, 50, 50, 50)).unpaid == (0, 0, 0, 0)
    split = RULES.with_options({"fine_to": "split", "false_win": 8})
    assert split.false_win(Seat(2)).deferred == (3, 2, -8, 3)
    assert RULES.with_options({"base": 5}).false_win(Seat(2)).deferred_bank == 30
    with pytest.raises(EngineError, match="seat 4"):
        RULES.false_win(Seat(4))


def test_an_exhausted_wall_is_a_draw_without_payments():
    result = answer("flip=1p how=draw")
    assert (result["outcome"], result["reason"], result["pay"]) == ("draw", None, [0, 0, 0, 0])
    assert result["section"] == "§5"


@pytest.mark.parametrize(
    ("words", "both"),
    [("11z", "hand"), ("+1m", "hand"), ("P:111m", "hand"), ("seat=0", "seat=0"), ("from=1", "from=1")],
)
def test_a_draw_has_neither_hand_nor_winner(words, both):
    line = f"{words} flip=1p how=draw"
    assert about(line, "contradictory_facts") == [("how=draw", both)]
    assert check(line).outcome is Outcome.INCONSISTENT


def test_the_dealer_stays_on_a_draw_and_on_his_own_win():
    assert RULES.dealer_stays(None)
    assert RULES.dealer_stays(Seat(0))
    assert not RULES.dealer_stays(Seat(2))
    assert not RULES.with_options({"dealer_stays_on_win": False}).dealer_stays(Seat(0))


def test_options_of_a_claim_come_before_those_of_the_rule_set():
    rules = RULES.with_options({"ron_needs_natural": True})
    claim = parse_claim("123m456p789p11z3s6s +4s flip=5s how=discard seat=0 from=3", "zhenjiang")
    assert rules.check(claim).reason == "ron_with_wild_substitution"
    assert rules.check(replace(claim, options={"ron_needs_natural": False})).outcome is Outcome.WIN
    with pytest.raises(OptionError, match="nonsense"):
        RULES.check(replace(claim, options={"nonsense": 1}))
    with pytest.raises(OptionError, match="pei, bao"):
        RULES.check(replace(claim, options={"payment": "gratis"}))


def test_a_verdict_is_the_same_every_time():
    claim = parse_claim("2222p13m46m79m11z5s +5s flip=1p how=self seat=0", "zhenjiang")
    assert RULES.check(claim) == RULES.check(replace(claim, facts=Facts()))
    assert rulesets.load("zhenjiang").check(claim) == RULES.check(claim)


def test_without_the_cap_accounts_may_go_below_zero():
    assert RULES.with_options({"cap_at_chips": False}).chips_below_zero
    assert not RULES.chips_below_zero


def test_the_first_dealer_is_counted_counter_clockwise_from_the_roller():
    assert [RULES.first_dealer(0, (1, faces)) for faces in range(1, 7)] == [1, 2, 3, 0, 1, 2]
    assert RULES.first_dealer(3, (1, 1)) == 0


def test_after_the_deal_82_tiles_can_be_drawn():
    assert RULES.deal_plan((3, 5)).drawable == 82


def test_every_text_is_there_in_chinese_too():
    data = RULES.data
    for spec in (*data.hows.values(), *data.calls.values(), *data.facts.values(), *data.options.values()):
        assert re.search("[\u4e00-\u9fff]", spec.zh), spec.name
        assert set(spec.text) & set("abcdefghijklmnopqrstuvwxyz"), spec.name


def test_what_the_event_should_fix_says_what_each_choice_does():
    asked = [spec for spec in RULES.data.options.values() if spec.ask]
    assert [spec.name for spec in asked] == ["payment", "ron_needs_natural"]
    for spec in asked:
        values = {"true", "false"} if spec.type == "bool" else set(spec.allowed)
        assert spec.effects.keys() == spec.effects_zh.keys() == values
    assert rulesets.unanswered("zhenjiang", {}) == ()

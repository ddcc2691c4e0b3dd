"""Rules of Fengcheng: the worked examples, every price, option, refusal and contradiction."""

import json
from collections import Counter
from pathlib import Path

import pytest

from engine import rulesets
from engine.calls import Call
from engine.claim import Facts, Seat, Shown
from engine.errors import EngineError
from engine.match import Match
from engine.notation import (
    claim_from_object,
    claim_to_object,
    format_claim,
    parse_claim,
    parse_hand,
    parse_tiles,
)
from engine.tiles import Tile
from engine.vectors import check_line, check_vector
from engine.verdict import Outcome

GOLDEN = Path(__file__).parents[1] / "golden"
VECTORS = json.loads((GOLDEN / "fengcheng.json").read_text(encoding="utf-8"))
RULES = rulesets.load("fengcheng")
HAND = "123m456m789m123p45p22z"
WIN = f"{HAND} +6p how=discard seat=1"
SELF = f"{HAND} +6p how=self seat=1"


def answer(line):
    return check_line(line, "fengcheng")


def check(line):
    return RULES.check(parse_claim(line, "fengcheng"))


def bill(line):
    """What every seat of a hand that is settled has on its bill: lei by code."""
    claim = parse_claim(line, "fengcheng")
    sums = []
    for items in RULES.settle(RULES.check(claim), claim).by_seat:
        lei = Counter()
        for item in items:
            lei[item.code] += item.amount
        sums.append(dict(lei))
    return sums


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_worked_example(vector):
    result = check_vector(vector, "fengcheng")
    assert result["ok"], result
    claim = claim_from_object(vector, "fengcheng")
    assert claim_from_object(claim_to_object(claim, "fengcheng"), "fengcheng") == claim
    assert parse_claim(format_claim(claim, "fengcheng"), "fengcheng") == claim


# --- prices (§3, §6)


@pytest.mark.parametrize(
    ("meld", "price", "lei"),
    [
        ("P:555m", "pung_low", 1), ("P:222p", "pung_low", 1), ("P:888p", "pung_low", 1),
        ("P:111p", "pung_end", 2), ("P:999m", "pung_end", 2), ("P:111z", "pung_honour", 10),
        ("P:777z", "pung_honour", 10), ("H:555m", "shao_low", 2), ("H:111p", "shao_end", 5),
        ("H:444z", "shao_honour", 20), ("K:5555m", "kong_low", 5), ("K:9999p", "kong_end", 10),
        ("K:5555z", "kong_honour", 40), ("A:5555m", "concealed_kong_low", 10),
        ("A:1111m", "concealed_kong_end", 20), ("A:6666z", "concealed_kong_honour", 100),
    ],
)  # fmt: skip
def test_a_meld_counts_alike_for_the_winner_and_for_a_loser(meld, price, lei):
    assert bill(f"234678m34567p33z {meld} +8p how=discard seat=2")[2] == {"win_discard": 40, price: lei}
    assert bill(f"234678m33445566p78p +6p how=discard seat=2 p1={meld}")[1] == {price: lei}


def test_a_chow_counts_nothing():
    assert bill("234678m34567p33z C:678p +8p how=discard seat=2 p1=C:123m") == [{}, {}, {"win_discard": 40}]


@pytest.mark.parametrize(
    ("spread", "items"),
    [
        ("p0.spread=honors:4,groups:1", {"spread_honour": 40}),
        ("p0.spread=honors:3,groups:1", {"spread_honour": 30}),
        ("p0.spread=honors:9,groups:2", {"spread_honour": 90}),
        ("p0.spread=honors:6", {"spread_honour": 60}),
        ("p0.yaoji=single", {"yaoji_single": 10}),
        ("p0.yaoji=pair_start", {"yaoji_pair_start": 60}),
        ("p0.yaoji=pair_later", {"yaoji_pair_later": 40}),
        ("p0.seven_star", {"seven_star": 100}),
        ("p0.seven_star p0.spread=extra_honors:3", {"seven_star": 100, "spread_honour": 30}),
        ("p0.seven_star p0.spread=honors:7,groups:2", {"seven_star": 100}),
        ("p0.no_honor_start", {"no_honor_start": 100}),
        ("p0.seven_less_two", {"seven_less_two": 50}),
        ("p0.no_honor_start p0.yaoji=pair_later", {"yaoji_pair_later": 40, "no_honor_start": 100}),
    ],
)
def test_what_is_spread_counts_alike_in_a_win_and_when_the_wall_is_exhausted(spread, items):
    assert bill(f"345678m123456p2278p +9p how=discard seat=1 {spread}") == [items, {"win_discard": 40}, {}]
    assert bill(f"how=draw {spread}") == [items, {}, {}]


def test_an_exhausted_wall_settles_no_melds():
    assert bill("how=draw p0=A:7777z,P:222p,H:111m p1=K:3333z") == [{}, {}, {}]


@pytest.mark.parametrize(
    ("hand", "discard", "self_drawn"),
    [
        ("111z555m123p456p78p99p +9p", {}, {"shao_honour": 20, "shao_low": 2}),
        ("123m456m789m123p55p99m +5p", {"pung_low": 1}, {"shao_low": 2}),
        ("123m456m789m123p99p55m +9p", {"pung_end": 2}, {"shao_end": 5}),
        ("123m456m789m123p66z99m +6z", {"pung_honour": 10}, {"shao_honour": 20}),
        ("123m456m789m13p66z999p +2p", {}, {"shao_end": 5}),
        ("12356789m234678p44z +4m", {}, {}),
        ("55567m123m456p789p33z +5m", {}, {"shao_low": 2}),  # three were in hand and not laid: no 碰
        ("22233344m56778999p +4m", {"pung_low": 1}, {"shao_low": 6}),  # not three runs
        ("123m456m789m123p11s88p +8p", {"pung_low": 1}, {"shao_low": 2}),
        ("123m456m789m123p45p1s +1s", None, None),
    ],
)
def test_concealed_triplets_by_discard_and_by_self_draw(hand, discard, self_drawn):
    for how, win, items in (("discard", 40, discard), ("self", 50, self_drawn)):
        line = f"{hand} how={how} seat=0"
        if items is None:
            assert answer(line)["reason"] == "tile_count"
        else:
            assert bill(line)[0] == {f"win_{how}": win, **items}


def test_each_triplet_is_an_item_with_its_section():
    verdict = check("22233344m56778999p +4m how=self seat=2")
    assert [(item.code, item.amount) for item in verdict.items] == [
        ("win_self", 50), ("shao_low", 2), ("shao_low", 2), ("shao_low", 2),
    ]  # fmt: skip
    assert {(item.unit, item.section) for item in verdict.items} == {("lei", "§6")}
    assert (verdict.cls, verdict.section, verdict.document) == ("self", "§6", "fengcheng.md")
    assert check(WIN).cls == "discard"


def test_readings_that_pay_alike_are_told():
    verdict = check("22334455m123p456p78p +9p how=self seat=2")
    assert len(verdict.alternatives) == 1  # 22 345 345 or 234 234 55
    assert sum(item.amount for item in verdict.items) == 50


SHOWS_PRICE = {
    "win_discard": WIN,
    "win_self": SELF,
    "spread_honour": "how=draw p0.spread=honors:3",
    "seven_star": "how=draw p0.seven_star",
    "yaoji_single": "how=draw p0.yaoji=single",
    "yaoji_pair_start": "how=draw p0.yaoji=pair_start",
    "yaoji_pair_later": "how=draw p0.yaoji=pair_later",
    "no_honor_start": "how=draw p0.no_honor_start",
    "seven_less_two": "how=draw p0.seven_less_two",
    **{
        f"{price}_{place}": f"{WIN} p0={letter}:{tile[0] * (3 + (letter in 'KA'))}{tile[1]}"
        for price, letter in {"pung": "P", "shao": "H", "kong": "K", "concealed_kong": "A"}.items()
        for place, tile in {"low": "8p", "end": "9p", "honour": "7z"}.items()
    },
}


@pytest.mark.parametrize(("price", "line"), SHOWS_PRICE.items(), ids=SHOWS_PRICE)
def test_every_price_can_be_chosen(price, line):
    times = 3 if price == "spread_honour" else 1
    usual, dearer = answer(line)["lei"], answer(f"{line} {price}={RULES.number(price) + 7}")["lei"]
    assert sum(dearer) - sum(usual) == 7 * times


def test_no_price_was_left_out():
    assert SHOWS_PRICE.keys() | {"false_win_lei"} == RULES.data.prices.keys()


# --- settlement and its options (§6)


@pytest.mark.parametrize(
    ("settlement", "net"),
    [
        ("pairwise_dealer2", [2 * -20 + 2 * 40, 2 * 20 + 60, 2 * -40 - 60]),
        ("dealer_only", [-20 + 40, 20, -40]),
        ("pairwise_flat", [-20 + 40, 20 + 60, -40 - 60]),
    ],
)
def test_who_settles_with_whom(settlement, net):
    result = answer(f"how=draw p0.spread=honors:4 p1.yaoji=pair_start settlement={settlement}")
    assert result["lei"] == [40, 60, 0]
    assert result["net"] == result["pay"] == net


@pytest.mark.parametrize(
    ("facts", "transfers"),
    [
        ("p0.spread=honors:4 p1.yaoji=pair_start", ((0, 1, 40), (2, 0, 80), (2, 1, 60))),
        ("p0.spread=honors:4 p1.yaoji=pair_start settlement=dealer_only", ((0, 1, 20), (2, 0, 40))),
        ("p1.yaoji=single yaoji_single=1 settlement=pairwise_flat", ((0, 1, 1), (2, 1, 1))),
        ("p2.yaoji=single yaoji_single=1 settlement=pairwise_flat", ((0, 2, 1), (1, 2, 1))),
        ("", ()),
    ],
)
def test_who_pays_whom_is_told_pair_by_pair(facts, transfers):
    claim = parse_claim(f"how=draw {facts}", "fengcheng")
    assert RULES.settle(RULES.check(claim), claim).transfers == transfers


@pytest.mark.parametrize(
    ("lei", "per_point", "points"),
    [(40, 10, 4), (5, 10, 1), (4, 10, 0), (45, 10, 5), (44, 10, 4), (14, 10, 1), (15, 10, 2), (1, 2, 1)],
)
def test_half_a_point_is_rounded_up_on_both_sides_of_the_table(lei, per_point, points):
    line = f"how=draw p1.yaoji=single yaoji_single={lei} settlement=pairwise_flat lei_per_point={per_point}"
    assert answer(line)["pay"] == [-points, 2 * points, -points]
    assert answer(line)["net"] == [-lei, 2 * lei, -lei]


def test_lei_per_point_has_to_be_chosen():
    assert [spec.name for spec in rulesets.unanswered("fengcheng", {})] == ["lei_per_point"]
    assert RULES.data.options["lei_per_point"].effects.keys() == {"1", "10"}


def test_who_cannot_pay_borrows_whole_loans_first():
    claim = parse_claim(SELF, "fengcheng")
    verdict = RULES.check(claim)
    settled = RULES.settle(verdict, claim, [100, 0, 49])
    assert (settled.loans, settled.unpaid) == ((0, 0, 100), (0, 0, 0))
    assert RULES.settle(verdict, claim, [99, 0, 50]).loans == (100, 0, 0)
    assert RULES.settle(verdict, claim).loans == (0, 0, 0)
    small = RULES.with_options({"loan_unit": 30})
    assert small.settle(verdict, claim, [0, 0, 0]).loans == (120, 0, 60)
    with pytest.raises(EngineError, match="chips"):
        RULES.settle(verdict, claim, [100, -1, 100])


# --- the other options (§3)


def test_bonuses_of_the_starting_hand_can_be_off():
    line = "how=draw p0.no_honor_start p1.seven_less_two"
    assert answer(line)["lei"] == [100, 50, 0]
    assert answer(f"{line} no_honor_bonus=false")["lei"] == [0, 50, 0]
    assert answer(f"{line} seven_less_two_bonus=false")["lei"] == [100, 0, 0]


def test_two_yaoji_are_a_pair_unless_the_option_says_no():
    line = "123m456m789m123p45p11s +6p how=self seat=0"
    assert answer(line)["lei"] == [50, 0, 0]
    assert answer(f"{line} yaoji_pair=false")["reason"] == "yaoji_no_pair"
    hand = parse_hand("123m456m789m123p45p11s")
    assert RULES.waits(hand) == (Tile.P3, Tile.P6)
    assert RULES.with_options({"yaoji_pair": False}).waits(hand) == ()


def test_of_a_kind_the_set_does_not_have_nobody_waits():
    assert RULES.waits(parse_hand("123m456m789m123p456p1s")) == (Tile.S1,)
    assert RULES.waits(parse_hand("123m456m789m123p11s11z")) == (Tile.EAST,)  # no third 么鸡


@pytest.mark.parametrize(
    ("facts", "with_smoke"),
    [
        ("p0.spread=honors:7,groups:2", True),
        ("p0.seven_less_two p0.spread=honors:4,groups:1", True),
        ("p0.no_honor_start p0.spread=honors:3,groups:1", True),
        ("p0.spread=honors:4,groups:1", None),
        ("p0.seven_star p0.spread=extra_honors:1", None),
    ],
)
def test_without_smoke_only_starting_tiles_are_spread(facts, with_smoke):
    assert answer(f"how=draw {facts}")["outcome"] == "draw"
    wanted = "inconsistent" if with_smoke else "draw"
    assert answer(f"how=draw {facts} smoke=false")["outcome"] == wanted


# --- the hand beside spread tiles, melds and 韶


@pytest.mark.parametrize(
    "line",
    [
        "123m456m789m45p22z +6p how=self seat=0 p0.spread=honors:3,groups:1",
        "123m456m789m45p22m +6p how=self seat=0 p0.spread=honors:16,groups:1",
        "123m456m45p22m +6p how=self seat=0 p0.seven_star",
        "123m456m45p22m +6p how=self seat=0 p0.spread=honors:8,groups:2",
        "45p22m C:123m P:777m +6p how=self seat=0 p0.seven_star",
        "2z H:111p K:8888p A:9999m C:123m P:333p +2z how=discard seat=0",
        f"{WIN} p0.spread=honors:26",
    ],
)
def test_sets_that_lie_on_the_table_leave_the_hand(line):
    assert answer(line)["outcome"] == "win"


@pytest.mark.parametrize(
    ("line", "problems"),
    [
        ("1155m2299m3377p1188p +8p how=self seat=1", ["no_decomposition"]),
        ("1133557799m113377p +7p how=self seat=1", ["no_decomposition"]),
        ("19m19p1s1234567z1234m +1m how=self seat=1", ["no_decomposition"]),
        ("123z456m789m123p45p22p +6p how=self seat=1", ["no_decomposition"]),
        (f"{WIN} xianggong", ["xianggong"]),
        ("123m456m789m123p46p11s +6p how=self seat=0 xianggong", ["xianggong", "no_decomposition"]),
        (f"{HAND}1z +6p how=self seat=0", ["tile_count"]),
        (f"{HAND} how=self seat=0", ["tile_count"]),
        (f"{HAND} +6p how=self seat=0 p0.spread=honors:3,groups:1", ["tile_count"]),
        (f"{HAND} +6p how=self seat=0 p0.seven_star", ["tile_count"]),
        ("123m456m789m123p45p1s1s +1s how=self seat=0", ["fifth_copy"]),
        ("123m456m789m123p45p11s +6p how=self seat=0 p1.yaoji=single", ["fifth_copy"]),
        (f"{WIN} p0.yaoji=pair_start p2.yaoji=single", ["fifth_copy"]),
        (f"{WIN} p0=A:3333p", ["fifth_copy"]),
        ("123m456m789m123p45p2s2s +6p how=self seat=0", ["foreign_tile"]),
        ("123m456m789m123p45p?2z +6p how=self seat=0", ["unknown_tile"]),
        ("123m456m789m45p22z P:112p +6p how=self seat=0", ["unknown_meld"]),
        (f"{WIN} p0=C:124m", ["unknown_meld"]),
        (f"{WIN} from=1", ["contradictory_facts"]),
        (f"{HAND} +6p how=self", ["contradictory_facts"]),
        (f"{SELF} from=2", ["contradictory_facts"]),
        (f"{HAND} +6p how=discard seat=3 from=4", ["contradictory_facts"] * 2),
        ("how=draw p0=A:1111z p1=P:111z", ["fifth_copy"]),
        ("how=draw seat=1", ["contradictory_facts"]),
    ],
)
def test_what_does_not_win_and_what_cannot_be(line, problems):
    verdict = check(line)
    assert list(verdict.problems) == problems
    fatal = problems[0] not in ("xianggong", "no_decomposition", "yaoji_no_pair")
    assert verdict.outcome is (Outcome.INCONSISTENT if fatal else Outcome.NO_WIN)
    assert verdict.section == RULES.data.section(problems[0])


PAIRS = [
    ("p2.seven_star p2.no_honor_start", ("p2.seven_star", "p2.no_honor_start")),
    ("p2.seven_star p2.seven_less_two", ("p2.seven_star", "p2.seven_less_two")),
    ("p0.no_honor_start p0.seven_less_two", ("p0.no_honor_start", "p0.seven_less_two")),
    ("p0.seven_star p0.spread=groups:1", ("p0.seven_star", "p0.groups=1")),
    ("p0.spread=extra_honors:2", ("p0.extra_honors=2", "no seven_star")),
    ("p0.spread=honors:2", ("p0.honors=2", "p0.groups=0")),
    ("p0.spread=groups:1", ("p0.honors=0", "p0.groups=1")),
    ("p0.spread=honors:2,groups:1", ("p0.honors=2", "p0.groups=1")),
    ("p0.spread=honors:17,groups:1", ("p0.honors=17", "p0.groups=1")),
    ("p0.spread=honors:6,groups:2", ("p0.honors=6", "p0.groups=2")),
    ("p0.spread=honors:7,groups:2 smoke=false", ("p0.groups=2", "no seven_star")),
    ("p0.spread=honors:4,groups:1 p0.no_honor_start smoke=false", ("p0.no_honor_start", "p0.honors=4")),
    ("p0.spread=honors:4,groups:1 p0.seven_less_two smoke=false", ("p0.seven_less_two", "p0.honors=4")),
]


@pytest.mark.parametrize(("facts", "about"), PAIRS)
def test_facts_that_contradict_each_other_are_both_named(facts, about):
    for line in (f"how=draw {facts}", f"345678m123456p2278p +9p how=discard seat=1 {facts}"):
        verdict = check(line)
        assert verdict.outcome is Outcome.INCONSISTENT
        assert about in [
            problem.about for problem in verdict.details if problem.code == "contradictory_facts"
        ]


def test_the_winner_has_to_say_how_many_groups_he_spread():
    loser, winner = (f"{HAND} +6p how=self seat=0 p{seat}.spread=honors:4" for seat in (1, 0))
    assert answer(loser)["outcome"] == "win"
    assert check(winner).details[0].about == ("p0.honors=4", "p0.groups=0")


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ("p0=A:1111z,P:555z p1.spread=honors:4,groups:1", None),  # 中发白 and one more
        ("p0=A:1111z,A:5555z p1.spread=honors:4,groups:1", "fifth_copy"),
        ("p0=A:1111z p1.spread=honors:7,groups:2", "fifth_copy"),
        ("p0=A:5555z p1.spread=honors:4,groups:1", None),  # 东南西北
        ("p0=P:111z,P:222z,P:333z,P:444z p2=P:555z,P:666z,P:777z p1.spread=honors:7", None),  # one of each
        (
            "p0=P:111z,P:222z,P:333z,P:444z p2=P:555z,P:666z,P:777z p1.spread=honors:7,groups:1",
            "contradictory_facts",
        ),
        ("p0=A:5555z p1.spread=honors:3", "fifth_copy"),
        ("p0=A:5555z p1.seven_star", "fifth_copy"),
        ("p0.spread=honors:16,groups:1 p1.spread=honors:12,groups:1", None),
        ("p0.spread=honors:16,groups:1 p1.spread=honors:13,groups:1", "contradictory_facts"),
        ("p0.spread=honors:14,groups:2 p1.spread=honors:14,groups:2", None),
        ("p0.spread=honors:14,groups:2 p1.spread=honors:15,groups:2", "contradictory_facts"),
    ],
)
def test_honours_that_cannot_all_be_there(facts, says):
    verdict = check(f"how=draw {facts}")
    assert verdict.reason == says
    assert not says or verdict.details[-1].about[-1] == "the honours of the claim"


def test_who_spread_how_many_honours_is_named_where_they_cannot_all_be_there():
    verdict = check("how=draw p0.spread=honors:14,groups:2 p1.seven_star p1.spread=extra_honors:8")
    assert verdict.details[-1].about == (
        "p0 spread 14 honours",
        "p1 spread 15 honours",
        "the honours of the claim",
    )


def test_facts_nobody_declared_are_passed_over():
    claim = parse_claim("how=draw p0.yaoji=single", "fengcheng")
    strange = (Shown((), Facts(nonsense=3)), *claim.shown[1:])
    assert RULES.spread_of(type(claim)(how="draw", shown=strange), 0).honors == 0


# --- false win, dealer, loans (§5, §7, §8)


def test_a_false_win_costs_nothing_unless_the_organiser_says_so():
    free = RULES.false_win(Seat(2), [100, 100, 100])
    assert (free.pay, free.hand_over, free.items) == ((0, 0, 0), False, ())
    strict = RULES.with_options({"false_win_lei": 45, "lei_per_point": 10}).false_win(Seat(2), [100, 100, 3])
    assert (strict.pay, strict.loans, strict.hand_over) == ((5, 5, -10), (0, 0, 100), False)
    assert strict.unpaid == free.unpaid == (0, 0, 0)
    assert [(item.code, item.amount) for item in strict.items] == [("false_win_lei", 45)]
    with pytest.raises(EngineError, match="seats are 0 to 2"):
        RULES.false_win(Seat(3))


def test_only_a_win_keeps_the_deal():
    assert [RULES.dealer_stays(winner) for winner in (Seat(0), Seat(1), Seat(2), None)] == [
        True,
        False,
        False,
        False,
    ]


def test_the_hand_that_runs_when_time_is_up_counts():
    match = Match.start(RULES, [100, 100, 100]).time_up()
    assert match.ended is None
    played = match.claim(parse_claim(WIN, "fengcheng")).match
    assert (played.ended, played.chips) == ("time_up", (20, 220, 60))


def test_the_deal_takes_49_tiles_and_leaves_53():
    plan = RULES.deal_plan((6, 6, 6, 6))
    assert (plan.tiles, plan.drawable, plan.indicator) == ((17, 16, 16), 53, None)
    assert RULES.tile_set.total == 102
    assert [RULES.tile_set.counts[tile] for tile in (Tile.S1, Tile.S2, Tile.M1, Tile.RED)] == [2, 0, 4, 4]
    (last,) = plan.takes[-1].positions
    assert (plan.takes[-1].seat, plan.slot(last).upper, plan.slot(last + 1).upper) == (0, True, False)
    assert plan.slot(last).stack == plan.slot(last + 1).stack


# --- calls (§3, §4)


def call(kind, own="", tile=None, seat=0, discarder=None, **facts):
    return Call(
        kind=kind,
        seat=Seat(seat),
        discarder=discarder,
        own=parse_tiles(own),
        tile=tile,
        hand=parse_tiles("11m") if kind == "discard" else (),
        **facts,
    )


@pytest.mark.parametrize(
    ("made", "reasons"),
    [
        (call("spread", "1234z"), []),
        (call("spread", "1s"), []),
        (call("spread", "2m1z"), ["not_spreadable"]),
        (call("discard", tile=Tile.M1), []),
        (call("discard", tile=Tile.M1, shao=True), ["shao_is_fixed"]),
        (call("kong", "111m", Tile.M1, discarder=1, shao=True), []),
        (call("kong", "111m", Tile.M1, discarder=1), ["kong_needs_shao"]),
        (call("kong_added", "111m", Tile.M1), ["call_not_allowed"]),
        (call("chow", "23m", Tile.M1, seat=1, discarder=0), []),
        (call("chow", "23m", Tile.M1, seat=2, discarder=0), ["not_next_player"]),
        (call("chow", "23z", Tile.EAST, seat=1, discarder=0), ["not_suited", "tiles_do_not_fit"]),
        (call("pung", "11s", Tile.S1, seat=1, discarder=0), ["fifth_copy"]),
    ],
)
def test_may_this_call_be_made(made, reasons):
    assert [problem.code for problem in RULES.may_call(made)] == reasons


def test_a_tile_that_may_not_be_spread_is_nobodys():
    award = RULES.award(Tile.M1, Seat(0), [(Seat(0), "spread")])
    assert (award.seat, award.refused[0][1].code) == (None, "not_spreadable")


def test_readings_of_a_hand_without_a_claim():
    hand = parse_hand("111222333m456456p9p +9p")
    assert len(list(RULES.decompositions(hand))) == 2  # three triplets, or three runs

"""What is special to the players of one rule set."""

from collections import Counter
from itertools import islice

import pytest

from engine import rulesets
from engine.claim import Seat
from engine.melds import Meld, MeldKind
from engine.notation import parse_tiles
from engine.tiles import Tile
from engine.verdict import Outcome
from station.demo.moves import Chance, Style
from station.demo.play import tactics_of
from station.demo.play.tactics import Tactics, chow_pairs, near
from station.demo.players import Round
from station.demo.wall import Wall, shuffled
from tests.engine.extras import needs
from tests.station.demo.played import claims, new_hand


class Shoe:
    """A wall of given tiles, dealt as given."""

    def __init__(self, hands, wall):
        self._hands, self.tiles = [list(parse_tiles(hand)) for hand in hands], list(parse_tiles(wall))

    @property
    def live(self):
        return len(self.tiles)

    def deal(self):
        return self._hands

    def draw(self):
        return self.tiles.pop(0)

    def replacement(self):
        return self.tiles.pop()


class Dice:
    """Chance in the players' favour."""

    def random(self):
        return 0.0


def table(name, hands, wall, indicator=None, style=Style.PLAIN):
    rules = rulesets.load(name)
    played = Round(rules, Shoe(hands, wall), style, Dice(), tactics_of(rules))
    played.open(None if indicator is None else Tile.of(indicator))
    return rules, played


def won(rules, played):
    """Return the first claim and its verdict."""
    laid = next(played.claims())
    return laid, rules.check(laid.claim(rules, played.indicator))


def test_a_rule_set_nobody_wrote_tactics_for_is_played_for_sets_and_a_pair():
    class Unknown:
        id = "unheard-of"

    assert tactics_of(Unknown()) is Tactics


def test_the_pairs_of_a_chow():
    assert list(chow_pairs(Tile.M1)) == [(Tile.M2, Tile.M3)]
    assert list(chow_pairs(Tile.M9)) == [(Tile.M7, Tile.M8)]
    assert list(chow_pairs(Tile.P2)) == [(Tile.P1, Tile.P3), (Tile.P3, Tile.P4)]
    assert near(Tile.M9, Tile.P1) == 0


# ---- Fengcheng


def test_fengcheng_players_spread_for_all_there_is():
    seen, ends = Counter(), Counter()
    for number in range(40):
        rules, hand = new_hand("fengcheng", "spread", (Style.PLAIN, Style.SLEEPY)[number % 2], number)
        laid = hand.next_claim()
        last = laid or hand.exhausted()
        verdict = rules.check(hand.claim(last))
        ends[verdict.outcome] += 1
        assert verdict.outcome in (Outcome.WIN, Outcome.DRAW)
        for opened in last.tables:
            seen.update(opened.facts)
            seen.update(str(opened.facts.get("yaoji", "")).split())
            seen.update(meld.kind.value for meld in opened.melds)
    assert {"honors", "groups", "single", "pair_start", "pair_later", "seven_less_two"} <= set(seen)
    assert set("CPKAH") <= set(seen)
    assert set(ends) == {Outcome.WIN, Outcome.DRAW}


def test_the_winds_are_spread_with_one_replacement_and_count_as_a_set():
    hands = ["123456789m123p1234z9p", *["147m258p369p5566677z"] * 2]
    rules, played = table("fengcheng", hands, "1m2m9p")
    laid, verdict = won(rules, played)
    assert verdict.outcome is Outcome.WIN
    assert (laid.win, laid.how) == (Tile.P9, "self")
    assert dict(laid.tables[0].facts) == {"honors": 4, "groups": 1}


def test_only_a_shao_makes_a_kong_of_a_discard():
    rules, played = table("fengcheng", ["1m" * 17, "555m" + "2p" * 13, "555p" + "3p" * 13], "1p9m")
    tactics = tactics_of(rules)(played)
    player = played.players[1]
    player.tiles = list(parse_tiles("555m147p258p"))
    player.seat = Seat(1)
    assert {take.kind for take in tactics.takes(player, Tile.M5, Seat(0))} == {"pung"}
    player.tiles = list(parse_tiles("147p258p"))
    player.melds = [Meld(MeldKind.SHAO, (Tile.M5,) * 3)]
    takes = list(tactics.takes(player, Tile.M5, Seat(0)))
    assert [take.kind for take in takes] == ["kong"]
    assert tactics.may(player, takes[0], Tile.M5, Seat(0))


# ---- Xiamen


def test_xiamen_players_win_in_many_ways():
    hows = Counter()
    for number in range(60):
        rules, hand = new_hand("xiamen", "hows", number=number)
        laid = hand.next_claim()
        if laid is not None:
            assert rules.check(hand.claim(laid)).outcome is Outcome.WIN
            hows[laid.how] += 1
    assert {"ping", "zimo", "youjin"} <= set(hows)


def test_three_golds_dealt_win_at_once():
    hands = ["147m258p369s11223456z", "555p147m369p258s1234z", *["147m258p369s1122345z"] * 2]
    rules, played = table("xiamen", hands, "1m", "5p")
    laid, verdict = won(rules, played)
    assert (laid.seat, laid.how, laid.win) == (1, "sanjin_start", None)
    assert verdict.outcome is Outcome.WIN


def test_a_dealer_with_a_complete_hand_claims_heaven():
    hands = ["123m456m789m123s456s22z", *["147m258p369s1122345z"] * 3]
    rules, played = table("xiamen", hands, "1m", "5p")
    laid, verdict = won(rules, played)
    assert (laid.seat, laid.how) == (0, "tianhe")
    assert verdict.outcome is Outcome.WIN


def test_a_ready_hand_takes_the_gold_that_was_turned_up():
    hands = ["147m258p369s11223456z", "123m456m789m123s45s22z", *["147m258p369s1122345z"] * 2]
    rules, played = table("xiamen", hands, "1m", "6s")
    laid, verdict = won(rules, played)
    assert (laid.seat, laid.how, laid.win) == (1, "qiangjin", Tile.S6)
    assert verdict.outcome is Outcome.WIN


NEARLY_FREE = ("147m369p258s11223344z", "123456789m1256s59p6z", *["147m369p258s1122334z"] * 2)
"""Hands of Xiamen; with gold 5p and 3s and 4s the second one waits for every tile."""


def test_a_hand_that_waits_for_every_tile_is_claimed_at_the_next_draw():
    rules, played = table("xiamen", NEARLY_FREE, "3s7z6z6z4s7z7z7z9p9p9p9p", "5p")
    laid, verdict = won(rules, played)
    assert (laid.seat, laid.how, laid.win) == (1, "youjin", None)
    assert laid.facts["drawn"]
    assert verdict.outcome is Outcome.WIN


def test_the_daring_discard_a_gold_and_win_again_after_one_draw_of_everybody():
    rules, played = table("xiamen", NEARLY_FREE, "3s7z6z6z4s7z7z7z5p2z2z3z9p9p9p", "5p")
    laid, verdict = won(rules, played)
    assert (laid.seat, laid.how) == (1, "shuangyou")
    assert verdict.outcome is Outcome.WIN
    assert verdict.totals["times"] == 8


def test_a_kong_that_is_added_can_be_robbed():
    rules, played = table("xiamen", ["147m258p369s11223344z", *["147m258p369s1122334z"] * 3], "1m1m", "9m")
    adder, robber = played.players[1], played.players[3]
    adder.melds = [Meld(MeldKind.PUNG, (Tile.P3,) * 3)]
    adder.tiles = list(parse_tiles("147m258p369s11223z"))[:13]
    robber.tiles = list(parse_tiles("123456m123456s12p22z"))
    tactics = tactics_of(rules)(played)
    tactics.begin()
    way = tactics.way(robber, Chance(Tile.P3, Seat(1), robbed=True))
    assert way is not None
    assert way.how == "robkong"


def test_with_gold_in_hand_nobody_wins_on_a_discard():
    rules, played = table("xiamen", ["147m258p369s11223344z", *["147m258p369s1122334z"] * 3], "1m1m", "9m")
    player = played.players[1]
    player.tiles = list(parse_tiles("123456m123456s9m2p22z"))
    tactics = tactics_of(rules)(played)
    tactics.begin()
    assert tactics.way(player, Chance(Tile.P3, Seat(0))) is None
    assert tactics.way(player, Chance(Tile.P3)) is not None


def test_a_flower_that_is_turned_up_is_passed_over():
    for number in range(30):
        _, hand = new_hand("xiamen", "gold", number=number)
        assert not hand.indicator.is_flower
        assert hand.wall.turned is not None


def test_16_tiles_of_xiamen_are_never_drawn():
    _, hand = new_hand("xiamen", "dead", Style.SLEEPY)
    assert hand.next_claim() is None
    assert len([tile for tile in hand.wall.tiles if not tile.is_flower]) <= 17


# ---- Zhenjiang


def test_discarded_wildcards_are_counted_by_when_they_went():
    found = Counter()
    for number in range(60):
        _, hand = new_hand("zhenjiang", "da", number=number)
        for laid in islice(claims(hand), 1):
            found.update(laid.facts.get("da", {}))
    assert {"shou", "peng"} <= set(found)


# ---- official rules


@needs("mcr")
def test_only_hands_of_eight_fans_are_claimed_but_by_bluff():
    for number in range(6):
        rules, hand = new_hand("mcr", "fans", Style.PLAIN, number)
        laid = hand.next_claim()
        if laid is not None:
            verdict = rules.check(hand.claim(laid))
            assert verdict.totals["fan"] - laid.facts.get("flowers", 0) >= 8


@needs("mcr")
def test_what_everybody_knows_of_the_winning_tile_goes_into_the_claim():
    rules, played = table("mcr", ["147m258p369s11223z", *["147m258p369s1122z"] * 3], "", None)
    tactics = tactics_of(rules)(played)
    player = played.players[2]
    player.tiles = list(parse_tiles("123456789m12p55s"))
    played.lying = [Tile.P3] * 3
    way = tactics.way(player, Chance(Tile.P3, Seat(1), last=True))
    assert dict(way.facts) == {"last": True, "fourth": True}
    player.tiles = list(parse_tiles("23456789m12p55s1m"))
    way = tactics.way(player, Chance(Tile.P3, kong=None))
    assert dict(way.facts) == {"fourth": True}


@pytest.mark.parametrize("dead", [0, 16])
def test_a_wall_says_how_much_can_be_drawn(dead):
    rules = rulesets.load("mcr")
    wall = Wall(shuffled(rules.tile_set, "s"), rules.deal_plan((1, 2, 3, 4)), dead)
    wall.deal()
    assert wall.live == 91 - dead

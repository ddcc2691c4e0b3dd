import pytest

from engine import rulesets
from engine.facts import Facts
from engine.notation import parse_tiles

FENGCHENG = rulesets.load("fengcheng")


@pytest.mark.parametrize(
    ("tiles", "said", "facts"),
    [
        ("", {}, {}),
        ("1234z", {}, {"honors": 4, "groups": 1}),
        ("11234z", {}, {"honors": 5, "groups": 1}),
        ("567z1s", {}, {"honors": 3, "groups": 1, "yaoji": "single"}),
        ("1234567z", {}, {"honors": 7, "groups": 2}),
        ("1234567z", {"seven_star": True}, {"groups": 2}),
        ("11234567z", {"seven_star": True}, {"extra_honors": 1, "groups": 2}),
        ("11s", {}, {}),
    ],
)
def test_spread_tiles_show_facts_of_their_player(tiles, said, facts):
    assert FENGCHENG.facts_of_spread(parse_tiles(tiles) if tiles else (), Facts(said)) == facts


@pytest.mark.parametrize(
    ("tiles", "said", "open_facts"),
    [("11s", {}, ("yaoji",)), ("11s", {"yaoji": "pair_start"}, ()), ("1s", {}, ()), ("", {}, ())],
)
def test_two_yaoji_do_not_show_when_the_second_came(tiles, said, open_facts):
    assert FENGCHENG.unsaid(parse_tiles(tiles) if tiles else (), Facts(said)) == open_facts


def test_other_rule_sets_spread_nothing():
    rules = rulesets.load("zhenjiang")
    assert rules.facts_of_spread(parse_tiles("1234z"), Facts()) == {}
    assert rules.unsaid(parse_tiles("11s"), Facts()) == ()

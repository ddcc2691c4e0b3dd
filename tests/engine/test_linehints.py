"""What a line that cannot be read is told: the fix, in the words of the rule set."""

import pytest

from engine import rulesets
from engine.notation import NotationError, parse_claim
from engine.text.linehints import either, of_key, ways_to_win, written

HAND = "123m456m789m11z34s +5s flip=1p how=self seat=1"


@pytest.mark.parametrize(
    ("line", "ruleset", "says"),
    [
        (f"{HAND} da=1", "zhenjiang", "write da=shou:1, da=er:1 or da=peng:1"),
        (f"{HAND} da=shou", "zhenjiang", "write da=shou:1"),
        (f"{HAND} shou=1", "zhenjiang", "did you mean da=shou:1?"),
        (f"{HAND} bao", "zhenjiang", "did you mean payment=bao?"),
        (f"{HAND} kongfee", "zhenjiang", "did you mean kong_fee?"),
        (f"{HAND} kong_fees=1", "zhenjiang", "did you mean kong_fee=?"),
        (f"{HAND} gibberish=1", "zhenjiang", "no key 'gibberish' here (at"),
        (f"{HAND} 888m", "zhenjiang", "a meld is written P:888m, the winning tile +8m"),
        (f"{HAND} p:888m", "zhenjiang", "use P, K or A"),
        ("11z how=draw seat=C", "zhenjiang", "0 the dealer, 1 to his right"),
        ("11z how=draw from=B", "zhenjiang", "0 the dealer, 1 to his right"),
        (f"{HAND} payment", "zhenjiang", "one of pei, bao, discarder"),
        (f"{HAND} da", "zhenjiang", "write da=shou:1"),
        ("11z seat=1", "zhenjiang", "add how=self, how=discard"),
        ("11z gold=7m how=ping", "xiamen", "written flip=5m"),
        ("11z flowers=2 how=ping", "xiamen", "write flowers=15f"),
        ("11z how=discard", "xiamen", "ping (on another player's discard"),
        ("how=draw p0=seven_less_two", "fengcheng", "write p0.seven_less_two, with a dot"),
        ("how=draw p2.yaoji", "fengcheng", "p2.yaoji=single, p2.yaoji=pair_start or p2.yaoji=pair_later"),
        ("how=draw p1.spread=1234z", "fengcheng", "no tiles: p1.spread=honors:1,groups:1"),
        ("how=draw p1.spread=honours:4", "fengcheng", "did you mean honors?"),
        ("how=draw yaoji=single", "fengcheng", "did you mean p0.yaoji=single?"),
        ("how=draw honors=4", "fengcheng", "did you mean p0.spread=honors:1?"),
        ("11z how=self wind=west", "mcr", "0 east, 1 south, 2 west, 3 north"),
        ("11z how=self seat=0 prev=1", "mcr", "did you mean prevailing=1?"),
    ],
)
def test_an_error_says_how_it_is_written(line, ruleset, says):
    with pytest.raises(NotationError) as caught:
        parse_claim(line, ruleset)
    assert says in str(caught.value)
    assert 0 <= caught.value.position <= len(line)


def test_every_way_to_win_is_told_with_its_meaning():
    for ruleset in rulesets.ids():
        data = rulesets.data(ruleset)
        told = ways_to_win(data)
        assert all(f"{how} (" in told for how in (*data.hows, "draw"))


def test_what_a_hint_proposes_can_be_read():
    for ruleset in rulesets.ids():
        data = rulesets.data(ruleset)
        for spec in data.facts.values():
            assert spec.name in parse_claim(f"how=draw {written(spec)}", ruleset).facts
        for spec in data.seat_facts.values():
            assert spec.name in parse_claim(f"how=draw {written(spec, 'p0.')}", ruleset).shown[0].facts


def test_a_tile_is_turned_up_only_where_there_is_such_a_word():
    assert of_key(rulesets.data("fengcheng"), "gold", ("seat",)) == ""


def test_a_choice_is_joined_as_people_say_it():
    assert either(["P", "K", "A"]) == "P, K or A"
    assert either(["P"]) == "P"
    assert either([]) == ""

"""Rule sets as data: every option documented, unknown things refused, a new one touches nothing."""

import re
import tomllib
from dataclasses import FrozenInstanceError

import pytest

import engine.rules
from engine import rulesets
from engine.claim import Seat
from engine.errors import EngineError
from engine.options import OptionError, OptionSpec, spec_from_table
from engine.ruledata import TileSet, rule_data
from engine.ruleset import RuleSet
from engine.tiles import Tile
from engine.wildrules import WildRuleSet

SPECS = rulesets.option_specs("zhenjiang")
TEXT = (rulesets.RULES / "zhenjiang.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_every_option_has_type_default_allowed_values_and_source(spec):
    assert spec.type in ("bool", "int", "choice")
    assert spec.check(spec.default) == spec.default
    assert spec.source.split(";")[0].split()[0] in ("SEED", "PUBLIC", "CHOICE")
    assert re.fullmatch(r"§[0-9]+", spec.section)
    assert len(spec.text) > 5
    assert bool(spec.allowed) == (spec.type == "choice")
    text = str(spec.default).lower() if spec.type == "bool" else str(spec.default)
    assert spec.parse(text) == spec.default


def test_the_documented_options_are_all_there():
    assert {
        "base", "payment", "ron_needs_natural", "combine", "cap_at_chips", "wild_fifth_copy",
        "claimed_wild_value", "dragon_order", "honour_cycle", "pao_da", "rob_kong", "kong_fee",
        "indicator_kong3", "fine_to", "jump",
        "first_wild_must_be_discarded", "second_wild_must_be_shown", "dice_throws", "dealer_stays_on_win",
        "running_hand",
    } <= SPECS.keys()  # fmt: skip
    prices = rulesets.load("zhenjiang").data.prices.keys()
    assert {"self_sub", "pao_nosub", "kong_open_concealed", "heaven", "first_wild", "claimed_wild"} <= prices


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("payment", "gratis", "pei, bao, discarder"),
        ("payment", True, "pei"),
        ("ron_needs_natural", 1, "true or false"),
        ("base", 0, "1 to"),
        ("base", True, "whole number"),
        ("base", "2", "whole number"),
        ("dice_throws", 3, "1 to 2"),
        ("self_sub", -1, "0 to"),
        ("nonsense", 1, "nonsense.*payment"),
    ],
)
def test_options_that_cannot_be_are_refused(name, value, says):
    with pytest.raises(OptionError, match=says) as caught:
        rulesets.load("zhenjiang", {name: value})
    assert caught.value.name == name


def test_numbers_of_any_script_and_length_are_no_option_values():
    for text in ("٣", "1e3", "", "9" * 5000, "-1", " 1"):
        with pytest.raises(OptionError):
            SPECS["base"].parse(text)


def test_unknown_rule_set_names_the_known_ones():
    for name in ("nowhere", "", "../zhenjiang", "ZHENJIANG"):
        with pytest.raises(rulesets.UnknownRuleSetError, match=r"known are .*zhenjiang"):
            rulesets.load(name)


@pytest.mark.parametrize(
    "ask",
    [rulesets.data, rulesets.option_specs, rulesets.sheet, lambda name: rulesets.unanswered(name, {})],
    ids=["data", "options", "sheet", "unanswered"],
)
def test_whatever_is_asked_of_an_unknown_rule_set_the_known_ones_are_named(ask):
    with pytest.raises(rulesets.UnknownRuleSetError, match=r"'nowhere'; known are .*[a-z]"):
        ask("nowhere")


def test_options_of_rule_sets_and_of_score_sheets_are_found_alike():
    assert {"payment", "self_sub"} <= rulesets.option_specs("zhenjiang").keys()
    assert {"level_table", "must_play"} <= rulesets.option_specs("shengji").keys()


def test_the_tile_set_is_136_tiles_without_flowers():
    tile_set = rulesets.load("zhenjiang").tile_set
    assert tile_set.total == 136
    assert tile_set.kinds == tuple(Tile(kind) for kind in range(34))
    assert TileSet.from_table({"m": 4, "1s": 2, "f": 1}).total == 36 + 2 + 8
    with pytest.raises(EngineError, match="x"):
        TileSet.from_table({"x": 4})


def test_the_hash_tells_data_and_options_apart():
    plain = rulesets.load("zhenjiang")
    assert re.fullmatch("[0-9a-f]{64}", plain.hash)
    assert plain.hash == rulesets.load("zhenjiang", {"payment": "pei"}).hash
    assert plain.hash != rulesets.load("zhenjiang", {"payment": "bao"}).hash
    dearer = TEXT.replace("amount = 12", "amount = 13")
    assert rule_data(tomllib.loads(TEXT)).digest != rule_data(tomllib.loads(dearer)).digest


def test_repr_is_the_call_that_loads_it():
    rules = rulesets.load("zhenjiang", {"payment": "bao", "base": 2})
    again = eval(repr(rules))
    assert (again.hash, repr(again)) == (rules.hash, repr(rules))
    assert repr(rulesets.load("zhenjiang")) == "rulesets.load('zhenjiang', {})"


def test_options_do_not_change():
    rules = rulesets.load("zhenjiang")
    other = rules.with_options({"payment": "bao"})
    assert (rules.choice("payment"), other.choice("payment")) == ("pei", "bao")
    assert rules.with_options({}) is rules
    with pytest.raises(TypeError):
        rules.options["payment"] = "bao"  # the mapping cannot be written
    with pytest.raises(FrozenInstanceError):
        rules.data.players = 3


@pytest.fixture
def another_rule_set(tmp_path, monkeypatch):
    """Two new files, and nothing else: half prices, and a discard never wins."""
    text = TEXT.replace('id = "zhenjiang"', 'id = "halfmoon"').replace("amount = 6", "amount = 3")
    (tmp_path / "halfmoon.toml").write_text(text, encoding="utf-8")
    (tmp_path / "halfmoon.py").write_text(
        "from engine.rules.zhenjiang import Zhenjiang\n"
        "class RULES(Zhenjiang):\n"
        "    def refuse_claim(self, claim):\n"
        "        if self.how(claim).claimed:\n"
        "            yield 'no_decomposition', ()\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(rulesets, "RULES", tmp_path)
    monkeypatch.setattr(engine.rules, "__path__", [*engine.rules.__path__, str(tmp_path)])


@pytest.mark.usefixtures("another_rule_set")
def test_a_new_rule_set_is_found_without_touching_a_module():
    from engine.vectors import check_line

    assert rulesets.ids() == ("halfmoon",)
    line = "123m456m789m11z34s +5s flip=1p seat=0 "
    assert check_line(line + "how=self", "halfmoon")["pay"] == [9, -3, -3, -3]
    assert check_line(line + "how=discard from=1", "halfmoon")["outcome"] == "no_win"


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.pop("players"),
        lambda table: table.update(colour="red"),
        lambda table: table["options"]["base"].update(source="RUMOUR"),
        lambda table: table["options"]["base"].update(colour="red"),
        lambda table: table["options"]["base"].update(default=0),
        lambda table: table["options"]["base"].pop("text"),
        lambda table: table["options"]["base"].update(ask="perhaps"),
        lambda table: table.update(keys=["indicator", "colour"]),
        lambda table: table["facts"]["da"].update(type="colours"),
        lambda table: table["facts"]["da"].update(colour="red"),
        lambda table: table["facts"]["da"].update(word="payment"),
        lambda table: table.update(page=[{"section": "§1", "colour": "red"}]),
    ],
)
def test_a_wrong_data_file_is_refused(change):
    table = tomllib.loads(TEXT)
    change(table)
    with pytest.raises(EngineError):
        rule_data(table)


def test_a_reason_without_a_section_is_refused():
    table = tomllib.loads(TEXT)
    del table["sections"]["tile_count"]
    with pytest.raises(EngineError, match="tile_count"):
        rule_data(table).section("tile_count")


def test_the_base_rule_set_leaves_the_hooks_open():
    rules = RuleSet(rulesets.load("zhenjiang").data)
    with pytest.raises(NotImplementedError):
        rules.price(None, None)
    with pytest.raises(NotImplementedError):
        rules.settle_win(None, None, None, None)
    with pytest.raises(NotImplementedError):
        WildRuleSet(rules.data).wild_of(Tile.M1)
    with pytest.raises(EngineError, match="no wildcards"):
        rules.wild_of(Tile.M1)
    assert rules.contradictions(None) == ()
    assert rules.price_key("a reading") == "a reading"
    free = rules.false_win(Seat(1), chips=(1, 2, 3, 4))
    assert (free.pay, free.deferred, free.hand_over) == ((0,) * 4, (0,) * 4, False)
    with pytest.raises(EngineError, match="does not pay for other wins"):
        rules.false_win(Seat(1), wins=[None])


def test_spec_from_table_needs_all_keys():
    with pytest.raises(EngineError, match="pace"):
        spec_from_table("pace", {"type": "int", "default": 1})
    assert isinstance(SPECS["base"], OptionSpec)

"""A session is played to its end by the rules, players and chips it was opened with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine import rulesets
from station import messages as m
from station.clock import Clock
from station.errors import ConfigError, NotALog
from station.table.config import TableConfig
from station.table.opening import check_unchanged, opened_by
from station.table.photos import PhotoStore
from station.table.runtime import Table


def _table(writer: Any, folder: Path, **settings: Any) -> Table:
    config = TableConfig(home=str(folder), driver="none", camera="none", **settings)
    rules = rulesets.load(config.ruleset, config.options)
    clock = Clock(monotonic=lambda: 0.0, wall=lambda: 1_000.0)
    return Table(config, rules, writer, PhotoStore(folder), None, None, clock)


@pytest.mark.parametrize(
    ("settings", "name", "values"),
    [
        ({"table": "T2"}, "table", ("T1", "T2")),
        ({"options": {"payment": "bao"}}, "options.payment", ("pei", "bao")),
        ({"options": {"false_win": 9}}, "options.false_win", ("6", "9")),
        ({"players": ("a", "b", "c", "d")}, "players", ("甲", "a")),
        ({"chips": 60}, "chips", ("50", "60")),
        ({"duration_s": None}, "duration_s", ("3600", "None")),
        ({"format": "league"}, "format", ("casual", "league")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_changed_configuration_is_refused_and_named(
    new_writer: Callable[[], Any],
    tmp_path: Path,
    settings: dict[str, Any],
    name: str,
    values: tuple[str, ...],
) -> None:
    writer = new_writer()
    asyncio.run(_table(writer, tmp_path).load())
    with pytest.raises(ConfigError) as refused:
        asyncio.run(_table(writer, tmp_path, **settings).load())
    assert refused.value.exit_status == 2
    assert name in refused.value.message
    assert all(value in refused.value.message for value in values)
    assert len(writer.entries) == 1


def test_an_option_written_out_with_its_default_is_no_change(
    new_writer: Callable[[], Any], tmp_path: Path
) -> None:
    writer = new_writer()
    asyncio.run(_table(writer, tmp_path).load())
    again = _table(writer, tmp_path, options={"payment": "pei"})
    asyncio.run(again.load())
    assert again.session.places[0].chips == 50


def test_rules_that_changed_with_the_program_are_refused(tmp_path: Path) -> None:
    config = TableConfig(home=str(tmp_path), driver="none")
    rules = rulesets.load("zhenjiang")
    before = opened_by(config, rules)
    check_unchanged(before, config, rules)
    other = m.SessionOpened(
        **{**{n: getattr(before, n) for n in before.__struct_fields__}, "ruleset_hash": "0"}
    )
    with pytest.raises(ConfigError, match="hash"):
        check_unchanged(other, config, rules)


@pytest.mark.parametrize(
    "settings", [{"players": ("a",)}, {"players": ("a",) * 5}, {"chips": -1}, {"chips": 10**9}]
)
def test_a_session_that_could_not_be_played_is_not_opened(
    new_writer: Callable[[], Any], tmp_path: Path, settings: dict[str, Any]
) -> None:
    writer = new_writer()
    with pytest.raises(ConfigError):
        asyncio.run(_table(writer, tmp_path, **settings).load())
    assert writer.entries == []


@pytest.mark.parametrize(
    "events",
    [
        [("hand.confirmed", b"{}")],
        [m.encode(m.RefereeCalled(place=1))],
        [("from.the.future", b"{}")],
    ],
    ids=["not readable", "no opening", "unknown kind first"],
)
def test_a_log_that_can_not_be_followed_is_told(
    new_writer: Callable[[], Any], tmp_path: Path, events: list[tuple[str, bytes]]
) -> None:
    writer = new_writer()
    asyncio.run(writer.append(events))
    with pytest.raises(NotALog):
        asyncio.run(_table(writer, tmp_path).load())


def test_what_somebody_has_to_choose_is_asked_for_in_one_line(
    new_writer: Callable[[], Any], tmp_path: Path
) -> None:
    writer = new_writer()
    table = _table(writer, tmp_path, ruleset="fengcheng", players=("a", "b", "c"))
    with pytest.raises(ConfigError) as refused:
        asyncio.run(table.load())
    line = str(refused.value)
    assert refused.value.code == "config.unanswered"
    assert "\n" not in line
    assert "lei_per_point" in line
    assert "10 = a plain discard win costs" in line
    assert "[options]" in line
    assert writer.entries == []


def test_a_table_opens_once_it_was_chosen(new_writer: Callable[[], Any], tmp_path: Path) -> None:
    writer = new_writer()
    settings = {"ruleset": "fengcheng", "players": ("a", "b", "c"), "options": {"lei_per_point": 10}}
    table = _table(writer, tmp_path, **settings)
    asyncio.run(table.load())
    assert [place.chips for place in table.session.places] == [100, 100, 100]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"ruleset": "fengcheng", "options": {"lei_per_point": 1}}, "for 3 players, not 4"),
        ({"chips": -1}, "chips = -1"),
        ({"chips": 10_000_000}, "chips = 10000000"),
    ],
)
def test_what_the_rules_cannot_be_opened_with(
    new_writer: Callable[[], Any], tmp_path: Path, settings: dict[str, Any], says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        asyncio.run(_table(new_writer(), tmp_path, **settings).load())


@pytest.mark.parametrize(("ruleset", "chips"), [("zhenjiang", 50), ("mcr", 0), ("xiamen", 100)])
def test_without_chips_everybody_begins_with_the_stake_of_the_rules(ruleset: str, chips: int) -> None:
    options = {"hand_size": 16} if ruleset == "xiamen" else {}
    config = TableConfig(home="x", driver="none", ruleset=ruleset, options=options)
    assert opened_by(config, rulesets.load(ruleset, options)).chips == [chips] * 4

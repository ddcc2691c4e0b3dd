"""A station that dies and one that stands by: tables go over in time, and both have the same history."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from station.demo.layout import free_port
from station.link.keys import generate
from tests.station.drills import books
from tests.station.drills.hall import Node, enrol

pytestmark = [pytest.mark.system, pytest.mark.slow]
BACK_WITHIN_S = 10.0
NAMES = ("T1", "T2", "T3")


def test_tables_go_over_to_the_station_that_stands_by_and_back(
    tmp_path: Path, figure: Callable[[str], None]
) -> None:
    enrol(tmp_path, NAMES)
    generate(tmp_path / "keys", "standby")
    first, second = (f"tcp://127.0.0.1:{free_port()}" for _ in range(2))
    main = Node(tmp_path, "central", "central", endpoint=first)
    other = Node(tmp_path, "central", "other", endpoint=second, keys="standby", log="standby.log")
    tables = {
        name: Node(
            tmp_path,
            "table",
            name,
            endpoint=first,
            standby=second,
            table_id=name,
            write=True,
            pause_s=0.02,
        )
        for name in NAMES
    }
    nodes = (main, other, *tables.values())
    try:
        for node in nodes:
            node.start()
        _reach(tables, "central.up", dict.fromkeys(NAMES, 0))
        over = _after(tables, "central.standby", main.kill)
        main.start()
        back = _after(tables, "central.up", other.kill)
        for table in tables.values():
            table.stop()
        marks = {name: table.mark for name, table in tables.items()}
        for name, table in tables.items():
            table.start(write=False)
            assert table.wait_for("drained", marks[name])
        assert [node.stop() for node in (main, *tables.values())] == [0] * 4
    finally:
        for node in nodes:
            node.kill()
    said = {n: [(w["seq"], w["body"]) for w in t.said() if "seq" in w] for n, t in tables.items()}
    events = books.check(tmp_path / "central.log", {n: tmp_path / f"{n}.log" for n in NAMES}, said)
    whole, kept = (books.of_central(tmp_path / f"{log}.log") for log in ("central", "standby"))
    for name in NAMES:
        assert len(kept[name]) > 10
        assert kept[name] == whole[name][: len(kept[name])]
    figure(f"over to the other {1_000 * over:.0f} ms after a kill, back {1_000 * back:.0f} ms after the next")
    figure(f"{events} events at the tables and the main station")
    assert max(over, back) <= BACK_WITHIN_S


def _reach(tables: dict[str, Node], code: str, marks: dict[str, int]) -> float:
    """Wait until every table says a code; when the last one did."""
    lines = [
        table.wait_until(lambda line: line.get("code") == code, marks[name], code)
        for name, table in tables.items()
    ]
    return max(float(line["at"]) for line in lines)


def _after(tables: dict[str, Node], code: str, kill: Callable[[], bool]) -> float:
    """Kill a station; seconds until every table has said that it is with the other one."""
    marks = {name: table.mark for name, table in tables.items()}
    killed_at = time.monotonic()
    assert kill()
    return _reach(tables, code, marks) - killed_at

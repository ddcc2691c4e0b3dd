"""Networks that are cut, both ways and one way: the table says so, loses nothing, and is back in time."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.station.drills import books
from tests.station.drills.cables import Cable, cables
from tests.station.drills.hall import Node, enrol

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(180)]
BACK_WITHIN_S = 10.0
CUTS = {
    "T1": {},
    "T2": {"to_table": False},
    "T3": {"to_central": False},
}
"""T1 both ways; T2: what it sends is lost; T3: what it is sent is lost; T4 keeps its cable."""


def test_tables_are_back_in_time_after_a_cut_and_nothing_is_lost(
    tmp_path: Path, figure: Callable[[str], None]
) -> None:
    _drill(tmp_path, 2.0, figure)


@pytest.mark.soak
@pytest.mark.parametrize("held_s", [5.0, 11.0, 17.0, 23.0, 29.0, 60.0])
def test_tables_are_back_in_time_after_a_long_cut(
    tmp_path: Path, held_s: float, figure: Callable[[str], None]
) -> None:
    """A long cut has the pauses between two tries at their longest."""
    _drill(tmp_path, held_s, figure)


def _drill(tmp_path: Path, held_s: float, figure: Callable[[str], None]) -> None:
    names = [*CUTS, "T4"]
    with cables(len(names)) as (centre, laid):
        enrol(tmp_path, names)
        central = Node(
            tmp_path, "central", "central", netns=centre, endpoint="tcp://0.0.0.0:7700", presence=True
        )
        central.start()
        cable = dict(zip(names, laid, strict=True))
        tables = {name: _table(tmp_path, name, cable[name]) for name in names}
        try:
            for table in tables.values():
                table.start()
                table.wait_until(lambda line: line.get("code") == "central.up", what="up")
            marks = {name: table.mark for name, table in tables.items()}
            seen = central.mark
            cut_at = time.monotonic()
            for name, ways in CUTS.items():
                cable[name].cut(**ways)
            down = {
                name: tables[name].wait_until(
                    lambda line: line.get("code") == "central.down", marks[name], "down"
                )
                for name in CUTS
            }
            central.wait_until(lambda line: line.get("online") == ["T4"], seen, "that three are silent")
            time.sleep(held_s)
            marks = {name: table.mark for name, table in tables.items()}
            heard = {line["seq"] for name in CUTS for line in tables[name].said() if "seq" in line}
            healed_at = time.monotonic()
            for name in CUTS:
                cable[name].heal()
            up = {
                name: tables[name].wait_until(
                    lambda line: line.get("code") == "central.up", marks[name], "up"
                )
                for name in CUTS
            }
            for table in tables.values():
                table.stop()
            for table in tables.values():
                table.start(write=False)
            drained = {name: tables[name].wait_for("drained", marks[name]) for name in names}
            assert all(drained.values())
            assert len(heard) > 100  # all tables played on meanwhile
            codes = [line["code"] for line in tables["T4"].said() if "code" in line]
            assert codes.count("central.down") <= 2  # of its two stops
            assert [node.stop() for node in (*tables.values(), central)] == [0] * 5
        finally:
            for node in (*tables.values(), central):
                node.kill()
    said = {n: [(w["seq"], w["body"]) for w in t.said() if "seq" in w] for n, t in tables.items()}
    events = books.check(tmp_path / "central.log", {n: tmp_path / f"{n}.log" for n in names}, said)
    for name, ways in CUTS.items():
        noticed, back = down[name]["at"] - cut_at, up[name]["at"] - healed_at
        kind = {"T1": "both ways", "T2": "to the central station", "T3": "to the table"}[name]
        figure(f"cut {kind}: down after {noticed:.1f} s, up {1_000 * back:.0f} ms after healing")
        assert back <= BACK_WITHIN_S, ways
    figure(f"{events} events on both sides")


def _table(folder: Path, name: str, cable: Cable) -> Node:
    endpoint = f"tcp://{cable.address}:7700"
    return Node(
        folder, "table", name, netns=cable.netns, endpoint=endpoint, table_id=name, write=True, pause_s=0.02
    )

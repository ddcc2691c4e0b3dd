"""`python -m benchmarks` says what it can measure, and measures frames as a table judges them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import bridge, fitness
from benchmarks.link import contestant, day
from benchmarks.link.client import Meter

ROOT = Path(__file__).parents[1]


def benchmarks(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def test_its_help_names_every_benchmark() -> None:
    done = benchmarks("--help")
    assert done.returncode == 0
    names = ("wincheck", "reading", "fitness", "pipeline", "log", "evidence", "link", "bridge")
    for name in (f"{name}: " for name in names):
        assert name in done.stdout


def test_another_name_is_refused_before_anything_is_measured() -> None:
    done = benchmarks("log", "nothing")
    assert done.returncode == 2
    assert "there is no benchmark 'nothing'" in done.stderr
    assert done.stdout == ""


@pytest.mark.slow
def test_calm_frames_are_fit_and_hands_are_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitness, "CASES", {name: fitness.CASES[name] for name in ("calm", "hand, fair")})
    monkeypatch.setattr(fitness, "CLOTHS", fitness.CLOTHS[:1])
    fitness.measure(scenes=1, first=5100)
    rows = capsys.readouterr().out.splitlines()[2:]
    assert rows == [
        "| calm | 1600 x 1200 | 4 | 0 | - | 0 |",
        "| hand, fair | 1600 x 1200 | 4 | 4 | - | 0 |",
        "| calm | 1280 x 720 | 4 | 0 | - | 0 |",
        "| hand, fair | 1280 x 720 | 4 | 4 | - | 0 |",
    ]


def test_what_a_client_was_told_is_held_against_what_was_done() -> None:
    said = {1: "done", 2: "done", 3: "failed", 4: "done", 5: "unknown"}
    acts = [(1, 1), (2, 2), (2, 2), (3, 3), (7, 7)]
    assert bridge.judge("lines", said, acts) == {
        "executed_twice": 1,
        "executed_wrongly": 1,
        "said_done_but_was_not": 1,
        "said_failed_but_was_done": 1,
        "said_failed": 1,
        "said_unknown": 1,
    }


@pytest.mark.slow
@pytest.mark.system
@pytest.mark.parametrize("name", ["ours, request", "ours, in memory", "lines"])
def test_every_link_is_measured_over_the_same_terminals(name: str) -> None:
    with bridge.Terminals() as terminals:
        figures = bridge.measure(name, terminals, count=20, rate=0.0, seed=1)
    assert figures["damaged"] == 0
    assert figures["wire_bytes"] > 10
    assert figures.get("executed_twice", 0) == figures.get("executed_wrongly", 0) == 0


@pytest.mark.slow
@pytest.mark.system
def test_the_link_is_measured_through_its_own_process() -> None:
    figures = contestant.measure("ours", 3, pace_s=1.0, settle_s=0.2, full_s=0.5)
    assert figures["paced"]["events"] >= 2
    assert figures["paced"]["behind"] <= 1
    assert figures["saturated"]["events_per_s"] > 10
    caught = contestant.measure("ours", 3, pace_s=0, settle_s=0, full_s=0, catch_up=50)
    assert caught["catch_up"]["events"] == 150


def test_waiting_counts_from_the_moment_an_event_was_due() -> None:
    meter = Meter(2)
    meter.latencies = []
    for at in (1.0, 2.0, 3.0):
        meter.due(0, at)
    meter.ack(0, 2, 2.5)
    meter.ack(0, 2, 9.0)  # an acknowledgement again
    assert meter.latencies == [1.5, 0.5]
    assert (meter.total, meter.waiting) == (2, 1)


def test_a_day_in_virtual_time_is_told_by_the_hour(tmp_path: Path) -> None:
    figures = day.live(tmp_path, tables=2, hours=4)
    assert figures["events"] == 2 * (1 + 60 * 8)
    assert len(figures["rss_mb"]) == 4


def test_a_slope_is_that_of_the_best_line() -> None:
    assert day.slope([1.0, 3.0, 5.0]) == 2.0
    assert day.slope([4.0, 4.0, 4.0, 4.0]) == 0.0

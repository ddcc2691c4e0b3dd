"""`python -m benchmarks` says what it can measure, and measures frames as a table judges them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import bridge, fitness

ROOT = Path(__file__).parents[1]


def benchmarks(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def test_its_help_names_every_benchmark() -> None:
    done = benchmarks("--help")
    assert done.returncode == 0
    for name in ("wincheck: ", "reading: ", "fitness: ", "pipeline: ", "log: ", "bridge: "):
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

"""`python -m benchmarks` says what it can measure, and measures frames as a table judges them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import fitness

ROOT = Path(__file__).parents[1]


def benchmarks(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def test_its_help_names_every_benchmark() -> None:
    done = benchmarks("--help")
    assert done.returncode == 0
    for name in ("wincheck: ", "reading: ", "fitness: ", "pipeline: ", "log: "):
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

"""The benchmark runs, measures every task, and says plainly which peer is not there. No figure is judged."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCH = "benchmarks/wincheck/bench.py"
WITHOUT_PEERS = f"""
import importlib.metadata, runpy, sys
for module in ("MahjongGB", "riichienv", "xiangting"):
    sys.modules[module] = None
found = importlib.metadata.version
def version(name):
    if name != "mahjong":
        raise importlib.metadata.PackageNotFoundError(name)
    return found(name)
importlib.metadata.version = version
sys.argv[1:] = ["--hands", "40"]
runpy.run_path({BENCH!r}, run_name="__main__")
"""


def run(*words):
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.slow
def test_every_task_is_measured_with_0_to_4_wildcards():
    answer = json.loads(run(BENCH, "--hands", "40", "--json"))
    figures = answer["k_per_s"]
    assert set(figures) == {"win check", "batch", "waits", "readings", "verdict"}
    for task in figures.values():
        engine = [name for name in task if name.startswith("engine")]
        assert all(any(f"{wilds} wildcards" in name for name in engine) for wilds in range(5))
    assert "mahjong, counts of 14" in figures["win check"]
    assert all(rate > 0 for task in figures.values() for rate in task.values())


@pytest.mark.slow
def test_a_peer_that_is_not_installed_is_named():
    answer = run("-c", WITHOUT_PEERS)
    for name in ("PyMahjongGB", "riichienv", "xiangting"):
        assert f"NOT MEASURED: {name} is not installed; pip install -r benchmarks/requirements.txt" in answer
    assert "mahjong, counts of 14" in answer
    assert "NOT MEASURED: mahjong " not in answer

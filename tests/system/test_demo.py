"""The demo as a user runs it: the whole path, and that its check bites."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import rulesets
from tests.engine.extras import needs
from tests.system.running import LEASHED, finished, leash
from vision.model_card import DEFAULT_CARD, LABELS

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(600)]


def _demo(home: Path, *words: str, timeout: float = 500) -> tuple[int, dict[str, Any], str]:
    done = finished(home, "demo", "--headless", "--json", *words, timeout=timeout)
    assert done.stdout, (done.returncode, done.stderr)
    return done.returncode, json.loads(done.stdout), done.stderr


def test_the_main_job_runs_end_to_end(tmp_path: Path) -> None:
    status, result, errors = _demo(tmp_path, "--tables", "2", "--hands", "6", "--seed", "7")
    assert status == 0, (result, errors)
    assert result["hands_played"] == 12 == result["wins"] + result["draws"] + result["voids"]
    assert result["wins"] >= 6
    assert result["no_wins"] >= 1
    assert result["false_wins_ruled"] >= 1
    assert result["draws"] >= 1
    assert result["verdicts_agree"]
    assert result["tiles_mended"] <= 0.003 * result["tiles_read"]
    assert (result["silently_wrong"], result["read_anyway"]) == (0, 0)
    assert set(result["guidance"]) >= {"hand_in_view", "glare", "camera_moved", "moving"}
    assert (result["indicators_read"], result["indicators_mended"]) == (12, 0)
    for table in result["tables"]:
        assert sum(table["chips"].values()) + table["bank"] == 200
        assert table["events"] == table["central_events"]
        assert table["chain_ok"]
    for name in ("frame_to_verdict", "confirm_to_central"):
        assert result["latency_ms"][name]["p50"] is not None


@pytest.mark.parametrize(
    ("ruleset", "players", "stake", "settings"),
    [
        pytest.param("fengcheng", 3, 100, {"lei_per_point": 1}),
        pytest.param("mcr", 4, 0, {}, marks=needs("mcr")),
        pytest.param("xiamen", 4, 100, {"hand_size": 16}),
        pytest.param("zhenjiang", 4, 50, {}),
    ],
)
def test_every_rule_set_is_played_end_to_end(
    tmp_path: Path, ruleset: str, players: int, stake: int, settings: dict[str, Any]
) -> None:
    words = ("--ruleset", ruleset, "--tables", "1", "--hands", "3", "--seed", "7", "--auto")
    status, result, errors = _demo(tmp_path, *words)
    assert status == 0, (result, errors)
    assert result["verdicts_agree"]
    assert result["settings"] == settings
    assert all(f"{name} = {value} (asked at set-up)" in errors for name, value in settings.items())
    assert result["hands_played"] == 3 == result["wins"] + result["draws"] + result["voids"]
    assert result["wins"] >= 1
    assert result["no_wins"] >= 1
    assert result["tiles_read"] > 30
    assert result["tiles_mended"] <= 0.02 * result["tiles_read"]
    assert (result["silently_wrong"], result["read_anyway"]) == (0, 0)
    turned = rulesets.load(ruleset).data.deal.indicators
    assert (result["indicators_read"], result["indicators_mended"]) == (3 * turned, 0)
    (table,) = result["tables"]
    assert len(table["chips"]) == players
    had = stake * players + sum(table["loans"].values())
    assert sum(table["chips"].values()) + table["bank"] + sum(table["carried"].values()) == had
    assert sum(table["outside"].values()) == 0
    assert table["events"] == table["central_events"]
    assert table["chain_ok"]
    assert result["motions"]["T1"]["DEAL"] == 3


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_two_hundred_hands_hold_no_silent_error(tmp_path: Path) -> None:
    words = ("--tables", "2", "--hands", "100", "--seed", "11", "--speed", "100")
    status, result, errors = _demo(tmp_path, *words, timeout=1700)
    assert status == 0, (result, errors)
    assert result["hands_played"] == 200
    assert (result["silently_wrong"], result["read_anyway"]) == (0, 0)
    assert result["tiles_mended"] <= 0.003 * result["tiles_read"]
    assert result["verdicts_agree"]


def test_two_runs_with_one_seed_are_equal_but_for_times(tmp_path: Path) -> None:
    first, second = (
        _demo(tmp_path / name, "--tables", "1", "--hands", "3", "--seed", "5", "--speed", "100")[1]
        for name in ("a", "b")
    )
    for result in (first, second):
        del result["latency_ms"]
    assert first == second


@pytest.fixture
def weak_model(tmp_path: Path) -> Path:
    """Return the card of a recognizer that mixes up neighbours: 1 and 2, 3 and 4, … of each suit."""
    onnx = pytest.importorskip("onnx")
    folder = tmp_path / "weak"
    shutil.copytree(DEFAULT_CARD.parent, folder)
    path = folder / "classifier.onnx"
    model = onnx.load(str(path))
    (kinds,) = (tensor for tensor in model.graph.initializer if list(tensor.dims) == [128, len(LABELS)])
    order = np.arange(len(LABELS))
    for suit in (0, 9, 18):
        for rank in (0, 2, 4, 6):
            order[[suit + rank, suit + rank + 1]] = suit + rank + 1, suit + rank
    weights = onnx.numpy_helper.to_array(kinds)[:, order]
    kinds.CopyFrom(onnx.numpy_helper.from_array(np.ascontiguousarray(weights), kinds.name))
    onnx.save(model, str(path))
    card = json.loads((folder / "recognizer.json").read_text())
    card["classifier"]["sha256"] = sha256(path.read_bytes()).hexdigest()
    (folder / "recognizer.json").write_text(json.dumps(card))
    return folder / "recognizer.json"


def test_with_a_weakened_model_and_no_mending_the_status_is_1(tmp_path: Path, weak_model: Path) -> None:
    status, result, _ = _demo(
        tmp_path / "home", "--tables", "1", "--hands", "2", "--no-mend", "--model", str(weak_model)
    )
    assert status == 1
    assert not result["verdicts_agree"]
    assert result["disagreements"]


@pytest.mark.parametrize("ruleset", ["fengcheng", "xiamen"])
def test_what_a_weakened_model_reads_wrong_is_mended(tmp_path: Path, weak_model: Path, ruleset: str) -> None:
    words = ("--ruleset", ruleset, "--tables", "1", "--hands", "2", "--seed", "7", "--model", str(weak_model))
    status, result, errors = _demo(tmp_path / "home", *words)
    assert status == 0, (result, errors)
    assert result["verdicts_agree"]
    assert result["tiles_mended"] > 0.2 * result["tiles_read"]
    assert result["silently_wrong"] > 0


def test_without_a_terminal_it_plays_fetches_both_pages_and_ends(tmp_path: Path) -> None:
    done = finished(tmp_path, "demo", "--auto", "--hands", "1", timeout=300)
    assert done.returncode == 0, done.stderr
    assert "/referee: " in done.stdout
    assert "/wall: " in done.stdout
    assert "every booked hand is the true one" in done.stdout
    assert "looks at hands not fit to be read: " in done.stdout
    assert "T1 hand 1 of 1: " in done.stderr


@contextmanager
def _playing(home: Path, command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Give a demo that has begun to play."""
    words = [*command, "--home", str(home), "demo", "--headless", "--hands", "50"]
    with leash() as stdin, (home / "stderr").open("w+") as errors, ExitStack() as stack:
        demo = subprocess.Popen(words, stdin=stdin, stdout=subprocess.DEVNULL, stderr=errors, text=True)
        stack.callback(demo.wait)
        stack.callback(demo.kill)
        _wait_until(lambda: "Ctrl-C" in (home / "stderr").read_text() or demo.poll() is not None)
        assert demo.poll() is None, (home / "stderr").read_text()
        yield demo


def _wait_until(condition: Callable[[], bool]) -> None:
    """Wait as long as a busy computer may take."""
    deadline = time.monotonic() + 200
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _children(home: Path) -> list[int]:
    return [int(file.read_text()) for file in (home / "demo").glob("*.pid")]


def _lives(pid: int) -> bool:
    """Whether a process runs; one that ended, and that nobody asked about yet, does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def test_it_stops_cleanly_when_told_to(tmp_path: Path) -> None:
    with _playing(tmp_path, [sys.executable, "-m", "station.cli.main"]) as demo:
        demo.send_signal(signal.SIGTERM)
        assert demo.wait(60) == 0
        assert len(_children(tmp_path)) == 5
        assert not any(map(_lives, _children(tmp_path)))


def test_its_processes_end_with_it_when_it_is_killed(tmp_path: Path) -> None:
    with _playing(tmp_path, [sys.executable, "-m", "station.cli.main"]) as demo:
        demo.kill()
        _wait_until(lambda: not any(map(_lives, _children(tmp_path))))
        assert len(_children(tmp_path)) == 5


def test_a_leashed_demo_ends_with_whoever_started_it(tmp_path: Path) -> None:
    starter = "import subprocess, sys; subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE).wait()"
    with _playing(tmp_path, [sys.executable, "-c", starter, *LEASHED]) as killed:
        killed.kill()
        _wait_until(lambda: not any(map(_lives, _children(tmp_path))))
        assert len(_children(tmp_path)) == 5

"""Files, streams and numbers that are not what they should be: one plain line, never a traceback."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from station.cli.main import main

DEEP = "[" * 100_000
QUEZHUO = [sys.executable, "-m", "station.cli.main"]


def _files(folder: Path) -> dict[str, str]:
    (folder / "deep").write_text(DEEP)
    (folder / "binary").write_bytes(b"\xff\xfe\x00garbage")
    (folder / "folder").mkdir()
    (folder / "empty").touch()
    return {name: str(folder / name) for name in ("deep", "binary", "folder", "empty", "absent")}


@pytest.mark.parametrize("kind", ["deep", "binary", "folder", "empty", "absent"])
@pytest.mark.parametrize(
    "words",
    [
        ["check", "--ruleset", "zhenjiang", "--vectors"],
        ["verify"],
        ["read"],
        ["read", "x.jpg", "--regions"],
        ["read", "x.jpg", "--calibration"],
        ["read", "x.jpg", "--model"],
        ["read", "x.jpg", "--tileset"],
        ["enroll", "--renew"],
        ["enroll", "--inventory", "--kinds", "1m"],
        ["enroll", "--photos", ".", "--out", "x.json", "--kinds", "1m", "--plan"],
        ["table", "--config"],
        ["doctor", "--config"],
        ["central", "--config"],
        ["machine-sim", "--profile"],
    ],
    ids=" ".join,
)
def test_a_file_of_another_kind_is_told_in_one_line(
    words: list[str], kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = _files(tmp_path)[kind]
    assert main([*words, name, "--home", str(tmp_path / "home")]) == 2
    told = capsys.readouterr()
    lines = [line for line in told.err.splitlines() if line.startswith("quezhuo: ")]
    assert len(lines) == 1
    assert "mistake in the program" not in lines[0]


@pytest.mark.parametrize(
    "words",
    [
        ["--speed", "nan"],
        ["--speed", "inf"],
        ["--uid", "ffffffffffffffffffff"],
        ["--uid", "-1"],
        ["--uid", "board"],
        ["--page", "99999"],
        ["--faults", "delay=nan"],
        ["--faults", "mute=-1s"],
        ["--profile", "nowhere"],
    ],
    ids=" ".join,
)
def test_a_machine_that_can_not_be_is_bad_input(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["machine-sim", *words]) == 2
    said = capsys.readouterr().err
    assert said.startswith("quezhuo: ")
    assert "lambda" not in said
    assert "http_port" not in said


@pytest.mark.parametrize(
    "line", ['speed = "x"', "speed = [1]", "pulses = 5", 'seed = "x"', "service_key = 1", "seed = true"]
)
def test_a_value_of_a_wrong_type_in_a_machines_file_is_named(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(line)
    assert main(["machine-sim", "--config", str(file)]) == 2
    assert line.split()[0] in capsys.readouterr().err


def test_a_file_keeps_its_own_name_at_the_beginning_of_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "card.json").write_text("no JSON")
    assert main(["read", "x.jpg", "--model", "card.json"]) == 2
    assert "quezhuo: card.json " in capsys.readouterr().err


def test_what_nobody_foresaw_is_one_line_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> int:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(importlib.import_module("station.cli.rules"), "run", broken)
    assert main(["rules", "--json"]) == 3
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "internal"
    assert "ZeroDivisionError" in error["message"]


def test_a_stop_while_a_command_starts_is_a_clean_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def stopped(_: object) -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        return 1

    monkeypatch.setattr(importlib.import_module("station.cli.rules"), "run", stopped)
    monkeypatch.setattr(sys, "argv", ["quezhuo", "rules"])
    try:
        assert main() == 0
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.parametrize("words", [["rules", "zhenjiang"], ["--version"], ["config", "table"]], ids=" ".join)
@pytest.mark.parametrize("buffered", [True, False])
def test_output_that_nobody_can_take_makes_no_noise(
    words: list[str], buffered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", "" if buffered else "1")
    command = [*QUEZHUO, *words]
    read_end, write_end = os.pipe()
    os.close(read_end)
    gone = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write_end)
    assert (gone.returncode, gone.stderr) == (0, "")
    shell = ["sh", "-c", '"$@" >&-', "sh", *command]
    closed = subprocess.run(shell, stderr=subprocess.PIPE, text=True, check=False)
    assert (closed.returncode, closed.stderr) == (0, "")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 1

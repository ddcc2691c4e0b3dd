"""`release`: a person ends the quarantine of a table's log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from station.cli.main import main
from station.link.keys import generate, write_allow_list
from station.log import Head, Log, chain, verify_file
from station.log.chain import ZERO_HEAD

A, B = b"A" * 16, b"B" * 16


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A station that holds two entries of T1, whose log is in quarantine for a fork, and a rolled back T2."""
    write_allow_list(tmp_path / "tables.toml", {"T1": generate(tmp_path / "keys", "T1").public})
    (tmp_path / "central").mkdir()
    with Log.open(tmp_path / "central" / "central.db") as log:
        for table, log_id, reason in (("T1", A, "fork"), ("T2", B, "rollback")):
            told = chain.link(log_id, ZERO_HEAD, [("e", b"{}")] * 2, 1)
            log.accept([(table, entry) for entry in told], 1)
            log.quarantine(table, log_id, reason, Head(1, told[0].hash), 2)
    path = tmp_path / "central.toml"
    path.write_text('home = "central"\nallow_list = "tables.toml"\nsecret_key = "keys/central.key"\n')
    return path


def log_of(config: Path) -> Path:
    return config.parent / "central" / "central.db"


def test_a_forked_log_is_released_with_the_reason_in_the_stations_log(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["release", "T1", "--reason", "spare card", "--config", str(config), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["table"], told["log_id"], told["reason"], told["entries"]) == (
        "T1",
        A.hex(),
        "spare card",
        2,
    )
    with Log.open(log_of(config)) as log:
        assert (log.quarantined(A), log.quarantined(B)) == ("", "rollback")
        said = json.loads(log.entries_of(log.log_id)[-1].body)
    assert (said["by"], said["why"], said["reason"], said["seq"]) == ("person", "spare card", "fork", 2)
    assert verify_file(log_of(config))["ok"] is True


def test_of_several_logs_one_has_to_be_named(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Log.open(log_of(config)) as log:
        log.quarantine("T1", b"C" * 16, "fork", Head(1, bytes(32)), 3)
    words = ["release", "T1", "--reason", "x", "--config", str(config)]
    assert main(words) == 2
    assert A.hex() in capsys.readouterr().err
    assert main([*words, "--log-id", A.hex().upper()]) == 0
    with Log.open(log_of(config)) as log:
        assert not log.in_quarantine(A)
        assert log.in_quarantine(b"C" * 16)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["T9", "--reason", "x"], "No such log of table T9"),
        (["T1", "--reason", "x", "--log-id", "00"], "No such log of table T1"),
        (["T2", "--reason", "x"], "restore --from-central"),
        (["T1", "--reason", " "], "--reason"),
        (["T1"], "--reason"),
    ],
)
def test_what_cannot_be_released_is_one_line_and_changes_nothing(
    words: list[str], said: str, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = verify_file(log_of(config))["head"]
    assert main(["release", *words, "--config", str(config)]) == 2
    told = capsys.readouterr()
    assert not told.out
    assert len(told.err.splitlines()) == 1
    assert said in told.err
    assert verify_file(log_of(config))["head"] == before


def test_a_station_that_runs_has_to_be_stopped_first(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Log.open(log_of(config)):
        assert main(["release", "T1", "--reason", "x", "--config", str(config)]) != 0
    told = capsys.readouterr().err
    assert len(told.splitlines()) == 1
    assert "The central station runs" in told
    assert "Stop it" in told


def test_a_station_without_a_log_is_one_line(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log_of(config).unlink()
    assert main(["release", "T1", "--reason", "x", "--config", str(config)]) != 0
    assert "There is no log" in capsys.readouterr().err
    assert not log_of(config).exists()

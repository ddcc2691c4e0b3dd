from __future__ import annotations

import json
from pathlib import Path

import pytest

from firmware_bridge.discovery import CHECKS
from station.cli.main import main
from station.table.config import EXAMPLE


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A system with one port on a built-in line, which this user may open."""
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/ttyAMA0").touch(mode=0o660)
    return tmp_path


def test_a_port_with_nothing_in_the_way_gives_one_ok_line_a_check(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--root", str(root), "--port", "/dev/ttyAMA0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(CHECKS) + 1
    assert all(line.startswith("ok ") for line in lines[:-1])
    assert lines[-1] == "Nothing is in the way of /dev/ttyAMA0."


def test_a_finding_is_told_with_its_fix_and_gives_1(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--root", str(root), "--port", "/dev/ttyUSB0"]) == 1
    told = capsys.readouterr().out
    assert "PROBLEM  port: There is no device at /dev/ttyUSB0. Plug the machine in" in told


def test_a_simulated_machine_that_does_not_run_is_to_be_started(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--root", str(root), "--port", "pty:/tmp/absent"]) == 1
    told = capsys.readouterr().out
    assert (
        "There is no simulated machine at pty:/tmp/absent. Start it with `quezhuo machine-sim --pty" in told
    )


def test_json_has_every_check_with_its_findings(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--root", str(root), "--port", "/dev/absent", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is False
    assert [check["check"] for check in told["checks"]] == [check.name for check in CHECKS]
    (finding,) = next(check for check in told["checks"] if check["check"] == "port")["findings"]
    assert set(finding) == {"code", "sentence", "fix"}


def test_the_port_is_taken_from_a_tables_configuration(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = root / "table.toml"
    file.write_text(EXAMPLE.replace("/dev/serial/by-path/...", "/dev/ttyAMA0"))
    assert main(["doctor", "--root", str(root), "--config", str(file)]) == 0
    assert f"Next: `quezhuo table --config {file}`" in capsys.readouterr().out.splitlines()[-1]
    file.write_text(EXAMPLE)
    assert main(["doctor", "--root", str(root), "--config", str(file)]) == 1
    told = capsys.readouterr().out
    assert "no device at /dev/serial/by-path/..." in told
    assert "the name that `ls /dev/serial/by-path` shows" in told
    assert told.splitlines()[-1] == "2 problems: mend the first, then run this again."


@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["words", "json"])
def test_a_table_without_a_machine_has_nothing_to_look_at(
    as_json: list[str], root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = root / "table.toml"
    file.write_text(EXAMPLE.replace('driver = "native"', 'driver = "none"'))
    assert main(["doctor", "--root", str(root), "--config", str(file), *as_json]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [["--port", "ttyUSB0"], ["--root", "/nowhere"], ["--port", "/dev/x", "--config", "x"]],
    ids=" ".join,
)
def test_wrong_usage_is_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", *words]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


PRESS = '[modbus_press]\nport = "{port}"\nlid_input = 1\n'


def test_the_port_of_a_relay_board_is_looked_at_and_its_extra(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = root / "table.toml"
    file.write_text('home = "T1"\ndriver = "modbus_press"\n' + PRESS.format(port="/dev/ttyAMA0"))
    monkeypatch.setattr("station.cli.doctor.find_spec", lambda name: name)
    assert main(["doctor", "--root", str(root), "--config", str(file)]) == 0
    assert "ok       extra: " in capsys.readouterr().out
    monkeypatch.setattr("station.cli.doctor.find_spec", lambda name: None)
    assert main(["doctor", "--root", str(root), "--config", str(file)]) == 1
    assert "PROBLEM  extra: The relay board needs the extra `modbus`." in capsys.readouterr().out


def test_a_machine_that_is_watched_without_a_board_has_nothing_to_look_at(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = root / "table.toml"
    file.write_text('home = "T1"\ndriver = "observe"\n')
    assert main(["doctor", "--root", str(root), "--config", str(file)]) == 0
    assert "nothing to look at" in capsys.readouterr().out

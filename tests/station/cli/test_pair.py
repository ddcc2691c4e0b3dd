"""`pair` as a technician runs it: one process at each side, on loopback."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from station.cli.main import main
from station.link.keys import AllowList, generate, load_pair, load_public
from station.table.config import load_config


class Side:
    """`quezhuo pair --json` at one side."""

    def __init__(self, *words: object) -> None:
        command = [sys.executable, "-m", "station.cli.main", "pair", "--json", *map(str, words)]
        pipe = subprocess.PIPE
        self.child = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env={**os.environ, "PYTHONPATH": "."}
        )

    def said(self) -> Any:
        assert self.child.stdout is not None
        return json.loads(self.child.stdout.readline())

    def asked(self, what: str) -> None:
        assert self.child.stderr is not None
        while what not in self.child.stderr.readline():
            assert self.child.poll() is None

    def types(self, line: str) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(f"{line}\n")
        self.child.stdin.flush()

    def ends(self) -> tuple[int, Any]:
        out, _ = self.child.communicate(timeout=30)
        return self.child.returncode, json.loads(out.splitlines()[-1])


@pytest.fixture
def central(tmp_path: Path) -> Path:
    generate(tmp_path / "keys", "central")
    path = tmp_path / "central.toml"
    path.write_text(
        'home = "central"\nallow_list = "tables.toml"\nsecret_key = "keys/central.key"\n'
        'link = "tcp://127.0.0.1:7700"\npair_port = 0\n'
    )
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "table").mkdir()
    path = tmp_path / "table" / "table.toml"
    path.write_text('# ours\ntable = "T1"\nhome = "T1"\ndriver = "none"\n')
    return path


@pytest.fixture
def sides() -> Iterator[list[Side]]:
    sides: list[Side] = []
    yield sides
    for side in sides:
        if side.child.poll() is None:
            side.child.kill()
        side.child.communicate()


def together(central: Path, table: Path) -> bool:
    """Whether each side trusts the other's key."""
    config = load_config(table)
    assert config.central is not None
    pair = load_pair(Path(str(config.secret_key)))
    allowed = AllowList(central.parent / "tables.toml")
    return (
        allowed.table_of(pair.public) == "T1"
        and allowed.verify_key("T1") == pair.verify
        and load_public(Path(config.central.public_key))
        == load_public(central.parent / "keys" / "central.pub")
        and config.central.endpoint == "tcp://127.0.0.1:7700"
        and "# ours" in table.read_text()
    )


@pytest.mark.system
@pytest.mark.slow
def test_a_ticket_is_carried_over(
    central: Path, table: Path, sides: list[Side], capsys: pytest.CaptureFixture[str]
) -> None:
    sides.append(Side("--config", central, "T1"))
    ticket = sides[0].said()["ticket"]
    assert main(["pair", "--config", str(table), ticket, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["paired"] == "T1"
    status, told = sides[0].ends()
    assert (status, told["paired"]) == (0, "T1")
    assert together(central, table)
    assert main(["pair", "--config", str(table), ticket]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.system
@pytest.mark.slow
def test_a_second_station_is_paired_beside_the_first(
    central: Path, table: Path, sides: list[Side], capsys: pytest.CaptureFixture[str]
) -> None:
    second = central.parent / "second"
    generate(second / "keys", "central")
    other = second / "central.toml"
    other.write_text(central.read_text().replace(":7700", ":7710") + "standby = true\n")

    def paired(config: Path, *words: str) -> tuple[int, list[str]]:
        sides.append(Side("--config", config, "T1"))
        status = main(["pair", "--config", str(table), sides[-1].said()["ticket"], *words])
        told = capsys.readouterr()
        if status == 0:
            assert sides[-1].ends()[0] == 0
        return status, (told.out + told.err).splitlines()

    assert main(["pair", "--config", str(table), "--standby", "QZP1:AAAA"]) == 1
    assert "Pair with the main station first" in capsys.readouterr().err
    assert paired(central)[0] == 0
    status, told = paired(central, "--standby")
    assert (status, len(told)) == (1, 1)
    assert "the table's main station already" in told[0]
    status, told = paired(other, "--standby")
    assert (status, len(told)) == (0, 1)
    assert "the stand-by station at tcp://127.0.0.1:7710" in told[0]
    assert together(central, table)
    config = load_config(table)
    assert config.central is not None
    assert config.central.standby is not None
    assert config.central.standby.endpoint == "tcp://127.0.0.1:7710"
    key = Path(config.central.standby.public_key)
    assert key == table.parent / "keys" / "standby.pub"
    assert load_public(key) == load_public(second / "keys" / "central.pub")
    before = table.read_text()
    status, told = paired(other)
    assert (status, len(told)) == (1, 1)
    assert "the table's stand-by station already" in told[0]
    assert "delete [central.standby]" in told[0]
    assert table.read_text() == before


@pytest.mark.system
@pytest.mark.slow
def test_six_digits_are_read_out(central: Path, table: Path, sides: list[Side]) -> None:
    sides.append(Side("--config", central))
    address = sides[0].said()["addresses"][0]
    sides.append(Side("--config", table, "--station", address))
    code = sides[1].said()["code"]
    sides[0].asked("Type the code")
    sides[0].types(code)
    sides[0].asked("The codes agree")
    sides[1].asked("Type yes")
    sides[1].types("yes")
    assert sides[1].ends()[0] == 0
    assert sides[0].ends()[0] == 0
    assert together(central, table)


@pytest.mark.parametrize(
    ("words", "side", "status", "said"),
    [
        (["QZP1:AAAA"], "table", 1, "not whole"),
        (["hello"], "table", 1, "no ticket"),
        (["--photo", "nowhere.jpg"], "table", 1, "no file"),
        (["--photo", __file__], "table", 1, "no picture"),
        (["--station", "nonsense"], "table", 1, "no address"),
        (["--camera"], "table", 1, "no camera"),
        (["--station", "127.0.0.1:1"], "table", 1, "No station answers"),
        (["--replace"], "table", 2, "--replace is used at the station"),
        (["--standby"], "central", 2, "--standby is used at a table"),
        (["--camera"], "central", 2, "--camera is used at a table"),
        (["T 1"], "central", 1, "no name"),
        (["--port", "99999"], "central", 1, "Port 99999"),
    ],
)
def test_what_does_not_work_is_one_line(
    words: list[str],
    side: str,
    status: int,
    said: str,
    central: Path,
    table: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = table.read_text()
    path = {"table": table, "central": central}[side]
    assert main(["pair", "--config", str(path), *words]) == status
    told = capsys.readouterr().err.splitlines()
    assert said in told[-1]
    assert told[-1].startswith("quezhuo: ")
    assert table.read_text() == before


def test_a_link_without_a_fixed_port_cannot_be_told_to_a_table(
    central: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    central.write_text(central.read_text().replace(":7700", ":0"))
    assert main(["pair", "--config", str(central)]) == 2
    assert "no fixed port" in capsys.readouterr().err


def test_a_configuration_that_is_none_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.toml").write_text("[")
    for name in ("x.toml", "nowhere.toml"):
        assert main(["pair", "--config", str(tmp_path / name)]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1

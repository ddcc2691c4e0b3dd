"""`keygen --add-signing` and `revoke`."""

import json
from pathlib import Path

import pytest

from station.cli.main import main
from station.link.keys import AllowList, generate, load_pair, write_allow_list


@pytest.fixture
def config(tmp_path: Path) -> Path:
    write_allow_list(tmp_path / "tables.toml", {"T1": generate(tmp_path / "keys", "T1").public})
    path = tmp_path / "central.toml"
    path.write_text('home = "central"\nallow_list = "tables.toml"\nsecret_key = "keys/central.key"\n')
    return path


def test_older_keys_get_the_half_that_signs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = generate(tmp_path, "T1")
    (tmp_path / "T1.key").write_text(f'public = "{pair.public}"\nsecret = "{pair.secret}"\n')
    assert main(["keygen", "T1", "--add-signing", "--out", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["public"], told["verify"]) == (pair.public, load_pair(tmp_path / "T1.key").verify)
    assert main(["keygen", "T1", "--add-signing", "--out", str(tmp_path)]) == 2
    assert "can sign already" in capsys.readouterr().err
    assert main(["keygen", "T2", "--add-signing", "--out", str(tmp_path)]) == 2


def test_a_revoked_key_is_refused_by_a_station_that_runs(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = load_pair(tmp_path / "keys" / "T1.key").public
    running = AllowList(tmp_path / "tables.toml")
    assert running.table_of(key) == "T1"
    assert main(["revoke", "T1", "--reason", "stolen", "--config", str(config)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert running.standing(key).reason == "revoked"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["T9", "--reason", "x"], "no table T9"),
        (["T1"], "--reason"),
        (["T1", "--reason", "  "], "--reason"),
        (["T1", "--reason", "a" * 300], "--reason"),
    ],
)
def test_what_cannot_be_revoked_is_one_line(
    words: list[str], said: str, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["revoke", *words, "--config", str(config)]) == 2
    told = capsys.readouterr()
    assert not told.out
    assert len(told.err.splitlines()) == 1
    assert said in told.err


def test_a_key_is_revoked_once(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["revoke", "T1", "--reason", "lost", "--config", str(config), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reason"] == "lost"
    assert main(["revoke", "T1", "--reason", "lost", "--config", str(config)]) == 2
    assert "already" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["central", "standby"])
def test_keys_of_a_station_go_to_the_tables_and_on_no_list(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["keygen", name, "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert f"keys/{name}.pub" in told
    assert "allow_list" not in told
    assert main(["keygen", "T1", "--out", str(tmp_path)]) == 0
    assert "[tables.T1]" in capsys.readouterr().out

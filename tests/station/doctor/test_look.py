"""Facts from this computer, and the command that tells them."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from station import messages as m
from station.cli.main import main
from station.cli.which import config_of
from station.doctor import look as looking
from station.doctor.facts import Facts
from station.doctor.look import TAIL, look
from station.doctor.network import holder_of, port_facts
from station.link.central_thread import CentralThread
from station.link.keys import AllowList, generate, load_pair, write_allow_list
from station.log.log import Log
from station.table.config import TableConfig
from station.table.opening import opened_by
from station.table.process import rules_of

TABLE = """
home = "T1"
driver = "none"
camera = "none"
http_port = {port}
secret_key = "keys/T1.key"
[central]
endpoint = "{link}"
public_key = "keys/central.pub"
"""
CENTRAL = 'home = "central"\nallow_list = "tables.toml"\nsecret_key = "keys/central.key"\nlink = "{link}"\n'
NOWHERE = "tcp://127.0.0.1:1"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    keys = generate(tmp_path / "keys", "T1")
    generate(tmp_path / "keys", "central")
    write_allow_list(tmp_path / "tables.toml", {"T1": keys.public})
    write(tmp_path)
    return tmp_path


def write(place: Path, port: int = 0, link: str = NOWHERE) -> None:
    (place / "table.toml").write_text(TABLE.format(port=port, link=link))
    # Where the table finds nobody, only root could listen.
    (place / "central.toml").write_text(CENTRAL.format(link=link if link != NOWHERE else "tcp://127.0.0.1:0"))


def looked(place: Path, what: str = "table") -> Facts:
    return look(config_of(place / f"{what}.toml"))


def test_a_home_is_looked_at_before_and_after_the_first_start(place: Path) -> None:
    facts = looked(place)
    assert (facts.process, facts.home_trouble, facts.running) == ("table", "missing", False)
    assert facts.free is not None
    assert facts.log.entries == 0
    assert not (place / "T1").exists()
    (place / "T1").mkdir()
    with Log.open(place / "T1" / "table.db") as log:
        log.append([("e", b"{}")], 5_000)
        facts = looked(place)
        assert (facts.home_trouble, facts.running, facts.log.entries) == (None, True, 1)
        assert facts.log.last_at == 5.0
        assert facts.log.bad is None
    assert looked(place).running is False


def test_a_home_that_is_a_file_is_no_folder(place: Path) -> None:
    (place / "T1").write_text("")
    assert looked(place).home_trouble == "no_folder"


@pytest.mark.parametrize("entries", [1, 2, TAIL, TAIL + 1, TAIL + 5])
def test_the_last_entries_of_the_log_are_checked(place: Path, entries: int) -> None:
    (place / "T1").mkdir()
    path = place / "T1" / "table.db"
    with Log.open(path) as log:
        log.append([("e", b"%d" % i) for i in range(entries)], 1)
    facts = looked(place).log
    assert (facts.entries, facts.bad) == (entries, None)
    db = sqlite3.connect(path)
    db.execute("DROP TRIGGER entry_no_update")
    db.execute("UPDATE entry SET body = x'00' WHERE pos = ?", (entries,))
    db.commit()
    db.close()
    assert looked(place).log.bad == entries


def test_a_file_that_is_no_log_is_told(place: Path) -> None:
    (place / "T1").mkdir()
    (place / "T1" / "table.db").write_bytes(b"no log" * 1000)
    trouble = looked(place).log.trouble
    assert trouble is not None
    assert "not a readable log" in trouble[0]


def test_keys_are_tried(place: Path) -> None:
    assert [(key.trouble, key.fits, key.signs) for key in looked(place).keys] == [
        (None, True, True),
        (None, None, None),
    ]
    key = place / "keys" / "T1.key"
    other = load_pair(place / "keys" / "central.key")
    key.write_text(key.read_text().replace(load_pair(key).public, other.public))
    assert looked(place).keys[0].fits is False
    key.chmod(0o644)
    assert looked(place).keys[0].trouble is not None
    (place / "tables.toml").unlink()
    (place / "keys" / "central.pub").unlink()
    assert looked(place, "central").keys[1].trouble is not None
    assert looked(place).keys[1].trouble is not None


def test_keys_whose_time_is_over_and_keys_that_can_not_sign_are_named(place: Path) -> None:
    key = place / "keys" / "T1.key"
    public = load_pair(key).public
    (place / "tables.toml").write_text(f'[tables.T1]\nkey = "{public}"\nexpires = 2020-01-01\n')
    assert looked(place, "central").keys[1].refused == (("T1", "expired"),)
    lines = [line for line in key.read_text().splitlines() if line.startswith(("public", "secret"))]
    key.write_text("\n".join(lines))
    assert looked(place).keys[0].signs is False


def test_a_port_in_use_names_its_holder(place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        write(place, port)
        (facts,) = looked(place).ports
        assert (facts.setting, facts.error) == ("http_port", errno.EADDRINUSE)
        assert facts.holder is not None
        assert facts.holder[0] == os.getpid()
    assert holder_of(port) is None


def test_ports_that_are_free_or_elsewhere(place: Path) -> None:
    assert port_facts("http_port", "127.0.0.1", 0) is None
    elsewhere = port_facts("http_port", "192.0.2.1", 8081)
    assert elsewhere is not None
    assert elsewhere.error == errno.EADDRNOTAVAIL
    unknown = port_facts("http_port", "no.such.name.invalid", 8081)
    assert unknown is not None
    assert unknown.error == errno.EADDRNOTAVAIL
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    write(place, port, f"tcp://127.0.0.1:{port}")
    assert [facts.error for facts in looked(place, "central").ports] == [None]


def test_the_way_to_the_central_station_is_tried(place: Path) -> None:
    link = looked(place).link
    assert link is not None
    assert link.unreachable == "Connection refused"
    write(place, link="tcp://nonsense")
    link = looked(place).link
    assert link is not None
    assert link.unreachable == "that is no address"


def with_central(place: Path, then: Callable[[], Any]) -> Any:
    """Do something while the central station listens, and the table's configuration leads there."""

    async def scene() -> Any:
        keys = load_pair(place / "keys" / "central.key")
        thread = CentralThread(place / "c.db", "tcp://127.0.0.1:0", keys, AllowList(place / "tables.toml"))
        write(place, link=await thread.start())
        try:
            return await asyncio.to_thread(then)
        finally:
            await thread.stop()

    return asyncio.run(scene())


def test_the_keys_are_tried_at_the_central_station(place: Path) -> None:
    def handshake() -> str | None:
        link = looked(place).link
        assert link is not None
        return link.handshake

    assert with_central(place, handshake) == "up"
    write_allow_list(place / "tables.toml", {"T9": generate(place / "k", "T9").public})
    assert with_central(place, handshake) == "denied"


@pytest.mark.parametrize(
    ("lines", "said"),
    [("expires = 2020-01-01", "expired"), ('revoked = 2026-11-30T20:00:00Z\nreason = "stolen"', "revoked")],
)
def test_a_key_whose_time_is_over_is_told(place: Path, lines: str, said: str) -> None:
    key = load_pair(place / "keys" / "T1.key").public
    (place / "tables.toml").write_text(f"[tables.T1]\nkey = '{key}'\n{lines}\n")

    def handshake() -> str | None:
        link = looked(place).link
        assert link is not None
        return link.handshake

    assert with_central(place, handshake) == said


def test_a_look_at_a_healthy_link_leaves_no_refusal_at_the_station(place: Path) -> None:
    with_central(place, lambda: looked(place))
    with Log.open(place / "c.db", read_only=True) as log:
        assert [stored.entry.kind for stored in log.entries()] == []


def test_something_else_at_the_address_is_no_station(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = looking.handshake
    monkeypatch.setattr(looking, "handshake", lambda *keys: real(*keys, 0.2))
    with socket.create_server(("127.0.0.1", 0)) as server:
        write(place, link=f"tcp://127.0.0.1:{server.getsockname()[1]}")
        link = looked(place).link
    assert link is not None
    assert link.handshake == "silent"


@pytest.mark.parametrize("what", ["table", "central"])
def test_the_command_knows_which_process_a_file_is_for(
    place: Path, what: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "_synchronised", lambda: True)
    monkeypatch.setattr(looking, "_libraries", lambda: iter(()))

    def command() -> int:
        return main(["doctor", "--config", str(place / f"{what}.toml"), "--json"])

    status = with_central(place, command) if what == "table" else command()
    told = json.loads(capsys.readouterr().out)
    found = [finding for check in told["checks"] for finding in check["findings"]]
    assert (status, told["ok"], found) == (0, True, [])
    asked = {check["check"] for check in told["checks"]}
    assert {"versions", "home", "log", "clock", "keys", "listen", "power"} <= asked
    assert ("central" in asked) is (what == "table")  # the station has none to ask


def test_what_is_found_is_told_with_its_fix(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "_synchronised", lambda: False)
    assert main(["doctor", "--config", str(place / "table.toml")]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("PROBLEM  clock: ") and "set-ntp" in line for line in lines)
    assert any(line.startswith("PROBLEM  central: ") for line in lines)
    assert lines[-1].endswith("mend the first, then run this again.")


def test_a_missing_opencv_is_a_finding_too(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> object:
        raise ImportError("libGL.so.1: cannot open shared object file: No such file or directory")

    monkeypatch.setattr("station.cli.which.config_of", broken)
    assert main(["doctor", "--config", str(place / "table.toml")]) == 1
    assert "libgl1" in capsys.readouterr().out


def test_libraries_of_this_installation_are_compared() -> None:
    names = {library.name for library in looking._libraries()}
    assert {"pyzmq", "msgspec", "starlette", "pyserial"} <= names
    assert "torch" not in names


def test_a_camera_is_looked_for_where_the_configuration_says(place: Path) -> None:
    def camera(value: str) -> Any:
        text = (place / "table.toml").read_text()
        (place / "other.toml").write_text(text.replace('camera = "none"', f"camera = {value}"))
        return look(config_of(place / "other.toml")).camera

    assert camera('"render"') is None
    assert camera("77").there is False
    assert camera(f'"folder:{place}"').pictures == 0
    (place / "a.jpg").write_bytes(b"")
    assert camera(f'"folder:{place}"').pictures == 1
    assert camera('"/dev/null"').readable is True


STANDBY = """[central.standby]
endpoint = "{link}"
public_key = "{key}"
"""


def settings(place: Path, what: str = "table") -> dict[str, str]:
    return {setting.key: setting.why for setting in looked(place, what).settings}


def test_what_the_table_would_not_take_is_named_by_its_key(place: Path) -> None:
    assert settings(place) == {}
    path = place / "table.toml"
    text = path.read_text()
    for line, key, why in (
        ('ruleset = "zhenjang"', "ruleset", "known are"),
        ("options = { payment = 5 }", "options", "payment"),
        ('players = ["a", "b"]', "session", "4 players"),
        ('ruleset = "fengcheng"\nplayers = ["a", "b", "c"]', "options", "lei_per_point"),
        ('calibration = "nowhere.json"', "calibration", "nowhere.json"),
        ('tilesets = ["nowhere.json"]', "tilesets", "nowhere.json"),
    ):
        path.write_text(f"{line}\n{text.replace('none', 'render', 2).replace('render', 'none', 1)}")
        found = settings(place)
        assert list(found) == [key]
        assert why in found[key]
    path.write_text(text.replace(NOWHERE, "10.0.0.1:7700"))
    assert list(settings(place)) == ["central.endpoint"]


def test_a_session_that_was_opened_otherwise_is_told_before_the_start(place: Path) -> None:
    home = place / "T1"
    home.mkdir()
    config = config_of(place / "table.toml")
    assert isinstance(config, TableConfig)
    with Log.open(home / "table.db") as log:
        log.append([m.encode(opened_by(config, rules_of(config)))], 1000)
    assert settings(place) == {}
    (place / "table.toml").write_text("chips = 7\n" + (place / "table.toml").read_text())
    assert "opened with chips" in settings(place)["session"]


def test_what_the_station_would_not_take_is_named_by_its_key(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert settings(place, "central") == {}
    path = place / "central.toml"
    path.write_text(
        path.read_text().replace("tcp://127.0.0.1:0", "tcp://0.0.0.0:99999")
        + 'evidence = "0.0.0.0"\nhttp_port = 70000\npair_port = -1\n'
    )
    assert set(settings(place, "central")) == {"link", "evidence", "http_port", "pair_port"}
    assert main(["doctor", "--config", str(path)]) == 1
    assert "PROBLEM  settings: http_port: there is no port 70000." in capsys.readouterr().out


def test_the_second_station_is_looked_at_too(place: Path) -> None:
    assert looked(place).standby is None
    path = place / "table.toml"
    text = path.read_text()
    path.write_text(text + STANDBY.format(link=NOWHERE, key="keys/central.pub"))
    assert list(settings(place)) == ["central.standby.public_key"]
    generate(place / "keys", "standby")
    path.write_text(text + STANDBY.format(link=NOWHERE, key="keys/standby.pub"))
    facts = looked(place)
    assert facts.settings == ()
    assert facts.standby is not None
    assert (facts.standby.section, facts.standby.unreachable) == ("central.standby", "Connection refused")
    path.write_text(text + STANDBY.format(link=NOWHERE, key="keys/nobody.pub"))
    assert [key.path.name for key in looked(place).keys if key.trouble] == ["nobody.pub"]

"""What pairing leaves behind."""

import stat
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from station.errors import ConfigError, PairingError
from station.link.key_files import bytes_of, text_of
from station.link.keys import generate, load_pair, load_public, load_verify, write_allow_list
from station.link.register import Enrolment, load_register, write_register
from station.pairing.files import edited, enrol, table_keys, write_offer
from station.pairing.protocol import Candidate, Offer
from station.table.config import EXAMPLE, load_config

KEY_A, KEY_B = (text_of(bytes([n]) * 32) for n in (1, 2))
NEW = {"key_file": "keys/T1.key", "endpoint": "tcp://10.0.0.1:7700", "public_key": "keys/central.pub"}
WANTED: dict[str, Any] = {
    "secret_key": "keys/T1.key",
    "central": {"endpoint": "tcp://10.0.0.1:7700", "public_key": "keys/central.pub"},
}


@pytest.mark.parametrize(
    "text",
    [
        "",
        '# mine\ntable = "T1" # here\n',
        'table = "T1"\n\n# of the rules\n[options]\npayment = "pei"\n',
        'players = [\n  "甲",\n  "乙",\n]\n[options]\n',
        'secret_key = "old.key" # mine\n[central]\n# where\nendpoint = "tcp://old:1" # old\n'
        'public_key = "old.pub"\n[options]\n',
        '[central]\npublic_key = "old.pub"\n',
        '[central]\n[central.standby]\nendpoint = "tcp://second:1"\npublic_key = "second.pub"\n',
        '[native]\nuid = "0123456789abcdef"\n[[x]]\na = 1\n',
        EXAMPLE,
    ],
    ids=[
        "empty",
        "top alone",
        "section",
        "long list",
        "all there",
        "half there",
        "stand-by",
        "list of sections",
        "example",
    ],
)
def test_three_settings_change_and_every_other_line_stays(text: str) -> None:
    changed = edited(text, **NEW)
    before = tomllib.loads(text)
    central = {**before.get("central", {}), **WANTED["central"]}
    assert tomllib.loads(changed) == {**before, **WANTED, "central": central}
    kept = [line for line in text.splitlines() if "old" not in line]
    rest = iter(changed.splitlines())
    assert all(line in rest for line in kept)
    for remark in ("# mine", "# old"):
        assert (remark in text) == (remark in changed)
    assert edited(changed, **NEW) == changed


@pytest.mark.parametrize(
    "text",
    [
        'central = { endpoint = "a", public_key = "b" }\n',
        'central.endpoint = "a"\n',
        'note = """\n[central]\n"""\n',
    ],
)
def test_what_only_a_person_can_change_is_left_alone_and_said(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        edited(text, **NEW)
    assert "tcp://10.0.0.1:7700" in caught.value.fix


@pytest.mark.parametrize(
    "text",
    [
        '# mine\n[central]\nendpoint = "a" # main\npublic_key = "b"\n',
        '[central]\npublic_key = "b"\n\n# second\n[central.standby]\nendpoint = "old" # here\n'
        'public_key = "old.pub"\n\n[options]\npayment = "pei"\n',
        '[ central . standby ] # odd\nendpoint = "old"\npublic_key = "old"\n[central]\npublic_key = "b"\n',
        EXAMPLE + '[central]\npublic_key = "b"\n',
    ],
    ids=["main alone", "both", "odd spaces", "example"],
)
def test_the_second_station_has_its_own_section_and_the_first_one_stays(text: str) -> None:
    new = {**NEW, "public_key": "keys/standby.pub", "section": "central.standby"}
    changed = edited(text, **new)
    before = tomllib.loads(text)
    standby = {"endpoint": NEW["endpoint"], "public_key": "keys/standby.pub"}
    wanted = {**before, "secret_key": "keys/T1.key", "central": {**before["central"], "standby": standby}}
    assert tomllib.loads(changed) == wanted
    rest = iter(changed.splitlines())
    assert all(line in rest for line in text.splitlines() if "old" not in line)
    assert edited(changed, **new) == changed


def test_a_second_station_that_only_a_person_can_write_is_left_alone_and_said() -> None:
    text = '[central]\npublic_key = "b"\nstandby = { endpoint = "a", public_key = "c" }\n'
    with pytest.raises(ConfigError) as caught:
        edited(text, **NEW, section="central.standby")
    assert "[central.standby]" in caught.value.fix


def test_the_table_has_keys_and_a_configuration_that_fits_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text('home = "T1"\ndriver = "none" # typed in\n')
    path.chmod(0o640)
    pair = table_keys(tmp_path / "keys" / "T1.key")
    assert table_keys(tmp_path / "keys" / "T1.key") == pair
    offer = Offer("tcp://10.0.0.1:7700", bytes_of(KEY_A), b"v" * 32)
    public = write_offer(path, offer, tmp_path / "keys" / "T1.key", None)
    config = load_config(path)
    assert config.central is not None
    assert config.central.endpoint == "tcp://10.0.0.1:7700"
    assert Path(config.central.public_key) == public
    assert (load_public(public), load_verify(public)) == (KEY_A, (b"v" * 32).hex())
    assert load_pair(Path(str(config.secret_key))) == pair
    assert stat.S_IMODE((tmp_path / "keys" / "T1.key").stat().st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert "# typed in" in path.read_text()


def test_keys_of_before_there_were_signatures_are_completed(tmp_path: Path) -> None:
    pair = generate(tmp_path, "T1")
    (tmp_path / "T1.key").write_text(f'public = "{pair.public}"\nsecret = "{pair.secret}"\n')
    completed = table_keys(tmp_path / "T1.key")
    assert completed.public == pair.public
    assert completed.verify is not None


def candidate(key: str = KEY_A, table: str = "T1") -> Candidate:
    return Candidate(table, bytes_of(key), b"v" * 32)


def test_a_table_is_written_into_the_list_and_may_come_again(tmp_path: Path) -> None:
    path = tmp_path / "tables.toml"
    for _ in range(2):
        enrol(path, candidate(), replace=False)
        assert load_register(path).tables == {"T1": Enrolment(KEY_A, (b"v" * 32).hex())}


def code_of_refusal(path: Path, who: Candidate, *, replace: bool = False) -> str:
    with pytest.raises(PairingError) as caught:
        enrol(path, who, replace=replace)
    return caught.value.code


def test_a_second_table_of_the_same_name_takes_nobodys_place_by_mistake(tmp_path: Path) -> None:
    path = tmp_path / "tables.toml"
    write_allow_list(path, {"T1": KEY_A})
    assert code_of_refusal(path, candidate(KEY_B)) == "pairing.taken"
    assert code_of_refusal(path, candidate(KEY_A, "T2")) == "pairing.key_elsewhere"
    assert load_register(path).tables["T1"].key == KEY_A
    enrol(path, candidate(KEY_B), replace=True)
    assert load_register(path).tables["T1"].key == KEY_B


def test_a_revoked_key_does_not_come_back_but_its_table_may(tmp_path: Path) -> None:
    path = tmp_path / "tables.toml"
    write_allow_list(path, {"T1": KEY_A})
    write_register(path, load_register(path).revoking("T1", datetime(2026, 11, 30, tzinfo=UTC), "stolen"))
    for replace in (False, True):
        assert code_of_refusal(path, candidate(KEY_A), replace=replace) == "pairing.revoked"
    enrol(path, candidate(KEY_B), replace=False)
    assert code_of_refusal(path, candidate(KEY_A), replace=True) == "pairing.revoked"


def test_a_list_that_cannot_be_written_is_told_to_both_sides(tmp_path: Path) -> None:
    (tmp_path / "tables.toml").write_text("half-edit")
    assert code_of_refusal(tmp_path / "tables.toml", candidate()) == "pairing.not_stored"

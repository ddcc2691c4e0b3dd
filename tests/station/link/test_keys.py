"""Key files, the allow-list, and who may connect."""

import os
import stat
from pathlib import Path

import pytest
from zmq.utils import z85

from station.errors import KeyFileError
from station.link import zap
from station.link.keys import (
    AllowList,
    generate,
    load_allow_list,
    load_pair,
    load_public,
    write_allow_list,
)

KEY_A, KEY_B = (z85.encode(bytes([n]) * 32).decode() for n in (1, 2))


def test_a_key_pair_is_written_and_read_back(tmp_path: Path) -> None:
    pair = generate(tmp_path / "keys", "T1")
    assert load_pair(tmp_path / "keys" / "T1.key") == pair
    assert load_public(tmp_path / "keys" / "T1.pub") == pair.public
    assert load_public(tmp_path / "keys" / "T1.key") == pair.public
    assert pair.secret not in (tmp_path / "keys" / "T1.pub").read_text()
    assert pair.secret not in repr(pair)


@pytest.mark.parametrize(("name", "mode"), [("T1.key", 0o600), ("T1.pub", 0o644)])
def test_only_the_owner_may_read_the_secret_whatever_the_umask(tmp_path: Path, name: str, mode: int) -> None:
    before = os.umask(0o777)
    try:
        generate(tmp_path, "T1")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == mode


def test_existing_keys_are_never_overwritten(tmp_path: Path) -> None:
    pair = generate(tmp_path, "T1")
    with pytest.raises(KeyFileError, match="exists already"):
        generate(tmp_path, "T1")
    assert load_pair(tmp_path / "T1.key") == pair


def test_a_secret_that_others_may_read_is_refused_with_the_fix(tmp_path: Path) -> None:
    generate(tmp_path, "T1")
    (tmp_path / "T1.key").chmod(0o640)
    with pytest.raises(KeyFileError, match="chmod 600"):
        load_pair(tmp_path / "T1.key")


@pytest.mark.parametrize(
    "text",
    ["", "public = 5", 'public = "short"', f'public = "{"~" * 40}"', "no toml at all", 'public = "é"'],
    ids=["empty", "number", "short", "not Z85", "not TOML", "not ASCII"],
)
def test_a_damaged_key_file_is_one_plain_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "T1.pub"
    path.write_text(text)
    with pytest.raises(KeyFileError) as caught:
        load_public(path)
    assert str(path) in str(caught.value)
    assert caught.value.fix


def test_a_missing_key_file_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="quezhuo keygen"):
        load_public(tmp_path / "T1.pub")


def test_an_allow_list_is_written_and_read_back(tmp_path: Path) -> None:
    tables = {"T1": KEY_A, '桌 "2"': KEY_B}
    write_allow_list(tmp_path / "tables.toml", tables)
    assert load_allow_list(tmp_path / "tables.toml") == tables


@pytest.mark.parametrize(
    "text",
    [
        f'[tables]\nT1 = "{KEY_A}"\nT2 = "{KEY_A}"\n',
        '[tables]\nT1 = "no key"\n',
        "tables = 3\n",
        "[tables\n",
    ],
    ids=["one key twice", "no key", "no section", "no TOML"],
)
def test_a_damaged_allow_list_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tables.toml"
    path.write_text(text)
    with pytest.raises(KeyFileError):
        load_allow_list(path)


def test_a_running_station_takes_over_a_changed_allow_list(tmp_path: Path) -> None:
    path = tmp_path / "tables.toml"
    write_allow_list(path, {"T1": KEY_A})
    allowed = AllowList(path)
    assert (allowed.table_of(KEY_A), allowed.table_of(KEY_B)) == ("T1", None)
    write_allow_list(path, {"T2": KEY_B})
    assert (allowed.table_of(KEY_A), allowed.table_of(KEY_B)) == (None, "T2")
    assert allowed.tables == {"T2"}
    path.write_text("half-edit")
    assert allowed.table_of(KEY_B) == "T2"
    path.unlink()
    assert allowed.table_of(KEY_B) == "T2"


# ---- ZAP ----


def request(
    *, domain: bytes = zap.DOMAIN, mechanism: bytes = b"CURVE", raw: bytes = b"\1" * 32
) -> list[bytes]:
    return [b"1.0", b"7", domain, b"10.0.0.5", b"", mechanism, raw]


def table_of(key: str) -> str | None:
    return {KEY_A: "T1"}.get(key)


def test_an_enrolled_key_is_admitted_and_becomes_the_user_id() -> None:
    decision = zap.decide(request(), table_of)
    assert decision.admitted
    assert decision.reply == [b"1.0", b"7", b"200", b"OK", KEY_A.encode(), b""]


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        (request(raw=b"\2" * 32), KEY_B),
        (request(domain=b"other"), KEY_A),
        (request(mechanism=b"NULL"), ""),
        (request(raw=b"\1" * 31), ""),
        ([b"1.0", b"7"], ""),
    ],
    ids=["unknown key", "another domain", "no CURVE", "short key", "cut off"],
)
def test_everybody_else_is_denied(asked: list[bytes], key: str) -> None:
    decision = zap.decide(asked, table_of)
    assert not decision.admitted
    assert decision.reply[:3] == [b"1.0", b"7", b"400"]
    assert len(decision.reply) == 6
    assert decision.key == key


def test_a_request_that_is_none_is_answered_too() -> None:
    assert len(zap.decide([b"?"], table_of).reply) == 6

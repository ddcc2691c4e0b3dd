"""Key files, the allow-list, and who may connect."""

import os
import stat
import tomllib
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from nacl.signing import SigningKey, VerifyKey
from zmq.utils import z85

from station.errors import KeyFileError
from station.link import zap
from station.link.keys import (
    AllowList,
    Standing,
    add_signing,
    generate,
    load_allow_list,
    load_pair,
    load_public,
    load_verify,
    write_allow_list,
)
from station.link.register import Enrolment, Register, load_register, write_register

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


def test_a_missing_allow_list_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="quezhuo pair"):
        load_allow_list(tmp_path / "tables.toml")


# ---- the half that signs ----


def test_new_keys_can_sign_and_the_public_file_tells_how_to_check_it(tmp_path: Path) -> None:
    pair = generate(tmp_path, "T1")
    assert pair.signing is not None
    assert pair.verify == load_verify(tmp_path / "T1.pub") == load_verify(tmp_path / "T1.key")
    signed = SigningKey(bytes.fromhex(pair.signing)).sign(b"head")
    assert VerifyKey(bytes.fromhex(str(pair.verify))).verify(signed) == b"head"
    assert pair.signing not in (tmp_path / "T1.pub").read_text() + repr(pair)


def old_pair(folder: Path, name: str) -> None:
    pair = generate(folder, name)
    (folder / f"{name}.key").write_text(f'public = "{pair.public}"\nsecret = "{pair.secret}"\n')
    (folder / f"{name}.pub").write_text(f'public = "{pair.public}"\n')


def test_keys_of_before_there_were_signatures_are_read_and_can_be_completed(tmp_path: Path) -> None:
    old_pair(tmp_path, "T1")
    old = load_pair(tmp_path / "T1.key")
    assert (old.signing, old.verify, load_verify(tmp_path / "T1.pub")) == (None, None, None)
    (tmp_path / "T1.key").chmod(0o400)
    new = add_signing(tmp_path, "T1")
    assert (new.public, new.secret) == (old.public, old.secret)
    assert load_pair(tmp_path / "T1.key") == new
    assert load_verify(tmp_path / "T1.pub") == new.verify
    assert stat.S_IMODE((tmp_path / "T1.key").stat().st_mode) == 0o400
    assert {path.name for path in tmp_path.iterdir()} == {"T1.key", "T1.pub"}


def test_keys_that_can_sign_are_left_alone(tmp_path: Path) -> None:
    pair = generate(tmp_path, "T1")
    with pytest.raises(KeyFileError, match="can sign already"):
        add_signing(tmp_path, "T1")
    assert load_pair(tmp_path / "T1.key") == pair


@pytest.mark.parametrize("line", ['signing = "00"', 'signing = "é"', f'signing = "{"0" * 64}"'])
def test_a_damaged_signing_half_is_refused(tmp_path: Path, line: str) -> None:
    pair = generate(tmp_path, "T1")
    path = tmp_path / "T1.key"
    path.write_text(f'public = "{pair.public}"\nsecret = "{pair.secret}"\nverify = "{pair.verify}"\n{line}\n')
    with pytest.raises(KeyFileError):
        load_pair(path)


# ---- expiry and revocation ----

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def listed(path: Path, entry: Enrolment, at: datetime) -> AllowList:
    write_allow_list(path, {"T1": entry})
    return AllowList(path, wall=at.timestamp)


def test_a_key_is_good_through_its_last_day_and_not_a_second_longer(tmp_path: Path) -> None:
    entry = Enrolment(KEY_A, expires=date(2026, 11, 30))
    midnight = datetime(2026, 12, 1)  # the station's local time
    path = tmp_path / "tables.toml"
    assert listed(path, entry, midnight - timedelta(seconds=1)).standing(KEY_A) == Standing("T1", "", "T1")
    late = listed(path, entry, midnight)
    assert late.standing(KEY_A) == Standing(None, "expired", "T1")
    assert (late.table_of(KEY_A), late.tables) == (None, frozenset())


def test_a_key_can_expire_at_a_moment(tmp_path: Path) -> None:
    now = [NOON.timestamp() - 1]
    write_allow_list(tmp_path / "tables.toml", {"T1": Enrolment(KEY_A, expires=NOON)})
    allowed = AllowList(tmp_path / "tables.toml", wall=lambda: now[0])
    assert allowed.table_of(KEY_A) == "T1"
    now[0] += 1
    assert allowed.standing(KEY_A).reason == "expired"


def test_a_revoked_key_is_refused_by_a_running_station_at_once(tmp_path: Path) -> None:
    path = tmp_path / "tables.toml"
    write_allow_list(path, {"T1": KEY_A, "T2": KEY_B})
    allowed = AllowList(path)
    write_register(path, load_register(path).revoking("T1", NOON, "stolen"))
    assert allowed.standing(KEY_A) == Standing(None, "revoked", "T1")
    assert allowed.table_of(KEY_B) == "T2"
    entry = load_register(path).tables["T1"]
    assert (entry.revoked, entry.reason) == (NOON, "stolen")
    with pytest.raises(KeyFileError, match="already"):
        load_register(path).revoking("T1", NOON, "again")
    with pytest.raises(KeyFileError, match="no table T9"):
        load_register(path).revoking("T9", NOON, "")


def test_a_revoked_key_stays_known_when_its_table_gets_another_one(tmp_path: Path) -> None:
    path = tmp_path / "tables.toml"
    register = Register({"T1": Enrolment(KEY_A)}).revoking("T1", NOON, "stolen")
    write_register(path, register.enrolling("T1", Enrolment(KEY_B)))
    allowed = AllowList(path)
    assert allowed.standing(KEY_A) == Standing(None, "revoked", "T1")
    assert allowed.standing(KEY_B) == Standing("T1", "", "T1")
    for again in (register, load_register(path)):
        with pytest.raises(KeyFileError, match="was revoked"):
            again.enrolling("T2", Enrolment(KEY_A))


def test_one_key_cannot_be_enrolled_for_a_second_table() -> None:
    with pytest.raises(KeyFileError, match="enrolled for T1"):
        Register({"T1": Enrolment(KEY_A)}).enrolling("T2", Enrolment(KEY_A))


def test_the_old_form_of_the_list_is_read_beside_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "tables.toml"
    path.write_text(
        f'[tables]\nT1 = "{KEY_A}"\n[tables.T2]\nkey = "{KEY_B}"\nrevoked = 2026-11-30\nreason = "lost"\n'
    )
    allowed = AllowList(path)
    assert (allowed.tables, allowed.standing(KEY_B).reason) == ({"T1"}, "revoked")
    assert load_allow_list(path) == {"T1": KEY_A, "T2": KEY_B}


def test_a_list_with_plain_keys_alone_is_written_in_the_old_form(tmp_path: Path) -> None:
    write_allow_list(tmp_path / "tables.toml", {"T1": KEY_A})
    assert tomllib.loads((tmp_path / "tables.toml").read_text()) == {"tables": {"T1": KEY_A}}


@pytest.mark.parametrize(
    "line",
    ["revokd = 2026-11-30", "expires = 5", 'revoked = "yes"', 'verify = "short"', "reason = 3"],
)
def test_a_slip_in_an_entry_is_refused_and_not_passed_over(tmp_path: Path, line: str) -> None:
    path = tmp_path / "tables.toml"
    path.write_text(f'[tables.T1]\nkey = "{KEY_A}"\n{line}\n')
    with pytest.raises(KeyFileError):
        load_register(path)


def test_a_running_station_tells_that_the_list_as_it_is_now_is_not_in_force(tmp_path: Path) -> None:
    path = tmp_path / "tables.toml"
    write_allow_list(path, {"T1": KEY_A})
    allowed = AllowList(path)
    assert allowed.trouble is None
    path.write_text("half-edit")
    assert allowed.trouble is not None
    write_allow_list(path, {"T1": KEY_A})
    assert allowed.trouble is None


def test_a_rewritten_list_keeps_its_mode_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "tables.toml"
    write_allow_list(path, {"T1": KEY_A})
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    path.chmod(0o600)
    write_register(path, load_register(path).revoking("T1", NOON, "x"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["tables.toml"]


def test_the_key_that_checks_a_tables_signatures_is_found(tmp_path: Path) -> None:
    write_allow_list(tmp_path / "tables.toml", {"T1": Enrolment(KEY_A, verify="0a" * 32), "T2": KEY_B})
    allowed = AllowList(tmp_path / "tables.toml")
    assert [allowed.verify_key(table) for table in ("T1", "T2", "T3")] == ["0a" * 32, None, None]


# ---- ZAP ----


def request(
    *, domain: bytes = zap.DOMAIN, mechanism: bytes = b"CURVE", raw: bytes = b"\1" * 32
) -> list[bytes]:
    return [b"1.0", b"7", domain, b"10.0.0.5", b"", mechanism, raw]


def standing_of(key: str) -> Standing:
    return Standing("T1", "", "T1") if key == KEY_A else Standing(None, "not_enrolled")


def test_an_enrolled_key_is_admitted_and_becomes_the_user_id() -> None:
    decision = zap.decide(request(), standing_of)
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
    decision = zap.decide(asked, standing_of)
    assert not decision.admitted
    assert decision.reply[:3] == [b"1.0", b"7", b"400"]
    assert len(decision.reply) == 6
    assert decision.key == key


@pytest.mark.parametrize("reason", ["expired", "revoked"])
def test_a_key_whose_time_is_over_is_let_in_to_hear_that(reason: str) -> None:
    """What it says is not taken: see the tests of the station's end of the link."""
    decision = zap.decide(request(), lambda _: Standing(None, reason, "T1"))
    assert decision.admitted
    assert decision.reply[2:5] == [b"200", b"OK", KEY_A.encode()]


def test_a_request_that_is_none_is_answered_too() -> None:
    assert len(zap.decide([b"?"], standing_of).reply) == 6

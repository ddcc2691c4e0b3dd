"""`quezhuo verify` in words and as JSON."""

import json
import sqlite3
from pathlib import Path

import pytest

from station.cli.main import main
from station.link.keys import generate, load_pair
from station.log import Log, chain
from station.log.anchor import qr_text
from station.log.chain import ZERO_HEAD

A = b"A" * 16


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    generate(tmp_path / "keys", "T1")
    generate(tmp_path / "keys", "T2")
    return tmp_path / "keys"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    with Log.open(tmp_path / "table.db") as log:
        log.append([("session.opened", b"{}")], 1)
    return tmp_path / "table.db"


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(["verify", *arguments])
    return status, capsys.readouterr().out


def test_one_entry_is_one_entry(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = told(capsys, str(log))
    assert status == 0
    assert "1 entry, all of them whole" in text
    assert "bound to nothing outside" in text


def test_the_first_bad_entry_is_named_with_its_log_number_and_kind(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Log.open(log) as writer:
        writer.append([("hand.confirmed", b'{"hand":1}')], 2)
        log_id = writer.log_id.hex()
    db = sqlite3.connect(log)
    db.execute("DROP TRIGGER entry_no_update")
    db.execute("UPDATE entry SET body = x'00' WHERE seq = 2")
    db.commit()
    db.close()
    status, text = told(capsys, str(log))
    assert status == 1
    assert "NOT WHOLE" in text
    assert f"position 2, number 2 of the own log {log_id[:16]}…, hand.confirmed: its kind," in text
    assert "triggers that forbid changes were altered" in text
    assert "whole from the first on: 1 entry," in text


def test_the_text_of_a_sheet_binds_the_log_up_to_its_entry(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Log.open(log, read_only=True) as reader:
        text = qr_text(reader.log_id, 1, reader.head.hash)
    status, words = told(capsys, str(log), "--expect", text)
    assert status == 0
    assert "bound to the expected hash: up to its entry 1 (position 1)" in words
    status, words = told(capsys, str(log), "--expect", "00" * 32)
    assert status == 1
    assert "NOT in the log" in words


def test_a_signature_binds_the_log_where_the_key_is_the_one_given(
    tmp_path: Path, keys: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Log.open(tmp_path / "table.db", signer=load_pair(keys / "T1.key").signer) as log:
        log.append([("session.opened", b"{}")], 1, checkpoint="session.opened")
        copied = log.entries_of(log.log_id)
    with Log.open(tmp_path / "central.db") as central:
        central.accept([("T1", entry) for entry in copied], 1)
    for path, what in (
        ("table.db", "the whole file up to"),
        ("central.db", "the log of T1 up to its entry 2"),
    ):
        status, words = told(capsys, str(tmp_path / path), "--key", str(keys / "T1.pub"))
        assert status == 0
        assert f"signed with the key given: {what}" in words
        assert "session.opened" in words
        status, words = told(capsys, str(tmp_path / path), "--key", str(keys / "T2.pub"))
        assert status == 1
        assert "has signed NOTHING in the log" in words
        assert "not compared" in words


def test_a_key_file_that_signs_nothing_is_refused(
    log: Path, tmp_path: Path, keys: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "old.pub").write_text((keys / "T1.pub").read_text().splitlines()[0] + "\n")
    status, _ = told(capsys, str(log), "--key", str(tmp_path / "old.pub"))
    assert status == 2


def test_json_keeps_its_fields_and_says_what_it_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Log.open(tmp_path / "central.db") as central:
        central.accept([("T1", entry) for entry in chain.link(A, ZERO_HEAD, [("a", b"")], 1)], 1)
        central.append([("b", b"")], 1, central.author("T1"))
        head = central.pos_head.hash.hex()
    status = main(["--json", "verify", str(tmp_path / "central.db")])
    found = json.loads(capsys.readouterr().out)
    assert status == 0
    wanted = {"ok": True, "entries": 3, "head": head, "anchored_to": None, "first_bad": None}
    assert wanted.items() <= found.items()
    assert [(c["source"], c["name"], c["seq"]) for c in found["chains"]] == [
        ("", "", 1),
        ("", "T1", 1),
        ("T1", "", 1),
    ]

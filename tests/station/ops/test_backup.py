"""Backup and restore of logs, photographs, configuration and keys."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest
from nacl.signing import SigningKey

from station.cli.main import main
from station.errors import LogError, LogInUse
from station.evidence.shelf import Shelf
from station.link.keys import generate, write_allow_list
from station.log import verify_file
from station.log.chain import REBUILT, Entry, store_hash
from station.log.log import Log
from station.log.rebuild import rebuild
from station.ops.backup import Source, back_up
from station.ops.manifest import BackupError, read_manifest
from station.ops.restore import CENTRAL_INDEX, TABLE_INDEX, check_backup, rebuild_from_central, restore
from tests.required import go_without

TABLE = """
home = "T1"
driver = "none"
camera = "none"
secret_key = "keys/T1.key"
[central]
endpoint = "tcp://127.0.0.1:1"
public_key = "keys/central.pub"
"""
CENTRAL = 'home = "central"\nallow_list = "tables.toml"\nsecret_key = "keys/central.key"\n'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A table and a central station that have talked: the station has the table's first five entries."""
    keys = generate(tmp_path / "keys", "T1")
    generate(tmp_path / "keys", "central")
    write_allow_list(tmp_path / "tables.toml", {"T1": keys.public})
    (tmp_path / "table.toml").write_text(TABLE)
    (tmp_path / "central.toml").write_text(CENTRAL)
    for name in ("T1", "central"):
        (tmp_path / name).mkdir()
    own, copies = tmp_path / "T1" / "table.db", tmp_path / "central" / "central.db"
    with Log.open(own) as table, Log.open(copies) as central:
        booked = book(table, 5)
        central.append([("own", b"{}")], 1)
        central.accept([("T1", entry) for entry in booked], 2)
    (tmp_path / "T1" / "photos").mkdir()
    (tmp_path / "T1" / "photos" / "a.jpg").write_bytes(b"jpeg")
    (tmp_path / "T1" / "photos" / "b.part").write_bytes(b"half")
    return tmp_path


def book(log: Log, n: int) -> list[Entry]:
    return [log.append([("e", b"%d" % i)], 1000 + i)[0] for i in range(n)]


def entries(path: Path) -> list[Entry]:
    """The log's own chain, without what a rebuilt file says of itself."""
    with Log.open(path, read_only=True) as log:
        return [entry for entry in log.entries_of(log.log_id) if entry.kind != REBUILT]


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    out: dict[str, Any] = json.loads(capsys.readouterr().out)
    return out


def back_up_table(place: Path, *more: str, to: str = "backup") -> Path:
    assert main(["backup", "--config", str(place / "table.toml"), str(place / to), *more]) == 0
    return place / to


def test_what_was_backed_up_comes_back_byte_for_byte(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    backup = back_up_table(place, "--json")
    made = told(capsys)
    assert (made["process"], made["table"], made["entries"], made["with_keys"]) == ("table", "T1", 5, False)
    before = entries(place / "T1" / "table.db")
    shutil.rmtree(place / "T1")
    assert main(["restore", str(backup), "--home", str(place / "T1"), "--json"]) == 0
    assert told(capsys)["head"] == made["head"]
    assert entries(place / "T1" / "table.db") == before
    assert (place / "T1" / "photos" / "a.jpg").read_bytes() == b"jpeg"
    assert not (place / "T1" / "photos" / "b.part").exists()
    with Log.open(place / "T1" / "table.db") as log:  # and it goes on
        assert log.verify().ok
        book(log, 1)
    assert (place / "T1" / "restored" / "config" / "table.toml").read_text() == TABLE


def test_keys_are_taken_only_when_asked_for_and_stay_secret(place: Path) -> None:
    plain, full = back_up_table(place), back_up_table(place, "--with-keys", to="full")
    secret = (place / "keys" / "T1.key").read_bytes()
    assert not any(path.read_bytes() == secret for path in plain.rglob("*") if path.is_file())
    assert (plain / "config" / "T1.pub").exists()
    assert (plain / "config" / "central.pub").exists()
    kept = full / "keys" / "T1.key"
    assert kept.read_bytes() == secret
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(full.stat().st_mode) == 0o700
    restore(full, place / "again")
    restored = place / "again" / "restored" / "keys" / "T1.key"
    assert stat.S_IMODE(restored.stat().st_mode) == 0o600


def test_keys_below_the_home_are_keys_too(place: Path) -> None:
    (place / "T1" / "keys").mkdir()
    shutil.copy(place / "keys" / "T1.key", place / "T1" / "keys" / "other.key")
    backup = back_up_table(place)
    assert list(backup.rglob("*.key")) == []


def test_the_central_station_is_known_by_its_configuration(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backup", "--config", str(place / "central.toml"), str(place / "b"), "--json"]) == 0
    made = told(capsys)
    assert (made["process"], made["entries"]) == ("central", 6)
    assert (place / "b" / "config" / "tables.toml").exists()


def test_a_backup_beside_a_busy_writer_is_whole_and_holds_all_that_was_stored_before(place: Path) -> None:
    source = Source("table", "T1", place / "T1", "table.db", place / "table.toml")
    stop, stored = threading.Event(), [0]
    started = threading.Event()

    def write() -> None:
        with Log.open(place / "T1" / "table.db") as log:
            while not stop.is_set():
                stored[0] = book(log, 1)[-1].seq
                started.set()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert started.wait(60)
        for number in range(5):
            before = stored[0]
            manifest = back_up(source, place / f"b{number}")
            assert manifest.seq >= before
            assert check_backup(place / f"b{number}") == manifest
    finally:
        stop.set()
        writer.join()


@pytest.mark.parametrize("target", ["T1/b", "taken"])
def test_a_backup_is_not_put_over_or_into_something(
    place: Path, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "taken").mkdir()
    assert main(["backup", "--config", str(place / "table.toml"), str(place / target)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_backup_that_fails_leaves_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("station.ops.backup.write_manifest", _no_space)
    source = Source("table", "T1", place / "T1", "table.db", place / "table.toml")
    before = set(place.iterdir())
    with pytest.raises(OSError, match="No space"):
        back_up(source, place / "b")
    assert set(place.iterdir()) == before


def _no_space(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_every_damage_is_found_before_anything_is_touched(place: Path) -> None:
    backup = back_up_table(place, "--with-keys")
    files = [path for path in backup.rglob("*") if path.is_file()]
    assert len(files) > 6
    for path in files:
        good = path.read_bytes()
        for bad in (good[:-3], bytes([good[0] ^ 1]) + good[1:], None):
            path.unlink()
            if bad is not None:
                path.write_bytes(bad)
            with pytest.raises(BackupError):
                restore(backup, place / "T1", force=True)
            path.write_bytes(good)
    assert len(entries(place / "T1" / "table.db")) == 5
    restore(backup, place / "other")


@pytest.mark.parametrize("path", ["home/../../evil", "/etc/passwd", "home//x/..", "other/file", "home"])
def test_a_list_that_leads_out_of_the_backup_is_refused(place: Path, path: str) -> None:
    from station.ops import manifest as m

    backup = back_up_table(place)
    listed = read_manifest(backup)
    bent = m.msgspec.structs.replace(listed, files=(m.BackedUp(path, 0, "", 0o600), *listed.files))
    m.write_manifest(backup, bent)
    with pytest.raises(BackupError, match="damaged"):
        restore(backup, place / "other")


def test_a_log_with_another_head_than_listed_is_refused(place: Path) -> None:
    """Somebody put another log and its right checksum in: the chain's head still tells."""
    from station.ops import manifest as m

    backup = back_up_table(place)
    listed = read_manifest(backup)
    log = backup / "home" / "table.db"
    db = sqlite3.connect(log)
    db.execute("DROP TRIGGER entry_no_delete")
    db.execute("DELETE FROM entry WHERE pos = 5")
    db.commit()
    db.close()
    files = tuple(
        m.msgspec.structs.replace(f, sha256=m.sha256_of(log), size=log.stat().st_size)
        if f.path == "home/table.db"
        else f
        for f in listed.files
    )
    m.write_manifest(backup, m.msgspec.structs.replace(listed, files=files))
    with pytest.raises(BackupError, match="does not hold"):
        restore(backup, place / "other")


def test_a_home_in_use_is_not_restored_over(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    backup = back_up_table(place)
    home = place / "T1"
    assert main(["restore", str(backup), "--home", str(home)]) == 2
    assert "--force" in capsys.readouterr().err
    with Log.open(home / "table.db"), pytest.raises(LogInUse):
        restore(backup, home, force=True)
    with Log.open(home / "table.db") as log:
        book(log, 1)
    _, aside = restore(backup, home, force=True)
    assert aside is not None
    assert len(entries(aside / "table.db")) == 6
    assert len(entries(home / "table.db")) == 5


def test_a_lock_that_nobody_holds_is_no_process(place: Path) -> None:
    backup = back_up_table(place)
    with (place / "T1" / "table.db.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        fcntl.flock(lock, fcntl.LOCK_UN)
        restore(backup, place / "T1", force=True)


@pytest.mark.parametrize(
    "words",
    [
        ["restore", "x"],
        ["restore", "--home", "h"],
        ["restore", "x", "--from-central", "c.db", "--home", "h"],
        ["restore", "--from-central", "c.db", "--home", "h"],
        ["restore", "/nowhere", "--home", "h"],
        ["restore", "--from-central", "/nowhere.db", "--table", "T1", "--home", "h"],
        ["backup", "--config", "/nowhere.toml", "b"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_line(
    words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


# ---- from the central station's copy ----------------------------------------------------------------------


def test_a_lost_log_is_rebuilt_from_the_stations_copy(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, central = place / "T1", place / "central" / "central.db"
    before = entries(home / "table.db")
    with Log.open(home / "table.db", read_only=True) as log:
        stored = log.entries()
    shutil.rmtree(home)
    words = ["restore", "--from-central", str(central), "--table", "T1", "--home", str(home), "--json"]
    assert main(words) == 0
    assert told(capsys)["entries"] == 6
    assert main(["verify", str(home / "table.db"), "--json"]) == 0
    assert told(capsys)["entries"] == 6
    assert entries(home / "table.db") == before
    with Log.open(home / "table.db") as log:
        assert log.verify().ok
        assert log.entries()[:5] == stored  # the file's own columns too
        assert [(s.entry.kind, s.entry.body) for s in log.entries(5)] == [(REBUILT, b'{"v":1,"seq":5}')]
        book(log, 1)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        _write(home / "table.db", "DELETE FROM entry")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        _write(home / "table.db", "INSERT INTO meta VALUES ('x', x'00')")


def _write(path: Path, statement: str) -> None:
    db = sqlite3.connect(path)
    try:
        db.execute(statement)
    finally:
        db.close()


def test_the_rebuilt_file_has_the_very_schema_of_a_new_one(place: Path) -> None:
    rebuild_from_central(place / "central" / "central.db", "T1", place / "again")
    schemas = []
    for path in (place / "T1" / "table.db", place / "again" / "table.db"):
        db = sqlite3.connect(path)
        texts = [row[0] for row in db.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL")]
        schemas.append(sorted(" ".join(text.split()) for text in texts))
        db.close()
    assert schemas[0] == schemas[1]


def test_a_log_behind_the_station_is_completed(place: Path) -> None:
    backup = back_up_table(place)
    home, central = place / "T1", place / "central" / "central.db"
    with Log.open(home / "table.db") as table, Log.open(central) as station:
        station.accept([("T1", entry) for entry in book(table, 3)], 3)
    all_of_it = entries(home / "table.db")
    shutil.rmtree(home)
    restore(backup, home)
    rebuilt = rebuild_from_central(central, "T1", home)
    assert (rebuilt.before, rebuilt.now) == (5, 8)
    assert entries(home / "table.db") == all_of_it
    assert rebuilt.aside is not None
    assert len(entries(rebuilt.aside)) == 5
    assert rebuild_from_central(central, "T1", home).aside is None  # twice changes nothing


def test_a_log_ahead_of_the_station_is_left_alone(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home, central = place / "T1", place / "central" / "central.db"
    with Log.open(home / "table.db") as table:
        book(table, 2)
    words = ["restore", "--from-central", str(central), "--table", "T1", "--home", str(home)]
    assert main(words) == 0
    assert "Nothing to do" in capsys.readouterr().out
    assert len(entries(home / "table.db")) == 7


@pytest.mark.parametrize("ahead", [False, True])
def test_two_histories_are_kept_apart(place: Path, ahead: bool) -> None:
    home, central = place / "T1", place / "central" / "central.db"
    with Log.open(home / "table.db", read_only=True) as log:
        log_id, first = log.log_id, log.entries_of(log.log_id)[:3]
    (home / "table.db").unlink()
    rebuild(home / "table.db", log_id, first, 9)
    with Log.open(home / "table.db") as log:
        log.append([("other", b"{}")] * (9 if ahead else 1), 9)
    with pytest.raises(BackupError, match="different histories"):
        rebuild_from_central(central, "T1", home)
    assert len(entries(home / "table.db")) == (12 if ahead else 4)


def signed_with_a_command(place: Path) -> tuple[list[Entry], bytes]:
    """A log with a command of the station in between and a signature behind it, and its public key."""
    with Log.open(place / "c.db") as central, Log.open(place / "t.db", signer=bytes(32)) as table:
        commands = central.append([("clock.set", b"{}")], 1, central.author("T1"))
        book(table, 1)
        table.accept([("central", entry) for entry in commands], 2)
        table.append([("e", b"{}")], 3, checkpoint="session.closed")
        return table.entries_of(table.log_id), bytes(SigningKey(bytes(32)).verify_key)


def test_what_was_signed_before_binds_the_chain_of_a_rebuilt_file(place: Path) -> None:
    chain, key = signed_with_a_command(place)
    rebuild(place / "r.db", chain[0].log_id, chain, 9)
    found = verify_file(place / "r.db", key=key)
    assert (found["ok"], found["checkpoints"]) == (True, 1)
    assert [anchor["by"] for anchor in found["anchors"]] == ["chain"]
    with Log.open(place / "r.db", signer=bytes(32)) as log:
        log.append([("e", b"{}")], 9, checkpoint="session.opened")
    found = verify_file(place / "r.db", key=key)
    assert [anchor["by"] for anchor in found["anchors"]] == ["checkpoint"]


def test_a_file_that_does_not_say_that_it_was_rebuilt_may_not_be_bent(place: Path) -> None:
    _, key = signed_with_a_command(place)
    db = sqlite3.connect(place / "t.db")
    prev = bytes(32)
    db.execute("DROP TRIGGER entry_no_update")
    for pos, source, digest in db.execute("SELECT pos, source, hash FROM entry").fetchall():
        store = store_hash(prev, pos, source, 77, digest)
        db.execute(
            "UPDATE entry SET received_ms = 77, store_prev = ?, store_hash = ? WHERE pos = ?",
            (prev, store, pos),
        )
        prev = store
    db.commit()
    db.close()
    found = verify_file(place / "t.db", key=key)
    assert found["ok"] is False
    assert any(misfit["what"] == "signature" for misfit in found["misfits"])


def test_a_table_the_station_does_not_know_has_nothing_to_restore(place: Path) -> None:
    for table, log_id in (("T2", None), ("T1", bytes(16)), ("", None)):
        with pytest.raises(BackupError, match="no such log"):
            rebuild_from_central(place / "central" / "central.db", table, place / "h", log_id=log_id)


def test_of_several_logs_the_newest_is_taken_unless_another_is_named(place: Path, tmp_path: Path) -> None:
    with Log.open(tmp_path / "second.db") as second, Log.open(place / "central" / "central.db") as station:
        station.accept([("T1", entry) for entry in book(second, 2)], 4)
        second_id = second.log_id
    central = place / "central" / "central.db"
    first_id = entries(place / "T1" / "table.db")[0].log_id
    assert rebuild_from_central(central, "T1", tmp_path / "a").log_id == second_id
    assert rebuild_from_central(central, "T1", tmp_path / "b", log_id=first_id).now == 5


def test_a_damaged_copy_is_not_rebuilt_from(place: Path, tmp_path: Path) -> None:
    good = entries(place / "T1" / "table.db")
    with pytest.raises(LogError, match="Entry 3"):
        rebuild(tmp_path / "x.db", good[0].log_id, [*good[:2], *good[3:]], 9)
    assert not (tmp_path / "x.db").exists()


# ---- what lies beside the log, and where the disk or another program is in the way ------------------------


def test_a_ledger_that_its_table_holds_is_backed_up_all_the_same(place: Path) -> None:
    """A machine's ledger lets nobody else read while the table runs; a backup neither waits nor lacks it."""
    path = place / "T1" / "commands.db"
    code = (
        "import sys; from firmware_bridge.ledger import Intent, Ledger; from firmware_bridge.ops import Op;"
        f"ledger = Ledger({str(path)!r}); ledger.intend(Intent(1, Op.ROLL_DICE, b'', 1, 1));"
        "print('ready', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=PIPE, stdout=PIPE) as table:
        assert table.stdout is not None
        assert table.stdout.readline() == b"ready\n"
        backup = back_up_table(place)
        assert table.stdin is not None
        table.stdin.close()
    copy = sqlite3.connect(backup / "home" / "commands.db")
    assert copy.execute("SELECT count(*) FROM entries").fetchone() == (1,)
    copy.close()


def test_a_backup_can_be_read_where_nothing_can_be_written(place: Path) -> None:
    backup = back_up_table(place)
    copy = sqlite3.connect(f"{(backup / 'home' / 'table.db').as_uri()}?mode=ro", uri=True)
    assert copy.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    copy.close()
    check_backup(backup)
    assert [path.name for path in (backup / "home").glob("table.db*")] == ["table.db"]


def test_a_backup_on_a_read_only_medium_is_restored(place: Path) -> None:
    if os.geteuid() != 0:
        go_without("root", "mounting a medium takes root")
    backup, medium = back_up_table(place), place / "medium"
    medium.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", medium], check=True)
    try:
        shutil.copytree(backup, medium / "backup")
        subprocess.run(["mount", "-o", "remount,ro", medium], check=True)
        restore(medium / "backup", place / "again")
    finally:
        subprocess.run(["umount", medium], check=True)
    assert len(entries(place / "again" / "table.db")) == 5


def test_a_damaged_log_is_told_when_it_is_backed_up_not_when_it_is_needed(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = place / "T1" / "table.db"
    _write(log, "DROP TRIGGER entry_no_update")
    db = sqlite3.connect(log, isolation_level=None)
    db.execute("UPDATE entry SET body = x'00' WHERE pos = 3")
    db.close()
    before = set(place.iterdir())
    assert main(["backup", "--config", str(place / "table.toml"), str(place / "b")]) == 2
    assert "entry 3" in capsys.readouterr().err
    assert set(place.iterdir()) == before


def test_a_signature_of_a_table_that_does_not_hold_keeps_no_station_from_coming_back(place: Path) -> None:
    with Log.open(place / "bad.db") as table, Log.open(place / "central" / "central.db") as central:
        central.accept([("T1", entry) for entry in table.append([("log.checkpoint", b"{}")], 1)], 2)
        book(central, 1)
        assert not central.verify().ok
    assert main(["backup", "--config", str(place / "central.toml"), str(place / "b")]) == 0
    restore(place / "b", place / "again")


def test_what_is_known_of_the_photos_is_made_anew_for_a_log_that_came_back(place: Path) -> None:
    """It counts by position in the file, and would pass over what comes where it had been already."""
    for name in (TABLE_INDEX, f"{TABLE_INDEX}-wal"):
        (place / "T1" / name).write_bytes(b"")
    backup = back_up_table(place)
    assert not (backup / "home" / TABLE_INDEX).exists()
    (place / "T1" / "table.db").unlink()
    rebuild_from_central(place / "central" / "central.db", "T1", place / "T1")
    assert list((place / "T1").glob(f"{TABLE_INDEX}*")) == []
    assert Shelf(place / "central" / "evidence").index == place / "central" / CENTRAL_INDEX


def test_a_log_that_was_moved_aside_is_backed_up_with_all_it_has(place: Path) -> None:
    for name in ("table.db.before-20260101-000000", "table.db.before-20260101-000000-wal"):
        (place / "T1" / name).write_bytes(name.encode())
    backup = back_up_table(place)
    assert len(list((backup / "home").glob("table.db.before-*"))) == 2


def test_photographs_on_a_disk_of_their_own_are_backed_up_too(place: Path) -> None:
    photos = place / "T1" / "photos"
    photos.rename(place / "big")
    photos.symlink_to(place / "big")
    (place / "big" / "round").symlink_to(place / "T1")
    backup = back_up_table(place)
    kept = [str(path.relative_to(backup / "home")) for path in backup.rglob("*.jpg")]
    assert kept == ["photos/a.jpg"]


def test_a_disk_that_is_not_there_is_told_of(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(place / "T1" / "photos")
    (place / "T1" / "photos").symlink_to(place / "not mounted")
    assert main(["backup", "--config", str(place / "table.toml"), str(place / "b")]) == 2
    assert "leads nowhere" in capsys.readouterr().err
    assert not (place / "b").exists()


def test_the_key_of_the_second_station_is_part_of_the_configuration(place: Path) -> None:
    generate(place / "keys", "standby")
    (place / "table.toml").write_text(
        TABLE + '[central.standby]\nendpoint = "tcp://127.0.0.1:2"\npublic_key = "keys/standby.pub"\n'
    )
    assert (back_up_table(place) / "config" / "standby.pub").exists()


def test_a_home_that_is_a_link_is_restored_to_where_it_leads(place: Path) -> None:
    backup = back_up_table(place)
    (place / "disk").mkdir()
    (place / "home").symlink_to(place / "disk")
    restore(backup, place / "home")
    assert len(entries(place / "disk" / "table.db")) == 5


def test_a_home_that_is_a_disk_of_its_own_is_refused_before_anything_is_touched(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = back_up_table(place)
    monkeypatch.setattr(Path, "is_mount", lambda _: True)
    before = set(place.iterdir())
    with pytest.raises(BackupError, match="a disk of its own"):
        restore(backup, place / "T1", force=True)
    assert set(place.iterdir()) == before

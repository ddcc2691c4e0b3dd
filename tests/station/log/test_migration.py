"""Logs of older formats are read and continued; a migration that is cut leaves the old file as it was."""

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from station.errors import LogError, NotALog
from station.log import Entry, Log, chain, migration, schema, verify_file
from station.log.chain import ZERO_HEAD
from tests.station.log.format_2 import as_format_2
from tests.station.log.old_format import central_file, table_file

EVENTS = [("hand.confirmed", b'{"v":1,"hand":%d}' % i) for i in range(5)]
A, B = b"A" * 16, b"B" * 16


def version(path: Path) -> tuple[int, int]:
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    found = tuple(db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    db.close()
    return found


@pytest.fixture
def old_table(tmp_path: Path) -> tuple[Path, list[Entry]]:
    path = tmp_path / "table.db"
    return path, table_file(path, EVENTS)


def old_central(path: Path) -> tuple[list[tuple[str, Entry]], Entry, list[bytes]]:
    a, b = chain.link(A, ZERO_HEAD, EVENTS[:3], 100), chain.link(B, ZERO_HEAD, EVENTS[:2], 100)
    batch = [("T1", a[0]), ("T2", b[0]), ("T1", a[1]), ("T2", b[1]), ("T1", a[2])]
    (fork,) = chain.link(A, a[1].head, [("other", b"{}")], 200)
    return batch, fork, central_file(path, batch, fork)


def test_a_tables_log_keeps_its_id_and_every_byte_of_its_entries(old_table) -> None:
    path, entries = old_table
    with Log.open(path) as log:
        assert log.log_id == entries[0].log_id
        assert log.entries_of(log.log_id) == entries
        assert [(s.pos, s.source, s.received_ms) for s in log.entries()] == [
            (e.seq, "", e.at_ms) for e in entries
        ]
        assert log.verify().ok
        (more,) = log.append([("after", b"{}")], 9)
        assert (more.seq, more.prev) == (6, entries[-1].hash)
    with Log.open(path) as log:
        assert log.entries_of(log.log_id) == [*entries, more]
        assert log.verify().ok


def test_a_central_log_keeps_its_positions_and_its_own_hashes(tmp_path: Path) -> None:
    path = tmp_path / "central.db"
    batch, fork, hashes = old_central(path)
    with Log.open(path) as log:
        stored = log.entries()
        assert [(s.source, s.entry) for s in stored[:-1]] == batch
        assert [s.hash for s in stored] == hashes
        assert (stored[-1].source, stored[-1].entry.log_id) == ("", log.log_id)
        assert log.in_quarantine(A)
        assert log.head_of(B).seq == 2
        assert log.verify().ok
        db = log._database.connection
        assert db.execute("SELECT source, hash, body FROM quarantine").fetchone() == ("T1", fork.hash, b"{}")


def test_a_migrated_file_does_not_differ_from_a_new_one_in_its_schema(tmp_path: Path, old_table) -> None:
    old_central(tmp_path / "central.db")
    Log.open(tmp_path / "new.db").close()
    schemas = []
    for path in (tmp_path / "new.db", tmp_path / "central.db", old_table[0]):
        Log.open(path).close()
        db = sqlite3.connect(path)
        schemas.append(sorted(db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")))
        db.close()
    assert schemas[0] == schemas[1] == schemas[2]


def test_an_old_file_is_verified_without_being_changed(tmp_path: Path, old_table) -> None:
    old_central(tmp_path / "central.db")
    for path in (old_table[0], tmp_path / "central.db"):
        before = path.read_bytes()
        assert verify_file(path)["ok"] is True
        with Log.open(path, read_only=True) as reader:
            assert reader.head == reader.entries_of(reader.log_id)[-1].head
            with pytest.raises(LogError):
                reader.append(EVENTS, 1)
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("sql", "first_bad"),
    [
        ("UPDATE entry SET body = x'00' WHERE seq = 2", 2),
        ("DELETE FROM entry WHERE seq = 3", 3),
        ("UPDATE entry SET kind = CAST(x'ff' AS TEXT) WHERE seq = 4", 4),
        ("UPDATE entry SET seq = 77 WHERE seq = 5", 5),
        ("UPDATE meta SET value = x'00112233445566778899aabbccddeeff'", 1),
    ],
)
@pytest.mark.parametrize("read_only", [True, False], ids=["reader", "writer"])
def test_what_was_changed_before_the_migration_is_still_found(
    old_table, sql: str, first_bad: int, read_only: bool
) -> None:
    path, _ = old_table
    db = sqlite3.connect(path)
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    db.execute(sql)
    db.commit()
    db.close()
    if not read_only:
        Log.open(path).close()
    assert verify_file(path)["first_bad"] == first_bad


def test_a_migration_cut_anywhere_leaves_the_old_file_and_is_done_at_the_next_start(
    tmp_path: Path, old_table
) -> None:
    """Cut the write-ahead log of the migration at every page and open it as after a power loss."""
    path, entries = old_table
    before = path.read_bytes()
    with Log.open(path):  # closing empties the write-ahead log
        wal = path.with_name("table.db-wal").read_bytes()
    assert len(wal) > 20_000
    copy = tmp_path / "copy.db"
    for cut in range(0, len(wal), 1024):
        for old in tmp_path.glob("copy.db*"):
            old.unlink()
        copy.write_bytes(before)
        copy.with_name("copy.db-wal").write_bytes(wal[:cut])
        assert version(copy) == (migration.OLD_TABLE, 1)
        with Log.open(copy) as log:
            assert log.entries_of(log.log_id) == entries
            assert log.verify().ok


def test_a_process_killed_in_a_migration_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "central.db"
    batch, _, hashes = old_central(path)
    program = (
        "import os, sys; from pathlib import Path; from station.log import Log, migration\n"
        "migration.TRIGGERS = 'SELECT die();'\n"
        "run = migration._run\n"
        "def killed(db, script):\n"
        "    db.create_function('die', 0, lambda: os._exit(9)); run(db, script)\n"
        "migration._run = killed\n"
        "Log.open(Path(sys.argv[1]))\n"
    )
    killed = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert killed.returncode == 9
    assert version(path) == (migration.OLD_CENTRAL, 1)
    with Log.open(path) as log:
        assert [s.hash for s in log.entries()] == hashes
        assert [s.entry for s in log.entries(limit=5)] == [entry for _, entry in batch]


def test_a_full_disk_stops_a_migration_in_plain_words_and_the_old_file_stays(old_table) -> None:
    path, entries = old_table
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        migration.migrate(db, migration.OLD_TABLE)
    assert not db.in_transaction
    db.close()
    assert version(path) == (migration.OLD_TABLE, 1)
    with Log.open(path) as log:
        assert log.entries_of(log.log_id) == entries


def test_a_newer_format_of_an_old_kind_is_refused(old_table) -> None:
    path, _ = old_table
    shutil.copy(path, path.with_name("newer.db"))
    db = sqlite3.connect(path.with_name("newer.db"))
    db.execute("PRAGMA user_version = 7")
    db.close()
    for read_only in (True, False):
        with pytest.raises(NotALog, match="has format 7"):
            Log.open(path.with_name("newer.db"), read_only=read_only)


# ---- format 2 ----


@pytest.fixture
def format_2(tmp_path: Path) -> tuple[Path, Path]:
    """A log of today with all that format 2 knew, and the same as a file of format 2."""
    a = chain.link(A, ZERO_HEAD, EVENTS[:3], 100)
    (fork,) = chain.link(A, a[1].head, [("other", b"{}")], 200)
    with Log.open(tmp_path / "new.db", signer=bytes(32)) as log:
        log.append(EVENTS[:1], 1, log.author("T9"), checkpoint="circle")
        log.append(EVENTS[:1], 1, log.author("T1"))
        log.accept([("T1", entry) for entry in (*a, fork)], 2)
        log.quarantine("T2", B, "rollback", a[0].head, 3)
    as_format_2(tmp_path / "new.db", tmp_path / "old.db")
    return tmp_path / "new.db", tmp_path / "old.db"


def dump(path: Path) -> list[str]:
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    lines = sorted(db.iterdump())
    db.close()
    return lines


def test_a_log_of_format_2_becomes_the_same_file_as_one_of_today(format_2) -> None:
    new, old = format_2
    assert version(old) == (schema.APPLICATION_ID, 2)
    with Log.open(old) as log:
        assert (log.quarantined(A), log.quarantined(B)) == ("fork", "rollback")
        assert list(log.authored.values()) == ["T9", "T1"]
        assert log.verify().ok
        assert log.verify(key=bytes(SigningKey(bytes(32)).verify_key)).ok
    assert version(old) == (schema.APPLICATION_ID, 3)
    assert dump(old) == dump(new)
    with Log.open(old) as log:
        assert log.release(A, "person", "checked", 4)
        assert log.verify().ok


def test_a_log_of_format_2_is_verified_without_being_changed(format_2) -> None:
    _, old = format_2
    before = old.read_bytes()
    assert verify_file(old)["ok"] is True
    assert old.read_bytes() == before
    db = sqlite3.connect(old)
    db.execute("DROP TRIGGER quarantine_no_delete")
    db.execute("DELETE FROM quarantine WHERE id = 1")
    db.commit()
    db.close()
    assert [misfit["what"] for misfit in verify_file(old)["misfits"]] == ["quarantine"]
    Log.open(old).close()
    assert [misfit["what"] for misfit in verify_file(old)["misfits"]] == ["quarantine"]


def test_a_migration_from_format_2_cut_anywhere_leaves_the_old_file(tmp_path: Path, format_2) -> None:
    new, old = format_2
    before, wanted = old.read_bytes(), dump(new)
    with Log.open(old):
        wal = old.with_name("old.db-wal").read_bytes()
    copy = tmp_path / "copy.db"
    for cut in range(0, len(wal), 2048):
        for file in tmp_path.glob("copy.db*"):
            file.unlink()
        copy.write_bytes(before)
        copy.with_name("copy.db-wal").write_bytes(wal[:cut])
        assert version(copy) == (schema.APPLICATION_ID, 2)
        Log.open(copy).close()
        assert dump(copy) == wanted


def test_a_log_of_a_newer_format_is_refused(format_2) -> None:
    _, old = format_2
    db = sqlite3.connect(old)
    db.execute("PRAGMA user_version = 4")
    db.close()
    with pytest.raises(NotALog, match="has format 4; this program reads formats up to 3"):
        Log.open(old)

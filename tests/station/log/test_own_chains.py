"""The chains that the owner of a log writes: append, read, one writer, triggers, plain errors."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from station.errors import ConfigError, LogError, LogFull, LogInUse, NotALog
from station.log import Entry, Log, Reception, chain, verify_file
from station.log.chain import ZERO_HEAD

EVENTS = [("dice.rolled", b'{"v":1}'), ("hand.confirmed", b'{"v": 1, "pay": [3,-1,-1,-1]}')]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.log"


def own(log: Log, after: int = 0, limit: int | None = None) -> list[Entry]:
    return log.entries_of(log.log_id, after, limit)


@pytest.fixture
def log(path: Path) -> Iterator[Log]:
    with Log.open(path) as log:
        yield log


def test_a_new_log_is_empty_and_has_its_own_id(log: Log, tmp_path: Path) -> None:
    with Log.open(tmp_path / "other.log") as other:
        assert len(log.log_id) == 16
        assert log.log_id != other.log_id
    assert log.head == ZERO_HEAD
    assert log.entries() == []
    assert log.pos_head == ZERO_HEAD
    assert log.hash_at(log.log_id, 0) == ZERO_HEAD.hash
    assert log.hash_at(log.log_id, 1) is None


def test_append_gives_the_entries_with_the_bytes_as_given(log: Log) -> None:
    entries = log.append(EVENTS, 1234)
    assert [(e.seq, e.kind, e.body, e.at_ms) for e in entries] == [
        (1, "dice.rolled", EVENTS[0][1], 1234),
        (2, "hand.confirmed", EVENTS[1][1], 1234),
    ]
    assert own(log) == entries
    assert log.head == log.head_of(log.log_id) == entries[-1].head
    assert log.hash_at(log.log_id, 2) == entries[1].hash


def test_entries_can_be_read_in_pieces(log: Log) -> None:
    entries = log.append(EVENTS * 5, 1)
    assert own(log, 3, 4) == entries[3:7]
    assert own(log, 10) == []
    assert [stored.entry for stored in log.entries(3, 4)] == entries[3:7]
    assert log.entries(after_pos=10) == []


def test_appending_nothing_changes_nothing(log: Log) -> None:
    assert log.append([], 1) == []
    assert log.head == ZERO_HEAD


def test_everything_is_there_after_reopening(path: Path) -> None:
    with Log.open(path) as log:
        log_id, entries = log.log_id, log.append(EVENTS, 1)
    with Log.open(path) as log:
        assert (log.log_id, own(log), log.head) == (log_id, entries, entries[-1].head)
        assert log.append(EVENTS, 2)[0].prev == entries[-1].hash
        assert log.verify().ok


def test_a_reader_sees_what_the_writer_commits(path: Path, log: Log) -> None:
    with Log.open(path, read_only=True) as reader:
        entries = log.append(EVENTS, 1)
        assert own(reader) == entries
        assert reader.entries() == log.entries()
        assert (reader.head, reader.pos_head) == (entries[-1].head, log.pos_head)
        with pytest.raises(LogError, match="cannot be read or written"):
            reader.append(EVENTS, 2)


def test_a_second_writer_is_refused(path: Path, log: Log) -> None:
    with pytest.raises(LogInUse, match="already writes"):
        Log.open(path)
    log.close()
    log.close()
    Log.open(path).close()


def test_only_the_owner_may_read_the_file(path: Path, log: Log) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE entry SET body = x'00' WHERE seq = 1",
        "DELETE FROM entry WHERE seq = 2",
        "DELETE FROM entry",
        "INSERT OR REPLACE INTO entry VALUES (1, '', 0, x'', 1, 'x', 0, x'', x'', x'', x'', x'')",
        "INSERT INTO entry VALUES (9, '', 0, x'', 1, 'x', 0, x'', x'', x'', x'', x'')",
        "UPDATE author SET name = 'T2'",
        "DELETE FROM author",
        "INSERT OR REPLACE INTO author VALUES (1, x'00', 'T1')",
        "INSERT OR REPLACE INTO author VALUES (3, x'00', 'T1')",
        "INSERT OR REPLACE INTO author SELECT 2, log_id, 'T2' FROM author",
        "UPDATE meta SET value = x'00'",
        "DELETE FROM meta",
        "INSERT OR REPLACE INTO meta VALUES ('log_id', x'00')",
    ],
)
def test_the_file_itself_forbids_changes(path: Path, log: Log, sql: str) -> None:
    log.append(EVENTS, 1)
    log.append(EVENTS, 1, log.author("T1"))
    with sqlite3.connect(path) as db, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute(sql)
    db.close()
    assert log.verify().ok


@pytest.mark.parametrize("read_only", [False, True], ids=["writer", "reader"])
def test_a_database_of_another_program_is_refused(tmp_path: Path, read_only: bool) -> None:
    db = sqlite3.connect(tmp_path / "other.db")
    db.execute("CREATE TABLE entry (seq INTEGER)")
    db.close()
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(NotALog, match="not a log of this program"):
        Log.open(tmp_path / "other.db", read_only=read_only)
    assert (tmp_path / "other.db").read_bytes() == before


def test_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to be taken for one " * 10)
    before = text.read_bytes()
    with pytest.raises(NotALog, match="not a readable log"):
        Log.open(text)
    with pytest.raises(NotALog):
        verify_file(text)
    assert text.read_bytes() == before


def test_a_newer_format_is_refused_in_plain_words(path: Path) -> None:
    Log.open(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 9")
    db.close()
    with pytest.raises(NotALog, match="has format 9"):
        Log.open(path)


def test_a_missing_folder_is_one_plain_sentence(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="No such file or directory") as caught:
        Log.open(tmp_path / "nowhere" / "table.log")
    assert "\n" not in str(caught.value)
    assert caught.value.fix


def test_reading_a_log_that_is_not_there_creates_nothing(path: Path) -> None:
    with pytest.raises(NotALog, match="There is no log"):
        Log.open(path, read_only=True)
    with pytest.raises(NotALog):
        verify_file(path)
    assert list(path.parent.iterdir()) == []


def test_a_full_database_stores_nothing_and_goes_on_when_there_is_space(log: Log) -> None:
    """`max_page_count` gives the same SQLITE_FULL as a full disk."""
    log.append(EVENTS, 1)
    db = log._database.connection
    pages = db.execute("PRAGMA page_count").fetchone()[0]
    db.execute(f"PRAGMA max_page_count = {pages + 2}")
    head = log.head
    with pytest.raises(LogFull, match="full") as caught:
        log.append([("photo", bytes(3000)), ("photo", bytes(30_000))], 2)
    assert caught.value.code == "log.full"
    assert log.head == head
    assert len(own(log)) == 2
    db.execute("PRAGMA max_page_count = 100000")
    assert log.append([("photo", bytes(30_000))], 3)[0].seq == 3
    assert log.verify().ok


def test_a_chain_for_another_begins_with_its_first_entry_and_is_announced_in_the_main_one(
    path: Path, log: Log
) -> None:
    log.append(EVENTS[:1], 1)
    to_t1 = log.author("T1")
    assert log.author("T1") == to_t1 != log.author("T2")
    assert log.authored == {}
    assert log.append([], 2, to_t1) == []
    first = log.append(EVENTS, 2, to_t1)
    assert [(e.log_id, e.seq) for e in first] == [(to_t1, 1), (to_t1, 2)]
    assert log.authored == {to_t1: "T1"}
    assert [e.kind for e in own(log)] == ["dice.rolled", "log.authored"]
    log.close()
    with Log.open(path) as again:
        assert again.author("T1") == to_t1
        (third,) = again.append(EVENTS[:1], 3, to_t1)
        assert (third.seq, third.prev) == (3, first[-1].hash)
        assert again.entries_of(to_t1) == [*first, third]
        assert [stored.source for stored in again.entries()] == [""] * 5
        assert again.verify().ok


def test_only_an_own_chain_can_be_appended_to(log: Log) -> None:
    log.accept([("T1", chain.link(b"A" * 16, ZERO_HEAD, EVENTS[:1], 1)[0])], 1)
    for foreign in (b"A" * 16, b"B" * 16):
        with pytest.raises(ValueError, match="own chain"):
            log.append(EVENTS, 1, foreign)


def test_nobody_else_can_fill_an_own_chain_that_has_not_begun(log: Log) -> None:
    to_t1 = log.author("T1")
    (receipt,) = log.accept([("T1", chain.link(to_t1, ZERO_HEAD, EVENTS[:1], 1)[0])], 1)
    assert receipt.reception is Reception.FOREIGN
    assert log.append(EVENTS[:1], 1, to_t1)[0].seq == 1


@pytest.mark.parametrize("expect", ["xyz", "ab" * 31, b"short"])
def test_an_expected_hash_has_to_be_one(log: Log, expect: str | bytes) -> None:
    with pytest.raises(ConfigError, match="64 hexadecimal digits"):
        log.verify(expect)


def test_every_commit_is_on_the_disk_before_append_returns(path: Path, log: Log) -> None:
    db = log._database.connection
    assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert db.execute("PRAGMA synchronous").fetchone()[0] == 2


def test_the_lock_is_free_again_when_opening_failed(path: Path) -> None:
    path.write_bytes(os.urandom(4096))
    for _ in range(2):
        with pytest.raises(NotALog):
            Log.open(path)

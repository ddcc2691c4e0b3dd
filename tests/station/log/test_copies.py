"""Copies of others' chains: many tables' bytes, each stored once, forks kept apart."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from station.errors import LogFull
from station.log import Entry, Log, Reception, chain
from station.log.chain import ZERO_HEAD, Head

A, B = b"A" * 16, b"B" * 16


def events_of(log_id: bytes, n: int, head: Head = ZERO_HEAD, text: str = "x") -> list[Entry]:
    return chain.link(log_id, head, [("hand.confirmed", f"{text}{i}".encode()) for i in range(n)], 100)


def for_table(table: str, entries: list[Entry]) -> list[tuple[str, Entry]]:
    return [(table, entry) for entry in entries]


@pytest.fixture
def central(tmp_path: Path) -> Iterator[Log]:
    with Log.open(tmp_path / "central.log") as log:
        yield log


def receptions(central: Log, batch: list[tuple[str, Entry]]) -> list[Reception]:
    return [receipt.reception for receipt in central.accept(batch, 500)]


def test_it_stores_the_bytes_of_many_tables_in_the_order_they_came(central: Log) -> None:
    a, b = events_of(A, 3), events_of(B, 2)
    batch = [("T1", a[0]), ("T2", b[0]), ("T1", a[1]), ("T2", b[1]), ("T1", a[2])]
    assert receptions(central, batch) == [Reception.STORED] * 5
    stored = central.entries()
    assert [(s.pos, s.source, s.entry, s.received_ms) for s in stored] == [
        (i + 1, table, entry, 500) for i, (table, entry) in enumerate(batch)
    ]
    assert central.head_of(A) == a[-1].head
    assert central.owner_of(B) == "T2"
    assert central.pos_head == Head(5, stored[-1].hash)
    assert central.verify().ok


def test_a_duplicate_is_known_by_its_hash_and_not_stored_again(central: Log) -> None:
    a = events_of(A, 3)
    central.accept(for_table("T1", a), 1)
    receipts = central.accept(for_table("T1", a[1:]), 2)
    assert [(r.reception, r.head) for r in receipts] == [(Reception.DUPLICATE, a[-1].head)] * 2
    assert central.pos_head.seq == 3


def test_a_gap_is_refused_and_the_receipt_says_from_where_to_go_on(central: Log) -> None:
    a = events_of(A, 4)
    receipts = central.accept([("T1", a[0]), ("T1", a[2]), ("T1", a[1]), ("T1", a[2])], 1)
    assert [r.reception for r in receipts] == [
        Reception.STORED,
        Reception.GAP,
        Reception.STORED,
        Reception.STORED,
    ]
    assert receipts[1].head.seq == 1


@pytest.mark.parametrize("at", [1, 3], ids=["known seq with other bytes", "next seq on another past"])
def test_a_fork_is_put_into_quarantine_and_nothing_is_overwritten(central: Log, at: int) -> None:
    a, other = events_of(A, 2), events_of(A, 4, text="other")
    central.accept(for_table("T1", a), 1)
    assert receptions(central, [("T1", other[at - 1])]) == [Reception.FORK]
    assert central.in_quarantine(A)
    assert [s.entry for s in central.entries(limit=2)] == a
    alarm = central.entries(after_pos=2)
    assert [(s.source, s.entry.kind) for s in alarm] == [("", "link.fork")]
    assert receptions(central, [("T1", e) for e in events_of(A, 3)]) == [Reception.QUARANTINED] * 3
    assert central.pos_head.seq == 3
    assert central.verify().ok


def test_a_quarantine_outlives_a_restart_and_touches_no_other_log(tmp_path: Path) -> None:
    path = tmp_path / "central.log"
    with Log.open(path) as central:
        central.accept(for_table("T1", events_of(A, 1)) + for_table("T1", events_of(A, 1, text="other")), 1)
    with Log.open(path) as central:
        assert central.in_quarantine(A)
        assert receptions(central, for_table("T1", events_of(B, 1))) == [Reception.STORED]
        assert central.head_of(A).seq == 1


def test_a_claimed_head_can_put_a_log_into_quarantine_once(central: Log) -> None:
    central.accept(for_table("T1", events_of(A, 2)), 1)
    for _ in range(3):
        central.quarantine("T1", A, "rollback", Head(1, b"h" * 32), 9)
    assert [s.entry.kind for s in central.entries(after_pos=2)] == ["link.fork"]
    assert b'"rollback"' in central.entries(after_pos=2)[0].entry.body


def test_a_table_cannot_put_the_log_of_another_into_quarantine(central: Log) -> None:
    central.accept(for_table("T1", events_of(A, 2)), 1)
    central.quarantine("T2", A, "fork", Head(1, b"h" * 32), 9)
    assert not central.in_quarantine(A)


def test_the_log_of_another_table_is_refused(central: Log) -> None:
    a = events_of(A, 2)
    central.accept(for_table("T1", a[:1]), 1)
    assert receptions(central, [("T2", a[1])]) == [Reception.FOREIGN]
    assert receptions(central, [("T2", chain.link(central.log_id, ZERO_HEAD, [("a", b"")], 1)[0])]) == [
        Reception.FOREIGN
    ]


def test_an_entry_whose_hash_is_not_its_own_is_refused(central: Log) -> None:
    (a,) = events_of(A, 1)
    forged = Entry(a.log_id, a.seq, a.kind, a.at_ms, b"forged", a.prev, a.hash)
    assert receptions(central, [("T1", forged), ("T1", a)]) == [Reception.BROKEN, Reception.STORED]


def test_its_own_events_are_a_log_among_the_others(central: Log) -> None:
    central.append([("link.denied", b"{}")], 5)
    central.append([("link.denied", b"{}")], 6)
    assert [(s.source, s.entry.log_id, s.entry.seq) for s in central.entries()] == [
        ("", central.log_id, 1),
        ("", central.log_id, 2),
    ]
    assert central.verify().ok


def test_a_source_has_a_name(central: Log) -> None:
    with pytest.raises(ValueError, match="name"):
        central.accept([("", events_of(A, 1)[0])], 1)
    assert central.pos_head.seq == 0


def test_a_reopened_log_knows_the_head_and_the_owner_of_every_chain(tmp_path: Path) -> None:
    chains = {bytes([i]) * 16: events_of(bytes([i]) * 16, i) for i in range(1, 6)}
    with Log.open(tmp_path / "central.log") as central:
        for log_id, entries in chains.items():
            central.accept(for_table(f"T{log_id[0]}", entries), 1)
    with Log.open(tmp_path / "central.log") as central:
        for log_id, entries in chains.items():
            assert (central.head_of(log_id), central.owner_of(log_id)) == (entries[-1].head, f"T{log_id[0]}")
            assert central.entries_of(log_id) == entries
        assert central.owner_of(b"unknown chain id") is None
        assert central.owner_of(central.log_id) == ""


def test_a_full_disk_stores_nothing_of_the_batch_and_goes_on_later(central: Log) -> None:
    a = events_of(A, 3)
    big = chain.link(A, a[-1].head, [("photo", bytes(40_000))], 1)
    central.accept(for_table("T1", a[:1]), 1)
    db = central._database.connection
    db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0] + 2}")
    with pytest.raises(LogFull):
        central.accept(for_table("T1", a[1:] + big), 2)
    assert central.pos_head.seq == 1
    assert central.head_of(A) == a[0].head
    assert len(central.entries()) == 1
    db.execute("PRAGMA max_page_count = 100000")
    assert receptions(central, for_table("T1", a[1:] + big)) == [Reception.STORED] * 3
    assert central.verify().ok


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE entry SET source = 'T9' WHERE pos = 1",
        "DELETE FROM entry WHERE pos = 2",
        "INSERT OR REPLACE INTO entry SELECT 1, source, 0, log_id, seq, kind, 0, body, prev, hash,"
        " store_prev, store_hash FROM entry WHERE pos = 2",
        "INSERT OR REPLACE INTO entry SELECT 3, source, 0, log_id, seq, kind, 0, body, prev, hash,"
        " store_prev, store_hash FROM entry WHERE pos = 2",
        "UPDATE quarantine SET reason = ''",
        "DELETE FROM quarantine",
        "INSERT OR REPLACE INTO quarantine SELECT 7, source, 0, x'00', '', 0, hash, NULL, NULL, NULL, NULL"
        " FROM quarantine",
        "INSERT INTO quarantine SELECT 2, source, 0, log_id, '', 0, hash, NULL, NULL, NULL, NULL"
        " FROM quarantine",
        "INSERT OR REPLACE INTO quarantine SELECT 1, source, 0, x'00', '', 0, hash, NULL, NULL, NULL, NULL"
        " FROM quarantine",
        "INSERT INTO release VALUES (2, 1, 0, 'person', '', 0, x'')",
        "INSERT INTO release VALUES (1, 2, 0, 'person', '', 0, x'')",
        "UPDATE meta SET value = x'00'",
        "DELETE FROM meta",
    ],
)
def test_the_file_itself_forbids_changes(central: Log, sql: str) -> None:
    central.accept(for_table("T1", events_of(A, 1)) + for_table("T1", events_of(A, 1, text="other")), 1)
    db = sqlite3.connect(central.path)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute(sql)
    db.close()
    assert central.verify().ok


def test_a_reader_follows_the_writer(central: Log) -> None:
    with Log.open(central.path, read_only=True) as reader:
        central.accept(for_table("T1", events_of(A, 2)), 1)
        assert reader.pos_head == central.pos_head
        assert reader.entries(after_pos=1) == central.entries(after_pos=1)

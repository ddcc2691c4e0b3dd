"""A chain leaves its quarantine by a proof or by a person; nothing that is stored is ever changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from station.errors import LogFull
from station.log import Entry, Log, Reception, chain, verify_file
from station.log.chain import ZERO_HEAD, Head
from station.log.rebuild import rebuild

A = b"A" * 16


def entries(n: int, head: Head = ZERO_HEAD, text: str = "x") -> list[Entry]:
    return chain.link(A, head, [("hand.confirmed", f"{text}{i}".encode()) for i in range(n)], 100)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with Log.open(tmp_path / "central.db") as log:
        yield log


@pytest.fixture
def rolled_back(log: Log) -> list[Entry]:
    """The log holds three entries; the table once claimed to have one alone."""
    told = entries(5)
    log.accept([("T1", entry) for entry in told[:3]], 1)
    log.quarantine("T1", A, "rollback", told[0].head, 2)
    return told


def receptions(log: Log, *batch: Entry) -> list[Reception]:
    return [receipt.reception for receipt in log.accept([("T1", entry) for entry in batch], 3)]


def own(log: Log) -> list[tuple[str, dict[str, Any]]]:
    return [(entry.kind, json.loads(entry.body)) for entry in log.entries_of(log.log_id)]


def test_the_entry_behind_what_is_stored_ends_a_rollback_and_is_stored_with_the_release(
    log: Log, rolled_back: list[Entry]
) -> None:
    assert receptions(log, *rolled_back[3:]) == [Reception.STORED] * 2
    assert log.entries_of(A) == rolled_back
    assert not log.in_quarantine(A)
    assert [item.entry.kind for item in log.entries(3)] == [
        "link.fork",
        "link.released",
        *["hand.confirmed"] * 2,
    ]
    assert own(log)[1][1] == {
        "v": 1,
        "table": "T1",
        "log_id": A.hex(),
        "reason": "rollback",
        "quarantine": 1,
        "by": "proof",
        "why": "continued",
        "seq": 4,
        "hash": rolled_back[3].hash.hex(),
    }
    assert log.verify().ok


def test_what_is_stored_already_proves_nothing_and_a_gap_stays_one(
    log: Log, rolled_back: list[Entry]
) -> None:
    before = log.pos_head
    assert receptions(log, rolled_back[2], rolled_back[4]) == [Reception.QUARANTINED, Reception.GAP]
    forged = rolled_back[3]
    forged = Entry(A, 4, forged.kind, forged.at_ms, b"forged", forged.prev, forged.hash)
    assert receptions(log, forged) == [Reception.BROKEN]
    assert log.pos_head == before
    assert log.quarantined(A) == "rollback"


@pytest.mark.parametrize("at", [2, 4], ids=["in the middle", "behind the end"])
def test_what_looked_like_a_rollback_may_turn_out_to_be_a_fork(
    log: Log, rolled_back: list[Entry], at: int
) -> None:
    other = entries(at, text="other")[-1]
    assert receptions(log, other, rolled_back[3]) == [Reception.FORK, Reception.QUARANTINED]
    assert log.quarantined(A) == "fork"
    assert log.entries_of(A) == rolled_back[:3]
    assert [(kind, body.get("why"), body["reason"]) for kind, body in own(log)] == [
        ("link.fork", None, "rollback"),
        ("link.released", "forked", "rollback"),
        ("link.fork", None, "fork"),
    ]
    assert log.verify().ok


def test_a_chain_can_be_quarantined_again_after_a_release_but_not_while_it_is_in_one(
    log: Log, rolled_back: list[Entry]
) -> None:
    log.quarantine("T1", A, "rollback", rolled_back[1].head, 3)
    assert len(own(log)) == 1
    for _ in range(2):
        assert log.release(A, "proof", "equal", 4)
        assert not log.release(A, "proof", "equal", 4)
        log.quarantine("T1", A, "rollback", rolled_back[0].head, 5)
    assert [kind for kind, _ in own(log)] == ["link.fork", *["link.released", "link.fork"] * 2]
    assert [body["quarantine"] for kind, body in own(log) if kind == "link.released"] == [1, 2]
    assert log.verify().ok


def test_a_fork_ends_by_a_person_and_a_contradiction_puts_it_back(log: Log) -> None:
    told, (other,) = entries(3), entries(1, text="other")
    receptions(log, *told[:2], other)
    assert receptions(log, told[2]) == [Reception.QUARANTINED]
    assert log.release(A, "person", "the spare card was in the table", 4)
    assert receptions(log, told[2]) == [Reception.STORED]
    assert receptions(log, other) == [Reception.FORK]
    assert log.entries_of(A) == told
    assert own(log)[1][1]["why"] == "the spare card was in the table"
    assert log.verify().ok


def test_quarantine_and_release_outlive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "central.db"
    for step in range(4):
        with Log.open(path) as log:
            assert log.quarantined(A) == ("" if step in (0, 2) else "rollback")
            if step == 0:
                log.quarantine("T1", A, "rollback", Head(1, bytes(32)), 1)
            elif step == 1:
                log.release(A, "proof", "equal", 2)
            else:
                assert log.owner_of(A) == "T1"
                log.quarantine("T1", A, "rollback", Head(2, bytes(32)), 3)
            assert log.verify().ok


def test_a_full_disk_releases_nothing(log: Log, rolled_back: list[Entry]) -> None:
    db = log._database.connection
    db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")
    (big,) = chain.link(A, rolled_back[2].head, [("photo", bytes(40_000))], 1)
    with pytest.raises(LogFull):
        log.accept([("T1", big)], 3)
    assert log.quarantined(A) == "rollback"
    db.execute("PRAGMA max_page_count = 100000")
    assert receptions(log, big) == [Reception.STORED]
    assert log.verify().ok


def test_a_log_made_anew_from_a_copy_holds_no_quarantine_of_before(tmp_path: Path) -> None:
    """What it said of copies that are not in the new file any more is history."""
    with Log.open(tmp_path / "table.db") as log:
        log.accept([("central", entry) for entry in entries(2)], 1)
        log.quarantine("central", A, "rollback", entries(1)[0].head, 2)
        told = log.entries_of(log.log_id)
    rebuild(tmp_path / "new.db", told[0].log_id, told, 3)
    assert verify_file(tmp_path / "new.db")["ok"] is True
    with Log.open(tmp_path / "new.db") as log:
        assert not log.in_quarantine(A)
        log.accept([("central", entry) for entry in entries(2)], 4)
        log.quarantine("central", A, "rollback", entries(1)[0].head, 5)
        assert log.release(A, "proof", "equal", 6)
        assert log.verify().ok


# ---- own chains, begun anew ----


def test_another_chain_for_the_same_name_takes_the_place_of_the_first(tmp_path: Path) -> None:
    with Log.open(tmp_path / "central.db") as log:
        first = log.author("T1")
        log.append([("c", b"{}")], 1, first)
        second = log.author_anew("T1", 2)
        assert log.author("T1") == second != first
        log.append([("c", b"{}")], 3, log.author("T2"))
        assert list(log.authored.values()) == ["T1", "T1", "T2"]
    with Log.open(tmp_path / "central.db") as log:
        assert log.author("T1") == second
        (entry,) = log.append([("c", b"{}")], 4, second)
        assert (entry.log_id, entry.seq) == (second, 1)
        assert log.verify().ok


def test_chains_that_stay_empty_do_not_make_the_file_grow(log: Log) -> None:
    log.append([("c", b"{}")], 1, log.author("T1"))
    begun = log.author_anew("T1", 2)
    before = log.pos_head
    waiting = log.author_anew("T1", 3)
    assert waiting != begun
    assert log.author_anew("T1", 4) == waiting == log.author("T1")
    assert log.pos_head == before
    log.append([("c", b"{}")], 5, waiting)
    assert list(log.authored)[-1] == waiting
    assert log.verify().ok

"""Whoever changes a stored byte is found out: the first bad entry is named."""

import random
import sqlite3
from pathlib import Path

import pytest

from station.errors import LogError
from station.log import CentralLog, Log, chain, verify_file
from station.log.chain import ZERO_HEAD

N = 6
TABLE_COLUMNS = ["seq", "kind", "at_ms", "body", "prev", "hash"]
CENTRAL_COLUMNS = ["pos", "table_id", "received_ms", "log_id", "central_prev", "central_hash", *TABLE_COLUMNS]


def event(i: int) -> tuple[str, bytes]:
    return "hand.confirmed", b'{"v":1,"hand":%d}' % i


@pytest.fixture
def table(tmp_path: Path) -> Path:
    with Log.open(tmp_path / "table.log") as log:
        for i in range(N):
            log.append([event(i)], 1000 + i)
    return tmp_path / "table.log"


@pytest.fixture
def central(tmp_path: Path) -> Path:
    with CentralLog.open(tmp_path / "central.log") as log:
        for i, entry in enumerate(chain.link(b"A" * 16, ZERO_HEAD, [event(i) for i in range(N)], 7)):
            log.accept([("T1", entry)], 2000 + i)
    return tmp_path / "central.log"


def tamper(path: Path, *statements: str) -> None:
    """Change the file as somebody would who knows SQLite: drop the triggers, then write."""
    db = sqlite3.connect(path)
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    for sql in statements:
        db.execute(sql)
    db.commit()
    db.close()


def flipped(path: Path, column: str, row: int) -> str:
    """SQL that changes one byte (or the number) of a column of one row."""
    db = sqlite3.connect(path)
    (value,) = db.execute(f"SELECT {column} FROM entry WHERE rowid = {row}").fetchone()
    db.close()
    if isinstance(value, int):
        new = str(value + 50)
    elif isinstance(value, str):
        new = f"'{chr(ord(value[0]) ^ 1)}{value[1:]}'"
    else:
        new = f"x'{bytes([value[0] ^ 1]).hex()}{value[1:].hex()}'"
    return f"UPDATE entry SET {column} = {new} WHERE rowid = {row}"


@pytest.mark.parametrize("row", [1, 3, N])
@pytest.mark.parametrize("column", TABLE_COLUMNS)
def test_one_changed_byte_in_a_tables_log_is_found(table: Path, column: str, row: int) -> None:
    head = verify_file(table)["head"]
    tamper(table, flipped(table, column, row))
    result = verify_file(table)
    assert (result["ok"], result["first_bad"], result["entries"]) == (False, row, row - 1)
    assert result["head"] != head
    assert verify_file(table, str(head))["anchored_to"] is None


@pytest.mark.parametrize("row", [1, 4, N])
@pytest.mark.parametrize("column", CENTRAL_COLUMNS)
def test_one_changed_byte_in_the_central_log_is_found(central: Path, column: str, row: int) -> None:
    tamper(central, flipped(central, column, row))
    result = verify_file(central)
    assert (result["ok"], result["first_bad"], result["entries"]) == (False, row, row - 1)


@pytest.mark.parametrize(
    ("sql", "first_bad"),
    [
        ("DELETE FROM entry WHERE seq = 1", 1),
        ("DELETE FROM entry WHERE seq = 4", 4),
        ("UPDATE meta SET value = x'00112233445566778899aabbccddeeff'", 1),
        ("UPDATE entry SET kind = CAST(x'ff' AS TEXT) WHERE seq = 2", 2),
    ],
    ids=["first removed", "one removed", "another log id", "no text"],
)
def test_other_changes_of_a_tables_log_are_found(table: Path, sql: str, first_bad: int) -> None:
    tamper(table, sql)
    assert verify_file(table)["first_bad"] == first_bad


def test_two_entries_changing_places_are_found(table: Path) -> None:
    tamper(
        table,
        "UPDATE entry SET seq = 99 WHERE seq = 2",
        "UPDATE entry SET seq = 2 WHERE seq = 3",
        "UPDATE entry SET seq = 3 WHERE seq = 99",
    )
    assert verify_file(table)["first_bad"] == 2


def test_a_cut_tail_is_seen_only_against_an_anchor(table: Path) -> None:
    anchor = str(verify_file(table)["head"])
    tamper(table, f"DELETE FROM entry WHERE seq = {N}")
    assert verify_file(table)["ok"] is True
    result = verify_file(table, anchor)
    assert (result["ok"], result["anchored_to"], result["first_bad"]) == (False, None, None)


@pytest.mark.parametrize("kind", ["table", "central"])
def test_an_anchor_says_up_to_where_the_log_is_bound(kind: str, request: pytest.FixtureRequest) -> None:
    path: Path = request.getfixturevalue(kind)
    with (Log if kind == "table" else CentralLog).open(path, read_only=True) as log:
        digest = log.entries(after=3, limit=1)[0].hash
        result = log.verify(digest)
    assert (result.ok, result.entries, result.anchored_to) == (True, N, 4)
    assert verify_file(path, digest.hex())["anchored_to"] == 4


def test_a_rewritten_log_with_good_hashes_fails_against_the_anchor(table: Path, tmp_path: Path) -> None:
    anchor = str(verify_file(table)["head"])
    with Log.open(tmp_path / "rewritten.log") as log:
        log.append([event(i + 1) for i in range(N)], 1000)
    assert verify_file(tmp_path / "rewritten.log")["ok"] is True
    assert verify_file(tmp_path / "rewritten.log", anchor)["ok"] is False


@pytest.mark.parametrize("kind", ["table", "central"])
def test_flipped_bytes_anywhere_in_the_file_never_pass_as_good(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Bytes in free space change nothing; any other must be reported, in plain words or as the first bad."""
    path: Path = request.getfixturevalue(kind)
    opener = Log if kind == "table" else CentralLog
    with opener.open(path, read_only=True) as log:
        before = log.entries()
    good, damaged = path.read_bytes(), tmp_path / "damaged.log"
    rng = random.Random(5)
    found = 0
    for _ in range(120):
        raw = bytearray(good)
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        damaged.write_bytes(raw)
        try:
            result = verify_file(damaged)
        except LogError:
            found += 1
            continue
        if not result["ok"]:
            found += 1
            continue
        with opener.open(damaged, read_only=True) as log:
            assert log.entries() == before
    assert found > 0

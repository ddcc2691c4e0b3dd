"""Whoever changes a stored byte is found out: the first bad entry is named."""

import random
import sqlite3
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from station.errors import LogError, NotALog
from station.log import Head, Log, chain, verify_file
from station.log.chain import ZERO_HEAD
from station.log.schema import SCHEMA

N = 6
COLUMNS = [
    "pos",
    "source",
    "received_ms",
    "log_id",
    "seq",
    "kind",
    "at_ms",
    "body",
    "prev",
    "hash",
    "store_prev",
    "store_hash",
]


def event(i: int) -> tuple[str, bytes]:
    return "hand.confirmed", b'{"v":1,"hand":%d}' % i


def fast(log: Log) -> None:
    log._database.connection.execute("PRAGMA synchronous = OFF")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    with Log.open(tmp_path / "table.log") as log:
        fast(log)
        for i in range(N):
            log.append([event(i)], 1000 + i)
    return tmp_path / "table.log"


@pytest.fixture
def central(tmp_path: Path) -> Path:
    with Log.open(tmp_path / "central.log") as log:
        fast(log)
        for i, entry in enumerate(chain.link(b"A" * 16, ZERO_HEAD, [event(i) for i in range(N)], 7)):
            log.accept([("T1", entry)], 2000 + i)
    return tmp_path / "central.log"


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A file with all that can stand in one: copies, own chains, checkpoints, quarantines, releases."""
    b = chain.link(b"B" * 16, ZERO_HEAD, [event(i) for i in range(3)], 7)
    (other,) = chain.link(b"B" * 16, b[0].head, [("other", b"{}")], 8)
    with Log.open(tmp_path / "full.log", signer=bytes(32)) as log:
        log.accept([("T1", e) for e in chain.link(b"A" * 16, ZERO_HEAD, [event(0)], 7)], 2000)
        log.append([event(1)], 2001, log.author("T1"), checkpoint="circle")
        log.append([event(1)], 2001, log.author("T2"))
        log.accept([("T2", e) for e in [*b, other]], 2002)
        log.quarantine("T1", b"A" * 16, "rollback", Head(9, b"h" * 32), 2003)
        log.release(b"A" * 16, "person", "checked", 2003)
        log.quarantine("T1", b"A" * 16, "rollback", Head(8, b"h" * 32), 2003)
        log.release(b"B" * 16, "person", "checked", 2003)
        log.checkpoint("session.closed", 2004)
    return tmp_path / "full.log"


def tamper(path: Path, *statements: str) -> None:
    """Change the file as somebody would who knows SQLite: without the triggers, which are back afterwards."""
    db = sqlite3.connect(path)
    db.execute("PRAGMA synchronous = OFF")  # only for speed
    triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    for sql in statements:
        db.execute(sql)
    for _, sql in triggers:
        db.execute(sql)
    db.commit()
    db.close()


def flipped(path: Path, column: str, row: int, table: str = "entry") -> str:
    """SQL that changes one byte (or the number) of a column of one row, counted from 1."""
    db = sqlite3.connect(path)
    key = "1" if table == "meta" else "rowid"
    (value,) = db.execute(f"SELECT {column} FROM {table} ORDER BY {key} LIMIT 1 OFFSET {row - 1}").fetchone()
    db.close()
    if isinstance(value, int):
        new = str(value + 50)
    elif value is None:
        new = {"kind": "'x'", "at_ms": "1"}.get(column, "x'00'")
    elif not value:
        new = "x'00'" if isinstance(value, bytes) else "'x'"
    elif isinstance(value, str):
        new = f"'{chr(ord(value[0]) ^ 1)}{value[1:]}'"
    else:
        new = f"x'{bytes([value[0] ^ 1]).hex()}{value[1:].hex()}'"
    if key == "rowid":
        return f"UPDATE {table} SET {column} = {new} WHERE rowid = {row}"
    old = f"x'{value.hex()}'" if isinstance(value, bytes) else f"'{value}'"
    return f"UPDATE {table} SET {column} = {new} WHERE {column} = {old}"


@pytest.mark.parametrize("row", [1, 3, N])
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("kind", ["table", "central"])
def test_one_changed_byte_is_found(kind: str, column: str, row: int, request: pytest.FixtureRequest) -> None:
    path: Path = request.getfixturevalue(kind)
    head = verify_file(path)["head"]
    tamper(path, flipped(path, column, row))
    result = verify_file(path)
    assert (result["ok"], result["first_bad"], result["entries"]) == (False, row, row - 1)
    assert result["head"] != head
    assert verify_file(path, str(head))["anchored_to"] is None


def cells() -> list[tuple[str, str, int]]:
    """Every cell of the file `full`, and of its schema: table, column, row."""
    rows = {"entry": 15, "author": 2, "quarantine": 3, "release": 2, "meta": 1}
    db = sqlite3.connect(":memory:")
    db.executescript(SCHEMA)
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = [
        (name, column[1], row)
        for name in names
        for column in db.execute(f"PRAGMA table_info({name})").fetchall()
        for row in range(1, rows[name] + 1)
    ]
    db.close()
    return found


def test_the_full_file_has_that_many_rows_and_is_whole(full: Path) -> None:
    db = sqlite3.connect(full)
    counted = {name: max(row for table, _, row in cells() if table == name) for name, _, _ in cells()}
    for name, rows in counted.items():
        assert db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] == rows
    db.close()
    assert verify_file(full)["ok"] is True


def test_a_change_of_any_cell_of_any_table_is_found(full: Path, tmp_path: Path) -> None:
    raw = full.read_bytes()
    for number, (table, column, row) in enumerate(cells()):
        copy = tmp_path / f"{number}.log"
        copy.write_bytes(raw)
        tamper(copy, flipped(copy, column, row, table))
        if (table, column) == ("meta", "name"):
            with pytest.raises(NotALog, match="no identity"):
                verify_file(copy)
            continue
        result = verify_file(copy)
        assert not result["ok"], (table, column, row)
        (found, *_) = result["misfits"]
        if table == "entry":
            assert found["pos"] == row, (column, found)
        elif (table, column) == ("meta", "value"):
            assert (found["what"], found["pos"]) == ("source", 2)
        else:
            assert (found["what"], found["pos"]) == (table, None), (column, found)


@pytest.mark.parametrize(
    ("column", "what"),
    [
        ("pos", "missing"),
        ("source", "columns"),
        ("received_ms", "columns"),
        ("log_id", "gap"),
        ("seq", "gap"),
        ("kind", "bytes"),
        ("at_ms", "bytes"),
        ("body", "bytes"),
        ("prev", "prev"),
        ("hash", "bytes"),
        ("store_prev", "order"),
        ("store_hash", "columns"),
    ],
)
def test_the_finding_says_what_does_not_fit_and_where(central: Path, column: str, what: str) -> None:
    tamper(central, flipped(central, column, 4))
    (found,) = verify_file(central)["misfits"]
    assert (found["what"], found["pos"]) == (what, 4)
    if column in ("kind", "body"):
        assert (found["log"], found["source"], found["seq"]) == ((b"A" * 16).hex(), "T1", 4)


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TRIGGER entry_no_update",
        "DROP TRIGGER meta_no_delete",
        "CREATE TABLE more (x)",
        "CREATE TRIGGER forget AFTER INSERT ON entry BEGIN SELECT 1; END",
        "CREATE VIEW seen AS SELECT * FROM entry",
    ],
)
def test_an_altered_schema_is_found(central: Path, sql: str) -> None:
    db = sqlite3.connect(central)
    db.execute(sql)
    db.close()
    result = verify_file(central)
    assert (result["ok"], result["first_bad"], result["entries"]) == (False, None, N)
    assert [found["what"] for found in result["misfits"]] == ["schema"]


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("DELETE FROM quarantine WHERE id = 3", "quarantine"),
        ("DELETE FROM quarantine", "quarantine"),
        ("UPDATE quarantine SET kind = NULL, at_ms = NULL, body = NULL, prev = NULL", "quarantine"),
        (
            "INSERT INTO quarantine SELECT 4, source, 1, x'00', '', 1, hash, '', 1, x'', x'' FROM quarantine"
            " WHERE id = 1",
            "quarantine",
        ),
        ("DELETE FROM author WHERE name = 'T1'", "author"),
        ("INSERT INTO author VALUES (3, x'00', 'T3')", "author"),
        ("UPDATE author SET id = 3 - id + 10", "author"),
        ("DELETE FROM release", "release"),
        ("DELETE FROM release WHERE id = 2", "release"),
        (
            "INSERT INTO release SELECT 3, 3, received_ms, 'proof', '', 1, hash FROM release LIMIT 1",
            "release",
        ),
        ("UPDATE release SET quarantine = 3 WHERE id = 2", "release"),
        ("INSERT INTO meta VALUES ('more', x'00')", "identity"),
    ],
)
def test_rows_added_or_taken_away_beside_the_entries_are_found(full: Path, sql: str, what: str) -> None:
    tamper(full, sql)
    result = verify_file(full)
    assert [found["what"] for found in result["misfits"]] == [what]


def test_the_identity_of_a_file_without_an_own_entry_matters_to_nothing_in_it(central: Path) -> None:
    """Nothing is written under it yet; what the tables sent has ids of its own."""
    with Log.open(central, read_only=True) as log:
        before = log.entries()
    tamper(central, "UPDATE meta SET value = x'00112233445566778899aabbccddeeff'")
    assert verify_file(central)["ok"] is True
    with Log.open(central, read_only=True) as log:
        assert log.entries() == before
    tamper(central, f"UPDATE meta SET value = x'{(b'A' * 16).hex()}'")
    assert verify_file(central)["misfits"][0]["what"] == "source"


def test_a_tail_cut_off_is_found_against_a_signature_of_what_was_there(full: Path) -> None:
    """Without an anchor a cut tail looks like a younger log."""
    key = bytes(SigningKey(bytes(32)).verify_key)
    assert verify_file(full, key=key)["anchored_to"] == 15
    tamper(full, "DELETE FROM entry WHERE pos = 15")
    assert verify_file(full, key=key)["anchored_to"] == 4
    tamper(
        full,
        "DELETE FROM entry WHERE pos > 3",
        "DELETE FROM quarantine",
        "DELETE FROM release",
        "DELETE FROM author WHERE name = 'T2'",
    )
    assert verify_file(full)["ok"] is True
    assert verify_file(full, key=key)["ok"] is False


def test_verifying_beside_a_writer_sees_one_state(central: Path) -> None:
    with Log.open(central) as log:
        for i in range(5):
            log.accept([("T1", chain.link(b"A" * 16, ZERO_HEAD, [("x", b"%d" % i)], 1)[0])], 1)
            assert verify_file(central)["ok"] is True
            assert log.verify().ok


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
    with Log.open(path, read_only=True) as log:
        digest = log.entries(after_pos=3, limit=1)[0].hash
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
    with Log.open(path, read_only=True) as log:
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
        with Log.open(damaged, read_only=True) as log:
            assert log.entries() == before
    assert found > 0


@pytest.mark.parametrize("pos", [0, -1, -(2**63)])
def test_rows_before_the_first_position_are_found(full: Path, pos: int) -> None:
    """A reader of a chain would meet them, and the walk from position 1 on would not."""
    tamper(full, f"UPDATE entry SET pos = {pos} WHERE pos = 12")
    found = verify_file(full)
    assert (found["ok"], found["first_bad"]) == (False, pos)
    assert found["misfits"][0]["what"] == "order"


@pytest.mark.parametrize("column", [c for c in COLUMNS if c != "pos"])
@pytest.mark.parametrize("value", [None, 7, 1.5, "t" * 16, b"b" * 16, "x" * 70_000])
def test_what_a_column_cannot_hold_is_a_finding_like_any_other(
    full: Path, column: str, value: object
) -> None:
    """The table may have been made anew without the types that it should have."""
    db = sqlite3.connect(full)
    db.execute(f"CREATE TABLE loose (pos INTEGER PRIMARY KEY, {', '.join(COLUMNS[1:])})")
    db.execute(f"INSERT INTO loose SELECT {', '.join(COLUMNS)} FROM entry")
    for name in ("no_update", "no_delete", "in_order", "once"):
        db.execute(f"DROP TRIGGER entry_{name}")
    db.execute("DROP TABLE entry")
    db.execute("ALTER TABLE loose RENAME TO entry")
    db.execute(f"UPDATE entry SET {column} = ? WHERE pos = 3", (value,))
    db.commit()
    db.close()
    found = verify_file(full)
    assert (found["ok"], found["first_bad"]) == (False, 3)
    assert {misfit["what"] for misfit in found["misfits"]} >= {"schema"}


BESIDE = {
    "quarantine": [
        "source",
        "received_ms",
        "log_id",
        "reason",
        "seq",
        "hash",
        "kind",
        "at_ms",
        "body",
        "prev",
    ],
    "release": ["quarantine", "received_ms", "released_by", "why", "seq", "hash"],
}


@pytest.mark.parametrize(
    ("table", "column"), [(table, column) for table, columns in BESIDE.items() for column in columns]
)
@pytest.mark.parametrize("value", [None, 7, "t" * 16, b"b"])
def test_what_a_column_beside_the_entries_cannot_hold_is_a_finding(
    full: Path, table: str, column: str, value: object
) -> None:
    db = sqlite3.connect(full)
    db.execute(f"CREATE TABLE loose (id INTEGER PRIMARY KEY, {', '.join(BESIDE[table])})")
    db.execute(f"INSERT INTO loose SELECT * FROM {table}")
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    db.executescript(f"DROP TABLE {table}; ALTER TABLE loose RENAME TO {table};")
    db.execute(f"UPDATE {table} SET {column} = ? WHERE id = 1", (value,))
    db.commit()
    db.close()
    assert [found["what"] for found in verify_file(full)["misfits"]] == [table, "schema"]


def test_an_own_entry_of_no_known_form_is_named(full: Path, tmp_path: Path) -> None:
    deep = b'{"a":' + b"[" * 50_000 + b"]" * 50_000 + b"}"
    raw = full.read_bytes()
    for kind in ("link.fork", "log.authored", "log.rebuilt", "log.checkpoint"):
        for body in (deep, b"{}", b"[]", b"\xff", b'{"seq":[1],"log_id":1,"name":2}'):
            copy = tmp_path / "copy.log"
            copy.write_bytes(raw)
            with Log.open(copy) as log:
                log.append([(kind, body)], 3000)
            assert verify_file(copy)["ok"] is False, (kind, body[:20])


@pytest.mark.parametrize("name", ["entry", "ENTRY", "meta", "author", "quarantine"])
def test_a_view_in_the_place_of_a_table_is_refused_before_it_is_read(full: Path, name: str) -> None:
    """Reading it would never end."""
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
    db = sqlite3.connect(full)
    db.execute(f"ALTER TABLE {name} RENAME TO other")
    db.execute(f"CREATE VIEW {name} AS SELECT * FROM other WHERE ({endless}) > 0")
    db.close()
    with pytest.raises(NotALog, match="view"):
        verify_file(full)

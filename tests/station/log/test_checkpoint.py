"""Signed checkpoints: what they cover, who can check them, and what becomes of the log without its key."""

from pathlib import Path

import msgspec
import pytest
from nacl.signing import SigningKey

from station.errors import ConfigError, LogFull
from station.log import Entry, Head, Log, chain, checkpoint, verify_file
from station.log.anchor import Expected, expected, qr_text
from station.log.chain import ZERO_HEAD

SEED, OTHER = bytes(range(32)), bytes(range(1, 33))
KEY, OTHER_KEY = (bytes(SigningKey(seed).verify_key) for seed in (SEED, OTHER))
EVENTS = [("hand.confirmed", b'{"v":1,"hand":%d}' % i) for i in range(4)]
A = b"A" * 16


def signed(path: Path, seed: bytes = SEED) -> Path:
    """Write a log with a checkpoint after the third of five entries."""
    with Log.open(path, signer=seed) as log:
        log.append(EVENTS[:3], 1, checkpoint="circle")
        log.append(EVENTS[3:], 2)
    return path


def test_a_checkpoint_is_an_entry_of_its_own_that_signs_the_heads_before_it(tmp_path: Path) -> None:
    with Log.open(tmp_path / "t.db", signer=SEED) as log:
        entries = log.append(EVENTS, 1, checkpoint="session.closed")
        assert [e.kind for e in entries] == [*["hand.confirmed"] * 4, "log.checkpoint"]
        store = log.entries()[3]
        (entry,) = log.entries_of(log.log_id, after=4)
        found = checkpoint.read(entry.body)
        assert found is not None
        assert (found.seq, found.head, found.pos, found.hash) == (
            4,
            entries[3].hash.hex(),
            4,
            store.hash.hex(),
        )
        assert (found.why, found.key) == ("session.closed", KEY.hex())
        data = b"QZ-checkpoint-1" + log.log_id + (4).to_bytes(8, "big") + entries[3].hash
        data += (4).to_bytes(8, "big") + store.hash + b"session.closed"
        SigningKey(SEED).verify_key.verify(data, bytes.fromhex(found.sig))
        assert log.verify(key=KEY).ok


def test_without_a_signer_nothing_is_signed(tmp_path: Path) -> None:
    with Log.open(tmp_path / "t.db") as log:
        log.append(EVENTS, 1, checkpoint="circle")
        assert log.checkpoint("circle", 1) is None
        assert {e.kind for e in log.entries_of(log.log_id)} == {"hand.confirmed"}


def test_the_station_signs_its_own_file_when_it_stores_a_checkpoint_of_a_table(tmp_path: Path) -> None:
    with Log.open(signed(tmp_path / "t.db"), read_only=True) as log:
        entries = log.entries_of(log.log_id)
    with Log.open(tmp_path / "central.db", signer=OTHER) as central:
        central.accept([("T1", entry) for entry in entries[:3]], 5)
        assert central.pos_head.seq == 3
        central.accept([("T1", entry) for entry in entries[2:]], 6)
        assert [s.source for s in central.entries()] == ["T1"] * 5 + [""]
        mine = checkpoint.read(central.entries()[-1].entry.body)
        assert mine is not None
        assert (mine.why, mine.pos) == ("table.checkpoint", 5)
        central.accept([("T1", entry) for entry in entries], 7)
        assert central.pos_head.seq == 6
    result = verify_file(tmp_path / "central.db", key=OTHER_KEY)
    assert (result["ok"], result["anchored_to"], result["checkpoints"]) == (True, 6, 2)
    assert verify_file(tmp_path / "central.db", key=KEY)["anchored_to"] == 4


def test_the_key_says_up_to_where_a_log_is_bound(tmp_path: Path) -> None:
    path = signed(tmp_path / "t.db")
    result = verify_file(path, key=KEY)
    assert (result["ok"], result["entries"], result["anchored_to"]) == (True, 5, 4)
    (anchor,) = result["anchors"]
    assert (anchor["by"], anchor["seq"], anchor["key"], anchor["why"]) == (
        "checkpoint",
        4,
        KEY.hex(),
        "circle",
    )
    assert verify_file(path)["ok"] is True
    assert verify_file(path)["anchored_to"] is None


def test_a_log_made_anew_with_another_key_is_not_bound_to_the_one_given(tmp_path: Path) -> None:
    path = signed(tmp_path / "t.db", OTHER)
    assert verify_file(path)["ok"] is True
    result = verify_file(path, key=KEY)
    assert (result["ok"], result["first_bad"], result["anchored_to"]) == (False, None, None)


def forged(body: bytes, **changes: object) -> bytes:
    return msgspec.json.encode({**msgspec.json.decode(body), **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"seq": 2},
        {"head": "00" * 32},
        {"pos": 2},
        {"pos": -1},
        {"hash": "00" * 32},
        {"hash": "no hex"},
        {"why": "session.closed"},
        {"key": OTHER_KEY.hex()},
        {"key": "00"},
        {"sig": "00" * 64},
        {"sig": "00"},
        {"v": 2},
        {"v": "1"},
    ],
    ids=str,
)
@pytest.mark.parametrize("copied", [False, True], ids=["own", "copy"])
def test_every_field_of_a_checkpoint_is_checked(
    tmp_path: Path, changes: dict[str, object], copied: bool
) -> None:
    """Whoever rewrites the chain with good hashes still can't write a checkpoint."""
    with Log.open(tmp_path / "right.db", signer=SEED) as log:
        log.append(EVENTS[:3], 1)
        right = log.checkpoint("circle", 1)
        assert right is not None
        entries = log.entries_of(log.log_id, limit=3)
        head = entries[-1].head
        wrong = chain.link(log.log_id, head, [(checkpoint.CHECKPOINT, forged(right.body, **changes))], 1)
        store = log.entries(2, 1)[0]
    if copied:
        with Log.open(tmp_path / "copy.db") as copy:
            copy.accept([("T1", e) for e in [*entries, *wrong]], 1)
            (found,) = copy.verify().misfits
        assert (found.what, found.pos, found.source, found.seq) == ("signature", 4, "T1", 4)
    else:
        assert checkpoint.misfit(right, Head(store.pos, store.hash)) is None
        assert checkpoint.misfit(wrong[0], Head(store.pos, store.hash)) is not None


def test_a_checkpoint_of_another_file_does_not_fit_here(tmp_path: Path) -> None:
    with Log.open(tmp_path / "a.db", signer=SEED) as log:
        right = log.checkpoint("circle", 1)
        assert right is not None
    with Log.open(tmp_path / "b.db") as other:
        other.append([(right.kind, right.body)], 1)
        (found,) = other.verify().misfits
    assert (found.what, found.text) == ("signature", "its signature does not hold")


def test_a_full_disk_stores_events_and_checkpoint_or_neither(tmp_path: Path) -> None:
    with Log.open(tmp_path / "t.db", signer=SEED) as log:
        db = log._database.connection
        db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")
        with pytest.raises(LogFull):
            log.append([("photo", bytes(30_000))], 1, checkpoint="circle")
        assert log.head == log.pos_head == ZERO_HEAD
        db.execute("PRAGMA max_page_count = 100000")
        log.append([("photo", bytes(30_000))], 1, checkpoint="circle")
        assert log.head.seq == 2
        assert log.verify(key=KEY).ok


def test_a_seed_of_another_size_is_refused(tmp_path: Path) -> None:
    with (
        Log.open(tmp_path / "t.db", signer=b"short") as log,
        pytest.raises(ValueError, match="32 bytes"),
    ):
        log.checkpoint("circle", 1)


# ---- the hash on a result sheet ----


def test_the_text_of_the_qr_code_names_one_entry(tmp_path: Path) -> None:
    path = signed(tmp_path / "t.db")
    with Log.open(path, read_only=True) as log:
        log_id = log.log_id
        third, *_ = log.entries_of(log_id, after=2)
    text = qr_text(log_id, 3, third.hash)
    assert text.startswith("QZ1:")
    assert verify_file(path, text)["anchored_to"] == 3
    assert verify_file(path, f" {text.lower()}\n")["ok"] is True
    for wrong in (qr_text(log_id, 2, third.hash), qr_text(A, 3, third.hash), qr_text(log_id, 9, third.hash)):
        result = verify_file(path, wrong)
        assert (result["ok"], result["expected"], result["first_bad"]) == (False, False, None)


def test_a_hash_alone_is_that_of_an_entry_or_of_a_position(tmp_path: Path) -> None:
    path = signed(tmp_path / "t.db")
    with Log.open(path, read_only=True) as log:
        stored = log.entries()[2]
    assert verify_file(path, stored.hash)["anchored_to"] == 3
    assert verify_file(path, stored.entry.hash.hex())["anchored_to"] == 3


def test_the_text_is_read_back() -> None:
    assert expected(qr_text(A, 7, bytes(32))) == Expected(bytes(32), A, 7)
    assert expected(None) is None


@pytest.mark.parametrize("text", ["QZ1:", "QZ1:00:1:00", f"QZ1:{'0' * 32}:x:{'0' * 64}", "QZ1:1:2:3:4", "ab"])
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="QR code"):
        expected(text)


def test_an_entry_of_a_table_that_only_looks_like_a_checkpoint_is_stored_and_named(tmp_path: Path) -> None:
    """Acceptance judges chains; what a table claims in a body is for whoever verifies."""
    entries: list[Entry] = chain.link(A, ZERO_HEAD, [(checkpoint.CHECKPOINT, b"no json")], 1)
    with Log.open(tmp_path / "central.db", signer=SEED) as central:
        central.accept([("T1", entries[0])], 1)
        central.append([("link.denied", b"{}")], 2)
        found = central.verify()
    assert [(misfit.what, misfit.pos) for misfit in found.misfits] == [("signature", 1)]
    assert (found.ok, found.first_bad, found.entries, found.checkpoints) == (False, 1, 3, 1)

"""A write-ahead log that was cut or changed anywhere, of a table and of the central station.

SQLite copies the write-ahead log into the file at the next checkpoint; until then the newest events lie in it
alone. It is cut here at every frame's boundary and one byte beside, at every 512th byte and at random, and
random bits of it are turned; each time the log is opened as after a power loss. Frames and their checksums:
https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from station.log import Entry, Log
from tests.station.drills import books

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(240)]
HEADER, FRAME = 32, 24 + 4096
"""Bytes of the header of the file, and of one page with its header."""
MOST = 64 * 1024
RANDOM = 2_000
"""Cuts at random, and turned bits; half each."""


class Damage(msgspec.Struct, frozen=True):
    """A write-ahead log as a disk might give it back, and what is surely still in it."""

    wal: bytes
    intact: int
    """Bytes from the start that are as they were written."""


class Recorded(msgspec.Struct, frozen=True):
    """A log in mid-life: its file, its write-ahead log, and what was in it at which size of that."""

    file: bytes
    wal: bytes
    rows: list[Any]
    commits: list[tuple[int, int]]
    """(size of the write-ahead log, number of rows) before it and after each commit, in order."""

    def rows_within(self, size: int) -> int:
        """How many rows were committed within so many bytes of the write-ahead log."""
        return max(count for at, count in self.commits if at <= size)


def _record(path: Path, opened: Callable[[Path], Any], commit: Callable[[Any, int], None]) -> Recorded:
    with opened(path) as log:  # what lies in the file itself; closing empties the write-ahead log
        for number in range(4):
            commit(log, number)
    with opened(path) as log:
        wal = path.with_name(path.name + "-wal")
        commits, number = [(0, len(books.rows(log)))], 4
        while wal.stat().st_size < MOST - 4 * FRAME:
            commit(log, number)
            number += 1
            commits.append((wal.stat().st_size, len(books.rows(log))))
        recorded = Recorded(path.read_bytes(), wal.read_bytes(), books.rows(log), commits)
    assert 12 * FRAME < len(recorded.wal) <= MOST
    assert len(commits) >= 5
    return recorded


def damages(wal: bytes, rng: random.Random) -> Iterator[Damage]:
    boundaries = range(HEADER, len(wal) + 1, FRAME)
    cuts = {at + off for at in boundaries for off in (-1, 0, 1)} | set(range(0, len(wal), 512))
    for cut in sorted(cuts & set(range(len(wal) + 1))):
        yield Damage(wal[:cut], cut)
    for _ in range(RANDOM // 2):
        cut = rng.randrange(len(wal) + 1)
        yield Damage(wal[:cut], cut)
    for _ in range(RANDOM // 2):
        at = rng.randrange(len(wal))
        turned = bytes([wal[at] ^ 1 << rng.randrange(8)])
        yield Damage(wal[:at] + turned + wal[at + 1 :], at)


def _reopened(
    folder: Path, recorded: Recorded, damage: Damage, opened: Callable[[Path], Any]
) -> tuple[Any, int]:
    """Open a log with a damaged write-ahead log; give it with the number of rows that it must have."""
    path = folder / "copy.log"
    for old in folder.glob("copy.log*"):
        old.unlink()
    path.write_bytes(recorded.file)
    path.with_name("copy.log-wal").write_bytes(damage.wal)
    return opened(path), recorded.rows_within(damage.intact)


def test_a_table_keeps_every_commit_before_the_damage_and_goes_on_after_it(
    folder: Path, figure: Callable[[str], None]
) -> None:
    rng, cases, lost = random.Random(3), 0, 0

    def commit(log: Any, number: int) -> None:
        log.append([("e", rng.randbytes(rng.randrange(1, 700)))] * rng.randrange(1, 4), number)

    recorded = _record(folder / "table.log", Log.open, commit)
    for damage in damages(recorded.wal, rng):
        log, kept = _reopened(folder, recorded, damage, Log.open)
        with log:
            assert books.rows(log) == recorded.rows[:kept], damage.intact
            assert log.verify().ok
            assert log.head.seq == kept
            assert log.append([("after", b"")], 99)[0].seq == kept + 1
        cases += 1
        lost += kept < len(recorded.rows)
    figure(
        f"{cases} damaged logs of {len(recorded.wal)} bytes, {len(recorded.commits) - 1} commits;"
        f" {lost} lost a tail"
    )


def test_the_central_station_asks_again_for_what_the_damage_took(
    folder: Path, figure: Callable[[str], None]
) -> None:
    rng, cases, sent_again = random.Random(4), 0, 0
    tables: dict[str, list[Entry]] = {}
    for name in ("T1", "T2"):
        with Log.open(folder / f"{name}.log") as log:
            tables[name] = [
                log.append([("e", rng.randbytes(rng.randrange(1, 500)))], n)[0] for n in range(400)
            ]
    at = dict.fromkeys(tables, 0)

    def commit(log: Any, _: int) -> None:
        batch = []
        for name in rng.choices(list(tables), k=rng.randrange(1, 5)):
            batch.append((name, tables[name][at[name]]))
            at[name] += 1
        assert set(books.receive(log, batch)) == {"stored"}

    recorded = _record(folder / "central.log", Log.open, commit)
    whole = {name: entries[: at[name]] for name, entries in tables.items()}
    for damage in damages(recorded.wal, rng):
        log, kept = _reopened(folder, recorded, damage, Log.open)
        with log:
            assert books.rows(log) == recorded.rows[:kept], damage.intact
            assert log.verify().ok
            again = []
            for name, entries in whole.items():
                stored = books.as_sent(recorded.rows[:kept], entries[0].log_id)
                head = log.head_of(entries[0].log_id)  # what RESUME tells the table
                assert (head.seq, head.hash) == (stored[-1].head.seq, stored[-1].head.hash)
                again += [(name, entry) for entry in entries[head.seq :]]
            assert set(books.receive(log, again)) <= {"stored"}
            for entries in whole.values():
                assert books.as_sent(books.rows(log), entries[0].log_id) == entries
            assert log.verify().ok
        cases += 1
        sent_again += len(again)
    figure(
        f"{cases} damaged logs, {len(recorded.wal)} bytes, {len(recorded.commits) - 1} commits;"
        f" {sent_again} events sent again"
    )

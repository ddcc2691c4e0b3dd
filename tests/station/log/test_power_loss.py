"""A full disk under a log; a damaged write-ahead log is in tests/station/drills."""

from pathlib import Path

import pytest

from station.errors import LogFull
from station.log import Log
from tests.disks import small_disk


def test_a_full_disk_stores_whole_transactions_or_nothing_and_goes_on_after(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "2m") as disk, Log.open(disk / "table.log") as log:
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(600_000))
        stored = 0
        with pytest.raises(LogFull, match="is full"):  # noqa: PT012 - which append fails is not known
            for i in range(1000):
                log.append([("a", bytes(4000)), ("b", bytes(4000))], i)
                stored += 2
        assert stored > 0
        assert (log.head.seq, len(log.entries())) == (stored, stored)
        with pytest.raises(LogFull):
            log.append([("a", bytes(100_000))], 1)
        ballast.unlink()
        assert log.append([("a", bytes(4000)), ("b", bytes(4000))], 2)[-1].seq == stored + 2
        assert log.verify().ok

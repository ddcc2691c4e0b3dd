"""A log on a disk without a byte left."""

import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from station.errors import LogFull
from station.log import Log
from tests.tiny import tiny_disk


def test_a_log_that_was_closed_cleanly_says_at_its_opening_that_the_disk_is_full(tmp_path: Path) -> None:
    with tiny_disk(tmp_path) as disk:
        with Log.open(disk / "table.db") as log:
            log.append([("e", b"{}")], 1)
        filler = disk / "filler"
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(bytes(4096)):
                pass
        assert shutil.disk_usage(disk).free == 0
        with pytest.raises(LogFull, match="full"):
            Log.open(disk / "table.db")
        filler.unlink()
        with Log.open(disk / "table.db") as log:
            assert log.head.seq == 1

"""What is left after a power loss or a full disk."""

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from station.errors import LogFull
from station.log import Log
from tests.required import go_without


def test_every_commit_survives_a_cut_of_the_write_ahead_log_after_it(tmp_path: Path) -> None:
    """Copy database and WAL, the latter cut at random bytes, and open the copy as after a power loss."""
    source, wal = tmp_path / "table.log", tmp_path / "table.log-wal"
    rng = random.Random(11)
    with Log.open(source) as log:
        sizes = []
        for i in range(40):
            log.append([("e", bytes(rng.randrange(600)))] * rng.randrange(1, 4), i)
            sizes.append((wal.stat().st_size, log.head.seq))
        entries, data, frames = log.entries(), source.read_bytes(), wal.read_bytes()
    copy = tmp_path / "copy.log"
    for cut in [rng.randrange(len(frames) + 1) for _ in range(60)] + [size for size, _ in sizes]:
        for old in tmp_path.glob("copy.log*"):
            old.unlink()
        copy.write_bytes(data)
        (tmp_path / "copy.log-wal").write_bytes(frames[:cut])
        committed = max((seq for size, seq in sizes if size <= cut), default=0)
        if committed == 0:
            continue  # the creation of the file itself is cut
        with Log.open(copy) as log:
            assert log.entries() == entries[: log.head.seq]
            assert log.head.seq == committed
            assert log.verify().ok
            assert log.append([("after", b"")], 99)[0].seq == committed + 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        go_without("root", "only root can mount a small file system")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        go_without("root", f"mount is refused here: {mounted.stderr.decode().strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_stores_whole_transactions_or_nothing_and_goes_on_after(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(600_000))
    with Log.open(small_disk / "table.log") as log:
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

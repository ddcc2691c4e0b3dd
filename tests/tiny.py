"""A disk that is full at once, for tests of what happens then."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.required import go_without


@contextmanager
def tiny_disk(folder: Path, size: str = "2m") -> Iterator[Path]:
    """Mount a file system of a few megabytes at ``folder``/disk."""
    if os.geteuid() != 0:
        go_without("root", "only root can mount a disk that is full at once")
    disk = folder / "disk"
    disk.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        go_without("root", f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)

"""Disks that refuse: a limit set on a process, and small file systems where one can be mounted."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.required import go_without


@contextmanager
def refusing_disk(pid: int = 0) -> Iterator[None]:
    """Let no file of a process be written meanwhile (EFBIG); `pid` 0: this process."""
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of that size, for example ``2m``; the test is left where none can be mounted."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        go_without("root", "only root can mount a small file system")
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if made.returncode != 0:
        go_without("root", f"mount is refused here: {made.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Leave no byte on the disk of a folder, and give the file that takes them."""
    ballast = folder / "ballast"
    with ballast.open("ab", buffering=0) as file:
        piece = 1 << 20
        while piece:
            try:
                file.write(bytes(piece))
            except OSError:
                piece //= 2
    return ballast


def remount(folder: Path, how: str) -> None:
    """Make a small disk read-only (``ro``) or writable (``rw``); nothing on it may be open for writing."""
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True)

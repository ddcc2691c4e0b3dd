"""Starts `quezhuo` as a user would, and lets no process outlive the test that started it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LEASHED = [sys.executable, "-m", "station.cli.leashed"]


@contextmanager
def leash() -> Iterator[int]:
    """Give the stdin of a leashed process: it ends with the block, also when the tests are killed in it."""
    reading, writing = os.pipe()
    try:
        yield reading
    finally:
        os.close(reading)
        os.close(writing)


def finished(home: Path, *words: str, timeout: float) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    with leash() as stdin:
        return subprocess.run(
            [*LEASHED, "--home", str(home), *words],
            stdin=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

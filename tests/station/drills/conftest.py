"""What the drills share: figures, and a place for files that are made by the thousand."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOM = 512 * 1024 * 1024
"""Bytes that have to be free in memory; containers often give 64 MB."""


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Note a line of figures: tests/conftest.py prints them when all tests have ended."""
    return lambda line: record_property("figure", line)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory where there is room for one: thousands of commits or copies are made in it."""
    shared = Path("/dev/shm")
    roomy = shared.is_dir() and os.access(shared, os.W_OK) and shutil.disk_usage(shared).free > ROOM
    with tempfile.TemporaryDirectory(dir=shared if roomy else None) as name:
        yield Path(name)

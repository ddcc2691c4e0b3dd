"""What the drills share: figures, and a place for files that are made by the thousand."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Note a line of figures: tests/conftest.py prints them when all tests have ended."""
    return lambda line: record_property("figure", line)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory where there is one: thousands of commits or copies are made in it."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as name:
        yield Path(name)

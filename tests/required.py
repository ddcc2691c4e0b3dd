"""What a run must have, as QUEZHUO_REQUIRE names it: what is missing fails a test then, not skips it."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def required(what: str) -> bool:
    """Whether the environment names it: ``chromium``, ``netns``, ``root``, or an extra such as ``mcr``."""
    return what in os.environ.get("QUEZHUO_REQUIRE", "").split(",")


def go_without(what: str, reason: str) -> NoReturn:
    """Leave a test that cannot run: skipped, or failed where the run must have what is missing."""
    if required(what):
        pytest.fail(reason)
    pytest.skip(reason)

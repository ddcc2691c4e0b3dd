"""Tests of rule sets whose library is an extra: skipped without it, unless QUEZHUO_REQUIRE names it."""

import importlib.util
import os

import pytest

LIBRARIES = {"mcr": "MahjongGB", "riichi": "mahjong"}


def needs(extra):
    """The mark of a test that needs the extra; without the library and required, the test fails by itself."""
    missing = importlib.util.find_spec(LIBRARIES[extra]) is None
    required = extra in os.environ.get("QUEZHUO_REQUIRE", "").split(",")
    return pytest.mark.skipif(missing and not required, reason=f"needs the extra {extra}")


def marks(ruleset):
    """The marks of a test that judges claims of a rule set."""
    return [needs(ruleset)] if ruleset in LIBRARIES else []

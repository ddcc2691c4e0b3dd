"""Tests of rule sets whose library is an extra: skipped without it, unless QUEZHUO_REQUIRE names it."""

import importlib.util

import pytest

from tests.required import required

LIBRARIES = {"mcr": "MahjongGB", "riichi": "mahjong"}


def needs(extra):
    """The mark of a test that needs the extra; without the library and required, the test fails by itself."""
    return pytest.mark.skipif(not wanted(extra), reason=f"needs the extra {extra}")


def wanted(extra):
    """Whether what needs the extra is tried: its library is there, or has to be."""
    return importlib.util.find_spec(LIBRARIES[extra]) is not None or required(extra)


def marks(ruleset):
    """The marks of a test that judges claims of a rule set."""
    return [needs(ruleset)] if ruleset in LIBRARIES else []

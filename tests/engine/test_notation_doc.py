"""docs/notation.md: its examples run, and it knows every word of every rule set."""

import doctest
from pathlib import Path

import pytest

from engine import rulesets

DOC = Path(__file__).parents[2] / "docs" / "notation.md"
LINES = DOC.read_text(encoding="utf-8").splitlines()
KEYS = {"indicator": "flip", "discarder": "from", "chips": "chips", "xianggong": "xianggong"}


def test_the_examples_of_the_document_run():
    result = doctest.testfile(str(DOC), module_relative=False, encoding="utf-8", optionflags=doctest.ELLIPSIS)
    assert result.attempted > 10
    assert result.failed == 0


@pytest.mark.parametrize("ruleset", rulesets.ids())
def test_every_word_of_a_rule_set_is_in_its_row(ruleset):
    data = rulesets.data(ruleset)
    [row] = [
        line for line in DOC.read_text(encoding="utf-8").splitlines() if line.startswith(f"| `{ruleset}` |")
    ]
    for how in data.hows:
        assert f"`{how}`" in row
    for spec in data.facts.values():
        assert f"`{spec.word}`" in row or f"`{spec.word}=" in row
    for spec in data.seat_facts.values():
        assert any(start + spec.word in row for start in ("p0.", "spread=", ","))
    for key, word in {
        "indicator": "flip",
        "discarder": "from",
        "chips": "chips",
        "xianggong": "xianggong",
    }.items():
        assert (f"`{word}`" in row) == (key in data.keys)

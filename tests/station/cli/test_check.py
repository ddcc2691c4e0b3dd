"""`quezhuo check`: what a referee reads when a line is wrong, and what programs get besides."""

from __future__ import annotations

import json

import pytest

from engine import rulesets
from engine.notation import parse_claim
from station.cli.check import EXAMPLES
from station.cli.main import main

HAND = "123m456m78p99s555z +6m flip=1z how=self seat=0"


def test_the_bad_word_comes_first_and_the_line_last(capsys: pytest.CaptureFixture[str]) -> None:
    line = "11z how=discard seat=C from=1"
    assert main(["check", "--ruleset", "zhenjiang", line]) == 2
    told = capsys.readouterr().err
    assert told.startswith("quezhuo: 'seat=C': 'C' is not a whole number")
    assert f"(at position {line.index('C')}), in {line!r}." in told


def test_what_is_missing_is_no_fault_of_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--ruleset", "zhenjiang", "11z seat=1"]) == 2
    assert capsys.readouterr().err.startswith("quezhuo: how= is missing")


def test_forgotten_quotes_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--ruleset", "zhenjiang", *HAND.split()]) == 2
    assert f"Put the whole line in quotes: '{HAND}'." in capsys.readouterr().err


def test_several_lines_are_several_claims(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--ruleset", "zhenjiang", "how=draw", HAND]) == 1
    assert capsys.readouterr().out.count("> ") == 2


def test_programs_get_the_notes_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--ruleset", "zhenjiang", HAND, "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["outcome"] == "no_win"
    assert "would complete" in answer["notes"][0]


def test_help_names_every_rule_set_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    told = capsys.readouterr().out
    assert EXAMPLES.keys() == set(rulesets.ids())
    for ruleset, line in EXAMPLES.items():
        assert f"quezhuo check --ruleset {ruleset} '{line}'" in told
        assert parse_claim(line, ruleset)
    assert "quezhuo rules ID --page" in told


@pytest.mark.parametrize("ruleset", ["zhenjiang", "xiamen", "fengcheng"])
def test_every_example_of_the_help_wins(ruleset: str) -> None:
    assert main(["check", "--ruleset", ruleset, EXAMPLES[ruleset]]) == 0

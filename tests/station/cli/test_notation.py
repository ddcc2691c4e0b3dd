"""`quezhuo notation`: both forms of every rule set, found by the text where only one can read it."""

from __future__ import annotations

import json

import pytest

from station.cli.main import main

LINES = {
    "zhenjiang": "123m456m789m11z34s +5s flip=1p how=self seat=1",
    "xiamen": "123m456m789m123s45s22z +6s flip=5p how=zimo seat=1 flowers=12f",
    "fengcheng": "22z P:111z +2z how=discard seat=1 p0=H:777m p2.yaoji=single",
    "mcr": "11z +1z how=self seat=2 wind=2 flowers=3",
    "riichi": "11z +1z how=discard seat=1 from=3 riichi dora=1m",
}


@pytest.mark.parametrize(("ruleset", "line"), LINES.items())
def test_both_forms_of_every_rule_set(ruleset: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["notation", line, "--ruleset", ruleset]) == 0
    as_object = capsys.readouterr().out
    assert main(["notation", as_object, "--ruleset", ruleset]) == 0
    assert capsys.readouterr().out.strip() == line
    assert main(["notation", as_object, "--ruleset", ruleset, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"line": line}


@pytest.mark.parametrize("ruleset", ["xiamen", "fengcheng", "mcr", "riichi"])
def test_a_text_that_only_one_rule_set_reads_is_its(ruleset: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["notation", LINES[ruleset], "--ruleset", ruleset])
    as_object = capsys.readouterr().out
    for text in (LINES[ruleset], as_object):
        assert main(["notation", text]) == 0
        told = capsys.readouterr()
        assert told.err == f"Read as a claim of {ruleset}.\n"
        assert told.out.strip() in (LINES[ruleset], as_object.strip())


def test_a_text_of_several_other_rule_sets_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["notation", "11z +1z how=self seat=2 prevailing=1"]) == 2  # a fact of two rule sets
    told = capsys.readouterr().err
    assert "a claim of mcr or riichi: add --ruleset mcr." in told
    assert "(at position " in told


def test_a_text_that_nobody_reads_or_of_a_named_rule_set_gets_no_such_hint(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["notation", "12x"]) == 2
    assert "name the rule set with --ruleset" in capsys.readouterr().err
    assert main(["notation", LINES["mcr"], "--ruleset", "zhenjiang"]) == 2
    assert "add --ruleset" not in capsys.readouterr().err
    assert main(["notation", LINES["mcr"], "--ruleset", "shengji"]) == 2

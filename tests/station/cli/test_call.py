from __future__ import annotations

import json

import pytest

from station.cli.main import main

CALL = ["call", "--ruleset", "zhenjiang", "--tile", "5m", "--from", "0"]


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["1:pung", "2:win"], 0, "Seat 2 gets 5m with win: a win comes before everything"),
        (["3:win", "2:win"], 0, "Seat 2 gets 5m with win"),
        (["1:pung:55m"], 0, "Seat 1 gets 5m with pung"),
        (["1:pung:56m"], 1, "Seat 1 gets nothing with pung: the tiles do not make it (zhenjiang.md §4)."),
        (["1:chow"], 1, "Nobody gets 5m; the next player draws."),
        (["2:win", "3:pung", "--barred", "2"], 0, "may not win this hand any more (zhenjiang.md §7)"),
        (["0:pung"], 1, "threw the tile himself"),
        (["2:win", "--flip", "4m"], 0, "Seat 2 gets 5m with win"),
    ],
)
def test_the_answer_is_one_sentence_with_its_section(
    words: list[str], status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*CALL, *words]) == status
    assert says in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [["win"], ["x:win"], ["4:win"], ["1:"], ["1:pung:5x"], ["1:win", "--flip", "55m"], ["99999:win"], []],
)
def test_bad_input_is_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CALL, *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_json_names_the_refused_calls(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", *CALL, "1:chow", "2:pung"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["seat"], answer["call"], answer["section"]) == (2, "pung", "§4")
    assert answer["refused"] == [
        {"seat": 1, "call": "chow", "reason": "chow_not_allowed", "section": "§4", "about": ["call=chow"]}
    ]
    assert "碰" in answer["zh"]

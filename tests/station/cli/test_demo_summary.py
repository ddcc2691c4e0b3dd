"""What the demo prints for people at its end."""

from __future__ import annotations

from typing import Any

import pytest

from station.cli.demo import _print

NO_LATENCY = {"p50": None, "p99": None}


def result(**changed: Any) -> dict[str, Any]:
    counts = ("hands_played", "wins", "draws", "voids", "no_wins", "false_wins_ruled", "tiles_read")
    more = ("tiles_mended", "tiles_doubted", "indicators_read", "indicators_mended")
    return {
        **dict.fromkeys((*counts, *more, "silently_wrong", "read_anyway"), 0),
        "guidance": {},
        "verdicts_agree": True,
        "disagreements": [],
        "tables": [],
        "latency_ms": {"frame_to_verdict": NO_LATENCY, "confirm_to_central": NO_LATENCY},
        **changed,
    }


def test_it_says_how_often_a_hand_was_not_fit_to_be_read_and_for_what(
    capsys: pytest.CaptureFixture[str],
) -> None:
    counts = {"camera_moved": 2, "glare": 1, "hand_in_view": 5, "moving": 2}
    _print(result(hands_played=6, tiles_read=98, tiles_mended=1, silently_wrong=1, guidance=counts))
    lines = capsys.readouterr().out.splitlines()
    assert "tiles read: 98 (mended 1, doubted 0)" in lines
    assert "hands read wrong without a doubt: 1" in lines
    reasons = "hand in view 5, camera moved 2, moving 2, glare 1"
    assert f"looks at hands not fit to be read: 10 ({reasons})" in lines


def test_it_says_when_every_hand_was_fit_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    _print(result())
    lines = capsys.readouterr().out.splitlines()
    assert "looks at hands not fit to be read: 0" in lines
    assert not any("never became fit" in line for line in lines)


def test_it_says_when_a_hand_never_became_fit(capsys: pytest.CaptureFixture[str]) -> None:
    _print(result(read_anyway=2))
    words = "hands that never became fit, and were read as they were: 2"
    assert words in capsys.readouterr().out.splitlines()

"""What the ways of capturing share: telling what became of a row."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from station.cli.enroll_words import check_json, check_words, unfit_words
from station.cli.output import emit, say
from vision.enroll.capture import RowShots


def tell_row(arguments: argparse.Namespace, title: str, picture: str, looked: RowShots) -> None:
    """Tell whether a row was taken and what it lacks."""
    verdict = "taken" if looked.shots else "not taken"
    lines = [f"{title}: {verdict}.", *unfit_words(looked.unfit), *check_words(looked.check)]
    data = {"picture": picture, "taken": bool(looked.shots), "unfit": list(looked.unfit)}
    tell(arguments, {**data, **check_json(looked.check)}, lines)


def tell(arguments: argparse.Namespace, data: Mapping[str, Any], lines: Sequence[str]) -> None:
    """Print an object, or lines for a person."""
    if arguments.json:
        emit(dict(data))
        return
    for line in lines:
        say(line)

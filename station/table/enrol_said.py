"""What the page `/enroll` says of a row and of a finished set, in the words of one language."""

from __future__ import annotations

from collections.abc import Iterable

from station.web.words import Words
from vision.enroll.check import NO_TILES, WRONG_ROW, RowCheck
from vision.enroll.guard import Guard
from vision.enroll.plan import Row

__all__ = ["check_said", "guard_said", "row_said", "unfit_said"]


def check_said(words: Words, check: RowCheck) -> list[str]:
    """Say all that is to be told of a row; a row that is not there, or another one, is told once."""
    codes = [finding.code for finding in check.findings]
    for code in (NO_TILES, WRONG_ROW):
        if code in codes:
            return [words.sentence(f"enroll.row.{code}")]
    return [
        words.sentence(
            f"enroll.row.{finding.code}",
            {
                "n": 0 if finding.place is None else finding.place + 1,
                "tile": finding.expected or "?",
                "kind": finding.seen or "?",
            },
        )
        for finding in check.findings
    ]


def unfit_said(words: Words, codes: Iterable[str]) -> list[str]:
    """Say what keeps a picture from being taken."""
    return [words.sentence(f"enroll.unfit.{code}") for code in codes]


def row_said(words: Words, row: Row) -> dict[str, object]:
    """What to lay: the tiles by id and in words, and how."""
    how = words.sentence("enroll.lay" if row.take == 0 else "enroll.lay_again")
    return {"kinds": list(row.kinds), "tiles": [words.tile(kind) for kind in row.kinds], "how": how}


def guard_said(words: Words, guard: Guard) -> str:
    """Say whether what was captured makes the reading better."""
    if not guard.used:
        return words.sentence("enroll.unused")
    figures = {"right": guard.right, "n": guard.shots, "before": guard.plain_right}
    return words.sentence("enroll.used", figures)

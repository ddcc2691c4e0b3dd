"""Sentences of `enroll`: what a row lacks, how far the capture is, what an inventory found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from station.cli.output import counted
from vision.enroll.check import (
    DOUBTFUL,
    EXTRA,
    LOOKS_LIKE,
    MISSING,
    NO_TILES,
    OUT_OF_ORDER,
    WRONG_ROW,
    Finding,
    RowCheck,
)
from vision.enroll.guard import Guard
from vision.enroll.plan import Row
from vision.enroll.which import Which
from vision.fitness.problems import BLURRED, GLARE, HAND_IN_VIEW, OUTSIDE_ZONE, TOO_BRIGHT, TOO_DARK
from vision.readings import OTHER_SET

_PLACES = ("first", "second", "third")


def place_word(place: int) -> str:
    """Name a place in a row, counted from 0.

    >>> place_word(2), place_word(11)
    ('third', '12th')
    """
    return _PLACES[place] if place < len(_PLACES) else f"{place + 1}th"


def finding_words(finding: Finding) -> str:
    """One sentence for a finding of a row."""
    place = "" if finding.place is None else place_word(finding.place)
    code, expected, seen = finding.code, finding.expected, finding.seen
    if code == LOOKS_LIKE:
        return f"The {place} tile looks like {seen}, {expected} is expected: swap it, or confirm it."
    if code == OUT_OF_ORDER:
        return f"{seen} lies out of order, as the {place} tile: put it in its place."
    if code == MISSING:
        return f"{expected} is missing in the row: lay it in its place."
    if code == EXTRA:
        return f"The {place} tile, it looks like {seen}, does not belong in the row: take it away."
    if code == DOUBTFUL:
        return f"The {place} tile is hard to tell; it is taken for {expected}, as the row says."
    if code == WRONG_ROW:
        return "Most tiles look like others: is this the row that was asked for?"
    assert code == NO_TILES
    return "No tile was found: lay the row in the zone, faces up, and look at the light."


UNFIT = {
    BLURRED: "The picture is blurred: focus the camera, and let the tiles lie still.",
    TOO_DARK: "The picture is too dark: switch a lamp on.",
    TOO_BRIGHT: "The picture is too bright: dim the lamp, or shorten the exposure.",
    GLARE: "A lamp is mirrored in a tile: move the lamp or the row.",
    HAND_IN_VIEW: "Something covers the zone: take your hands away.",
    OUTSIDE_ZONE: "A tile lies at the border of the zone: push the row inwards.",
}


def unfit_words(codes: Iterable[str]) -> list[str]:
    """Sentences for what keeps a picture from being taken."""
    return [UNFIT.get(code, f"The picture is not fit ({code}): take it again.") for code in codes]


def check_words(check: RowCheck) -> list[str]:
    """Sentences for all that is to be told of a row; a row missing as a whole is told once."""
    if any(finding.code == NO_TILES for finding in check.findings):
        return [finding_words(Finding(NO_TILES))]
    return [finding_words(finding) for finding in check.findings]


def check_json(check: RowCheck) -> dict[str, Any]:
    """Return a comparison as an object."""
    findings = [
        {"code": f.code, "place": f.place, "expected": f.expected, "seen": f.seen, "score": round(f.score, 4)}
        for f in check.findings
    ]
    return {
        "good": check.good,
        "confirmable": check.confirmable,
        "backwards": check.backwards,
        "labels": list(check.labels),
        "findings": findings,
    }


def row_words(row: Row, number: int, total: int) -> str:
    """What to lay next."""
    if row.take == 0:
        return f"Row {number} of {total}: lay {row.text} in a row, left to right."
    return (
        f"Row {number} of {total}: {row.text} once more, at another place of the zone"
        " and every tile turned upside down."
    )


def missing_words(missing: Iterable[str]) -> str:
    """What is still to be captured."""
    kinds = list(missing)
    if not kinds:
        return "All kinds are captured."
    return f"{counted(len(kinds), 'kind')} still to capture: {' '.join(kinds)}."


def guard_words(guard: Guard) -> str:
    """What the guard found: the gain, or that the prototypes are not used and why."""
    plain, mine = guard.plain_right / guard.shots, guard.right / guard.shots
    if guard.used:
        return (
            f"On pictures left out {guard.right} of {guard.shots} tiles are read right ({mine:.1%}, before"
            f" {plain:.1%}), uncertainty {guard.nll:.4f} instead of {guard.plain_nll:.4f}: the prototypes are"
            f" used, weight {guard.weight:g}."
        )
    if guard.reason == "one_picture":
        return (
            "Too few kinds are on two pictures, so the gain cannot be checked and the prototypes are not"
            " used: photograph every row twice."
        )
    return (
        f"The plain network reads {guard.plain_right} of {guard.shots} tiles right ({plain:.1%}) and the"
        " prototypes do not improve it: they are not used."
    )


def inventory_words(found: Mapping[str, Any]) -> list[str]:
    """Sentences for an inventory, see `vision.enroll.inventory.Inventory.to_json`."""
    pictures = counted(len(found["pictures"]), "picture")
    lines = [f"{found['seen']} of {found['expected']} tiles seen on {pictures}."]
    for key, text in (("missing", "Missing"), ("surplus", "Too many")):
        if found[key]:
            lines.append(f"{text}: " + ", ".join(f"{n} x {kind}" for kind, n in found[key].items()) + ".")
    texts = (
        ("foreign", "{kind} is of another set"),
        ("doubtful", "{kind} is not certain: look at it"),
        ("face_down", "a tile lies face down: turn it over"),
    )
    for key, text in texts:
        lines += [f"{t['picture']}, tile {t['place']}: {text.format(**t)}." for t in found[key]]
    if found["complete"]:
        lines.append("The set is whole.")
    return lines


def which_words(which: Which, names: Sequence[str]) -> list[str]:
    """Sentences for which of two sets is in play."""
    if which.index is None:
        lines = ["Unsure which set this is: show more tiles, or some face down."]
    else:
        lines = [f"This is {names[which.index]} (evidence {abs(which.evidence):.1f} nats)."]
    for stranger in which.strangers:
        whose = "the other set" if stranger.code == OTHER_SET else "neither set"
        lines.append(f"The {place_word(stranger.index)} tile, {stranger.kind}, is of {whose}: take it out.")
    return lines

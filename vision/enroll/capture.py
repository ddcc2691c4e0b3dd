"""Looks at a frame for enrolment: finds the tiles, compares the row, keeps its shots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vision.enroll.check import RowCheck, compare
from vision.enroll.plan import Row
from vision.enroll.shots import Shot, shots_of
from vision.fitness import assess_tiles
from vision.interpret import softmax
from vision.model_card import LABELS
from vision.reading_service import strip_side
from vision.readings import Box, Floats, Image, Reading
from vision.recognizer import Recognizer

__all__ = ["RowShots", "look_at_tiles", "photograph", "photograph_rows"]


@dataclass(frozen=True, slots=True, eq=False)
class RowShots:
    """A row as photographed: what the comparison says, the labelled shots, the boxes of all its tiles.

    ``shots`` is empty where the row cannot be taken. Boxes are pixels of the picture, in reading order.
    ``unfit``: codes of `vision.fitness` that keep a picture of a zone from being taken.
    """

    row: Row
    check: RowCheck
    shots: tuple[Shot, ...]
    boxes: tuple[Box, ...]
    unfit: tuple[str, ...] = ()


def photograph(
    recognizer: Recognizer,
    image: Image,
    row: Row,
    picture: str,
    *,
    region: Box | None = None,
    confirmed: bool = False,
    zone: bool = False,
) -> RowShots:
    """Look at one row in a picture uint8 ``(H, W, 3)`` BGR, upright for its player.

    ``picture`` names it in the shots. ``confirmed``: a person says that row and picture are right. ``zone``:
    the picture is a zone of the table, and has to be fit: a blurred or dark one teaches the wrong thing. What
    an earlier enrolment taught the recognizer is left out. Raises RegionError and ShapeError.
    """
    plain = replace(recognizer, adapt=None)
    side = None if region else strip_side(image)
    boxes = _boxes(plain.read(image, region, long_side=side))
    looked = _looked(plain, image, row, boxes, picture, confirmed)
    if len(boxes) != len(row.kinds):
        # A tile that the detector hardly sees: look again for just as many as there should be.
        asked = _boxes(plain.read(image, region, len(row.kinds), long_side=side))
        again = _looked(plain, image, row, asked, picture, confirmed=False)
        if again.check.good:
            looked = again
    return _judged(looked, image, confirmed=confirmed) if zone else looked


def _judged(looked: RowShots, image: Image, *, confirmed: bool) -> RowShots:
    """Take no shots of a picture that is not fit, unless somebody has looked at it."""
    if not looked.boxes:
        return looked
    boxes = np.asarray(looked.boxes, np.float32).reshape(-1, 4)
    width = float(np.median(boxes[:, 2] - boxes[:, 0]))
    unfit = assess_tiles(image, width, boxes).codes
    return replace(looked, unfit=unfit, shots=looked.shots if confirmed or not unfit else ())


def photograph_rows(
    recognizer: Recognizer,
    image: Image,
    rows: Sequence[Row],
    picture: str,
    *,
    region: Box | None = None,
    confirmed: bool = False,
) -> list[RowShots]:
    """Look at several rows in one picture, from top to bottom; a row that is not there is empty."""
    if len(rows) == 1:
        return [photograph(recognizer, image, rows[0], picture, region=region, confirmed=confirmed)]
    plain = replace(recognizer, adapt=None)
    reading = plain.read(image, region, sum(len(row.kinds) for row in rows))
    lines = [[reading.tiles[i].box for i in line] for line in reading.rows]
    lines += [[] for _ in range(len(rows) - len(lines))]
    return [
        _looked(plain, image, row, line, picture, confirmed) for row, line in zip(rows, lines, strict=False)
    ]


def look_at_tiles(
    recognizer: Recognizer, image: Image, reading: Reading, picture: str, *, keep: bool = False
) -> list[Shot]:
    """Shots of the tiles of a reading, labelled as read: for the inventory and for telling sets apart.

    The reading's boxes have to be pixels of ``image``.
    """
    return shots_of(recognizer.classify, image, _boxes(reading), reading.kinds, picture, keep=keep)


def _boxes(reading: Reading) -> list[Box]:
    return [tile.box for tile in reading.tiles]


def _looked(
    plain: Recognizer, image: Image, row: Row, boxes: Sequence[Box], picture: str, confirmed: bool
) -> RowShots:
    shots = shots_of(plain.classify, image, boxes, ["?"] * len(boxes), picture)
    check = compare(row.kinds, _shares(shots, plain.temperature), confirmed=confirmed)
    taken: tuple[Shot, ...] = ()
    if check.good:
        taken = tuple(
            replace(shot, kind=label)
            for shot, label in zip(shots, check.labels, strict=True)
            if label is not None
        )
    return RowShots(row, check, taken, tuple(boxes))


def _shares(shots: Sequence[Shot], temperature: float) -> Floats:
    """Probabilities float32 ``(N, 44)``, both ways round averaged."""
    logits = np.asarray([shot.logits for shot in shots], np.float32).reshape(-1, len(LABELS))
    return np.asarray(softmax(logits, temperature).reshape(-1, 2, len(LABELS)).mean(axis=1), np.float32)

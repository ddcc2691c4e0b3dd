"""Contact sheets of all errors: crop, truth, reading, probability, doubts. For eyes only, never committed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from vision.training.dataset import Image, load_photos
from vision.training.measure.hands import Table
from vision.training.measure.journal import Record
from vision.training.measure.outcome import Outcome
from vision.training.measure.photographs import crop_on_cloth

CELL, TEXT = (210, 190), 52
COLUMNS, ROWS = 7, 6
AROUND = 0.45
"""Share of a tile shown around it."""


@dataclass(frozen=True)
class Fault:
    """One error: a picture of it and what to write below, at most three lines."""

    picture: Image
    lines: tuple[str, ...]


def faults_of(image: Image, outcome: Outcome, name: str) -> Iterator[Fault]:
    """Cut every misread tile and false box out; overlooked tiles and wrong orders show the whole picture."""
    silent = "SILENT " if outcome.silent else ""
    for true, read, score, doubts, box in outcome.wrong:
        lines = (f"{true} read as {read} p {score:.2f}", silent + (" ".join(doubts) or "no mark"), name)
        yield Fault(_around(image, box), lines)
    for read, score, doubts, box in outcome.false:
        lines = (f"no tile read as {read} p {score:.2f}", silent + (" ".join(doubts) or "no mark"), name)
        yield Fault(_around(image, box), lines)
    if outcome.missed or (not outcome.exact and not outcome.wrong and not outcome.false):
        what = f"missed {' '.join(outcome.missed)}" if outcome.missed else "other order or parts"
        yield Fault(image, (what, silent + " ".join(outcome.why), name))


def _around(image: Image, box: Sequence[float]) -> Image:
    x0, y0, x1, y1 = box
    dx, dy = AROUND * (x1 - x0), AROUND * (y1 - y0)
    left, top = max(0, int(x0 - dx)), max(0, int(y0 - dy))
    marked = image.copy()
    cv2.rectangle(marked, (int(x0), int(y0)), (int(x1), int(y1)), (0, 0, 255), 1)
    return marked[top : max(top + 2, int(y1 + dy)), left : max(left + 2, int(x1 + dx))]


def draw(faults: Sequence[Fault], out: Path, name: str) -> list[Path]:
    """Draw pages of faults as ``name-1.png`` and so on; returns the files."""
    out.mkdir(parents=True, exist_ok=True)
    pages = []
    for first in range(0, len(faults), COLUMNS * ROWS):
        part = faults[first : first + COLUMNS * ROWS]
        page = np.full((CELL[1] * -(-len(part) // COLUMNS), CELL[0] * COLUMNS, 3), 255, np.uint8)
        for k, fault in enumerate(part):
            y, x = k // COLUMNS * CELL[1], k % COLUMNS * CELL[0]
            page[y : y + CELL[1], x : x + CELL[0]] = _cell(fault)
        file = out / f"{name}-{first // (COLUMNS * ROWS) + 1}.png"
        cv2.imwrite(str(file), page)
        pages.append(file)
    return pages


def _cell(fault: Fault) -> Image:
    cell = np.full((CELL[1], CELL[0], 3), 255, np.uint8)
    high, wide = fault.picture.shape[:2]
    factor = min((CELL[0] - 6) / wide, (CELL[1] - TEXT - 6) / high, 4.0)
    size = max(1, round(wide * factor)), max(1, round(high * factor))
    how = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR
    cell[3 : 3 + size[1], 3 : 3 + size[0]] = cv2.resize(fault.picture, size, interpolation=how)
    for k, line in enumerate(fault.lines[:3]):
        at = (3, CELL[1] - TEXT + 14 + 16 * k)
        cv2.putText(cell, line[:36], at, cv2.FONT_HERSHEY_SIMPLEX, 0.38, (0, 0, 0), 1, cv2.LINE_AA)
    return cell


def hand_faults(records: Iterable[Record], table: Table, way: str = "table") -> list[Fault]:
    """Faults of composed hands, silent ones first; every picture is laid anew from its number."""
    wanted = [r for r in records if not r["ways"][way]["exact"]]
    wanted.sort(key=lambda r: (not r["ways"][way]["accepted"], r["source"]))
    faults: list[Fault] = []
    for record in wanted:
        _, _, picture = table.hand(record["n"])
        outcome = Outcome.from_json(record["ways"][way])
        faults += faults_of(picture.image, outcome, f"{record['source']} {record['n']}")
    return faults


def photo_faults(records: Iterable[Record]) -> list[Fault]:
    """Faults of photographs and single-tile crops."""
    from vision.training.dataset import PHOTO_SOURCES, data_root, read_image

    photos = {photo.key: photo for source in PHOTO_SOURCES for photo in load_photos(source)}
    faults: list[Fault] = []
    for record in records:
        outcome = Outcome.from_json(record["outcome"])
        if outcome.exact:
            continue
        key = record["key"]
        if key in photos:
            image = photos[key].read()
        else:
            source, rest = key.split("/", 1)
            image, _ = crop_on_cloth(read_image(data_root() / source / "crops" / rest))
        faults += faults_of(image, outcome, key)
    return faults

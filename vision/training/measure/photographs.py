"""Sources: photographs that a model never saw, read as a stranger's will be: a region, no expected number."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from vision.readings import Floats
from vision.recognizer import Recognizer
from vision.training.dataset import LABELS, Image, Photo, crop_key, photo_meta, read_image
from vision.training.evaluate import region_of
from vision.training.measure.bounds import wilson
from vision.training.measure.journal import Journal, Record, fill
from vision.training.measure.models import header, load
from vision.training.measure.outcome import Outcome, judge
from vision.training.measure.silent import HEAD, Count
from vision.training.measure.unseen import Crop, find_unseen, left_out
from vision.training.split import session_of

FULL_ROW = 13
SEEN_ROWS, UNSEEN_ROWS = "full rows", "full rows, source never seen"
CLOTH = (70, 110, 60)
LAID_LONG_SIDE = 64
ROWS_EXACT = {SEEN_ROWS: 0.97, UNSEEN_ROWS: 0.90}
ROWS_ACCEPTED = 0.90
ROWS_SILENT = 1 / 200
FLAGGED = 0.5
"""Floors of full rows: exact, accepted without a doubt, silently wrong of these, tiles flagged per hand."""


def groups_of(photo: Photo, whole: frozenset[str]) -> list[str]:
    """Groups that a photograph counts in: its source, its session, full rows."""
    session = session_of(photo)
    groups = [_named(photo.source, whole), *([f"{photo.source}/{session.name}"] if session else [])]
    if photo_meta(photo)["single_row"] and len(photo.kinds) >= FULL_ROW:
        groups.append(UNSEEN_ROWS if photo.source in whole else SEEN_ROWS)
    return groups


def _named(source: str, whole: frozenset[str]) -> str:
    return source + (" (source never seen)" if source in whole else "")


def read_photo(recognizer: Recognizer, photo: Photo, image: Image) -> Outcome:
    """Read a photograph in the labels' bounding box plus half a tile; its order is not judged."""
    outcome = judge(
        recognizer.read(image, region_of(photo, image)), photo.boxes, [LABELS[k] for k in photo.kinds]
    )
    return replace(outcome, exact=outcome.right == outcome.tiles and not outcome.false)


def crop_on_cloth(image: Image) -> tuple[Image, Floats]:
    """Lay a single-tile photograph on plain cloth; returns the picture and the tile's box ``(1, 4)``.

    The tile is brought to `LAID_LONG_SIDE` pixels with 1.5 of them around: as large as on a table.
    """
    factor = LAID_LONG_SIDE / max(image.shape[:2])
    small = cv2.resize(image, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    high, wide = small.shape[:2]
    pad = round(1.5 * LAID_LONG_SIDE)
    laid = cv2.copyMakeBorder(small, pad, pad, pad, pad, cv2.BORDER_CONSTANT, value=CLOTH)
    return np.asarray(laid, np.uint8), np.array([[pad, pad, pad + wide, pad + high]], np.float32)


def read_crop(recognizer: Recognizer, crop: Crop) -> Outcome:
    """Read a single-tile photograph, told that there is one tile."""
    image, box = crop_on_cloth(read_image(crop[0]))
    return judge(recognizer.read(image, expect=1), box, [LABELS[crop[1]]])


def measure(models: Path, out: Path, *, threads: int, unseen: frozenset[str] = frozenset()) -> list[Record]:
    """Read all photographs and crops that a model never saw; write ``sources.jsonl``."""
    whole = unseen | left_out(models)
    recognizer = load(models, threads)
    found = find_unseen(whole)
    crops = [crop for listed in found.crops.values() for crop in listed]
    first = header("sources", recognizer, whole, photos=len(found.photos), crops=len(crops))

    def work(n: int) -> Record:
        if n < len(found.photos):
            photo = found.photos[n]
            outcome = read_photo(recognizer, photo, photo.read())
            return {"key": photo.key, "groups": groups_of(photo, whole), "outcome": outcome.to_json()}
        crop = crops[n - len(found.photos)]
        key = crop_key(crop[0])
        groups = [_named(key.split("/")[0], whole)]
        return {"key": key, "groups": groups, "outcome": read_crop(recognizer, crop).to_json()}

    return fill(Journal(out / "sources.jsonl", first), len(found.photos) + len(crops), work)


def report(records: Iterable[Record]) -> str:
    """Return markdown: a row per group, floors met or missed, pictures that were not exact."""
    counts: dict[str, Count] = defaultdict(Count)
    inexact: list[str] = []
    refused: list[str] = []
    for record in records:
        outcome = Outcome.from_json(record["outcome"])
        for group in record["groups"]:
            counts[group].add(outcome)
        if not outcome.exact:
            inexact.append(f"* {record['key']}: {_fault(outcome)}")
        elif not outcome.accepted:
            refused.append(f"* {record['key']}: {' '.join(outcome.why)}")
    lines = [HEAD, *(counts[name].row(name) for name in sorted(counts)), ""]
    lines += [f"* {line}" for line in (*floors(counts), *_confusions(counts))]
    return "\n".join([*lines, "", "Not exact:", "", *inexact, "", "Exact, but refused:", "", *refused])


def floors(counts: dict[str, Count]) -> list[str]:
    """One line per floor: what was reached, and whether that meets it."""
    lines = []
    for group, floor in ROWS_EXACT.items():
        rows = counts.get(group)
        if rows is None or not rows.hands:
            continue
        low, high = wilson(rows.exact, rows.hands)
        share, accepted = rows.exact / rows.hands, rows.accepted / rows.hands
        silent, flagged = rows.silent / max(1, rows.accepted), rows.flagged / rows.hands
        lines += [
            f"{group}: exact {share:.1%} ({low:.1%}–{high:.1%}), floor {floor:.0%}: {_met(share >= floor)}",
            f"{group}: accepted {accepted:.1%}, floor {ROWS_ACCEPTED:.0%}: {_met(accepted >= ROWS_ACCEPTED)}",
            f"{group}: silently wrong {silent:.2%}, floor {ROWS_SILENT:.1%}: {_met(silent <= ROWS_SILENT)}",
            f"{group}: flagged {flagged:.2f} per hand, floor {FLAGGED}: {_met(flagged < FLAGGED)}",
        ]
    return lines


def _met(reached: bool) -> str:
    return "met" if reached else "missed"


def _confusions(counts: dict[str, Count]) -> list[str]:
    return [
        f"{name}: " + ", ".join(f"{what} x {n}" for what, n in count.confusions.most_common(10))
        for name, count in sorted(counts.items())
        if count.confusions
    ]


def _fault(outcome: Outcome) -> str:
    wrong = Counter(f"{true} read as {read} ({score:.2f})" for true, read, score, *_ in outcome.wrong)
    parts = [f"{what} x {n}" if n > 1 else what for what, n in wrong.items()]
    parts += [f"missed {' '.join(outcome.missed)}"] if outcome.missed else []
    parts += [f"{len(outcome.false)} false"] if outcome.false else []
    doubt = " ".join(outcome.why) or "SILENT"
    return f"{', '.join(parts)} [{doubt}]"

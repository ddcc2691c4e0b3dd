"""What came of reading a hand whose truth is known: right, accepted, silently wrong, doubts; as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from vision.decode import iou_matrix
from vision.fitness import assess, assess_tiles
from vision.hand import HandLayout, HandShape, hand_layout
from vision.hand_reading import read_claimed
from vision.reading_service import Reader, strip_side
from vision.readings import Floats, Image, Reading
from vision.training.measure.compose import Picture
from vision.training.measure.deal import Deal

SAME_TILE = 0.4
"""Overlap (IoU) from which a box read is that of a tile laid."""
WAYS = ("table", "count", "plain")
"""How a hand is read: as the table does (its number follows from what lies there), its number given, nothing
given."""


@dataclass(frozen=True)
class Outcome:
    """One reading beside its truth.

    ``exact``: all kinds right and in order, and the hand's parts too where they were asked for (a box that is
    badly placed does not matter then); ``wrong``:
    misread tiles as [true kind, read kind, score, doubt codes, box]; ``false``: boxes that hold no tile,
    likewise; ``missed``: kinds overlooked; ``scores``: [score, right] of every tile found; ``flagged``: tiles
    with a doubt.
    """

    exact: bool
    accepted: bool
    why: tuple[str, ...]
    tiles: int
    right: int
    wrong: tuple[tuple[str, str, float, tuple[str, ...], tuple[float, ...]], ...]
    false: tuple[tuple[str, float, tuple[str, ...], tuple[float, ...]], ...]
    missed: tuple[str, ...]
    scores: tuple[tuple[float, bool], ...]
    flagged: int

    @property
    def silent(self) -> bool:
        """Accepted without a doubt, and wrong."""
        return self.accepted and not self.exact

    def to_json(self) -> dict[str, Any]:
        """Return an object for a JSON line."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Outcome:
        """Build from the object of a JSON line."""
        wrong = tuple((t, r, s, tuple(d), tuple(b)) for t, r, s, d, b in data["wrong"])
        false = tuple((r, s, tuple(d), tuple(b)) for r, s, d, b in data["false"])
        scores = tuple((s, bool(ok)) for s, ok in data["scores"])
        rest = {k: data[k] for k in ("exact", "accepted", "tiles", "right", "flagged")}
        return cls(
            why=tuple(data["why"]),
            missed=tuple(data["missed"]),
            wrong=wrong,
            false=false,
            scores=scores,
            **rest,
        )


def match(truth: Floats, read: Floats) -> dict[int, int]:
    """Pair boxes read ``(m, 4)`` with boxes laid ``(n, 4)``, best overlap first: index read -> index laid."""
    if not len(truth) or not len(read):
        return {}
    overlap = iou_matrix(read.astype(np.float32), truth.astype(np.float32))
    pairs: dict[int, int] = {}
    for flat in np.argsort(-overlap, axis=None):
        i, j = divmod(int(flat), len(truth))
        if overlap[i, j] < SAME_TILE:
            break
        if i not in pairs and j not in pairs.values():
            pairs[i] = j
    return pairs


def judge(
    reading: Reading,
    boxes: Floats,
    kinds: Sequence[str],
    accepted: bool | None = None,
    same_hand: bool = True,
) -> Outcome:
    """Compare a reading with the boxes ``(n, 4)`` and kinds laid, in reading order.

    ``accepted``: by default what the reading says; ``same_hand``: whether its parts are the laid ones.
    """
    read = np.asarray([tile.box for tile in reading.tiles], np.float32).reshape(-1, 4)
    pairs = match(boxes, read)
    wrong, false, scores = [], [], []
    for i, tile in enumerate(reading.tiles):
        where = tuple(float(v) for v in tile.box)
        score = round(tile.score, 4)
        if i not in pairs:
            false.append((tile.kind, score, tile.doubts, where))
            continue
        right = tile.kind == kinds[pairs[i]]
        scores.append((score, right))
        if not right:
            wrong.append((kinds[pairs[i]], tile.kind, score, tile.doubts, where))
    missed = tuple(kind for j, kind in enumerate(kinds) if j not in pairs.values())
    return Outcome(
        exact=reading.kinds == tuple(kinds) and same_hand,
        accepted=reading.accept if accepted is None else accepted,
        why=reading.why,
        tiles=len(kinds),
        right=len(pairs) - len(wrong),
        wrong=tuple(wrong),
        false=tuple(false),
        missed=missed,
        scores=tuple(scores),
        flagged=sum(bool(tile.doubts) for tile in reading.tiles),
    )


def parts(layout: HandLayout, kinds: Sequence[str]) -> tuple[Any, ...]:
    """What a hand means: melds, concealed tiles, winning tile, flowers; order among them does not matter."""

    def named(indices: Sequence[int]) -> tuple[str, ...]:
        return tuple(sorted(kinds[i] for i in indices))

    win = None if layout.win is None else kinds[layout.win]
    return sorted(named(m) for m in layout.melds), named(layout.concealed), win, named(layout.flowers)


def laid_layout(deal: Deal) -> HandLayout:
    """Parts of a hand as it was dealt, indices in reading order."""
    melds, at = [], 0
    for meld in deal.hand.melds:
        melds.append(tuple(range(at, at + len(meld))))
        at += len(meld)
    flowers = tuple(range(at, at + len(deal.hand.flowers)))
    at += len(flowers)
    concealed = tuple(range(at, at + len(deal.hand.concealed)))
    win = None if deal.hand.win is None else at + len(concealed)
    return HandLayout(tuple(melds), concealed, win, flowers)


def unfit(reader: Reader, picture: Picture, deal: Deal) -> tuple[str, ...]:
    """Codes of what makes a picture unfit for reading: what the screen asks a person to put right first.

    The width of a tile is what a table knows from its calibration.
    """
    sizes = picture.boxes[:, 2:] - picture.boxes[:, :2]
    tile = float(np.median(sizes.min(1)))
    read = read_claimed(reader, picture.image, deal.shape).reading
    boxes = np.asarray([t.box for t in read.tiles], np.float32).reshape(-1, 4)
    found = assess_tiles(picture.image, tile, boxes) if len(boxes) else assess(picture.image, tile)
    return tuple(dict.fromkeys(problem.code for problem in found.problems))


def read_hand(reader: Reader, picture: Picture, deal: Deal, ways: Sequence[str] = WAYS) -> dict[str, Outcome]:
    """Read a laid hand in several ways and judge each."""
    laid = parts(laid_layout(deal), deal.kinds)
    return {way: _read(reader, picture.image, way, picture, deal.shape, laid) for way in ways}


def _read(
    reader: Reader, image: Image, way: str, picture: Picture, shape: HandShape, laid: tuple[Any, ...]
) -> Outcome:
    if way == "table":
        hand = read_claimed(reader, image, shape)
        same = parts(hand.layout, hand.reading.kinds) == laid
        settled = hand.reading.accept and hand.complete and hand.sound
        return judge(hand.reading, picture.boxes, picture.kinds, settled, same)
    if way == "count":
        reading = reader.read(image, expect=len(picture.kinds), shape=shape, long_side=strip_side(image))
        layout = hand_layout(reading.rows, reading.groups, reading.kinds, shape)
        return judge(reading, picture.boxes, picture.kinds, None, parts(layout, reading.kinds) == laid)
    return judge(reader.read(image), picture.boxes, picture.kinds)

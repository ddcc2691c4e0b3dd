"""From class scores to a reading: probabilities, alternatives and doubts. Pure numpy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.tiles import TILE_IDS
from vision.arrange import Arrangement, overlapping
from vision.errors import ShapeError
from vision.readings import (
    BLANK_OR_BACK,
    CUT_AT_BORDER,
    DOUBT_CODES,
    FIFTH_COPY,
    LOW_SCORE,
    NO_TILES,
    NOT_IN_SET,
    OVERLAP,
    STRAY_BACK,
    UNSURE_BOX,
    WRONG_COUNT,
    Box,
    Detections,
    Floats,
    Ints,
    TileReading,
)
from vision.shapes import BACK, HandShape, meld_faces
from vision.sizes import cut_off

__all__ = [
    "BACK",
    "Opinion",
    "Sight",
    "Thresholds",
    "opinions",
    "softmax",
    "tile_readings",
    "trust_detector",
    "why_not",
]

ALTERNATIVES = 3
WHITE = "5z"
NO_PRINT = [TILE_IDS.index(WHITE), TILE_IDS.index(BACK), -1]
"""Columns of shares that stand for a face without print: a blank white dragon, a back, no tile."""
PEEPS = 0.1
"""Share of a meld's own kind from which on its end may lie open."""
LIKELY_BACK = 0.25
DRAWN = frozenset({"1s", *(f"{n}f" for n in range(1, 9))})
"""Kinds that every maker draws in another way: what was never seen is misread as one of them most often."""
COPIES = 4
"""Copies of a kind in a tile set; of a flower there is one."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When a tile is doubtful.

    ``doubt``: probability of its kind below which it is, ``drawn``: the same for kinds that every maker
    draws in another way (`DRAWN`); ``floor``: the same for the least convincing side it was looked at from;
    ``outside``: probability of kinds that the set in play lacks above which it is;
    ``box``: detector score below which it is; ``border``: pixels from the edge of the picture within which a
    tile may be cut, ``whole``: share of a tile's usual area from which it is not; ``overlap``: distance of
    two tiles, in tile widths, below which one lies on the other; ``unseen``, ``unseen_blank`` and
    ``unseen_back``: probability of an open tile, of a white dragon and of a face-down tile, where none was
    found, from which the whole reading is: bare cloth looks like a blank tile.
    ``red``: probability from which a five is a red one; below one minus this it is none.
    """

    doubt: float = 0.7
    drawn: float = 0.9
    floor: float = 0.4
    outside: float = 0.3
    box: float = 0.35
    border: float = 1.0
    whole: float = 0.85
    overlap: float = 0.7
    unseen: float = 0.7
    unseen_blank: float = 0.985
    unseen_back: float = 0.9
    red: float = 0.8

    def needed(self, kind: str) -> float:
        """Probability that a tile of this kind needs."""
        return max(self.doubt, self.drawn) if kind in DRAWN else self.doubt


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one crop shows: the most probable kinds, best first, and the share of kinds outside the set."""

    alternatives: tuple[tuple[str, float], ...]
    outside: float

    @property
    def kind(self) -> str:
        """The most probable kind."""
        return self.alternatives[0][0]

    @property
    def score(self) -> float:
        """Its probability."""
        return self.alternatives[0][1]


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """What ``N`` boxes show, over all sides they were looked at from.

    ``shares``: mean probabilities ``(N, K)``, the last column for "no tile here"; ``floor``: the least
    probability ``(N,)`` that either way up gives to the kind named by the mean; ``red``: mean probability
    ``(N,)`` that the five is red, None where the model does not say.
    """

    shares: Floats
    floor: Floats
    red: Floats | None = None

    def take(self, index: Ints) -> Sight:
        """Return the rows selected by an index array, in that order."""
        return Sight(self.shares[index], self.floor[index], None if self.red is None else self.red[index])


def softmax(logits: Floats, temperature: float = 1.0) -> Floats:
    """Probabilities ``(N, K)`` from logits ``(N, K)``; rows sum to 1."""
    if logits.ndim != 2:
        raise ShapeError("logits", "(N, K)", logits.shape)
    scaled = logits / temperature
    powers = np.exp(scaled - scaled.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), np.float32)


def trust_detector(shares: Floats, heat: Floats) -> Floats:
    """Weigh "no tile here", the last column of ``(N, K)``, by how sure the detector is, ``heat`` ``(N,)``.

    A blank white dragon looks like nothing; a detector that is sure has seen its edges.
    """
    weighed = shares.copy()
    weighed[:, -1] *= np.minimum(1.0, 2.0 * (1.0 - heat))
    return np.asarray(weighed / np.maximum(weighed.sum(axis=1, keepdims=True), 1e-9), np.float32)


def opinions(
    probabilities: Floats, labels: Sequence[str], kinds: frozenset[str] | None = None
) -> list[Opinion]:
    """Read probabilities ``(N, K)`` of ``labels`` as tile kinds.

    The last label means "no tile": its probability counts against every kind. With ``kinds`` only
    these (and ``back``) are answered and the probability of the others is shared out among them.
    """
    if probabilities.ndim != 2 or probabilities.shape[1] != len(labels):
        raise ShapeError("probabilities", f"(N, {len(labels)})", probabilities.shape)
    tiles = probabilities[:, :-1]
    allowed = np.asarray([kinds is None or name in kinds or name == BACK for name in labels[:-1]])
    outside = tiles[:, ~allowed].sum(axis=1)
    inside = tiles * allowed / np.maximum(1 - outside, 1e-6)[:, None]
    best = np.argsort(-inside, axis=1, kind="stable")[:, :ALTERNATIVES]
    return [
        Opinion(tuple((labels[k], round(float(row[k]), 6)) for k in top), float(out))
        for row, top, out in zip(inside, best, outside, strict=True)
    ]


def _surplus(kinds: Sequence[str], scores: Sequence[float]) -> set[int]:
    """Indices of the least certain tiles of every kind that occurs more often than a set allows."""
    surplus: set[int] = set()
    for kind, count in Counter(kinds).items():
        limit = 1 if kind.endswith("f") else COPIES
        if kind != BACK and count > limit:
            mine = sorted((i for i, k in enumerate(kinds) if k == kind), key=lambda i: scores[i])
            surplus.update(mine[: count - limit])
    return surplus


def _covered(lie: Arrangement, kinds: Sequence[str], shape: HandShape) -> dict[int, str]:
    """Positions of face-down tiles within a concealed kong or opened face-down set, and what they are."""
    covered: dict[int, str] = {}
    windows = [row[k : k + size] for row in lie.rows for size in (3, 4) for k in range(len(row) - size + 1)]
    for window in windows:
        shown = [kinds[i] for i in window]
        faces = meld_faces(shown)
        if shape.meld(shown) in ("A", "H") and faces is not None:
            covered.update((i, faces[0]) for i in window if kinds[i] == BACK)
    return covered


def _blanks(lie: Arrangement, kinds: Sequence[str], shape: HandShape) -> set[int]:
    """Positions of white dragons that may be the face-down tiles of a meld: ``5z X X 5z``."""
    blanks: set[int] = set()
    for group in lie.groups:
        white = [i for i in group if kinds[i] == WHITE]
        covered = [BACK if i in white else kinds[i] for i in group]
        if white and shape.meld(covered) in ("A", "H") and meld_faces(covered) is not None:
            blanks.update(white)
    return blanks


def _low(
    ordered: Sequence[Opinion],
    covered: Mapping[int, str],
    order: Sequence[int],
    limits: Thresholds,
    sight: Sight | None,
) -> set[int]:
    """Positions of tiles whose kind is not probable enough, the kinds that the set in play lacks counted in.

    Where the meld around it (``covered``: what it would be) tells that a tile lies face down, it is enough
    that no print was seen there, its own least of all: an exposed kong may not pass for a concealed one.
    """
    low: set[int] = set()
    for position, (index, opinion) in enumerate(zip(order, ordered, strict=True)):
        score = opinion.score * (1 - opinion.outside)
        floor = 1.0 if sight is None else float(sight.floor[index])
        if position in covered and sight is not None:
            share = sight.shares[index]
            if share[TILE_IDS.index(covered[position])] < PEEPS and share[TILE_IDS.index(BACK)] > LIKELY_BACK:
                score, floor = float(share[NO_PRINT].sum()), 1.0
        if score < limits.needed(opinion.kind) or floor < limits.floor:
            low.add(position)
    return low


FIVES = frozenset({"5m", "5p", "5s"})


def _red(kind: str, chance: float | None, limit: float) -> bool | None:
    """Tell whether a tile is a red five from the probability that it is; None where that is not certain."""
    if chance is None or kind not in FIVES or 1 - limit < chance < limit:
        return None
    return chance >= limit


def tile_readings(
    found: Detections,
    seen: Sequence[Opinion],
    lie: Arrangement,
    area: Box,
    limits: Thresholds,
    shape: HandShape | None = None,
    sight: Sight | None = None,
) -> tuple[TileReading, ...]:
    """Put boxes ``(N, 4)``, opinions and arrangement together, in reading order.

    ``area`` is the picture, in the pixels of the boxes. ``shape``: which melds there are, so which tiles may
    lie face down, and whether fives may be red. ``sight``: what the opinions were formed from, where known.
    """
    shape = shape or HandShape()
    group_of = {i: g for g, members in enumerate(lie.groups) for i in members}
    ordered = [seen[i] for i in lie.order]
    kinds = [opinion.kind for opinion in ordered]
    covered = _covered(lie, kinds, shape)
    copies = [covered.get(i, kind) for i, kind in enumerate(kinds)]
    surplus = _surplus(copies, [o.score for o in ordered])
    backs = {i for i, kind in enumerate(kinds) if kind == BACK}
    strays = backs - covered.keys() if len(backs) < len(kinds) else set()
    low = _low(ordered, covered, lie.order, limits, sight)
    reds = sight.red if sight is not None and shape.red else None
    blanks = _blanks(lie, kinds, shape)
    covering = overlapping(found, limits.overlap)
    cut = cut_off(found, area, limits.border, limits.whole)
    tiles: list[TileReading] = []
    for position, (index, opinion) in enumerate(zip(lie.order, ordered, strict=True)):
        x0, y0, x1, y1 = (round(float(v), 2) for v in found.boxes[index])
        box = (x0, y0, x1, y1)
        flags = {
            LOW_SCORE: position in low,
            FIFTH_COPY: position in surplus,
            NOT_IN_SET: opinion.outside > limits.outside,
            STRAY_BACK: position in strays,
            BLANK_OR_BACK: position in blanks,
            CUT_AT_BORDER: bool(cut[index]),
            UNSURE_BOX: float(found.scores[index]) < limits.box,
            OVERLAP: bool(covering[index]),
        }
        doubts = tuple(code for code in DOUBT_CODES if flags.get(code))
        chance = None if reds is None else float(reds[index])
        tiles.append(
            TileReading(
                opinion.kind,
                opinion.score,
                box,
                opinion.alternatives,
                group_of[position],
                doubts,
                _red(opinion.kind, chance, limits.red),
            )
        )
    return tuple(tiles)


def why_not(tiles: Sequence[TileReading], expect: int | None, whole: Collection[str] = ()) -> tuple[str, ...]:
    """Codes that keep a reading from being accepted, in fixed order; empty when nothing is in doubt.

    ``whole``: codes of the whole reading found otherwise.
    """
    codes = {code for tile in tiles for code in tile.doubts} | set(whole)
    if not tiles:
        codes.add(NO_TILES)
    if expect is not None and len(tiles) != expect:
        codes.add(WRONG_COUNT)
    return tuple(code for code in DOUBT_CODES if code in codes)

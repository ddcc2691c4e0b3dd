"""The vocabulary of seeing: immutable values, numpy only, below everything else of the room.

Pixels: origin top left, x right, y down, floats; a box is ``(x0, y0, x1, y1)``.
Images: uint8 ``(H, W, 3)``, BGR.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.errors import ShapeError, VisionError

__all__ = [
    "BESIDE",
    "BLANK_OR_BACK",
    "CUT_AT_BORDER",
    "DOUBT_CODES",
    "EXTRA_TILES",
    "FIFTH_COPY",
    "FOREIGN_TILE",
    "FRAMES_DIFFER",
    "LOW_SCORE",
    "NOT_IN_SET",
    "NO_TILES",
    "ODD_SIZE",
    "OTHER_SET",
    "OVERLAP",
    "STRAY_BACK",
    "UNSEEN_TILE",
    "UNSURE_BOX",
    "WRONG_COUNT",
    "Box",
    "Detections",
    "Floats",
    "Image",
    "Ints",
    "Looks",
    "Reading",
    "TileReading",
    "VisionError",
    "check_image",
]

Box = tuple[float, float, float, float]
Floats = NDArray[np.float32]
Ints = NDArray[np.intp]
Image = NDArray[np.uint8]

LOW_SCORE: Final = "low_score"
"""The best kind has a probability below the doubt threshold."""
FIFTH_COPY: Final = "fifth_copy"
"""More copies of the kind than a tile set holds."""
NOT_IN_SET: Final = "not_in_set"
"""The network sees a kind that the tile set in play does not have."""
OTHER_SET: Final = "other_set"
"""The tile is of the table's other set."""
FOREIGN_TILE: Final = "foreign_tile"
"""The tile is of no set of this table."""
CUT_AT_BORDER: Final = "cut_at_border"
"""The tile touches the border of the picture or region."""
UNSURE_BOX: Final = "unsure_box"
"""It is not certain that there is a tile here."""
WRONG_COUNT: Final = "wrong_count"
"""The number of tiles is not the expected one (a doubt of the whole reading)."""
STRAY_BACK: Final = "stray_back"
"""A face-down tile that belongs to no concealed kong or face-down set."""
EXTRA_TILES: Final = "extra_tiles"
"""More tiles lie open in view than expected (a doubt of the whole reading)."""
BLANK_OR_BACK: Final = "blank_or_back"
"""White dragons lie where face-down tiles of a meld would: a blank one looks like a light back."""
OVERLAP: Final = "overlap"
"""Two tiles lie so close that one must lie on the other."""
ODD_SIZE: Final = "odd_size"
"""What looks like a tile but is far from the others in size was left out (of the whole reading)."""
UNSEEN_TILE: Final = "unseen_tile"
"""One more tile may lie in a gap, at the end of a row or where the detector is not sure (of the whole)."""
FRAMES_DIFFER: Final = "frames_differ"
"""Frames of the zone at rest show different kinds here."""
NO_TILES: Final = "no_tiles"
"""Nothing was found (a doubt of the whole reading)."""

DOUBT_CODES: Final = (
    NO_TILES,
    WRONG_COUNT,
    EXTRA_TILES,
    LOW_SCORE,
    FRAMES_DIFFER,
    FIFTH_COPY,
    NOT_IN_SET,
    OTHER_SET,
    FOREIGN_TILE,
    STRAY_BACK,
    BLANK_OR_BACK,
    CUT_AT_BORDER,
    UNSURE_BOX,
    OVERLAP,
    ODD_SIZE,
    UNSEEN_TILE,
)
"""All codes, in the order in which ``Reading.why`` lists them."""
BESIDE: Final = frozenset({EXTRA_TILES, CUT_AT_BORDER, ODD_SIZE, UNSEEN_TILE})
"""Doubts of a whole reading about what was seen and is no tile of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Detections:
    """Boxes found in one picture, column-wise.

    ``boxes``: float32 ``(N, 4)``, ``x0, y0, x1, y1`` in pixels of the picture searched.
    ``scores``: float32 ``(N,)``, 0..1, how sure the detector is; not a calibrated probability.
    Raises ShapeError when the shapes do not fit. ``N`` may be 0.
    """

    boxes: Floats
    scores: Floats

    def __post_init__(self) -> None:
        if self.boxes.ndim != 2 or self.boxes.shape[1] != 4:
            raise ShapeError("boxes", "(N, 4)", self.boxes.shape)
        if self.scores.shape != (len(self.boxes),):
            raise ShapeError("scores", f"({len(self.boxes)},)", self.scores.shape)

    @classmethod
    def of(cls, boxes: Sequence[Box], scores: Sequence[float] | None = None) -> Detections:
        """Build from plain sequences; without scores every score is 1."""
        column = np.asarray(boxes, np.float32).reshape(-1, 4)
        return cls(
            column, np.ones(len(column), np.float32) if scores is None else np.asarray(scores, np.float32)
        )

    @classmethod
    def empty(cls) -> Detections:
        """No boxes at all."""
        return cls.of([])

    def __len__(self) -> int:
        return len(self.boxes)

    def take(self, index: Ints | NDArray[np.bool_]) -> Detections:
        """Return the rows selected by an index array or mask ``(N,)``, in that order."""
        return Detections(self.boxes[index], self.scores[index])

    def scaled(self, factor: float) -> Detections:
        """Return the same boxes in a picture resized by ``factor``."""
        return Detections((self.boxes * np.float32(factor)).astype(np.float32), self.scores)

    def shifted(self, dx: float, dy: float) -> Detections:
        """Return the boxes moved by ``(dx, dy)`` pixels."""
        return Detections(self.boxes + np.asarray([dx, dy, dx, dy], np.float32), self.scores)

    @property
    def centres(self) -> Floats:
        """Centres ``(N, 2)`` as ``x, y``."""
        return np.asarray((self.boxes[:, :2] + self.boxes[:, 2:]) / 2, np.float32)

    @property
    def sizes(self) -> Floats:
        """Widths and heights ``(N, 2)``, never negative."""
        return np.asarray(np.maximum(self.boxes[:, 2:] - self.boxes[:, :2], np.float32(0)), np.float32)


EMBEDDING = 128
"""Numbers of a classifier's embedding."""


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """What the classifier says of ``N`` crops, row by row.

    ``logits``: float32 ``(N, K)``, one per label; ``embeddings``: float32 ``(N, 128)``, unit length;
    ``red``: float32 ``(N,)``, the logit of "if this is a five, it is a red one", None where the network has
    no such output. Raises ShapeError when the shapes do not fit.
    """

    logits: Floats
    embeddings: Floats
    red: Floats | None = None

    def __post_init__(self) -> None:
        n = len(self.logits)
        if self.logits.ndim != 2:
            raise ShapeError("logits", "(N, K)", self.logits.shape)
        if self.embeddings.shape != (n, EMBEDDING):
            raise ShapeError("embeddings", f"({n}, {EMBEDDING})", self.embeddings.shape)
        if self.red is not None and self.red.shape != (n,):
            raise ShapeError("red", f"({n},)", self.red.shape)


@dataclass(frozen=True, slots=True)
class TileReading:
    """One tile as seen.

    ``kind`` is a tile id (``1m`` … ``8f``, ``back``); ``score`` the calibrated probability that it
    is right; ``box`` lies in the upright picture; ``alternatives`` are the three most probable kinds
    with their probabilities, best first (``kind`` itself leads); ``group`` is the index into
    ``Reading.groups``; ``doubts`` are the codes of this module that make a person look again. ``red``:
    whether a five is a red one, None where the model is not sure or does not say, or the rule set has none.
    """

    kind: str
    score: float
    box: Box
    alternatives: tuple[tuple[str, float], ...]
    group: int
    doubts: tuple[str, ...] = ()
    red: bool | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """All tiles of one picture or zone, in reading order.

    ``rows`` and ``groups`` hold indices into ``tiles``: rows top to bottom, groups are the runs of
    touching tiles inside a row. ``accept`` is true when nothing is in doubt; ``why`` lists the codes
    when not. ``ms`` is the time taken without loading the model; ``size`` is ``(width, height)`` of
    the picture whose pixels the boxes use.
    """

    tiles: tuple[TileReading, ...]
    rows: tuple[tuple[int, ...], ...]
    groups: tuple[tuple[int, ...], ...]
    accept: bool
    why: tuple[str, ...]
    ms: float
    size: tuple[int, int]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds in reading order."""
        return tuple(tile.kind for tile in self.tiles)

    @property
    def beside(self) -> tuple[str, ...]:
        """Doubts about what was seen and is no tile of the reading, as one overlooked; in fixed order.

        A code that a tile carries as well counts as that tile's.
        """
        at_tiles = {code for tile in self.tiles for code in tile.doubts}
        return tuple(code for code in self.why if code in BESIDE and code not in at_tiles)

    def doubted(self, code: str) -> Reading:
        """Return the same reading with one more doubt of the whole."""
        why = tuple(known for known in DOUBT_CODES if known == code or known in self.why)
        return replace(self, accept=False, why=why)

    def only(self, chosen: Iterable[int]) -> Reading:
        """Return the reading of some of its tiles (indices), as if the others did not lie there.

        Doubts of the others fall away, and whether the number of tiles is right is the caller's matter. What
        is in doubt ``beside`` the tiles stays: nobody knows whether it belongs to those chosen.
        """
        kept = sorted(set(chosen))
        place = {i: k for k, i in enumerate(kept)}
        rows, groups = _kept(self.rows, place), _kept(self.groups, place)
        group_of = {i: g for g, members in enumerate(groups) for i in members}
        tiles = tuple(replace(self.tiles[i], group=group_of.get(k, 0)) for k, i in enumerate(kept))
        codes = {code for tile in tiles for code in tile.doubts} | set(self.beside)
        codes |= set() if tiles else {NO_TILES}
        why = tuple(code for code in DOUBT_CODES if code in codes)
        return Reading(tiles, rows, groups, not why, why, self.ms, self.size)


def _kept(runs: tuple[tuple[int, ...], ...], place: Mapping[int, int]) -> tuple[tuple[int, ...], ...]:
    """Rows or groups of the tiles that have a new index; empty ones fall away."""
    kept = (tuple(place[i] for i in run if i in place) for run in runs)
    return tuple(run for run in kept if run)


def check_image(image: NDArray[np.generic], name: str = "image") -> None:
    """Raise ShapeError unless ``image`` is a non-empty uint8 ``(H, W, 3)`` picture."""
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or image.size == 0:
        raise ShapeError(name, "(H, W, 3) uint8", image.shape)

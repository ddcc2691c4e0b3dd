"""Which of a table's two tile sets is in play, and whether a tile is a stranger among them. Pure numpy.

Every tile is compared with the shots of its own kind in both sets, by the network's embedding and by its
plain view. How far such a comparison tells the sets apart is learned from their own shots, each left out in
turn: two sets of one design give no evidence but by their backs, and the answer is then "unsure".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.enroll.shots import GRID, LOOK, Shot, unit
from vision.enroll.tileset import TileSet
from vision.readings import EMBEDDING, FOREIGN_TILE, OTHER_SET, Floats
from vision.shapes import BACK

__all__ = ["Rivals", "Stranger", "Which", "odd_ones", "strangers"]

MOST = 3.0
"""Log-likelihood ratio that one tile may contribute at most: no tile decides alone."""
SHARE = 0.5
"""What a tile's evidence is worth: tiles of one picture share its light."""
SURE = float(np.log(1000))
"""Log-likelihood ratio of a hand from which one set is named."""
STRANGE = 6.0
"""Log-likelihood ratio from which a single tile is named as one of the other set."""
FAR = 5.0
"""Deviations below the usual likeness from which a tile is of neither set."""
SPREAD = np.asarray([0.01, 0.04])
"""Least deviation of the two likenesses: few shots look more alike than they are."""


@dataclass(frozen=True, slots=True)
class Stranger:
    """A tile that does not belong: index among those asked about, ``kind``, a code of `vision.readings`."""

    index: int
    kind: str
    code: str


@dataclass(frozen=True, slots=True)
class Which:
    """The answer: index of the set in play, None when unsure.

    ``evidence``: log-likelihood ratio in nats, positive for the first set; ``asked``: tiles whose kind both
    sets have; ``strangers``: tiles that do not belong to the set in play.
    """

    index: int | None
    evidence: float
    asked: int
    strangers: tuple[Stranger, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Kind:
    """What a set's tiles of one kind look like on average, unit length."""

    embedding: Floats
    look: Floats


def _turned(look: Floats) -> Floats:
    return look.reshape(GRID[1], GRID[0], 3)[::-1, ::-1].reshape(LOOK)


def _kind_of(shots: Sequence[Shot]) -> _Kind:
    first = shots[0].look
    looks = [max(shot.look, _turned(shot.look), key=lambda view: float(view @ first)) for shot in shots]
    embeddings = np.asarray([shot.embedding for shot in shots]).reshape(-1, EMBEDDING)
    return _Kind(unit(embeddings.mean(axis=0)), unit(np.asarray(looks, np.float32).mean(axis=0)))


def _likeness(shot: Shot, kind: _Kind) -> NDArray[np.float64]:
    """Cosines ``(2,)`` of embedding and plain view, the view either way up; tiles face down by hue alone."""
    view = max(float(shot.look @ kind.look), float(_turned(shot.look) @ kind.look))
    return np.asarray([0.0 if shot.kind == BACK else float(shot.embedding @ kind.embedding), view])


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """Linear discriminant of two normal distributions of one covariance."""

    direction: NDArray[np.float64]
    middle: float

    @classmethod
    def between(cls, first: NDArray[np.float64], second: NDArray[np.float64]) -> _Line:
        """Fit to differences of likenesses ``(N, 2)`` of each set's tiles; no line without both."""
        if len(first) < 2 or len(second) < 2:
            return cls(np.zeros(2), 0.0)
        inner = np.concatenate([first - first.mean(axis=0), second - second.mean(axis=0)])
        freedom = max(1, len(inner) - 2)
        spread = inner.T @ inner / freedom + np.diag(SPREAD**2)
        direction = np.linalg.solve(spread, first.mean(axis=0) - second.mean(axis=0))
        return cls(direction, float(direction @ (first.mean(axis=0) + second.mean(axis=0)) / 2))

    def speaks(self, difference: NDArray[np.float64]) -> float:
        """Log-likelihood ratio of one tile."""
        return float(self.direction @ difference) - self.middle


class Rivals:
    """The two sets of a table, ready to be told apart."""

    def __init__(self, first: TileSet, second: TileSet) -> None:
        self.sets = (first, second)
        self._kinds = tuple(_kinds(tiles.shots) for tiles in self.sets)
        own = [_own_likeness(tiles.shots) for tiles in self.sets]
        self._usual = [_usual(likeness) for likeness in own]
        self._faces = self._line(own, back=False)
        self._backs = self._line(own, back=True)

    def _line(self, own: Sequence[Sequence[NDArray[np.float64] | None]], *, back: bool) -> _Line:
        sides: list[NDArray[np.float64]] = []
        for at, sign in ((0, 1.0), (1, -1.0)):
            theirs = self._kinds[1 - at]
            rows = [
                sign * (mine - _likeness(shot, theirs[shot.kind]))
                for shot, mine in zip(self.sets[at].shots, own[at], strict=True)
                if mine is not None and shot.kind in theirs and (shot.kind == BACK) is back
            ]
            sides.append(np.asarray(rows, np.float64).reshape(-1, 2))
        return _Line.between(sides[0], sides[1])

    def tell(self, tiles: Sequence[Shot]) -> Which:
        """Say which set the tiles of one hand or picture belong to; ``kind`` of each as read."""
        speaks = [self._speaks(tile) for tile in tiles]
        told = [value for value in speaks if value is not None]
        evidence = SHARE * float(np.clip(told, -MOST, MOST).sum()) if told else 0.0
        index = None if abs(evidence) < SURE else 0 if evidence > 0 else 1
        return Which(index, round(evidence, 3), len(told), self._strangers(tiles, speaks, index))

    def _speaks(self, tile: Shot) -> float | None:
        first, second = (kinds.get(tile.kind) for kinds in self._kinds)
        if first is None or second is None:
            return None
        line = self._backs if tile.kind == BACK else self._faces
        return line.speaks(_likeness(tile, first) - _likeness(tile, second))

    def _strangers(
        self, tiles: Sequence[Shot], speaks: Sequence[float | None], index: int | None
    ) -> tuple[Stranger, ...]:
        found: list[Stranger] = []
        for at, (tile, value) in enumerate(zip(tiles, speaks, strict=True)):
            if all(self._is_far(tile, side) for side in (0, 1)):
                found.append(Stranger(at, tile.kind, FOREIGN_TILE))
            elif index is not None and value is not None and (value if index else -value) > STRANGE:
                found.append(Stranger(at, tile.kind, OTHER_SET))
        return tuple(found)

    def _is_far(self, tile: Shot, side: int) -> bool:
        kind, (mean, deviation) = self._kinds[side].get(tile.kind), self._usual[side]
        return kind is not None and is_far(_likeness(tile, kind), mean, deviation, back=tile.kind == BACK)


def strangers(tiles: TileSet, seen: Sequence[Shot]) -> tuple[Stranger, ...]:
    """Tiles that do not belong to a set, where nothing is known of another one; ``kind`` of each as read."""
    kinds = _kinds(tiles.shots)
    mean, deviation = _usual(_own_likeness(tiles.shots))
    return tuple(
        Stranger(at, tile.kind, FOREIGN_TILE)
        for at, tile in enumerate(seen)
        if tile.kind in kinds
        and is_far(_likeness(tile, kinds[tile.kind]), mean, deviation, back=tile.kind == BACK)
    )


def odd_ones(seen: Sequence[Shot]) -> tuple[Stranger, ...]:
    """Tiles unlike the other copies of their kind, among all tiles of a set that nothing is known of.

    A kind has to be there three times for one copy to stand out.
    """
    likeness: list[NDArray[np.float64] | None] = []
    for shot in seen:
        others = [other for other in seen if other.kind == shot.kind and other is not shot]
        likeness.append(_likeness(shot, _middle_of(others)) if len(others) > 1 else None)
    rows = np.asarray([row for row in likeness if row is not None], np.float64).reshape(-1, 2)
    if len(rows) < 8:
        return ()
    mean = np.median(rows, axis=0)
    deviation = np.maximum(1.4826 * np.median(np.abs(rows - mean), axis=0), SPREAD)
    return tuple(
        Stranger(at, shot.kind, FOREIGN_TILE)
        for at, (shot, mine) in enumerate(zip(seen, likeness, strict=True))
        if mine is not None and is_far(mine, mean, deviation, back=shot.kind == BACK)
    )


def _middle_of(shots: Sequence[Shot]) -> _Kind:
    """Like `_kind_of`, but of the copies nearest each other: a strange one must not stand for the rest."""
    if len(shots) < 3:
        return _kind_of(shots)
    views = np.asarray([shot.embedding for shot in shots])
    central = np.argsort(-(views @ views.T).sum(axis=1), kind="stable")[: (len(shots) + 1) // 2]
    return _kind_of([shots[int(i)] for i in central])


def is_far(
    likeness: NDArray[np.float64], mean: NDArray[np.float64], deviation: NDArray[np.float64], *, back: bool
) -> bool:
    """Tell whether a tile resembles its kind far less than the set's own tiles do, by both measures."""
    below = (mean - likeness) / deviation
    return bool(below[1] > FAR if back else below.min() > FAR / 2 and below.sum() > 2 * FAR)


def _kinds(shots: Sequence[Shot]) -> dict[str, _Kind]:
    names = dict.fromkeys(shot.kind for shot in shots)
    return {name: _kind_of([shot for shot in shots if shot.kind == name]) for name in names}


def _own_likeness(shots: Sequence[Shot]) -> list[NDArray[np.float64] | None]:
    """Likeness of every shot to the shots of its kind on other pictures; None where there are none."""
    out: list[NDArray[np.float64] | None] = []
    for shot in shots:
        others = [other for other in shots if other.kind == shot.kind and other.picture != shot.picture]
        out.append(_likeness(shot, _kind_of(others)) if others else None)
    return out


def _usual(
    likeness: Sequence[NDArray[np.float64] | None],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation ``(2,)`` of the likenesses of a set's own tiles."""
    rows = np.asarray([row for row in likeness if row is not None], np.float64).reshape(-1, 2)
    if len(rows) < 2:
        return np.full(2, -1.0), np.ones(2)
    return rows.mean(axis=0), np.maximum(rows.std(axis=0), SPREAD)

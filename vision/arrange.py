"""From boxes to rows, reading order and groups: pure numpy. What the groups are is `vision.hand`'s."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.hand import HandLayout, hand_layout
from vision.readings import Detections, Floats

__all__ = [
    "GROUP_GAP",
    "Arrangement",
    "HandLayout",
    "arrange",
    "hand_layout",
    "narrow",
    "overlapping",
    "row_widths",
]

GROUP_GAP = 0.4
"""A gap of this many tile widths separates groups: between touching (0) and the convention (0.6)."""
ASPECT = 0.74
"""Width by height of a tile, needed only when a row lies so slanting that boxes do not tell."""
MISFIT = 0.4
"""Tile heights that a tile may lie off the line of its row."""
WITHIN = 0.6
"""Part of the smaller of two boxes in the other; of tiles side by side at 45 degrees it is a third."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How boxes lie on the table.

    ``order``: box indices in reading order. ``rows`` and ``groups`` hold *positions in that order*,
    so the k-th tile read is box ``order[k]``. ``angle``: direction of the rows in degrees,
    clockwise on the screen, 0 = left to right.
    """

    order: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    groups: tuple[tuple[int, ...], ...]
    angle: float


@dataclass(frozen=True, slots=True)
class _Turned:
    """Boxes seen along a direction: ``u`` along the rows, ``v`` downwards, tile ``width`` and ``height``."""

    u: Floats
    v: Floats
    width: Floats
    height: Floats


def _turned(found: Detections, angle: float) -> _Turned:
    cos, sin = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    x, y = found.centres[:, 0], found.centres[:, 1]
    wide, high = found.sizes[:, 0], found.sizes[:, 1]
    along, across = abs(cos), abs(sin)
    spread = along**2 - across**2
    by_shape = (wide + high) / ((1 + 1 / ASPECT) * (along + across))
    width, height = by_shape, by_shape / ASPECT
    if abs(spread) > 0.7:
        width = np.maximum((wide * along - high * across) / spread, 0.5 * by_shape)
        height = np.maximum((high * along - wide * across) / spread, 0.5 * by_shape)
    return _Turned(x * cos + y * sin, y * cos - x * sin, width, height)


def _neighbour_angles(found: Detections) -> Floats:
    """Directions in degrees, modulo 180, from every box to its two nearest neighbours close by."""
    centres = found.centres
    delta = centres[None] - centres[:, None]
    distance = np.linalg.norm(delta, axis=2)
    np.fill_diagonal(distance, np.inf)
    reach = 1.8 * float(np.median(np.sqrt(np.prod(found.sizes, axis=1))))
    near = np.argsort(distance, axis=1)[:, :2]
    i = np.repeat(np.arange(len(found)), near.shape[1])
    j = near.ravel()
    close = distance[i, j] < reach
    vector = delta[i, j][close]
    return np.asarray(np.degrees(np.arctan2(vector[:, 1], vector[:, 0])) % 180, np.float32)


def _mode(angles: Floats) -> float:
    """Return the most frequent direction modulo 180, refined by the mean of those within ten degrees."""
    grid = np.arange(0, 180, 1.0)
    apart = (grid[:, None] - angles[None] + 90) % 180 - 90
    best = grid[int(np.argmax(np.exp(-((apart / 6) ** 2)).sum(axis=1)))]
    off = (angles - best + 90) % 180 - 90
    return float(best + off[np.abs(off) < 10].mean())


def _towards(angle: float, near: float) -> float:
    """Choose which way along a direction (modulo 180) is forward: to the right, or down if it is steep."""
    return near + (angle - near + 45) % 180 - 45


def _components(linked: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Connected components of a symmetric adjacency matrix ``(N, N)``."""
    labels = np.arange(len(linked))
    linked = linked | np.eye(len(linked), dtype=bool)
    for _ in range(len(linked)):
        spread = np.where(linked, labels[None], len(linked)).min(axis=1)
        if np.array_equal(spread, labels):
            break
        labels = spread
    return [np.flatnonzero(labels == label) for label in np.unique(labels)]


def _chains(seen: _Turned) -> list[NDArray[np.intp]]:
    """Link every box to its right neighbour on about the same height; returns the linked runs."""
    du = seen.u[None] - seen.u[:, None]
    dv = np.abs(seen.v[None] - seen.v[:, None])
    tolerance = 0.5 * np.minimum(seen.height[:, None], seen.height[None])
    width = float(np.median(seen.width))
    fits = (du > 0.2 * width) & (du < 4 * width) & (dv < tolerance)
    cost = np.where(fits, du + dv, np.inf)
    linked = np.zeros_like(fits)
    for i in np.flatnonzero(fits.any(axis=1)):
        linked[i, int(np.argmin(cost[i]))] = True
    return _components(linked | linked.T)


def _line(seen: _Turned, row: NDArray[np.intp]) -> tuple[float, float]:
    """Offset and slope of a row, slope only where the row is long enough to tell."""
    if len(row) < 3:
        return float(seen.v[row].mean()), 0.0
    u, v = seen.u[row], seen.v[row]
    slope = float(np.clip(np.polyfit(u - u.mean(), v, 1)[0], -0.25, 0.25))
    return float(v.mean() - slope * u.mean()), slope


@dataclass(frozen=True, slots=True)
class _Run:
    """Boxes of a row found so far, the line through them and its ends along the rows."""

    boxes: NDArray[np.intp]
    offset: float
    slope: float
    left: float
    right: float

    @classmethod
    def of(cls, seen: _Turned, boxes: NDArray[np.intp]) -> _Run:
        along = seen.u[boxes]
        return cls(boxes, *_line(seen, boxes), float(along.min()), float(along.max()))

    def continued_by(self, seen: _Turned, other: _Run) -> bool:
        """Whether another run lies beside this one, not above or below any of it, and on its line."""
        if not (self.right < other.left or other.right < self.left):
            return False
        u, v, high = seen.u[other.boxes], seen.v[other.boxes], seen.height[other.boxes]
        return bool((np.abs(v - self.offset - self.slope * u) < MISFIT * high).all())


def _joined(seen: _Turned, chains: list[NDArray[np.intp]]) -> list[NDArray[np.intp]]:
    """Join runs that continue each other's line across a wide gap."""
    done: list[_Run] = []
    for run in (_Run.of(seen, chain) for chain in sorted(chains, key=len, reverse=True)):
        for k, row in enumerate(done):
            if row.continued_by(seen, run):
                done[k] = _Run.of(seen, np.concatenate([row.boxes, run.boxes]))
                break
        else:
            done.append(run)
    return [row.boxes for row in done]


def _rows(found: Detections, angle: float) -> tuple[_Turned, list[NDArray[np.intp]]]:
    seen = _turned(found, angle)
    rows = [row[np.argsort(seen.u[row], kind="stable")] for row in _joined(seen, _chains(seen))]
    return seen, sorted(rows, key=lambda row: float(seen.v[row].mean()))


def _prior(angle: float, found: Detections, near: float) -> float:
    """How much a direction is worth before looking at its rows: people photograph rows lying across.

    Boxes that are clearly higher than wide speak against rows running up the picture.
    """
    if abs((angle - near + 90) % 180 - 90) <= 50:
        return 1.0
    upright = float(np.median(found.sizes[:, 0] / np.maximum(found.sizes[:, 1], 1)))
    return 0.9 if upright > 1.15 else 0.5 if upright > 0.9 else 0.2


def _direction(found: Detections, near: float) -> float:
    """Direction of the rows in degrees: the one that gives the longest rows."""
    angles = _neighbour_angles(found)
    if len(angles) == 0:
        return near
    mode = _mode(angles)
    candidates = [_towards(mode, near), _towards(mode + 90, near)]
    return max(candidates, key=lambda a: _prior(a, found, near) / len(_rows(found, a)[1]))


def _refined(found: Detections, angle: float) -> float:
    """Turn the direction by the mean slope of the long rows."""
    seen, rows = _rows(found, angle)
    slopes = [(_line(seen, row)[1], len(row)) for row in rows if len(row) >= 3]
    if not slopes:
        return angle
    values, weights = zip(*slopes, strict=True)
    return angle + float(np.degrees(np.arctan(np.average(values, weights=weights))))


def _groups(seen: _Turned, row: NDArray[np.intp]) -> list[int]:
    """Lengths of the runs of touching tiles in a row."""
    left, right = seen.u[row] - seen.width[row] / 2, seen.u[row] + seen.width[row] / 2
    gap = left[1:] - right[:-1]
    cuts = np.flatnonzero(gap > GROUP_GAP * np.median(seen.width[row])) + 1
    return [int(n) for n in np.diff([0, *cuts, len(row)])]


def arrange(found: Detections, near: float = 0.0) -> Arrangement:
    """Sort boxes into rows and groups.

    Rows follow their dominant direction, top to bottom, each left to right; where they run steeper than
    45 degrees, from the top of the picture down. ``near``: how far the whole picture is turned,
    degrees clockwise, where known. No boxes give no rows.
    """
    if len(found) == 0:
        return Arrangement((), (), (), near)
    angle = _refined(found, _direction(found, near))
    seen, rows = _rows(found, angle)
    order = tuple(int(i) for row in rows for i in row)
    row_sizes = [len(row) for row in rows]
    group_sizes = [size for row in rows for size in _groups(seen, row)]
    return Arrangement(order, _runs(row_sizes), _runs(group_sizes), angle)


def narrow(found: Detections, lie: Arrangement, share: float = 0.82) -> NDArray[np.bool_]:
    """Mark the boxes ``(N,)`` narrower, along their row, than ``share`` of the row's median width.

    The cloth seen between two tiles can look like a tile lying face down, but it is narrower than one.
    """
    widths = _turned(found, lie.angle).width
    marked = np.zeros(len(found), bool)
    for row in lie.rows:
        members = np.asarray([lie.order[k] for k in row], np.intp)
        marked[members] = widths[members] < share * np.median(widths[members])
    return marked


def overlapping(found: Detections, share: float) -> NDArray[np.bool_]:
    """Mark the boxes ``(N,)`` closer to another than ``share`` of a tile's width: one lies on the other.

    How wide a tile is follows from its box: a square box holds one that lies at an angle. Boxes of which one
    lies in the other for the most part, such as half a tile and the whole of it, are marked too.
    """
    wide, high = found.sizes[:, 0], np.maximum(found.sizes[:, 1], 1e-6)
    shape = np.clip(wide / high, ASPECT, 1 / ASPECT)
    tangent = (shape - ASPECT) / np.maximum(1 - ASPECT * shape, 1e-6)
    angle = np.minimum(np.arctan(tangent), np.pi / 2)
    width = ASPECT * high / (ASPECT * np.sin(angle) + np.cos(angle))
    apart = np.linalg.norm(found.centres[:, None] - found.centres[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    close = apart < share * np.minimum(width[:, None], width[None])
    return np.asarray((close | _within(found)).any(axis=1), np.bool_)


def _within(found: Detections) -> NDArray[np.bool_]:
    """Mark pairs ``(N, N)`` of boxes of which one lies in the other for the most part."""
    low = np.maximum(found.boxes[:, None, :2], found.boxes[None, :, :2])
    high = np.minimum(found.boxes[:, None, 2:], found.boxes[None, :, 2:])
    shared = np.prod(np.maximum(high - low, 0), axis=2)
    areas = np.prod(found.sizes, axis=1)
    marked = np.asarray(shared > WITHIN * np.minimum(areas[:, None], areas[None]), np.bool_)
    np.fill_diagonal(marked, False)
    return marked


def row_widths(found: Detections, lie: Arrangement) -> Floats:
    """Widths ``(N,)`` of tiles along their rows, pixels; the boxes of a slanting row are wider."""
    return _turned(found, lie.angle).width.astype(np.float32)


def _runs(sizes: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Consecutive index runs of the given lengths."""
    ends = np.cumsum(sizes)
    return tuple(tuple(range(int(end) - size, int(end))) for end, size in zip(ends, sizes, strict=True))

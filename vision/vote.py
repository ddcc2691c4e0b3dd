"""Several frames of one zone at rest, put together: tiles matched by their boxes, probabilities averaged.

Pure. The order of the frames does not matter, and equal frames give what each of them gave. Where frames do
not agree a person is asked: nothing is settled by a majority alone but what only a minority saw or doubted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import fsum
from typing import Final

import numpy as np

from vision.arrange import arrange
from vision.decode import iou_matrix
from vision.readings import (
    DOUBT_CODES,
    FRAMES_DIFFER,
    NO_TILES,
    UNSURE_BOX,
    Box,
    Detections,
    Reading,
    TileReading,
)

__all__ = ["vote"]

SAME_IOU: Final = 0.5
"""Overlap from which two boxes are the same tile: in a zone at rest they differ by a few pixels."""
ALTERNATIVES: Final = 3
OTHERS: Final = 40
"""Kinds among which the probability is shared out that a frame's alternatives leave."""


def vote(readings: Sequence[Reading]) -> Reading:
    """Put readings of the same picture area together.

    Args:
        readings: of frames of one zone at rest, all of one ``size``; at least one.

    A tile that more than half of the frames saw is kept, one that half of them saw is kept in doubt
    (``unsure_box``), others are left out. Its kind is the one with the highest mean probability; where
    frames named different kinds it is in doubt (``frames_differ``). Other doubts stay unless more than half
    of the frames have none of them. ``ms`` is the sum of all. Raises ValueError without a reading.
    """
    if not readings:
        raise ValueError("a vote needs at least one reading")
    ordered = sorted(readings, key=_key)
    if all(_same(reading, ordered[0]) for reading in ordered):
        return replace(ordered[0], ms=fsum(reading.ms for reading in ordered))
    tiles = [_voted(seen, len(ordered)) for seen in _matched(ordered) if 2 * len(seen) >= len(ordered)]
    return _arranged(tiles, ordered)


def _key(reading: Reading) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Anything that orders readings by what they say, not by when they were made."""
    return tuple(repr(tile) for tile in reading.tiles), reading.why


def _same(first: Reading, second: Reading) -> bool:
    return replace(first, ms=0.0) == replace(second, ms=0.0)


def _matched(readings: Sequence[Reading]) -> list[list[TileReading]]:
    """Tiles of all readings grouped by where they lie; of each reading a group holds one at most."""
    groups: list[list[TileReading]] = []
    for reading in readings:
        taken: set[int] = set()
        for tile in reading.tiles:
            overlap = [_overlap(tile.box, seen[0].box) for seen in groups]
            free = [k for k in range(len(groups)) if k not in taken and overlap[k] >= SAME_IOU]
            if free:
                best = max(free, key=lambda k: overlap[k])
                groups[best].append(tile)
                taken.add(best)
            else:
                taken.add(len(groups))
                groups.append([tile])
    return groups


def _overlap(first: Box, second: Box) -> float:
    return float(iou_matrix(np.asarray([first], np.float32), np.asarray([second], np.float32))[0, 0])


def _voted(seen: Sequence[TileReading], frames: int) -> TileReading:
    """One tile of those that show it in some of the frames."""
    kinds = {kind for tile in seen for kind, _ in tile.alternatives} | {tile.kind for tile in seen}
    mean = {kind: fsum(_share(tile, kind) for tile in seen) / len(seen) for kind in kinds}
    best = sorted(kinds, key=lambda kind: (-mean[kind], kind))
    doubts = _kept([tile.doubts for tile in seen])
    if len({tile.kind for tile in seen}) > 1:
        doubts.add(FRAMES_DIFFER)
    if 2 * len(seen) <= frames:
        doubts.add(UNSURE_BOX)
    reds = {tile.red for tile in seen if tile.kind == best[0]}
    return TileReading(
        kind=best[0],
        score=mean[best[0]],
        box=_mean_box([tile.box for tile in seen]),
        alternatives=tuple((kind, mean[kind]) for kind in best[:ALTERNATIVES]),
        group=0,
        doubts=tuple(code for code in DOUBT_CODES if code in doubts),
        red=reds.pop() if len(reds) == 1 else None,
    )


def _share(tile: TileReading, kind: str) -> float:
    """Probability that a tile gives a kind; what its alternatives leave is shared out evenly."""
    known = dict(tile.alternatives)
    return known.get(kind, max(0.0, 1.0 - fsum(known.values())) / OTHERS)


def _mean_box(boxes: Sequence[Box]) -> Box:
    x0, y0, x1, y1 = (fsum(values) / len(boxes) for values in zip(*boxes, strict=True))
    return x0, y0, x1, y1


def _kept(codes: Iterable[Iterable[str]]) -> set[str]:
    """Codes that at least half of the frames have."""
    frames = [set(mine) for mine in codes]
    return {code for code in set().union(*frames) if 2 * sum(code in mine for mine in frames) >= len(frames)}


def _arranged(tiles: Sequence[TileReading], readings: Sequence[Reading]) -> Reading:
    """Put tiles in reading order, with the doubts of the reading as a whole."""
    lie = arrange(Detections.of([tile.box for tile in tiles]))
    group_of = {i: number for number, members in enumerate(lie.groups) for i in members}
    ordered = tuple(replace(tiles[lie.order[k]], group=group_of[k]) for k in range(len(tiles)))
    at_tiles = [{code for tile in reading.tiles for code in tile.doubts} for reading in readings]
    whole = _kept(set(reading.why) - mine for reading, mine in zip(readings, at_tiles, strict=True))
    codes = whole | {code for tile in ordered for code in tile.doubts} | (set() if ordered else {NO_TILES})
    why = tuple(code for code in DOUBT_CODES if code in codes)
    ms = fsum(reading.ms for reading in readings)
    return Reading(ordered, lie.rows, lie.groups, not why, why, ms, readings[0].size)

"""Which boxes are tiles, and what is in doubt about the whole reading. Pure: it asks by calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vision.arrange import Arrangement, arrange, narrow
from vision.decode import DecodeSettings, choose, iou_matrix
from vision.interpret import Sight, Thresholds, trust_detector
from vision.model_card import LABELS
from vision.readings import (
    CUT_AT_BORDER,
    EXTRA_TILES,
    ODD_SIZE,
    STRAY_BACK,
    UNSEEN_TILE,
    Box,
    Detections,
    Floats,
)
from vision.unseen import inside_share, unseen_places

__all__ = ["Candidates", "Glance", "Look", "Picked", "pick"]

Look = Callable[[Floats], Sight]
"""Boxes ``(N, 4)`` -> what they show, looked at from several sides."""
Glance = Callable[[Floats], Floats]
"""Boxes ``(N, 4)`` -> probabilities ``(N, 44)``, looked at once."""

BACK = LABELS.index("back")
WHITE = LABELS.index("5z")
SPARE = 8
"""Candidates classified beyond the expected number, so that the classifier can throw false boxes out."""
NOT_A_TILE = 0.5
"""Probability of "no tile here" from which a box is dropped."""
PROMOTED = 0.95
"""Probability of a kind from which a box counts though the detector is not sure; it stays in doubt."""
HESITANT = 0.5
"""The detector's score, as a share of its threshold, from which such a box can count."""
INSIDE = 0.75
"""A tile belongs to a region when so much of its box lies in it."""
STRADDLING = 0.6
"""From so much on it may belong to it."""
TOUCHING = 1.3
"""Distance of two middles, in the longer side of a tile, up to which the tiles touch."""
TAKEN = 0.25
"""Overlap with a tile above which a weak box is no other tile."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Boxes that may be tiles, best first, and which of them ``(N,)`` are of another size than the others."""

    found: Detections
    odd: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Picked:
    """Boxes taken for tiles, how they lie, what they show, and the doubts of the whole reading."""

    found: Detections
    lie: Arrangement
    sight: Sight
    whole: frozenset[str]


def pick(
    candidates: Candidates,
    expect: int | None,
    area: Box,
    look: Look,
    glance: Glance,
    settings: DecodeSettings,
    limits: Thresholds,
    *,
    covered_apart: bool = False,
) -> Picked:
    """Classify the candidates and keep those that are tiles lying in ``area``, ``expect`` of them.

    ``covered_apart``: whether tiles that lie face down apart from the open ones are kept as well.
    """
    asked = _worth_asking(candidates, expect, area, settings.threshold)
    found, odd = candidates.found.take(asked), candidates.odd[asked]
    inside = inside_share(found.boxes, area)
    sight = look(found.boxes)
    sight = replace(sight, shares=trust_detector(sight.shares, found.scores))
    shares = sight.shares
    is_tile = (shares[:, -1] < NOT_A_TILE) & ~_gaps(found, shares) & ~odd & (inside >= INSIDE)
    vague = is_tile & _vague_backs(found, shares, is_tile, limits, covered_apart=covered_apart)
    is_tile &= ~vague
    worth = np.where(is_tile, found.scores, 0.1 * found.scores).astype(np.float32)
    if expect is None:
        sure = found.take(is_tile & (found.scores >= settings.threshold))
        alike = _beside_alike(found.boxes, sure, shares[is_tile & (found.scores >= settings.threshold)])
        promoted = is_tile & (shares[:, :BACK].max(axis=1, initial=0) >= PROMOTED)
        promoted |= is_tile & alike & (shares[:, BACK] >= PROMOTED)
        promoted &= found.scores >= HESITANT * settings.threshold
        worth = np.where(promoted, np.maximum(worth, settings.threshold), worth).astype(np.float32)
    kept = choose(worth, settings.threshold, expect)
    left = np.setdiff1d(np.arange(len(found)), kept)
    # Walls of face-down tiles beside a hand are usual; more open tiles than expected are not.
    opened = (shares[left, :BACK].max(axis=1, initial=0) >= limits.doubt) & (
        found.scores[left] >= settings.threshold
    )
    within = inside[left] >= INSIDE
    alarms = {
        EXTRA_TILES: expect is not None and bool((opened & ~odd[left] & within).any()),
        CUT_AT_BORDER: bool((opened & ~odd[left] & ~within).any()),
        ODD_SIZE: bool((opened & odd[left]).any()),
    }
    tiles = found.take(kept)
    lie = arrange(tiles)
    if len(tiles):
        rest = left[within & ~odd[left] & ~opened & (_overlap(found.boxes[left], tiles) < TAKEN)]
        places = unseen_places(tiles, lie, area)
        beside = glance(places) if len(places) else shares[:0]
        boxes, shown = np.concatenate([found.boxes[rest], places]), np.concatenate([shares[rest], beside])
        faces = shares[kept].argmax(axis=1) < BACK
        pair = _beside_alike(boxes, tiles.take(faces), shares[kept][faces])
        covered = (shown[:, BACK] >= limits.unseen_back) & pair
        # Of a kind drawn as never before nobody can be sure, but that something is printed there.
        printed = np.delete(shown[:, :BACK], WHITE, axis=1).sum(axis=1) >= limits.unseen
        blank = shown[:, WHITE] >= limits.unseen_blank
        # Where the number is known, one that is missing tells; a wall beside the hand is usual.
        vague = vague[left] & (found.scores[left] >= settings.threshold) & (expect is None)
        alarms[STRAY_BACK] = bool(vague.any())
        alarms[UNSEEN_TILE] = bool((printed | blank | covered).any())
    return Picked(tiles, lie, sight.take(kept), frozenset(code for code, sounds in alarms.items() if sounds))


def _worth_asking(
    candidates: Candidates, expect: int | None, area: Box, threshold: float
) -> NDArray[np.intp]:
    """Indices of the candidates to classify, best first; those of an odd size, for an alarm, last."""
    found, odd = candidates.found, candidates.odd
    strong = found.scores >= threshold
    near = inside_share(found.boxes, area) >= STRADDLING
    weak = near & ~odd & ~strong
    if expect is None:
        tiles = found.take(strong & near & ~odd)
        weak[weak] = (_overlap(found.boxes[weak], tiles) < TAKEN) & _clear(found.take(weak), tiles)
        regular = np.concatenate([np.flatnonzero(near & ~odd & strong), np.flatnonzero(weak)[:SPARE]])
    else:
        regular = np.flatnonzero(near & ~odd)[: expect + SPARE]
    return np.concatenate([regular, np.flatnonzero(near & odd & strong)[:SPARE]])


def _overlap(boxes: Floats, tiles: Detections) -> Floats:
    """Largest overlap ``(N,)`` of each box with any tile."""
    return np.asarray(iou_matrix(boxes, tiles.boxes).max(axis=1, initial=0), np.float32)


def _clear(found: Detections, tiles: Detections) -> NDArray[np.bool_]:
    """Mark the boxes ``(N,)`` whose middle lies in no tile and in none of which the middle of a tile lies."""

    def holds(boxes: Floats, points: Floats) -> NDArray[np.bool_]:
        low, high = boxes[:, None, :2] < points[None], points[None] < boxes[:, None, 2:]
        return np.asarray((low & high).all(axis=2), np.bool_)

    covers = holds(found.boxes, tiles.centres).any(axis=1)
    return np.asarray(~covers & ~holds(tiles.boxes, found.centres).any(axis=0), np.bool_)


def _beside_alike(boxes: Floats, tiles: Detections, shares: Floats) -> NDArray[np.bool_]:
    """Mark the boxes ``(N,)`` that touch a tile which has another of its kind among the two next nearest.

    Only there can a tile lie face down that matters: at an end of a concealed kong, or within a 韶. Elsewhere
    cloth that looks like a back is cloth.
    """
    if len(tiles) < 2:
        return np.zeros(len(boxes), bool)
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    away = np.linalg.norm(middles[:, None] - tiles.centres[None], axis=2)
    away[away < 1] = np.inf  # the box itself
    near = np.argsort(away, axis=1)[:, :3]
    shown = shares.argmax(axis=1)[near]
    touches = away[np.arange(len(boxes)), near[:, 0]] < TOUCHING * tiles.sizes[near[:, 0]].max(axis=1)
    return np.asarray(touches & (shown[:, 1:] == shown[:, :1]).any(axis=1), np.bool_)


def _vague_backs(
    found: Detections,
    shares: Floats,
    is_tile: NDArray[np.bool_],
    limits: Thresholds,
    *,
    covered_apart: bool,
) -> NDArray[np.bool_]:
    """Mark the boxes ``(N,)`` that may lie face down where no face-down tile belongs.

    Most that the classifier is not sure of are cloth; one that touches no open tile lies in a wall, unless
    tiles may lie ``covered_apart``.
    """
    back, opened = shares.argmax(axis=1) == BACK, is_tile & (shares.argmax(axis=1) < BACK)
    if not back.any() or not opened.any():
        return np.zeros(len(found), np.bool_)
    tiles = found.take(opened)
    vague = (shares[:, BACK] < limits.doubt) & ~_beside_alike(found.boxes, tiles, shares[opened])
    away = np.linalg.norm(found.centres[:, None] - tiles.centres[None], axis=2)
    reach = TOUCHING * (tiles.sizes.max(axis=1)[None] + found.sizes.max(axis=1)[:, None]) / 2
    apart = (away > reach).all(axis=1)
    return np.asarray(back & (vague & ~apart if covered_apart else vague | apart), np.bool_)


def _gaps(found: Detections, shares: Floats) -> NDArray[np.bool_]:
    """Mark candidates ``(N,)`` that look face down but are too narrow: cloth between two tiles."""
    back = shares.argmax(axis=1) == BACK
    return np.asarray(back & narrow(found, arrange(found)) if back.any() else back, np.bool_)

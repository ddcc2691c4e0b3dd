"""Which boxes are too large or too small for a tile where they lie: pure numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision.decode import DecodeSettings
from vision.readings import Box, Detections, Floats

__all__ = ["cut_off", "odd_sizes", "usual_sizes"]

ENOUGH = 5
"""Boxes from which on a slope of their sizes across the picture is believed."""
ASPECT = 0.74
"""Width by height of a tile."""
WITNESSES = 3
"""Boxes away from the edge from which on they tell how large a whole tile is."""
STIFF = 0.3
"""How strongly slopes are held back: a few boxes must not explain a wrong one away."""
OUTSIDE = (6.0, 4.0, 2.5, 1.8, 1.2, 1.2, 1.2)
"""Logarithm of an area ratio from which on a box has no say, narrowed from fit to fit: first all are heard,
at last only boxes less than three times as large as their place tells.
"""


def usual_sizes(found: Detections, places: Floats) -> Floats:
    """Area ``(M,)`` that a tile has at ``places`` ``(M, 2)``, pixels.

    Tiles grow towards the camera, so their logarithms lie about a plane across the picture. It is fitted to
    ``found`` so that few boxes of another size (keys, dials) do not bend it. Empty without boxes.
    """
    if len(found) == 0:
        return np.zeros(len(places), np.float32)
    logs = np.log(np.maximum(np.prod(found.sizes.astype(np.float64), axis=1), 1e-6))
    middle = found.centres.mean(axis=0)
    reach = max(1.0, float(np.abs(found.centres - middle).max()))
    if len(found) < ENOUGH:
        return np.full(len(places), np.exp(np.median(logs)), np.float32)
    terms = np.column_stack([np.ones(len(found)), (found.centres - middle) / reach])
    plane = np.asarray([np.median(logs), 0.0, 0.0])
    hold = np.diag([0.0, STIFF, STIFF])
    for outside in OUTSIDE:
        off = (logs - terms @ plane) / outside
        weight = np.where(np.abs(off) < 1, (1 - np.minimum(off**2, 1)) ** 2, 0.0) + 1e-6
        weighted = terms * weight[:, None]
        plane = np.linalg.solve(terms.T @ weighted + hold, weighted.T @ logs)
    at = np.column_stack([np.ones(len(places)), (places - middle) / reach])
    return np.asarray(np.exp(np.clip(at @ plane, -20, 40)), np.float32)


def odd_sizes(
    found: Detections, sure: Detections, settings: DecodeSettings | None = None
) -> NDArray[np.bool_]:
    """Mark the boxes ``(N,)`` that are far from the size usual among ``sure`` ones.

    Keys, dials and book spines differ in size from the tiles beside them. Without sure boxes none is marked.
    """
    settings = settings or DecodeSettings()
    if len(sure) == 0:
        return np.zeros(len(found), bool)
    ratio = np.prod(found.sizes, axis=1) / np.maximum(usual_sizes(sure, found.centres), 1e-6)
    return np.asarray((ratio < settings.smallest) | (ratio > settings.largest), np.bool_)


def cut_off(found: Detections, area: Box, border: float, whole: float) -> NDArray[np.bool_]:
    """Mark the boxes ``(N,)`` that reach the edge of ``area``, pixels, and may miss a part beyond it.

    Within ``border`` pixels counts as reaching. One that reaches as far inwards as a tile does there, or
    ``whole`` of it, is all there: how large tiles are is told by boxes away from the edge, how far this one
    is turned by its extent along the edge. With few witnesses, and in a corner, nobody knows.
    """
    low, high = np.asarray(area[:2]) + border, np.asarray(area[2:]) - border
    outer = np.asarray((found.boxes[:, :2] <= low) | (found.boxes[:, 2:] >= high), np.bool_)
    reaches = np.asarray(outer.any(axis=1), np.bool_)
    if not reaches.any() or (~reaches).sum() < WITNESSES:
        return reaches
    usual = usual_sizes(found.take(~reaches), found.centres)
    inwards = np.where(outer[:, 0], found.sizes[:, 0], found.sizes[:, 1])
    along = np.where(outer[:, 0], found.sizes[:, 1], found.sizes[:, 0])
    short, long = np.sqrt(usual * ASPECT), np.sqrt(usual / ASPECT)
    cut = inwards < whole * _reach(along, short, long)
    return np.asarray(reaches & (cut | outer.all(axis=1)), np.bool_)


def _reach(along: Floats, short: Floats, long: Floats) -> Floats:
    """How far tiles of ``short`` x ``long`` reach across an edge that they take ``along`` of, all ``(N,)``.

    Taking the short side's width, a tile stands with the long one across; taking more than the long one, it
    is turned.
    """
    diagonal, corner = np.hypot(short, long), np.arctan2(short, long)
    turn = np.maximum(0, corner - np.arccos(np.clip(along / diagonal, 0, 1)))
    turned = short * np.cos(turn) + long * np.sin(turn)
    return np.asarray(np.where(along < (short + long) / 2, long, turned), np.float32)

"""Where the tiles of a hand lie on the table, with the small disorder of human hands."""

from __future__ import annotations

import math
from collections.abc import Sequence

from vision.training.measure.deal import Deal
from vision.training.pen import Rng

LONGEST_ROW = 17.6
"""Tile widths that fit a zone."""
Laid = tuple[str, float, float, float]
"""Kind, x, y in tile widths, angle in radians."""


def lay(rng: Rng, deal: Deal, aspect: float) -> list[Laid]:
    """Kind, x, y and angle of every tile, in reading order: upper rows, then concealed and winning tile."""
    hand, high = deal.hand, 1 / aspect
    rows: list[list[Sequence[str]]] = []
    for group in hand.upper:
        if rows and _length([*rows[-1], group]) <= LONGEST_ROW:
            rows[-1].append(group)
        else:
            rows.append([group])
    rows.append([g for g in (hand.concealed, () if hand.win is None else (hand.win,)) if g])
    laid: list[Laid] = []
    y, pitch = 0.0, high * rng.uniform(1.12, 1.45)
    for groups in rows:
        laid += _lay_row(rng, groups, y, high, deal.sideways, len(laid))
        y += pitch
    return laid


def _length(groups: Sequence[Sequence[str]]) -> float:
    return sum(len(group) for group in groups) + 0.8 * len(groups)


def _lay_row(
    rng: Rng, groups: Sequence[Sequence[str]], y: float, high: float, sideways: frozenset[int], first: int
) -> list[Laid]:
    tilt, loose = math.radians(rng.normal(0, 0.6)), rng.uniform(0, 0.03)
    laid: list[Laid] = []
    x = -_length(groups) / 2 + rng.uniform(-0.3, 0.3)
    for group in groups:
        askew, lift = math.radians(rng.normal(0, 0.8)), rng.normal(0, 0.03)
        for kind in group:
            turned = first + len(laid) in sideways
            wide = high if turned else 1.0
            drop = (high - 1) / 2 if turned else 0.0
            angle = tilt + askew + math.radians(rng.normal(0, 0.6)) + (math.pi / 2 if turned else 0.0)
            middle = x + wide / 2
            laid.append(
                (kind, middle, y + lift + drop + rng.normal(0, 0.015) + middle * math.tan(tilt), angle)
            )
            x += wide + rng.uniform(0, loose)
        x += rng.uniform(0.62, 1.0)
    return laid

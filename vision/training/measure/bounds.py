"""Confidence intervals of shares, and calibration; no library needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Z95 = 1.959963984540054


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; (0, 1) without a trial."""
    if of == 0:
        return 0.0, 1.0
    p, z2 = hits / of, Z95**2
    middle = (p + z2 / (2 * of)) / (1 + z2 / of)
    half = Z95 * math.sqrt(p * (1 - p) / of + z2 / (4 * of * of)) / (1 + z2 / of)
    return max(0.0, middle - half), min(1.0, middle + half)


def clopper_pearson(hits: int, of: int) -> tuple[float, float]:
    """Exact 95 % interval of a share; (0, 1) without a trial.

    >>> tuple(round(v, 5) for v in clopper_pearson(0, 3000))
    (0.0, 0.00123)
    """
    if of == 0:
        return 0.0, 1.0
    low = 0.0 if hits == 0 else _solve(lambda p: 1 - _at_most(hits - 1, of, p) - 0.025)
    high = 1.0 if hits == of else _solve(lambda p: 0.025 - _at_most(hits, of, p))
    return low, high


def _at_most(hits: int, of: int, p: float) -> float:
    """Probability of at most ``hits`` of ``of`` at a share ``p``."""
    if not 0 < p < 1:
        return 1.0 if p <= 0 or hits >= of else 0.0
    logs = [
        math.lgamma(of + 1)
        - math.lgamma(k + 1)
        - math.lgamma(of - k + 1)
        + k * math.log(p)
        + (of - k) * math.log1p(-p)
        for k in range(hits + 1)
    ]
    top = max(logs)
    return min(1.0, math.exp(top) * math.fsum(math.exp(v - top) for v in logs))


def _solve(rising: Callable[[float], float]) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@dataclass(frozen=True)
class Bin:
    """Tiles whose probability lies in a bin: how many, their mean probability, the share that is right."""

    count: int
    mean: float
    right: float


EDGES = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 1.0)


def reliability(
    scores: Sequence[tuple[float, bool]], edges: Sequence[float] = EDGES
) -> tuple[list[Bin], float]:
    """Bins of a reliability diagram (empty ones left out) and the expected calibration error."""
    bins, error = [], 0.0
    for k in range(len(edges) - 1):
        last = k == len(edges) - 2
        mine = [(s, ok) for s, ok in scores if edges[k] <= s < edges[k + 1] or (last and s >= edges[k + 1])]
        if mine:
            mean, right = sum(s for s, _ in mine) / len(mine), sum(ok for _, ok in mine) / len(mine)
            bins.append(Bin(len(mine), mean, right))
            error += len(mine) / len(scores) * abs(mean - right)
    return bins, error

"""Compares a row that was photographed with the row that was to be laid. Pure numpy.

A crop gets its label from its place in the row, never from the network: a set that the network misreads is
the very one to enrol. Where the network is sure of something else, a person has to look.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from vision.errors import ShapeError
from vision.model_card import LABELS
from vision.readings import Floats

__all__ = [
    "DOUBTFUL",
    "EXTRA",
    "LOOKS_LIKE",
    "MISSING",
    "NO_TILES",
    "OUT_OF_ORDER",
    "WRONG_ROW",
    "Finding",
    "RowCheck",
    "compare",
]

NO_TILES: Final = "no_tiles"
"""Nothing was found."""
MISSING: Final = "missing"
"""A kind of the row is not there."""
EXTRA: Final = "extra"
"""A tile that the row does not have."""
OUT_OF_ORDER: Final = "out_of_order"
"""A kind of the row lies at another place of it."""
LOOKS_LIKE: Final = "looks_like"
"""The network is sure of another kind than the order says."""
WRONG_ROW: Final = "wrong_row"
"""Most tiles look like others: another row, or one the other way round in a way that cannot be told."""
DOUBTFUL: Final = "doubtful"
"""The network does not know the tile well; its place in the row counts."""

SURE = 0.8
"""Probability from which the network's other opinion is shown as a contradiction."""
WEAK = 0.5
"""Probability of the expected kind below which a tile counts as doubtful."""
FLOOR = 1e-3
GAP = 4.0
"""Cost of a tile or a kind left over; two of them cost more than one contradiction (``-log FLOOR``)."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to tell about a row.

    ``place``: index of the tile in the row as it lies, None for a kind that is not there; ``expected`` and
    ``seen``: kinds, None where there is none; ``score``: the network's probability of ``seen``.
    """

    code: str
    place: int | None = None
    expected: str | None = None
    seen: str | None = None
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class RowCheck:
    """What a picture of a row is worth.

    ``labels``: kind of each tile by its place, in the order in which the tiles were read; None for one that
    the row does not have. ``backwards``: the row lies from right to left. ``good``: the labels can be taken;
    ``confirmable``: they can once a person has looked at the row and says that it is right.
    """

    labels: tuple[str | None, ...]
    backwards: bool
    findings: tuple[Finding, ...]
    good: bool
    confirmable: bool = False


def compare(kinds: Sequence[str], shares: Floats, *, confirmed: bool = False) -> RowCheck:
    """Compare a row with the kinds it should show, from left to right or from right to left.

    ``shares``: the network's probabilities float32 ``(N, 44)`` of the tiles in reading order, any ``N``.
    ``confirmed``: a person says that the row is right although tiles look like others.
    Raises ShapeError.
    """
    if shares.ndim != 2 or shares.shape[1] != len(LABELS):
        raise ShapeError("shares", f"(N, {len(LABELS)})", shares.shape)
    if len(shares) == 0:
        missing = [Finding(MISSING, expected=kind) for kind in dict.fromkeys(kinds)]
        return RowCheck((), False, (Finding(NO_TILES), *missing), False)
    forward, backward = _aligned(kinds, shares), _aligned(kinds, shares[::-1])
    backwards = backward.worth > forward.worth + 1e-6
    way = backward if backwards else forward
    turned = shares[::-1] if backwards else shares
    if confirmed and len(shares) == len(kinds):
        way = _Alignment(tuple(range(len(kinds))), way.worth)
    findings = _findings(kinds, turned, way)
    labels: list[str | None] = [None if at is None else kinds[at] for at in way.places]
    if backwards:
        labels.reverse()
    whole = len(shares) == len(kinds)
    good = whole and (confirmed or all(f.code == DOUBTFUL for f in findings))
    return RowCheck(tuple(labels), backwards, findings, good, whole and not good)


@dataclass(frozen=True, slots=True)
class _Alignment:
    """Index into the kinds for each tile (None: left over), and how well it fits (log-likelihood)."""

    places: tuple[int | None, ...]
    worth: float


def _aligned(kinds: Sequence[str], shares: Floats) -> _Alignment:
    """Align tiles with kinds, both in order, with tiles or kinds left over (Needleman and Wunsch 1970)."""
    columns = [LABELS.index(kind) for kind in kinds]
    fit = np.log(np.maximum(shares[:, columns], FLOOR))
    n, m = fit.shape
    best = np.zeros((n + 1, m + 1))
    best[:, 0], best[0, :] = -GAP * np.arange(n + 1), -GAP * np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            skip = max(best[i - 1, j], best[i, j - 1]) - GAP
            best[i, j] = max(best[i - 1, j - 1] + fit[i - 1, j - 1], skip)
    places: list[int | None] = [None] * n
    i, j = n, m
    while i and j:
        if np.isclose(best[i, j], best[i - 1, j - 1] + fit[i - 1, j - 1]):
            i, j = i - 1, j - 1
            places[i] = j
        elif np.isclose(best[i, j], best[i - 1, j] - GAP):
            i -= 1
        else:
            j -= 1
    return _Alignment(tuple(places), float(best[n, m]))


def _findings(kinds: Sequence[str], shares: Floats, way: _Alignment) -> tuple[Finding, ...]:
    seen = [(LABELS[int(row[:-1].argmax())], float(row[:-1].max())) for row in shares]
    absent = [kinds[j] for j in range(len(kinds)) if j not in way.places]
    found: list[Finding] = []
    for place, at in enumerate(way.places):
        looks, score = seen[place]
        if at is None:
            if looks in absent:
                absent.remove(looks)
                found.append(Finding(OUT_OF_ORDER, place, looks, looks, score))
            else:
                found.append(Finding(EXTRA, place, None, looks, score))
            continue
        expected = kinds[at]
        share = float(shares[place, LABELS.index(expected)])
        if looks != expected and score >= SURE:
            found.append(Finding(LOOKS_LIKE, place, expected, looks, score))
        elif share < WEAK:
            found.append(Finding(DOUBTFUL, place, expected, looks, score))
    found += [Finding(MISSING, None, kind) for kind in absent]
    odd = sum(f.code in (LOOKS_LIKE, OUT_OF_ORDER, EXTRA) for f in found)
    if len(shares) > 2 and 2 * odd > len(shares):
        found.insert(0, Finding(WRONG_ROW))
    return tuple(found)

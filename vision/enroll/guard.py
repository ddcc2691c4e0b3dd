"""The guard: does enrolment help on pictures left out of it? If not, it stays off. Pure numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vision.enroll.prototypes import Blend, mean_embeddings, scale_of
from vision.enroll.shots import Shot
from vision.errors import TileSetError
from vision.interpret import softmax
from vision.model_card import LABELS
from vision.readings import EMBEDDING, Floats, Ints, Looks

__all__ = ["WEIGHTS", "Guard", "enrol", "judged", "stacked"]

WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
"""Shares of the prototypes that are tried."""
LEAST = 0.02
"""Least probability a tile is given: one captured under a wrong name must not outweigh all that are right."""
CHECKED = 0.75
"""Share of the tiles whose kind has to be on another picture too: else leaving one out tells nothing."""
CLEAR = 0.03
"""Share of the plain cost by which it has to fall: less is within what another light does."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What leaving one picture out at a time showed.

    ``shots`` tiles on ``pictures``; ``right`` and ``nll`` (mean negative log-likelihood, nats, at
    most 3.9 a tile) with the
    prototypes of the other pictures, ``plain_right`` and ``plain_nll`` without; ``weight``: the share chosen,
    0 where the plain network is better, ``used`` then being false and ``reason`` saying why:
    ``not_better``, or ``one_picture`` where too few kinds are on two pictures to leave one out.
    """

    shots: int
    pictures: int
    plain_right: int
    plain_nll: float
    right: int
    nll: float
    weight: float
    used: bool
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Return the object of a tile set file."""
        return asdict(self)


def judged(looks: Looks, blend: Blend | None, temperature: float, labels: Ints) -> tuple[int, float]:
    """How many crops are right, and their mean negative log-likelihood.

    ``looks``: ``2N`` rows, each crop as it lies and, ``N`` rows further, turned; ``labels`` ``(N,)``.
    """
    logits = looks.logits if blend is None else blend.logits(looks)
    good, cost = _scores(logits, temperature, labels)
    return int(good.sum()), float(cost.mean()) if len(cost) else 0.0


def _scores(
    logits: Floats, temperature: float, labels: Ints, least: float = 1e-9
) -> tuple[NDArray[np.bool_], Floats]:
    """Whether each crop is right, and its negative log-likelihood, both ``(N,)``; ``least``: see `LEAST`."""
    shares = softmax(logits, temperature).reshape(2, len(labels), -1).mean(axis=0)
    own = np.maximum(shares[np.arange(len(labels)), labels], least)
    return shares.argmax(axis=1) == labels, np.asarray(-np.log(own), np.float32)


def enrol(shots: Sequence[Shot], temperature: float) -> tuple[Blend, Guard]:
    """Make prototypes of captured tiles and choose how much they count.

    ``temperature``: of the model card. The weight is the one with the least negative log-likelihood on
    pictures left out, among those with at least as many tiles right as the plain network and a gain that is
    no accident of a few pictures; where there is none the weight is 0. Raises TileSetError without shots.
    """
    if not shots:
        raise TileSetError("No tile was captured: photograph the rows of the plan.")
    labels = np.asarray([LABELS.index(shot.kind) for shot in shots], np.intp)
    looks, columns = stacked(shots), np.unique(labels)
    names = np.asarray([shot.picture for shot in shots])
    cosines = _left_out(shots, columns)
    own = np.concatenate([np.searchsorted(columns, labels)] * 2)
    scale, offset = scale_of(looks.logits[:, columns], cosines, own)
    # A tile whose kind no other picture shows would be judged by the prototypes of all kinds but its own.
    checked = np.isfinite(cosines[np.arange(len(own)), own])
    cosines[~checked] = np.nan
    good, cost = _scores(looks.logits, temperature, labels, LEAST)
    right, nll, weight = int(good.sum()), float(cost.mean()), 0.0
    for share in WEIGHTS if checked.mean() >= CHECKED else ():
        mixed = _mixed(looks.logits, columns, scale * cosines + offset, share)
        now_good, now_cost = _scores(mixed, temperature, labels, LEAST)
        better = now_good.sum() >= good.sum() and _no_accident(cost, now_cost, names)
        if better and float(now_cost.mean()) < nll:
            right, nll, weight = int(now_good.sum()), float(now_cost.mean()), share
    reason = "" if weight else "not_better" if checked.mean() >= CHECKED else "one_picture"
    guard = Guard(
        shots=len(shots),
        pictures=len(set(names.tolist())),
        plain_right=int(good.sum()),
        plain_nll=round(float(cost.mean()), 6),
        right=right,
        nll=round(nll, 6),
        weight=weight,
        used=weight > 0,
        reason=reason,
    )
    return Blend(columns, mean_embeddings(shots)[1], weight, scale, offset), guard


def _mixed(plain: Floats, columns: Ints, own: Floats, share: float) -> Floats:
    """Logits with the share of the prototypes' logits ``own`` ``(N, K)`` where there are any."""
    mixed = plain.copy()
    before = mixed[:, columns]
    mixed[:, columns] = np.where(np.isfinite(own), (1 - share) * before + share * own, before)
    return mixed


def _no_accident(before: Floats, after: Floats, names: NDArray[np.str_]) -> bool:
    """Tell whether the cost falls clearly and, picture by picture, by more than its standard error."""
    fall = before - after
    by_picture = np.asarray([fall[names == name].mean() for name in np.unique(names)])
    if len(by_picture) < 2 or fall.mean() < CLEAR * before.mean():
        return False
    return bool(by_picture.mean() > by_picture.std(ddof=1) / np.sqrt(len(by_picture)))


def stacked(shots: Sequence[Shot]) -> Looks:
    """All shots as they lie, then all of them turned."""
    logits = np.asarray([shot.logits for shot in shots], np.float32).reshape(-1, 2, len(LABELS))
    views = np.asarray([shot.embeddings for shot in shots], np.float32).reshape(-1, 2, EMBEDDING)
    return Looks(np.concatenate([logits[:, 0], logits[:, 1]]), np.concatenate([views[:, 0], views[:, 1]]))


def _left_out(shots: Sequence[Shot], columns: Ints) -> Floats:
    """Cosines float32 ``(2N, K)`` of every view to the prototypes of all other pictures.

    Not a number where no other picture shows the kind.
    """
    looks = stacked(shots)
    cosines = np.full((2 * len(shots), len(columns)), np.nan, np.float32)
    names = np.asarray([shot.picture for shot in shots])
    for name in sorted(set(names.tolist())):
        others = [shot for shot in shots if shot.picture != name]
        mine = np.flatnonzero(np.concatenate([names, names]) == name)
        there, prototypes = mean_embeddings(others)
        if len(there):
            at = np.searchsorted(columns, there)
            cosines[np.ix_(mine, at)] = looks.embeddings[mine] @ prototypes.T
    return cosines

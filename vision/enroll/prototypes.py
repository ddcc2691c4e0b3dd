"""Prototypes: what the network makes of a table's own tiles, blended into its answers. Pure numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vision.enroll.shots import Shot, unit
from vision.errors import ShapeError
from vision.model_card import LABELS
from vision.readings import EMBEDDING, Floats, Ints, Looks

__all__ = ["Blend", "mean_embeddings", "scale_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Blend:
    """Prototypes of some kinds and how much they count.

    ``columns``: intp ``(K,)``, the label of each prototype; ``prototypes``: float32 ``(K, 128)``, unit
    length. The cosine to a prototype becomes a logit by ``scale`` and ``offset`` and takes the share
    ``weight`` (0..1) of the plain logit; labels without a prototype keep theirs. Raises ShapeError.
    """

    columns: Ints
    prototypes: Floats
    weight: float
    scale: float
    offset: float

    def __post_init__(self) -> None:
        if self.prototypes.shape != (len(self.columns), EMBEDDING):
            raise ShapeError("prototypes", f"({len(self.columns)}, {EMBEDDING})", self.prototypes.shape)

    def logits(self, looks: Looks) -> Floats:
        """Logits float32 ``(N, 44)`` after enrolment."""
        mixed = looks.logits.astype(np.float32, copy=True)
        if self.weight > 0 and len(self.columns):
            own = self.scale * (looks.embeddings @ self.prototypes.T) + self.offset
            mixed[:, self.columns] = (1 - self.weight) * mixed[:, self.columns] + self.weight * own
        return mixed


def mean_embeddings(shots: Sequence[Shot]) -> tuple[Ints, Floats]:
    """Labels intp ``(K,)``, ascending, and prototypes float32 ``(K, 128)``: the mean of each kind's shots."""
    labels = np.asarray([LABELS.index(shot.kind) for shot in shots], np.intp)
    columns = np.unique(labels)
    views = np.asarray([shot.embedding for shot in shots], np.float32).reshape(-1, EMBEDDING)
    means = [views[labels == label].mean(axis=0) for label in columns]
    return columns, unit(np.asarray(means, np.float32).reshape(-1, EMBEDDING))


def scale_of(plain: Floats, cosines: Floats, own: Ints) -> tuple[float, float]:
    """Scale and offset that bring cosines to prototypes to the level of the plain logits.

    ``plain`` and ``cosines``: float32 ``(N, K)`` of the same kinds, not a number where a prototype is absent;
    ``own``: the column of each row's kind. Mean of the right column and mean of the others come out equal, so
    that the temperature fitted for the plain logits still holds.
    """
    known = np.isfinite(cosines)
    right = np.zeros_like(known)
    right[np.arange(len(own)), own] = True
    mine, others = known & right, known & ~right
    if not mine.any() or not others.any():
        return 1.0, 0.0
    high, low = float(cosines[mine].mean()), float(cosines[others].mean())
    up, down = float(plain[mine].mean()), float(plain[others].mean())
    if high - low < 1e-6 or up <= down:
        return 1.0, 0.0
    scale = (up - down) / (high - low)
    return scale, up - scale * high

"""Tile sets without pictures: every kind has a direction, every set bends it in its own way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from vision.enroll.shots import LOOK, Shot, unit
from vision.enroll.tileset import Provenance, TileSet
from vision.model_card import LABELS
from vision.readings import EMBEDDING, Floats

KINDS = tuple(LABELS[:34])


@dataclass
class Maker:
    """Makes shots of one set. ``bend``: how far its tiles are from what the network expects."""

    bend: float = 0.4
    noise: float = 0.02
    seed: int = 1

    def __post_init__(self) -> None:
        self.weights = unit(np.random.default_rng(0).normal(size=(len(LABELS), EMBEDDING)))
        own = np.random.default_rng(self.seed)
        self.style = unit(own.normal(size=(len(LABELS), EMBEDDING)))
        self.looks = unit(own.normal(size=(len(LABELS), LOOK)))
        self.rng = np.random.default_rng(self.seed + 100)

    def shot(self, kind: str, picture: str = "a") -> Shot:
        k = LABELS.index(kind)
        views = self.weights[k] + self.bend * self.style[k] + self._spread(2, EMBEDDING)
        embeddings = unit(views)
        look = unit(self.looks[k] + self._spread(1, LOOK)[0])
        return Shot(kind, picture, 20 * embeddings @ self.weights.T, embeddings, look)

    def _spread(self, rows: int, width: int) -> Floats:
        drawn = self.rng.normal(size=(rows, width)) * self.noise
        return np.asarray(drawn, np.float32)

    def shots(self, kinds: Sequence[str] = KINDS, pictures: Sequence[str] = ("a", "b")) -> list[Shot]:
        return [self.shot(kind, picture) for picture in pictures for kind in kinds]

    def set(self, name: str = "green", kinds: Sequence[str] = KINDS) -> TileSet:
        return TileSet.build(self.shots(kinds), kinds, provenance(name))


def provenance(name: str = "green") -> Provenance:
    return Provenance(name, "T1", "2026-01-01T00:00:00+00:00", "0.1.0", "0" * 64, 0.7, ("a", "b"))


@pytest.fixture(scope="session")
def maker() -> Callable[..., Maker]:
    return Maker


@pytest.fixture(scope="session")
def origin() -> Callable[..., Provenance]:
    return provenance

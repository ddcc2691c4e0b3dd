"""Surfaces that change slowly across a zone: light of lamps and windows, a camera's corners."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["Mask", "fitted", "terms"]

Mask = NDArray[np.bool_]


@lru_cache(maxsize=8)
def terms(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Terms ``(h, w, 6)`` of a quadratic of x and y, each -1 to 1 across a zone of ``shape`` ``(h, w)``."""
    y, x = np.meshgrid(np.linspace(-1, 1, shape[0]), np.linspace(-1, 1, shape[1]), indexing="ij")
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=2)


def fitted(values: NDArray[np.float64] | NDArray[np.float32], where: Mask) -> NDArray[np.float64]:
    """Least squares: coefficients ``(6, n)`` for ``values`` ``(k, n)`` of the spots in ``where``."""
    some = terms(where.shape)[where]
    return np.asarray(np.linalg.solve(some.T @ some + 1e-6 * np.eye(6), some.T @ values), np.float64)

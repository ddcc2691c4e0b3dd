"""What a zone showed when nothing lay in it, and what is new since: a hand is, furniture is not.

Light as a whole, its colour, and slow changes across the zone are evened out first (lamps, white balance, the
camera's exposure). What is then much lighter, or of another hue, or darker than a shadow makes it, is new;
a shadow alone is not. A spot is compared with the lightest and darkest of those beside it, so that a
camera off by a pixel or two does not make an edge of the furniture new.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np

from vision.fitness.surface import Mask, fitted, terms
from vision.readings import Floats, Image

__all__ = ["Backdrop"]

LEAST_COLOURED = 0.01
"""Share of the spots that have to have a colour for a picture not to be a grey one."""
FLOOR = 8.0
"""Grey levels added before the logarithm: below them there is noise only."""
LIGHTER, DARKER = 0.22, -0.85
"""Logarithms of light between which a spot is what it was, or lies in a shadow."""
HUE_LEAST, HUE_MOST, SPREADS = 0.06, 0.16, 2.7
"""Change of the logarithm of blue and red by green from which the hue is another: as many of its usual
changes, at least and at most this much."""
WIDEST, BINS = (-5.6, 5.6), 280
"""All changes there may be, and how finely the most frequent one is looked for."""
START, NEAR = 0.3, 0.14
"""How near to the most frequent change, and then to the fitted one, a spot lies that counts as unchanged."""
ROUNDS, THIN = 3, 2
"""How often the slow changes are fitted, to every which row and column."""
LEAST_ALIKE = 0.3
"""Share of the spots without tiles that has to be unchanged; below it another table or lamp is seen."""
FIXED_LIGHTER, FIXED_HUE = 0.5, 0.25
"""The same for furniture: another lamp or white balance changes colours unlike the cloth's in another way."""
SMOOTH = 1.5
"""Sigma, in pixels, over which hues are averaged: sensors and JPEG are noisier in them than in light."""
BESIDE = np.ones((3, 3), np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Backdrop:
    """A zone without tiles and hands, uint8 ``(h, w, 3)`` BGR, seen straight on, of any size."""

    picture: Image

    @classmethod
    def of(cls, picture: Image) -> Backdrop | None:
        """Take a picture ``(h, w, 3)``; None for a grey one: a hand may be as light as the cloth."""
        coloured = (picture.max(axis=2) != picture.min(axis=2)).mean() > LEAST_COLOURED
        return cls(picture) if coloured else None

    def fitting(self, size: tuple[int, int]) -> Image:
        """Return it in another size (width, height)."""
        return _resized(self, size)

    def new(self, small: Image, free: Mask, furniture: Mask | None = None) -> Mask | None:
        """Mask ``(h, w)`` of what is new in a picture ``(h, w, 3)``; only spots in ``free`` are compared.

        ``furniture``: what is no cloth in the empty zone; it may look more different in other light.

        None where hardly anything is as it was: then the backdrop tells nothing.
        """
        if not free.any():
            return None
        was, now = self.fitting((small.shape[1], small.shape[0])), small
        light = _even(_light(was), _light(now), free)
        if light is None:
            return None
        # Tiles taken out of one picture are taken out of both, or their white tints what lies beside them.
        hues = [_even(a, b, free) for a, b in zip(_hues(was, free), _hues(now, free), strict=True)]
        blue, red = hues
        if blue is None or red is None:
            return None
        hue = np.hypot(blue, red)
        limit = min(HUE_MOST, max(HUE_LEAST, SPREADS * float(np.median(hue[free]))))
        fixed = np.zeros(free.shape, np.bool_) if furniture is None else furniture
        lighter, other = np.where(fixed, FIXED_LIGHTER, LIGHTER), np.where(fixed, FIXED_HUE, limit)
        new = np.asarray((light > lighter) | (light < DARKER) | (hue > other), np.bool_)
        return None if new[free].mean() > 1 - LEAST_ALIKE else new


@lru_cache(maxsize=16)
def _resized(backdrop: Backdrop, size: tuple[int, int]) -> Image:
    return np.asarray(cv2.resize(backdrop.picture, size, interpolation=cv2.INTER_AREA), np.uint8)


def _light(picture: Image) -> Floats:
    """Logarithm of light ``(h, w)``."""
    total = picture.astype(np.float32).sum(axis=2) / 3
    return np.asarray(np.log(cv2.GaussianBlur(total, (3, 3), 0.8) + FLOOR), np.float32)


def _hues(picture: Image, free: Mask) -> tuple[Floats, Floats]:
    """Logarithms ``(h, w)`` of blue by green and of red by green, averaged around a spot."""
    weights = free.astype(np.float32)
    kept = cv2.GaussianBlur(picture.astype(np.float32) * weights[..., None], (0, 0), SMOOTH)
    total = np.maximum(cv2.GaussianBlur(weights, (0, 0), SMOOTH), 1e-3)
    blue, green, red = cv2.split(np.log(kept / total[..., None] + FLOOR))
    return np.asarray(blue - green, np.float32), np.asarray(red - green, np.float32)


def _even(was: Floats, now: Floats, free: Mask) -> Floats | None:
    """Change ``(h, w)`` beyond what changed slowly across the zone, 0 where a spot beside was that way."""
    step = now - was
    values = step[free]
    counts, edges = np.histogram(values, bins=BINS, range=WIDEST)
    peak = int(np.argmax(np.convolve(counts, (1, 2, 1), "same")))
    middle = (edges[peak] + edges[peak + 1]) / 2
    kept = free & (np.abs(step - middle) < START)
    slow = np.full(step.shape, middle, np.float64)
    thin = np.zeros(free.shape, np.bool_)
    thin[::THIN, ::THIN] = True
    for _ in range(ROUNDS):
        if kept.sum() < LEAST_ALIKE * free.sum():
            return None
        some = kept & thin
        slow = terms(step.shape) @ fitted(step[some, None], some)[:, 0]
        kept = free & (np.abs(step - slow) < NEAR)
    low, high = cv2.erode(was, BESIDE), cv2.dilate(was, BESIDE)
    rest = now - slow.astype(np.float32)
    return np.asarray(np.maximum(rest - high, 0) + np.minimum(rest - low, 0), np.float32)

"""Motion: what changed in a zone since the frame before, and when it has come to rest."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import cv2
import numpy as np

from vision.fitness.problems import LIMITS, MOVING, Limits, Problem
from vision.readings import Box, Floats, Image

__all__ = ["StillWatch", "Thumb", "changed", "motion", "thumb"]

SCALE = 30.0
"""Width of a tile, in pixels, at which frames are compared: about a pixel a millimetre."""
LEAST_STEP = 14.0
"""Grey levels by which a pixel has to change at least: above sensor noise after smoothing."""
SHARE = 0.10
"""And by which share of its light: flicker that is not the same everywhere."""

Thumb = Floats
"""A zone in grey, float32 ``(h, w)``, shrunk to `SCALE` and smoothed."""


def thumb(view: Image, tile: float) -> Thumb:
    """Shrink a zone's picture for comparison; ``tile``: width of a tile in its pixels."""
    factor = min(1.0, SCALE / tile)
    size = max(1, round(view.shape[1] * factor)), max(1, round(view.shape[0] * factor))
    grey = cv2.resize(cv2.cvtColor(view, cv2.COLOR_BGR2GRAY), size, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.GaussianBlur(grey.astype(np.float32), (0, 0), 1.2), np.float32)


def changed(before: Thumb, after: Thumb) -> tuple[float, tuple[int, int, int, int] | None]:
    """Pixels that changed between two thumbs, and the box around them; light as a whole is evened out.

    Thumbs of different shapes have changed everywhere.
    """
    if before.shape != after.shape:
        return float(after.size), None
    gain = float(np.median(after) + 1) / float(np.median(before) + 1)
    even = before * gain
    step = np.maximum(LEAST_STEP, SHARE * np.maximum(even, after))
    mask = (np.abs(after - even) > step).astype(np.uint8)
    mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((2, 2), np.uint8))
    pixels = int(mask.sum())
    if pixels == 0:
        return 0.0, None
    x, y, wide, high = cv2.boundingRect(mask)
    return float(pixels), (x, y, wide, high)


def motion(before: Thumb, after: Thumb, tile: float, limits: Limits = LIMITS) -> list[Problem]:
    """Tell whether something moved; ``tile``: width of a tile in pixels of the view behind the thumbs."""
    pixels, where = changed(before, after)
    factor = min(1.0, SCALE / tile)
    value = pixels / (4 / 3 * (tile * factor) ** 2)
    if value <= limits.motion:
        return []
    box: Box | None = None
    if where is not None:
        x, y, wide, high = (v / factor for v in where)
        box = (x, y, x + wide, y + high)
    return [Problem(MOVING, box, round(value, 3), limits.motion)]


@dataclass(slots=True)
class StillWatch:
    """Says when a zone rests: the last ``frames`` looks are alike and lie within ``within_s`` seconds.

    Two looks at the same moment are one frame; after a longer pause everything has to be seen anew, because
    nobody knows what happened meanwhile. Not thread-safe.
    """

    tile: float
    frames: int = 2
    within_s: float = 10.0
    limits: Limits = LIMITS
    _seen: deque[tuple[float, Thumb]] = field(default_factory=deque, init=False)

    def look(self, view: Image, at: float) -> list[Problem]:
        """Take a frame of the zone (uint8 BGR), taken ``at`` seconds; return what moved since."""
        now = thumb(view, self.tile)
        while self._seen and not at - self.within_s <= self._seen[0][0]:
            self._seen.popleft()
        if self._seen and at <= self._seen[-1][0]:
            return []
        moved = motion(self._seen[-1][1], now, self.tile, self.limits) if self._seen else []
        # Slow motion hides between neighbours: the oldest look counts as well.
        if self._seen and not moved:
            moved = motion(self._seen[0][1], now, self.tile, self.limits)
        if moved:
            self._seen.clear()
        self._seen.append((at, now))
        while len(self._seen) > self.frames:
            self._seen.popleft()
        return moved

    @property
    def still(self) -> bool:
        """Whether the zone rests."""
        return len(self._seen) >= self.frames

    def forget(self) -> None:
        """Begin anew."""
        self._seen.clear()

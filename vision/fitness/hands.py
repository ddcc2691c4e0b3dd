"""Hands and things in the zone: large regions that are neither cloth nor tile. No network, no skin colour.

Where it is known what the empty zone looks like (`Backdrop`), what is new in it counts, also on cloth of
nearly its colour, and furniture does not. Without it the cloth has to be guessed, and what lies along the
whole zone is taken for furniture.

The cloth is the colour most frequent outside the tiles. Shadows darken it and do not change its hue, so
colours are compared by their shares of red, green and blue, and by light only beyond what a shadow does. What
is left, with the tiles taken out where their boxes are known, is foreign; a hand reaches in from the border
at which its player sits, or from beside. Bare hands of any skin, gloves and sleeves are alike to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.fitness.backdrop import Backdrop
from vision.fitness.channels import darkest, lightest
from vision.fitness.problems import HAND_IN_VIEW, LIMITS, Limits, Problem
from vision.fitness.surface import Mask, fitted, terms
from vision.readings import Box, Floats, Image

__all__ = ["Cloth", "foreign", "hands"]

SCALE = 12.0
"""Width of a tile, in pixels, at which regions are looked for."""
HUE, HUE_LEAST, SPREADS = 0.045, 0.02, 5.0
"""Distance between shares of blue and red (each 0 to 1) up to which a colour is that of the cloth: as many of
the cloth's own usual distances from its middle, at least and at most this much."""
SHADE, SHINE = 0.42, 1.45
"""Light, as a share of the cloth's own, between which it is still cloth: in a shadow, under a lamp."""
BINS = 50
START = 0.07
"""Distance from the most frequent hue within which the cloth is looked for first."""
FITS = 3
LEAST_SEEN = 0.12
"""Share of the zone that has to show the cloth; below it nothing can be said."""
THIN = 0.6
"""Regions narrower than this many widths of a tile are no hand: rims of tiles, the edge of the cloth."""
WIDE = 0.75
"""Where nobody knows the empty zone, a region over this share of its width is taken for furniture."""
REACH = 0.3
"""How near to the border, in widths of a tile, a region has to come to reach in from it."""
GROW, GROW_FAR = 0.2, 0.55
"""Share of its width by which a tile's box is widened before it is taken out, and by which at its far border:
its shadow, and its side where the camera looks from there."""
RIM = 0.45
"""Strip along the near border, in widths of a tile, that is left out: the rim of the table shows there."""
RIM_ROW, RIM_MOST = 0.6, 1.2
"""A row is rim too when this share of it is foreign, up to this many widths of a tile from the border."""
FAR = 0.9
"""Strip along the far border, in widths of a tile, that is left out: walls and their shadows lie there."""
PALE, COLOURLESS = 0.72, 0.2
"""Without boxes what is this light (of the lightest) and no more coloured than this passes for a tile."""


@dataclass(frozen=True, slots=True, eq=False)
class Cloth:
    """Colour of a zone's cloth.

    ``surface``: float64 ``(6, 3)``, shares of blue and red (0 to 1) and light (0 to 255) as quadratics
    of x and y (-1 to 1 across the zone): lamps of two colours and a camera's corners shift them slowly.
    ``spread``: distance of shares from the surface up to which a colour is the cloth's.
    """

    surface: NDArray[np.float64]
    spread: float

    @classmethod
    def of(cls, view: Image, tiles: Mask | None = None) -> Cloth | None:
        """Find it in a picture ``(h, w, 3)``: the most frequent hue outside ``tiles`` ``(h, w)``.

        None where too little of the cloth is seen. Best taught from an empty zone.
        """
        shares, light = _shares(view.astype(np.float32))
        free = np.ones(light.shape, np.bool_) if tiles is None else ~tiles
        near = free & (np.linalg.norm(shares - _peak(shares[free]), axis=2) < START) if free.any() else free
        if near.mean() < LEAST_SEEN:
            return None
        seen = np.concatenate([shares, light[..., None]], axis=2)[near]
        kept, surface, spread = np.ones(len(seen), np.bool_), np.zeros((6, 3)), HUE
        for _ in range(FITS):
            where = near.copy()
            where[near] = kept
            surface = fitted(seen[kept], where)
            distance = np.linalg.norm((seen - terms(light.shape)[near] @ surface)[:, :2], axis=1)
            spread = min(HUE, max(HUE_LEAST, SPREADS * float(np.median(distance[kept]))))
            kept = distance < spread
            if kept.sum() < LEAST_SEEN * light.size:
                return None
        return cls(surface, spread)

    def differs(self, view: Image) -> Mask:
        """Mask ``(h, w)`` of what is not cloth, neither in a shadow nor under a lamp."""
        shares, light = _shares(view.astype(np.float32))
        own = terms(light.shape) @ self.surface
        far = np.linalg.norm(shares - own[..., :2], axis=2) > self.spread
        usual = np.maximum(own[..., 2], 1.0)
        return np.asarray(far | (light < SHADE * usual) | (light > SHINE * usual), np.bool_)


def _peak(shares: NDArray[np.float32]) -> NDArray[np.float64]:
    """The most frequent shares of blue and red among ``(N, 2)``."""
    counts, xs, ys = np.histogram2d(shares[:, 0], shares[:, 1], bins=BINS, range=((0, 1), (0, 1)))
    smooth = cv2.GaussianBlur(counts.astype(np.float32), (3, 3), 0.8)
    x, y = np.unravel_index(int(np.argmax(smooth)), counts.shape)
    return np.asarray([xs[x] + 0.5 / BINS, ys[y] + 0.5 / BINS], np.float64)


def _shares(picture: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Shares of blue and red ``(h, w, 2)`` and light ``(h, w)`` of a BGR picture."""
    total = picture.sum(axis=2)
    return picture[..., (0, 2)] / np.maximum(total, 1.0)[..., None], np.asarray(total / 3, np.float32)


def foreign(
    view: Image,
    tile: float,
    boxes: Floats | None = None,
    cloth: Cloth | None = None,
    empty: Backdrop | None = None,
) -> tuple[Mask, int, bool]:
    """Mask of what is no cloth, tile or rim, at `SCALE` pixels to a tile's width, and the first rim row.

    Thin parts are left out. Nothing is foreign where too little of the cloth is seen to know it. The last
    value: whether the empty zone told what is furniture.
    """
    factor = min(1.0, SCALE / tile)
    size = max(1, round(view.shape[1] * factor)), max(1, round(view.shape[0] * factor))
    small = np.asarray(cv2.resize(view, size, interpolation=cv2.INTER_AREA), np.uint8)
    tiles = _pale(small, tile * factor) if boxes is None else _boxed(size, boxes * np.float32(factor))
    new = None if empty is None else _new(small, tiles, empty)
    odd = _odd(small, tiles, cloth) if new is None else new
    if odd is None:
        return np.zeros(tiles.shape, np.bool_), tiles.shape[0], False
    mask = (odd & ~tiles).astype(np.uint8)
    rim = mask.shape[0] - _rim(odd & ~tiles, tile * factor)
    mask[rim:] = 0
    mask[: round(FAR * tile * factor)] = 0
    width = max(2, round(THIN * tile * factor))
    opened = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((width, width), np.uint8))
    return np.asarray(opened > 0), rim, new is not None


def _odd(small: Image, tiles: Mask, cloth: Cloth | None) -> Mask | None:
    """Mask of what is no cloth; None where the cloth is not seen."""
    cloth = cloth or Cloth.of(small, tiles)
    return None if cloth is None else cloth.differs(small)


def _new(small: Image, tiles: Mask, empty: Backdrop) -> Mask | None:
    """Mask of what is new in the zone, bare cloth where a thing lay before left out; None: not to be told."""
    gone = _furniture(empty, (small.shape[1], small.shape[0]))
    new = empty.new(small, ~tiles, gone)
    if new is None or gone is None or not (new & gone).any():
        return new
    odd = _odd(small, tiles, None)
    return new if odd is None else np.asarray(new & ~(gone & ~odd), np.bool_)


@lru_cache(maxsize=16)
def _furniture(empty: Backdrop, size: tuple[int, int]) -> Mask | None:
    """Mask of what is no cloth in the empty zone."""
    picture = empty.fitting(size)
    return _odd(picture, np.zeros(picture.shape[:2], np.bool_), None)


def _boxed(size: tuple[int, int], boxes: Floats) -> Mask:
    """Mask of known tiles with their sides and shadows."""
    mask = np.zeros((size[1], size[0]), np.bool_)
    for x0, y0, x1, y1 in boxes.tolist():
        wide = min(x1 - x0, y1 - y0)
        grow = GROW * wide
        top, left = max(0, int(y0 - GROW_FAR * wide)), max(0, int(x0 - grow))
        mask[top : int(np.ceil(y1 + grow)), left : int(np.ceil(x1 + grow))] = True
    return mask


def _pale(small: Image, tile: float) -> Mask:
    """Mask of what has the colour of a tile's face, with the ink on it."""
    top = lightest(small).astype(np.float32)
    white = float(np.percentile(top, 98))
    pale = (top > PALE * white) & (top - darkest(small) < COLOURLESS * np.maximum(top, 1))
    width = max(3, round(0.5 * tile))
    closed = cv2.morphologyEx(pale.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((width, width), np.uint8))
    rim = max(3, 2 * round(GROW * tile) + 1)
    return np.asarray(cv2.dilate(closed, np.ones((rim, rim), np.uint8)) > 0)


def _rim(mask: Mask, tile: float) -> int:
    """Rows at the near border that show the rim of the table."""
    rows = round(RIM * tile)
    shares = mask.mean(axis=1)[::-1][: round(RIM_MOST * tile)]
    return max(rows, int(np.flatnonzero(shares > RIM_ROW).max(initial=-1)) + 2)


def hands(
    view: Image,
    tile: float,
    boxes: Floats | None = None,
    cloth: Cloth | None = None,
    limits: Limits = LIMITS,
    empty: Backdrop | None = None,
) -> list[Problem]:
    """Tell whether a hand, an arm or a thing reaches into the zone (uint8 BGR, upright for its player).

    ``tile``: width of a tile in pixels of it; ``boxes``: tiles ``(N, 4)`` where they are known. Without
    boxes a tile cut by the border looks like a hand. ``empty``: the zone without tiles and hands.
    """
    found, rim, known = foreign(view, tile, boxes, cloth, empty)
    mask = found.astype(np.uint8)
    factor = mask.shape[1] / view.shape[1]
    one = 4 / 3 * (tile * factor) ** 2
    limit = limits.hand if known else limits.hand_guessed
    count, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    regions = sorted((tuple(int(v) for v in stats[k]) for k in range(1, count)), key=lambda r: -r[4])
    margin = max(1, round(REACH * tile * factor))
    for x, y, wide, high, area in regions:
        reaches = x <= margin or x + wide >= mask.shape[1] - margin or y + high >= rim - margin
        furniture = not known and wide > WIDE * mask.shape[1]
        if area / one > limit and reaches and not furniture:
            box: Box = (x / factor, y / factor, (x + wide) / factor, (y + high) / factor)
            return [Problem(HAND_IN_VIEW, box, round(area / one, 2), limit)]
    return []

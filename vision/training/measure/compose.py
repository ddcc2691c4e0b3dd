"""Lays hands of photographed or rendered faces on new tables: exact truth, sides, shadows, light, lens."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.shapes import BACK
from vision.training.dataset import Boxes, Image
from vision.training.measure.camera import Points, View, random_view
from vision.training.measure.deal import Deal
from vision.training.measure.laying import Laid, lay
from vision.training.measure.lens import surface, through_camera
from vision.training.measure.pools import Face
from vision.training.pen import FACE_H, FACE_W, Rng
from vision.training.scenes import paste_face, rounded_mask

BEVEL = (0.015, 0.04)
"""Share of a tile's top, on every side, that its rounded edge takes."""
BACK_SHARE = 0.42
"""Share of a tile's thickness that has the colour of its back."""


@dataclass(frozen=True)
class Conditions:
    """How a picture is taken: long side of a tile in pixels (low, high), its turn in degrees if given.

    ``most_enlarged``: how far a photographed face may be blown up; ``upside_down``: share of tiles turned by
    half, beside those that were photographed so.
    """

    long_side: tuple[float, float] = (36.0, 96.0)
    turn: float | None = None
    most_enlarged: float = 1.5
    upside_down: float = 0.0


@dataclass(frozen=True)
class Picture:
    """A composed picture, uint8 (H, W, 3) BGR; boxes (n, 4) of the tiles' tops, kinds in reading order."""

    image: Image
    boxes: Boxes
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Placed:
    """A tile on the table, in tile widths: middle, angle in radians, and the face that shows."""

    kind: str
    x: float
    y: float
    angle: float
    face: Image


def _corners(tile: Placed, aspect: float, z: float) -> Points:
    w, h = 0.5, 0.5 / aspect
    c, s = math.cos(tile.angle), math.sin(tile.angle)
    base = np.array([[-w, -h], [w, -h], [w, h], [-w, h]]) @ np.array([[c, s], [-s, c]]) + (tile.x, tile.y)
    return np.concatenate([base, np.full((4, 1), z)], 1)


def compose(
    rng: Rng,
    deal: Deal,
    faces: Mapping[str, Sequence[Face]],
    back: Image,
    surfaces: Sequence[Image],
    conditions: Conditions | None = None,
) -> Picture:
    """Lay a hand and take its picture.

    ``faces``: at least one per kind of the hand; ``back``: uint8 (128, 96, 3); ``surfaces``: pieces of real
    tables without tiles, a noise surface is used now and then and where there are none.
    """
    conditions = conditions or Conditions()
    aspect, depth = rng.uniform(0.71, 0.78), rng.uniform(0.5, 0.75)
    tiles, largest = _choose(rng, lay(rng, deal, aspect), faces, back, conditions.upside_down)
    low, high = conditions.long_side
    long_side = min(
        math.exp(rng.uniform(math.log(low), math.log(high))), max(low, conditions.most_enlarged * largest)
    )
    view = _fitted(random_view(rng, conditions.turn), tiles, aspect, depth, long_side)
    levels = (0.0, BACK_SHARE * depth, (1 - BACK_SHARE) * depth, depth)
    quads = np.stack([[view.project(_corners(tile, aspect, z)) for z in levels] for tile in tiles])
    margin = long_side * rng.uniform(0.4, 0.9, 4)
    quads += margin[:2] - quads.min((0, 1, 2))
    width, height = np.ceil(quads.max((0, 1, 2)) + margin[2:]).astype(int)
    image = surface(rng, surfaces, int(width), int(height))
    _shadow(rng, image, quads[:, 0], long_side * depth)
    away = [float(np.hypot(*(view.position[:2] - (tile.x, tile.y)))) for tile in tiles]
    _draw(rng, image, [tiles[i] for i in np.argsort(away)[::-1]], quads[np.argsort(away)[::-1]], back)
    tops = quads[:, -1]
    boxes = np.concatenate([tops.min(1), tops.max(1)], 1).astype(np.float32)
    return Picture(through_camera(rng, image), boxes, deal.kinds)


def _draw(rng: Rng, image: Image, tiles: Sequence[Placed], quads: Points, back: Image) -> None:
    """Draw tiles, the farthest first; ``quads`` (n, 4, 4, 2): foot, two heights where colours change, top."""
    mask = rounded_mask(rng.uniform(4, 12))
    dark, rim, bevel = rng.uniform(0.6, 0.95), rng.uniform(0.75, 0.95), rng.uniform(*BEVEL)
    back_colour = tuple(float(v) for v in np.median(back.reshape(-1, 3), 0))
    usual = _paper(next((tile.face for tile in tiles if tile.kind != BACK), back))
    for tile, (foot, low, high, top) in zip(tiles, quads, strict=True):
        covered = tile.kind == BACK
        paper = usual if covered else _paper(tile.face)
        lower, upper = (paper, back_colour) if covered else (back_colour, paper)
        split = high if covered else low
        _side(image, foot, split, [v * dark for v in lower])
        _side(image, split, top, [v * dark for v in upper])
        _rim(image, top, [v * rim for v in upper])
        paste_face(image, tile.face, within(top, bevel), mask)


def _choose(
    rng: Rng,
    laid: Sequence[Laid],
    faces: Mapping[str, Sequence[Face]],
    back: Image,
    upside_down: float,
) -> tuple[list[Placed], float]:
    """Pick a face for every tile, brought to about one brightness; also their usual long side."""
    picked = [
        Face(back, 1e9) if kind == BACK else faces[kind][int(rng.integers(len(faces[kind])))]
        for kind, *_ in laid
    ]
    bright = [float(np.percentile(f.image, 80)) for f in picked]
    open_tiles = [b for b, (kind, *_) in zip(bright, laid, strict=True) if kind != BACK]
    level = float(np.median(open_tiles))
    tiles = []
    for (kind, x, y, angle), face, mine in zip(laid, picked, bright, strict=True):
        gain = rng.uniform(0.97, 1.03) * (1.0 if kind == BACK else (level / max(mine, 1.0)) ** 0.7)
        turned = bool(upside_down) and rng.random() < upside_down
        image = np.clip(face.image * gain, 0, 255).astype(np.uint8)
        tiles.append(Placed(kind, x, y, angle, image[::-1, ::-1] if turned else image))
    return tiles, float(np.median([f.long_side for f in picked]))


def _fitted(view: View, tiles: Sequence[Placed], aspect: float, depth: float, long_side: float) -> View:
    quads = np.stack([view.project(_corners(tile, aspect, depth)) for tile in tiles])
    sides = np.linalg.norm(quads - np.roll(quads, -1, 1), axis=2).max(1)
    return replace(view, scale=long_side / float(np.median(sides)))


def _paper(face: Image) -> tuple[float, ...]:
    rim = np.concatenate([face[3:8].reshape(-1, 3), face[-8:-3].reshape(-1, 3)])
    return tuple(float(v) for v in np.median(rim, 0))


def _side(image: Image, low: Points, high: Points, colour: Sequence[float]) -> None:
    hull = cv2.convexHull(np.concatenate([low, high]).astype(np.float32))
    cv2.fillConvexPoly(image, np.round(hull * 16).astype(np.int32), tuple(colour), cv2.LINE_AA, 4)


def _rim(image: Image, quad: Points, colour: Sequence[float]) -> None:
    """Draw the rounded edge of a tile's top: it makes the seam between two tiles that touch."""
    fixed = np.round(quad * 16).astype(np.int32)
    cv2.fillConvexPoly(image, fixed, tuple(colour), cv2.LINE_AA, 4)


def within(quad: Points, share: float) -> Points:
    """Move the corners of a quad towards its middle by a share of the way from side to side."""
    return np.asarray(quad + (quad.mean(0) - quad) * 2 * share)


def _shadow(rng: Rng, image: Image, bottoms: NDArray[np.float64], thick: float) -> None:
    mask = np.zeros((image.shape[0] // 2 + 1, image.shape[1] // 2 + 1), np.uint8)
    offset = rng.uniform(-0.5, 0.5, 2) * thick
    for quad in bottoms:
        hull = cv2.convexHull((np.concatenate([quad, quad + offset]) / 2).astype(np.float32))
        cv2.fillConvexPoly(mask, np.round(hull).astype(np.int32), 255)
    soft = cv2.GaussianBlur(mask, (0, 0), max(0.5, thick * rng.uniform(0.02, 0.12)))
    full = cv2.resize(soft, (image.shape[1], image.shape[0]), interpolation=cv2.INTER_LINEAR)
    image[:] = (image * (1 - full[..., None].astype(np.float32) / 255 * rng.uniform(0.2, 0.6))).astype(
        np.uint8
    )


def back_face(rng: Rng) -> Image:
    """Draw a tile's back of a random make, uint8 (128, 96, 3)."""
    from vision.training.art import draw_back
    from vision.training.styles import random_style

    back = draw_back(random_style(rng))
    assert back.shape[:2] == (FACE_H, FACE_W)
    return back

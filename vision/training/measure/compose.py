"""Lays hands of photographed or rendered faces on new tables: exact truth, sides, shadows, light, lens."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.shapes import BACK
from vision.training.augment import noise_patch
from vision.training.dataset import Boxes, Image
from vision.training.measure.camera import Points, View, random_view
from vision.training.measure.deal import Deal
from vision.training.measure.pools import Face
from vision.training.pen import FACE_H, FACE_W, Rng
from vision.training.scenes import paste_face, rounded_mask

LONGEST_ROW = 17.6
"""Tile widths that fit a zone."""
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


def lay(rng: Rng, deal: Deal, aspect: float) -> list[tuple[str, float, float, float]]:
    """Kind, x, y and angle of every tile, in reading order: upper rows, then concealed and winning tile."""
    hand, high = deal.hand, 1 / aspect
    rows: list[list[Sequence[str]]] = []
    for group in hand.upper:
        if rows and _length([*rows[-1], group]) <= LONGEST_ROW:
            rows[-1].append(group)
        else:
            rows.append([group])
    rows.append([g for g in (hand.concealed, () if hand.win is None else (hand.win,)) if g])
    laid: list[tuple[str, float, float, float]] = []
    y, pitch = 0.0, high * rng.uniform(1.12, 1.45)
    for groups in rows:
        laid += _lay_row(rng, groups, y, high, deal.sideways, len(laid))
        y += pitch
    return laid


def _length(groups: Sequence[Sequence[str]]) -> float:
    return sum(len(group) for group in groups) + 0.8 * len(groups)


def _lay_row(
    rng: Rng, groups: Sequence[Sequence[str]], y: float, high: float, sideways: frozenset[int], first: int
) -> list[tuple[str, float, float, float]]:
    tilt, loose = math.radians(rng.normal(0, 0.6)), rng.uniform(0, 0.03)
    laid: list[tuple[str, float, float, float]] = []
    x = -_length(groups) / 2 + rng.uniform(-0.3, 0.3)
    for group in groups:
        askew, lift = math.radians(rng.normal(0, 0.8)), rng.normal(0, 0.03)
        for kind in group:
            turned = first + len(laid) in sideways
            wide = high if turned else 1.0
            drop = (high - 1) / 2 if turned else 0.0
            angle = tilt + askew + math.radians(rng.normal(0, 0.6)) + (math.pi / 2 if turned else 0.0)
            middle = x + wide / 2
            laid.append(
                (kind, middle, y + lift + drop + rng.normal(0, 0.015) + middle * math.tan(tilt), angle)
            )
            x += wide + rng.uniform(0, loose)
        x += rng.uniform(0.62, 1.0)
    return laid


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
    bottoms = np.stack([view.project(_corners(tile, aspect, 0.0)) for tile in tiles])
    splits = np.stack([view.project(_corners(tile, aspect, BACK_SHARE * depth)) for tile in tiles])
    uppers = np.stack([view.project(_corners(tile, aspect, (1 - BACK_SHARE) * depth)) for tile in tiles])
    tops = np.stack([view.project(_corners(tile, aspect, depth)) for tile in tiles])
    margin = long_side * rng.uniform(0.4, 0.9, 4)
    every = np.concatenate([bottoms, tops]).reshape(-1, 2)
    shift = margin[:2] - every.min(0)
    size = np.ceil(every.max(0) + shift + margin[2:]).astype(int)
    image = surface(rng, surfaces, int(size[0]), int(size[1]))
    bottoms, splits, uppers, tops = (quads + shift for quads in (bottoms, splits, uppers, tops))
    _shadow(rng, image, bottoms, long_side * depth)
    mask = rounded_mask(rng.uniform(4, 12))
    away = [float(np.hypot(*(view.position[:2] - (tile.x, tile.y)))) for tile in tiles]
    dark, rim, bevel = rng.uniform(0.6, 0.95), rng.uniform(0.75, 0.95), rng.uniform(*BEVEL)
    back_colour = tuple(float(v) for v in np.median(back.reshape(-1, 3), 0))
    for i in np.argsort(away)[::-1]:
        paper = _paper(tiles[i].face) if tiles[i].kind != BACK else _paper(tiles[0].face)
        split = uppers[i] if tiles[i].kind == BACK else splits[i]
        lower, upper = (paper, back_colour) if tiles[i].kind == BACK else (back_colour, paper)
        _side(image, bottoms[i], split, [v * dark for v in lower])
        _side(image, split, tops[i], [v * dark for v in upper])
        _rim(image, tops[i], [v * rim for v in upper])
        paste_face(image, tiles[i].face, within(tops[i], bevel), mask)
    boxes = np.concatenate([tops.min(1), tops.max(1)], 1).astype(np.float32)
    return Picture(through_camera(rng, image), boxes, deal.kinds)


def _choose(
    rng: Rng,
    laid: Sequence[tuple[str, float, float, float]],
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


def surface(rng: Rng, surfaces: Sequence[Image], width: int, height: int) -> Image:
    """Return bare table, uint8 (height, width, 3): a real piece mirrored on and on, or cloth of noise."""
    if surfaces and rng.random() < 0.6:
        piece = surfaces[int(rng.integers(len(surfaces)))]
        factor = rng.uniform(1.0, 2.0)
        piece = np.asarray(cv2.resize(piece, None, fx=factor, fy=factor), np.uint8)
        tile = np.concatenate([piece, piece[:, ::-1]], 1)
        tile = np.concatenate([tile, tile[::-1]], 0)
        times = (-(-height // tile.shape[0]), -(-width // tile.shape[1]), 1)
        return np.ascontiguousarray(np.tile(tile, times)[:height, :width])
    felt = (
        (60, 120, 40),
        (90, 160, 60),
        (110, 80, 40),
        (60, 60, 60),
        (40, 40, 120),
        (80, 130, 170),
        (120, 60, 50),
    )
    colour = np.clip(np.array(felt[int(rng.integers(len(felt)))]) + rng.integers(-20, 21, 3), 0, 255)
    n = int(rng.choice([3, 8, 40]))
    coarse = rng.normal(0, 1, (n, n, 1)) * rng.uniform(0, 14) + colour
    image = cv2.resize(
        np.clip(coarse, 0, 255).astype(np.uint8), (width, height), interpolation=cv2.INTER_CUBIC
    )
    return np.asarray(np.clip(image + noise(rng, height, width) * rng.uniform(0, 7), 0, 255), np.uint8)


def noise(rng: Rng, height: int, width: int) -> NDArray[np.float32]:
    """Return unit noise (height, width, 3) of any size."""
    patch = noise_patch(rng, min(height, 1024), min(width, 1024))
    times = (-(-height // patch.shape[0]), -(-width // patch.shape[1]), 1)
    return np.asarray(np.tile(patch, times)[:height, :width] if max(times) > 1 else patch, np.float32)


def through_camera(rng: Rng, image: Image) -> Image:
    """Uneven light, tint, tone, lens blur, noise and JPEG of a picture fit for reading."""
    height, width = image.shape[:2]
    field = cv2.resize(
        rng.uniform(0.82, 1.08, (2, 3)).astype(np.float32), (width, height), interpolation=cv2.INTER_CUBIC
    )
    gain = field[..., None] * rng.uniform(0.93, 1.05, 3).astype(np.float32) * rng.uniform(0.75, 1.1)
    lit = np.clip(image * gain, 0, 255)
    lit = cv2.GaussianBlur(lit, (0, 0), rng.uniform(0.3, 0.9))
    lit = np.clip(lit + noise(rng, height, width) * rng.uniform(0.5, 5), 0, 255).astype(np.uint8)
    quality = int(rng.integers(60, 96))
    _, data = cv2.imencode(".jpg", lit, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def back_face(rng: Rng) -> Image:
    """Draw a tile's back of a random make, uint8 (128, 96, 3)."""
    from vision.training.art import draw_back
    from vision.training.styles import random_style

    back = draw_back(random_style(rng))
    assert back.shape[:2] == (FACE_H, FACE_W)
    return back

"""Training crops of the classifier: photographed, rendered, cut from composed scenes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.training.art import FIVES, red_face
from vision.training.augment import photometric_crop
from vision.training.crops import CROP_H, CROP_W, MARGIN, TURN_RATIO
from vision.training.dataset import LABELS, OTHER, Boxes, Image, Photo, read_image
from vision.training.pen import FACE_H, FACE_W, Rng
from vision.training.realfaces import FaceSet
from vision.training.scenes import background, compose

Drawn = tuple[Image, int, int]
"""A crop, its label number, 1 where it is a red five."""
OTHER_SHARE = 0.09
PLAIN_DEVIATION = 20.0
LIGHT = 165.0
SOURCE_WEIGHT = {
    "rf_tray": 0.35,
    "rf_table": 2.0,
    "rf_train_aug": 1.0,
    "crops_camerash": 2.5,
    "crops_justinchan": 2.5,
}


@dataclass(frozen=True)
class Patch:
    """A tile with surroundings: ``box`` (x0, y0, x1, y1) of the tile within ``image``."""

    image: Image
    box: NDArray[np.float32]
    kind: int
    weight: float

    @property
    def blank(self) -> bool:
        """Whether half of the tile may look like a whole blank one: a white dragon."""
        return LABELS[self.kind] == "5z"


def cut_patch(image: Image, box: NDArray[np.float32], kind: int, weight: float, grow: float = 0.4) -> Patch:
    """Cut a tile with its surroundings, shrunk so that the tile's long side is at most 88 px."""
    w, h = float(box[2] - box[0]), float(box[3] - box[1])
    x0, y0 = math.floor(box[0] - grow * w), math.floor(box[1] - grow * h)
    x1, y1 = math.ceil(box[2] + grow * w), math.ceil(box[3] + grow * h)
    bh, bw = image.shape[:2]
    piece = image[max(0, y0) : min(bh, y1), max(0, x0) : min(bw, x1)]
    edges = (max(0, -y0), max(0, y1 - bh), max(0, -x0), max(0, x1 - bw))
    if any(edges):
        piece = np.asarray(cv2.copyMakeBorder(piece, *edges, cv2.BORDER_REPLICATE), np.uint8)
    inner = box - np.array([x0, y0, x0, y0], np.float32)
    f = 88 / max(w, h)
    if f < 1:
        size = max(2, round(piece.shape[1] * f)), max(2, round(piece.shape[0] * f))
        inner = inner * np.tile(np.array(size) / (piece.shape[1], piece.shape[0]), 2).astype(np.float32)
        piece = np.asarray(cv2.resize(piece, size, interpolation=cv2.INTER_AREA), np.uint8)
    return Patch(np.ascontiguousarray(piece), inner, kind, weight)


def crop_quad(box: NDArray[np.float32]) -> NDArray[np.float64]:
    """Corners that become the crop's top-left, top-right, bottom-right, bottom-left."""
    x0, y0, x1, y1 = (float(v) for v in box)
    mx, my = MARGIN * (x1 - x0), MARGIN * (y1 - y0)
    x0, y0, x1, y1 = x0 - mx, y0 - my, x1 + mx, y1 + my
    quad = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    return np.roll(quad, 1, axis=0) if x1 - x0 > TURN_RATIO * (y1 - y0) else quad


def warp_crop(image: Image, quad: NDArray[np.float64]) -> Image:
    """Warp a quad to 48 x 64, through twice the size where the quad is much larger."""
    side = max(np.linalg.norm(quad[1] - quad[0]) / CROP_W, np.linalg.norm(quad[3] - quad[0]) / CROP_H)
    k = 2 if side > 1.25 else 1
    size = CROP_W * k, CROP_H * k
    corners = np.array([[0, 0], [size[0], 0], [size[0], size[1]], [0, size[1]]], np.float32) - 0.5
    m = cv2.getPerspectiveTransform((quad - 0.5).astype(np.float32), corners)
    out = cv2.warpPerspective(image, m, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    if k == 2:
        out = cv2.resize(out, (CROP_W, CROP_H), interpolation=cv2.INTER_AREA)
    return np.asarray(out, np.uint8)


def jitter(rng: Rng, quad: NDArray[np.float64], upright: bool = False) -> NDArray[np.float64]:
    """Scale, shift, turn and bend a quad; ``upright`` leaves the turns by 90 and 180 degrees out."""
    middle = quad.mean(0)
    u, v = quad[1] - quad[0], quad[3] - quad[0]
    scale = rng.uniform(0.92, 1.18)
    angle = math.radians(rng.uniform(-25, 25) if rng.random() < 0.2 else rng.normal(0, 5))
    c, s = math.cos(angle), math.sin(angle)
    out = (quad - middle) @ np.array([[c, s], [-s, c]]) * scale + middle
    out = out + rng.normal(0, 0.04) * u + rng.normal(0, 0.04) * v
    out = out + rng.normal(0, 0.035, (4, 1)) * u + rng.normal(0, 0.035, (4, 1)) * v
    if upright:
        return np.asarray(out)
    if rng.random() < 0.2:
        out = np.roll(out, 1 if rng.random() < 0.5 else -1, axis=0)
    if rng.random() < 0.35:
        out = np.roll(out, 2, axis=0)
    return np.asarray(out)


def collect(photos: Sequence[Photo], crops: Sequence[tuple[Path, int]] = ()) -> list[Patch]:
    """Cut every labelled tile of the photographs, and load the single-tile sources."""
    pool = []
    for photo in photos:
        image = photo.read()
        weight = SOURCE_WEIGHT[photo.source]
        pool += [cut_patch(image, b, int(k), weight) for b, k in zip(photo.boxes, photo.kinds, strict=True)]
    for path, kind in crops:
        image = read_image(path)
        h, w = image.shape[:2]
        box = np.array([0, 0, w, h], np.float32) * 0.98 + np.array([w, h, w, h], np.float32) * 0.01
        pool.append(cut_patch(image, box, kind, SOURCE_WEIGHT[path.parents[2].name], grow=0.02))
    return pool


def gaps(photos: Sequence[Photo]) -> list[Patch]:
    """Cut what lies a tile's width beside labelled tiles where no tile is: cloth, rail, shadow.

    Only plain pieces, for unlabelled tiles lie about; none as light as a blank white dragon.
    """
    found = []
    for photo in photos:
        image = photo.read()
        h, w = image.shape[:2]
        for box in photo.boxes:
            size = box[2:] - box[:2]
            for way in ((1.05, 0), (-1.05, 0), (0, 1.2), (0, -1.2)):
                moved = (box + np.tile(size * np.array(way, np.float32), 2)).astype(np.float32)
                x0, y0, x1, y1 = (int(v) for v in moved)
                if x0 < 0 or y0 < 0 or x1 > w or y1 > h or _touches(moved, photo.boxes):
                    continue
                piece = image[y0:y1, x0:x1]
                if piece.std((0, 1)).max() < PLAIN_DEVIATION and piece.mean() < LIGHT:
                    found.append(cut_patch(image, moved, OTHER, 1.0))
    return found


def _touches(box: NDArray[np.float32], boxes: Boxes) -> bool:
    lo, hi = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:], boxes[:, 2:])
    shared = np.prod(np.clip(hi - lo, 0, None), 1)
    return bool((shared > 0.12 * np.prod(box[2:] - box[:2])).any())


class Sampler:
    """Draws crops: from photographs, rendered faces, composed scenes; a few of ``other``."""

    def __init__(
        self,
        pool: Sequence[Patch],
        faces: NDArray[np.uint8],
        shares: tuple[float, float, float],
        surfaces: Sequence[Image] = (),
        beside: Sequence[Patch] = (),
        cut: Sequence[FaceSet] = (),
    ):
        self.pool = list(pool)
        self.printed = [p for p in pool if not p.blank]
        self.cut = list(cut)
        self.surfaces = [s for s in surfaces if s.mean() < LIGHT]
        self.beside = list(beside)
        self.faces = faces
        self.shares = np.array(shares) / sum(shares)
        counts = np.bincount([p.kind for p in self.pool], minlength=len(LABELS))
        self.chances = np.array([p.weight / math.sqrt(counts[p.kind]) for p in self.pool])
        self.chances /= self.chances.sum()

    def _other(self, rng: Rng) -> Image:
        roll = rng.random()
        if roll < 0.12:
            return background(rng, [], 64)[:, :48]
        if roll < 0.27:
            return self._half(rng)
        if roll < 0.4:
            return self._bare(rng)
        if self.surfaces and roll < 0.55:
            return self._surface(rng)
        if self.beside and roll < 0.75:
            patch = self.beside[int(rng.integers(len(self.beside)))]
            return warp_crop(patch.image, jitter(rng, crop_quad(patch.box)))
        patch = self.printed[int(rng.integers(len(self.printed)))]
        quad = crop_quad(patch.box)
        u, v = quad[1] - quad[0], quad[3] - quad[0]
        way = (u, v, -u, -v, u + v, u - v)[int(rng.integers(6))]
        return warp_crop(patch.image, jitter(rng, quad + way * rng.uniform(0.42, 0.6)))

    def _half(self, rng: Rng) -> Image:
        """Cut half of a tile: the upper two circles of four must not pass for a tile of two."""
        patch = self.printed[int(rng.integers(len(self.printed)))]
        x0, y0, x1, y1 = (float(v) for v in patch.box)
        part = rng.uniform(0.42, 0.58)
        if rng.random() < 0.6:
            halves = ((x0, y0, x1, y0 + part * (y1 - y0)), (x0, y1 - part * (y1 - y0), x1, y1))
        else:
            halves = ((x0, y0, x0 + part * (x1 - x0), y1), (x1 - part * (x1 - x0), y0, x1, y1))
        half = np.array(halves[int(rng.integers(2))], np.float32)
        return warp_crop(patch.image, jitter(rng, crop_quad(half)))

    def _bare(self, rng: Rng) -> Image:
        """Cut what lies about a tile's width from a composed row, light cloth as well as dark."""
        for _ in range(8):
            scene = compose(rng, self.faces, self.surfaces, 320, least=34.0, real=self.cut)
            if len(scene.boxes):
                box = scene.boxes[int(rng.integers(len(scene.boxes)))]
                size = box[2:] - box[:2]
                way = ((1.1, 0), (-1.1, 0), (0, 1.15), (0, -1.15))[int(rng.integers(4))]
                moved = (box + np.tile(size * np.array(way, np.float32), 2)).astype(np.float32)
                inside = moved.min() >= 0 and moved.max() <= 320
                if inside and not _touches(moved, scene.boxes):
                    return warp_crop(scene.image, jitter(rng, crop_quad(moved)))
        return background(rng, [], 64)[:, :48]

    def _surface(self, rng: Rng) -> Image:
        """Cut a piece of bare table, as large as a tile: cloth must not pass for a tile's back."""
        whole = self.surfaces[int(rng.integers(len(self.surfaces)))]
        h = int(rng.integers(24, min(90, whole.shape[0])))
        w = round(h * 0.75)
        y, x = int(rng.integers(whole.shape[0] - h + 1)), int(rng.integers(whole.shape[1] - w + 1))
        piece = whole[y : y + h, x : x + w]
        return np.asarray(cv2.resize(piece, (CROP_W, CROP_H), interpolation=cv2.INTER_AREA), np.uint8)

    def real(self, rng: Rng, count: int) -> list[Drawn]:
        """Draw crops of photographed tiles."""
        picks = rng.choice(len(self.pool), count, p=self.chances)
        chosen = [self.pool[int(i)] for i in picks]
        return [(warp_crop(p.image, jitter(rng, crop_quad(p.box))), p.kind, 0) for p in chosen]

    def rendered(self, rng: Rng, count: int) -> list[Drawn]:
        """Draw crops of single rendered faces on a plain surround."""
        out = []
        for _ in range(count):
            kind = int(rng.integers(43))
            red = int(kind in FIVES and rng.random() < 0.3)
            face = self.faces[int(rng.integers(len(self.faces))), red_face(kind) if red else kind]
            pad = 24
            colour = tuple(int(c) for c in (face[2, 48] if rng.random() < 0.5 else rng.integers(0, 256, 3)))
            canvas = cv2.copyMakeBorder(face, pad, pad, pad, pad, cv2.BORDER_CONSTANT, value=colour)
            box = np.array([pad, pad, pad + FACE_W, pad + FACE_H], np.float32)
            out.append((warp_crop(np.asarray(canvas, np.uint8), jitter(rng, crop_quad(box))), kind, red))
        return out

    def composed(self, rng: Rng, count: int) -> list[Drawn]:
        """Draw crops cut from synthetic scenes, with neighbours and sides in them."""
        out: list[Drawn] = []
        while len(out) < count:
            scene = compose(rng, self.faces, self.surfaces, 320, least=34.0, real=self.cut)
            for box, kind, hidden, red in zip(scene.boxes, scene.kinds, scene.ignore, scene.red, strict=True):
                if not hidden and box[2] - box[0] > 14 and box[3] - box[1] > 14:
                    quad = jitter(rng, crop_quad(box))
                    out.append((warp_crop(scene.image, quad), int(kind), int(red)))
        return [out[int(i)] for i in rng.permutation(len(out))[:count]]

    def batch(self, rng: Rng, size: int) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
        """Return crops uint8 (size, 64, 48, 3), label numbers (size,), red fives (size,): 1, 0, -1."""
        n_other = rng.binomial(size, OTHER_SHARE)
        n_real, n_rendered, n_composed = (int(n) for n in rng.multinomial(size - n_other, self.shares))
        drawn = self.real(rng, n_real) + self.rendered(rng, n_rendered) + self.composed(rng, n_composed)
        drawn += [(self._other(rng), OTHER, 0) for _ in range(n_other)]
        images, reds = [], []
        for image, kind, red in drawn:
            tint, known = _tint(rng, kind, red)
            images.append(photometric_crop(rng, image, tint))
            reds.append(known)
        return np.stack(images), np.array([kind for _, kind, _ in drawn], np.int64), np.array(reds, np.int64)


def _tint(rng: Rng, kind: int, red: int) -> tuple[bool, int]:
    """Whether the hue may change, and what is known of a five's colour then: 1 red, 0 not, -1 nothing.

    A hue turned far, or a grey picture, hides what makes a five red.
    """
    if kind not in FIVES:
        return True, -1
    tint = not red and bool(rng.random() < 0.5)
    return tint, -1 if tint else red

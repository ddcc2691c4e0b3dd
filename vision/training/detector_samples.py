"""Training pictures of the detector, and the maps it shall answer with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.training.augment import photometric_scene
from vision.training.dataset import Boxes, Image, Photo
from vision.training.pen import Rng
from vision.training.realfaces import FaceSet
from vision.training.scenes import VISIBLE, compose

STRIDE = 8
CROP = 416
PAD = 114
SIDE_FLOOR = 0.45
UNLABELLED_WEIGHT = 0.03
PLAIN_WEIGHT = 0.5
PLAIN_DEVIATION = 13.0
Arrays = tuple[NDArray[np.float32], ...]


@dataclass(frozen=True)
class Sample:
    """One training picture: ``boxes`` (n, 4), ``ignore`` (n,), ``weight`` (H/8, W/8) of the heat loss."""

    image: Image
    boxes: Boxes
    ignore: NDArray[np.bool_]
    weight: NDArray[np.float32]


def _cells(sample: Sample, index: int, n: int) -> tuple[slice, slice]:
    x0, y0, x1, y1 = sample.boxes[index] / STRIDE
    return (
        slice(max(0, math.floor(y0)), min(n, math.ceil(y1))),
        slice(max(0, math.floor(x0)), min(n, math.ceil(x1))),
    )


def targets(sample: Sample) -> Arrays:
    """Return heat (n, n), sides (4, n, n) in cells, mask of box cells (n, n), heat weight (n, n)."""
    n = sample.image.shape[0] // STRIDE
    heat = np.zeros((n, n), np.float32)
    owner = np.zeros((n, n), np.float32)
    sides = np.ones((4, n, n), np.float32)
    weight = sample.weight.copy()
    at = np.arange(n, dtype=np.float32) + 0.5
    for i in np.flatnonzero(sample.ignore):
        weight[_cells(sample, int(i), n)] = 0
    for i in np.flatnonzero(~sample.ignore):
        x0, y0, x1, y1 = sample.boxes[i] / STRIDE
        sx, sy = max(SIDE_FLOOR, (x1 - x0) / 6), max(SIDE_FLOOR, (y1 - y0) / 6)
        cx, cy = (x0 + x1) / 2, (y0 + y1) / 2
        g = (
            np.exp(-((at - cy) ** 2) / (2 * sy * sy))[:, None]
            * np.exp(-((at - cx) ** 2) / (2 * sx * sx))[None]
        )
        row, col = min(n - 1, max(0, int(cy))), min(n - 1, max(0, int(cx)))
        g[row, col] = 1.0
        mine = (g > 0.45) & (g > owner)
        owner = np.where(mine, g, owner)
        grid = (at[None] - x0, at[:, None] - y0, x1 - at[None], y1 - at[:, None])
        for k, side in enumerate(grid):
            sides[k] = np.where(mine, np.broadcast_to(side, (n, n)), sides[k])
        heat = np.maximum(heat, g)
        weight[row, col] = 1.0
    sides = np.maximum(sides, 0.05)
    return heat, sides, (owner > 0).astype(np.float32), weight


def plain_cells(image: Image, window: float) -> NDArray[np.bool_]:
    """Tell which stride-8 cells lie in bare surface: little deviation within ``window`` pixels.

    A window is wider than a tile, so that even the plain back of an unlabelled tile shows an edge.
    """
    small = cv2.resize(image, None, fx=1 / STRIDE, fy=1 / STRIDE, interpolation=cv2.INTER_AREA).astype(
        np.float32
    )
    k = max(3, math.ceil(window / STRIDE))
    mean = cv2.blur(small, (k, k))
    spread = cv2.blur(small * small, (k, k)) - mean * mean
    return np.asarray(np.sqrt(np.maximum(spread, 0)).max(2) < PLAIN_DEVIATION)


def clear_patches(photos: Sequence[Photo], images: Sequence[Image]) -> list[Image]:
    """Cut squares without a labelled tile: anywhere in tray photographs, plain surfaces elsewhere.

    Table photographs show unlabelled tiles; a surface counts as plain where its deviation is small.
    """
    rng = np.random.default_rng(11)
    patches: list[Image] = []
    for photo, image in zip(photos, images, strict=True):
        h, w = image.shape[:2]
        for _ in range(6):
            side = int(rng.integers(60, 260))
            if min(h, w) <= side:
                continue
            x, y = int(rng.integers(w - side)), int(rng.integers(h - side))
            b = photo.boxes
            clear = ((b[:, 2] < x) | (b[:, 0] > x + side) | (b[:, 3] < y) | (b[:, 1] > y + side)).all()
            patch = image[y : y + side, x : x + side]
            if clear and (photo.source == "rf_tray" or patch.std() < 22):
                patches.append(patch)
    return patches


class Sampler:
    """Draws detector samples: 55 % from photographs, 45 % composed."""

    def __init__(
        self,
        photos: Sequence[Photo],
        faces: NDArray[np.uint8],
        real_share: float = 0.55,
        cut: Sequence[FaceSet] = (),
    ):
        self.cut = list(cut)
        self.photos = list(photos)
        self.images = [p.read() for p in self.photos]
        self.halves = [cv2.resize(i, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA) for i in self.images]
        self.faces = faces
        self.real_share = real_share
        self.chances = np.array(
            [{"rf_table": 2.0, "rf_tray": 0.6, "rf_train_aug": 1.0}[p.source] for p in self.photos]
        )
        self.chances /= self.chances.sum()
        self.patches = clear_patches(self.photos, self.images)

    def real(self, rng: Rng) -> Sample:
        """Cut a scaled, stretched, perhaps turned piece out of a photograph."""
        which = int(rng.choice(len(self.photos), p=self.chances))
        photo, image = self.photos[which], self.images[which]
        boxes = photo.boxes
        long_side = float(np.median(np.maximum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1])))
        low, high = (90, 240) if rng.random() < 0.15 else (26, 96)
        scale = math.exp(rng.uniform(math.log(low), math.log(high))) / long_side
        stretch = math.sqrt(rng.uniform(0.88, 1.14))
        f = np.array([scale * stretch, scale / stretch])
        pick = boxes[int(rng.integers(len(boxes)))]
        middle = np.array([pick[0] + pick[2], pick[1] + pick[3]]) / 2 * f
        shift = CROP / 2 - middle + rng.uniform(-0.45, 0.45, 2) * CROP
        source, g = (self.halves[which], 2.0) if scale < 0.6 else (image, 1.0)
        m = np.array([[f[0] * g, 0, shift[0]], [0, f[1] * g, shift[1]]])
        border = PAD if rng.random() < 0.7 else int(rng.integers(256))
        out = cv2.warpAffine(source, m, (CROP, CROP), flags=cv2.INTER_LINEAR, borderValue=(border,) * 3)
        every = np.concatenate([boxes, photo.unclear])
        moved = every * np.tile(f, 2).astype(np.float32) + np.tile(shift, 2).astype(np.float32)
        unclear = np.arange(len(every)) >= len(boxes)
        weight = self._weight(photo, moved, image.shape, f, shift)
        plain = plain_cells(np.asarray(out, np.uint8), 1.3 * scale * long_side)
        weight = np.where(plain, np.maximum(weight, PLAIN_WEIGHT), weight).astype(np.float32)
        sample = _clip(np.asarray(out, np.uint8), moved.astype(np.float32), unclear, weight)
        return _quarter_turn(rng, sample) if rng.random() < 0.4 else sample

    def _weight(
        self,
        photo: Photo,
        boxes: Boxes,
        shape: tuple[int, ...],
        f: NDArray[np.float64],
        shift: NDArray[np.float64],
    ) -> NDArray[np.float32]:
        n = CROP // STRIDE
        if photo.source == "rf_tray":
            return np.ones((n, n), np.float32)
        weight = np.ones((n, n), np.float32)
        x0, y0 = np.clip(np.floor(shift / STRIDE).astype(int), 0, n)
        x1, y1 = np.clip(np.ceil((shift + f * (shape[1], shape[0])) / STRIDE).astype(int), 0, n)
        weight[y0:y1, x0:x1] = UNLABELLED_WEIGHT
        half = float(np.median(boxes[:, 3] - boxes[:, 1])) / 2
        lo = np.clip(np.floor((boxes[:, :2].min(0) - half) / STRIDE).astype(int), 0, n)
        hi = np.clip(np.ceil((boxes[:, 2:].max(0) + half) / STRIDE).astype(int), 0, n)
        weight[lo[1] : hi[1], lo[0] : hi[0]] = 1
        return weight

    def composed(self, rng: Rng) -> Sample:
        """Compose a synthetic scene."""
        scene = compose(rng, self.faces, self.patches, CROP, real=self.cut)
        n = CROP // STRIDE
        return Sample(scene.image, scene.boxes, scene.ignore, np.ones((n, n), np.float32))

    def batch(self, rng: Rng, size: int) -> Arrays:
        """Return images uint8 (size, H, W, 3) and the stacked targets."""
        images, rows = [], []
        for _ in range(size):
            sample = self.real(rng) if rng.random() < self.real_share else self.composed(rng)
            images.append(photometric_scene(rng, sample.image))
            rows.append(targets(sample))
        stacked = [np.stack(column) for column in zip(*rows, strict=True)]
        return (np.stack(images), *stacked)


def _clip(image: Image, boxes: Boxes, unclear: NDArray[np.bool_], weight: NDArray[np.float32]) -> Sample:
    inside = np.clip(boxes, 0, CROP)
    area = (inside[:, 2] - inside[:, 0]) * (inside[:, 3] - inside[:, 1])
    shown = area / np.maximum((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]), 1e-6)
    keep = shown > 0.02
    return Sample(image, boxes[keep], ((shown < VISIBLE) | unclear)[keep], weight)


def _quarter_turn(rng: Rng, sample: Sample) -> Sample:
    image, boxes, weight = sample.image, sample.boxes, sample.weight
    for _ in range(int(rng.integers(1, 4))):
        image, weight = np.rot90(image), np.rot90(weight)
        boxes = np.stack([boxes[:, 1], CROP - boxes[:, 2], boxes[:, 3], CROP - boxes[:, 0]], 1)
    return Sample(np.ascontiguousarray(image), boxes, sample.ignore, np.ascontiguousarray(weight))

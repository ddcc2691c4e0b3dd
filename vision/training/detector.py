"""The tile detector: one stride-8 map of centres and box sides. Network, targets, loss, samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional as fn

from vision.training.art import Rng
from vision.training.augment import photometric_scene
from vision.training.dataset import Boxes, Image, Photo
from vision.training.scenes import VISIBLE, compose

STRIDE = 8
CROP = 416
PAD = 114
SIDE_FLOOR = 0.45
UNLABELLED_WEIGHT = 0.03
Arrays = tuple[NDArray[np.float32], ...]


def conv(inside: int, outside: int, stride: int = 1, kernel: int = 3) -> nn.Sequential:
    """Convolution + batch norm + ReLU."""
    return nn.Sequential(
        nn.Conv2d(inside, outside, kernel, stride, kernel // 2, bias=False),
        nn.BatchNorm2d(outside),
        nn.ReLU(inplace=True),
    )


class Residual(nn.Module):  # type: ignore[misc]
    """x + two convolutions, ReLU after the sum."""

    def __init__(self, width: int):
        super().__init__()
        self.first = conv(width, width)
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return a map of the same shape."""
        return fn.relu(x + self.second(self.first(x)))


class Detector(nn.Module):  # type: ignore[misc]
    """0.9 M parameters; float (N, 3, H, W) BGR normalised -> (N, 5, H/8, W/8): heat, log l, t, r, b."""

    def __init__(self) -> None:
        super().__init__()
        self.s4 = nn.Sequential(conv(3, 16, 2), conv(16, 32, 2), conv(32, 32))
        self.s8 = nn.Sequential(conv(32, 64, 2), Residual(64))
        self.s16 = nn.Sequential(conv(64, 96, 2), Residual(96))
        self.s32 = nn.Sequential(conv(96, 128, 2), Residual(128))
        self.top = conv(128, 64, kernel=1)
        self.side16, self.join16 = conv(96, 64, kernel=1), conv(64, 64)
        self.side8, self.join8 = conv(64, 64, kernel=1), Residual(64)
        self.head = nn.Sequential(conv(64, 64), nn.Conv2d(64, 5, 1))
        with torch.no_grad():
            self.head[1].weight.mul_(0.1)
            self.head[1].bias.copy_(torch.tensor([-4.0, 0.7, 0.7, 0.7, 0.7]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the five maps at stride 8."""
        c8 = self.s8(self.s4(x))
        c16 = self.s16(c8)
        up = fn.interpolate(self.top(self.s32(c16)), scale_factor=2.0, mode="nearest")
        p16 = self.join16(up + self.side16(c16))
        p8 = self.join8(fn.interpolate(p16, scale_factor=2.0, mode="nearest") + self.side8(c8))
        return self.head(p8)


def normalise(images: torch.Tensor) -> torch.Tensor:
    """Turn uint8 (N, H, W, 3) into the float (N, 3, H, W) that the networks take."""
    return (images.permute(0, 3, 1, 2).float() - 127.5) / 64.0


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


def loss(
    maps: torch.Tensor, heat: torch.Tensor, sides: torch.Tensor, mask: torch.Tensor, weight: torch.Tensor
) -> torch.Tensor:
    """CenterNet focal loss of the centres + 2 x GIoU of the boxes."""
    maps = maps.float()
    logit = maps[:, 0]
    p = torch.sigmoid(logit).clamp(1e-5, 1 - 1e-5)
    positive = heat >= 0.999
    near = (1 - p) ** 2 * torch.log(p)
    far = (1 - heat) ** 4 * p**2 * torch.log(1 - p)
    focal = -(torch.where(positive, near, far) * weight).sum() / positive.sum().clamp(min=1)
    sure = maps[:, 1:].clamp(-4, 5).exp()
    overlap = [torch.minimum(sure[:, k], sides[:, k]) for k in range(4)]
    hull = [torch.maximum(sure[:, k], sides[:, k]) for k in range(4)]
    inter = (overlap[0] + overlap[2]) * (overlap[1] + overlap[3])
    area = (sure[:, 0] + sure[:, 2]) * (sure[:, 1] + sure[:, 3])
    wanted = (sides[:, 0] + sides[:, 2]) * (sides[:, 1] + sides[:, 3])
    union = area + wanted - inter
    cover = (hull[0] + hull[2]) * (hull[1] + hull[3])
    giou = inter / union - (cover - union) / cover
    return focal + 2 * ((1 - giou) * mask).sum() / mask.sum().clamp(min=1)


class Sampler:
    """Draws detector samples: 55 % from photographs, 45 % composed."""

    def __init__(self, photos: Sequence[Photo], faces: NDArray[np.uint8], real_share: float = 0.55):
        self.photos = list(photos)
        self.images = [p.read() for p in self.photos]
        self.halves = [cv2.resize(i, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA) for i in self.images]
        self.faces = faces
        self.real_share = real_share
        self.chances = np.array(
            [{"rf_table": 2.0, "rf_tray": 0.6, "rf_train_aug": 1.0}[p.source] for p in self.photos]
        )
        self.chances /= self.chances.sum()
        self.patches = self._find_patches()

    def _find_patches(self) -> list[Image]:
        rng = np.random.default_rng(11)
        patches: list[Image] = []
        for photo, image in zip(self.photos, self.images, strict=True):
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
        moved = boxes * np.tile(f, 2).astype(np.float32) + np.tile(shift, 2).astype(np.float32)
        weight = self._weight(photo, moved, image.shape, f, shift)
        sample = _clip(np.asarray(out, np.uint8), moved.astype(np.float32), weight)
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
        scene = compose(rng, self.faces, self.patches, CROP)
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


def _clip(image: Image, boxes: Boxes, weight: NDArray[np.float32]) -> Sample:
    inside = np.clip(boxes, 0, CROP)
    area = (inside[:, 2] - inside[:, 0]) * (inside[:, 3] - inside[:, 1])
    shown = area / np.maximum((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]), 1e-6)
    keep = shown > 0.02
    return Sample(image, boxes[keep], (shown < VISIBLE)[keep], weight)


def _quarter_turn(rng: Rng, sample: Sample) -> Sample:
    image, boxes, weight = sample.image, sample.boxes, sample.weight
    for _ in range(int(rng.integers(1, 4))):
        image, weight = np.rot90(image), np.rot90(weight)
        boxes = np.stack([boxes[:, 1], CROP - boxes[:, 2], boxes[:, 3], CROP - boxes[:, 0]], 1)
    return Sample(np.ascontiguousarray(image), boxes, sample.ignore, np.ascontiguousarray(weight))

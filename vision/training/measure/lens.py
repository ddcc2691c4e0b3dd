"""What a table and a camera add to tiles: bare surface, uneven light, blur, noise, JPEG."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.training.augment import noise_patch
from vision.training.dataset import Image
from vision.training.pen import Rng


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

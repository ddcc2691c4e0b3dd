"""Light, blur and noise as cameras make them; works on uint8 BGR images in place of a new lens."""

from __future__ import annotations

import cv2
import numpy as np

from vision.training.dataset import Image
from vision.training.pen import Rng

_NOISE = np.random.default_rng(5).normal(0, 1, (1024, 1024, 3)).astype(np.float32)


def noise_patch(rng: Rng, height: int, width: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Return unit Gaussian noise (H, W, 3) cut from a fixed pool (H, W <= 1024)."""
    y, x = int(rng.integers(1024 - height + 1)), int(rng.integers(1024 - width + 1))
    return _NOISE[y : y + height, x : x + width]


def _gamma_table(rng: Rng, strength: float) -> Image:
    ramp = np.linspace(0, 1, 256)
    gamma = np.exp(rng.normal(0, 0.3 * strength))
    gain = np.exp(rng.normal(0, 0.2 * strength))
    offset = rng.normal(0, 0.05 * strength)
    return np.asarray(np.clip((ramp**gamma * gain + offset) * 255, 0, 255), np.uint8)


def shift_hue(rng: Rng, image: Image, degrees: float) -> Image:
    """Turn the hue by up to ``degrees`` and scale the saturation."""
    hsv = cv2.cvtColor(image, cv2.COLOR_BGR2HSV)
    turn = round(rng.uniform(-degrees, degrees) / 2)
    hue = ((np.arange(256) + turn) % 180).astype(np.uint8)
    saturation = np.clip(np.arange(256) * rng.uniform(0.6, 1.35), 0, 255).astype(np.uint8)
    hsv[..., 0] = hue[hsv[..., 0]]
    hsv[..., 1] = saturation[hsv[..., 1]]
    return np.asarray(cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR), np.uint8)


def shade(rng: Rng, image: Image) -> Image:
    """Lay a linear gradient or a hard-edged shadow over the image."""
    h, w = image.shape[:2]
    angle = rng.uniform(0, 2 * np.pi)
    y, x = np.mgrid[0:h, 0:w].astype(np.float32)
    ramp = (x / w - 0.5) * np.cos(angle) + (y / h - 0.5) * np.sin(angle)
    if rng.random() < 0.5:
        weight = 1 + ramp * rng.uniform(-0.8, 0.8)
    else:
        softness = rng.uniform(0.005, 0.1)
        weight = 1 - rng.uniform(0.2, 0.55) / (1 + np.exp(-(ramp - rng.uniform(-0.3, 0.3)) / softness))
    return np.asarray(np.clip(image * weight[..., None].astype(np.float32), 0, 255), np.uint8)


def glare(rng: Rng, image: Image) -> Image:
    """Add a soft bright blob, as a lamp leaves on plastic."""
    h, w = image.shape[:2]
    y, x = np.mgrid[0:h, 0:w].astype(np.float32)
    cx, cy = rng.uniform(0, w), rng.uniform(0, h)
    rx, ry = rng.uniform(0.1, 0.5) * w, rng.uniform(0.1, 0.5) * h
    blob = np.exp(-(((x - cx) / rx) ** 2) - ((y - cy) / ry) ** 2) * rng.uniform(60, 220)
    return np.asarray(np.clip(image + blob[..., None], 0, 255), np.uint8)


def blur(rng: Rng, image: Image, strength: float = 1.0) -> Image:
    """Blur by defocus or by motion."""
    if rng.random() < 0.6:
        return np.asarray(cv2.GaussianBlur(image, (0, 0), rng.uniform(0.3, 1.6) * strength), np.uint8)
    n = int(rng.integers(2, 3 + round(4 * strength)))
    kernel = np.zeros((n, n), np.float32)
    line = [
        (0, n // 2, n - 1, n // 2),
        (n // 2, 0, n // 2, n - 1),
        (0, 0, n - 1, n - 1),
        (0, n - 1, n - 1, 0),
    ]
    x0, y0, x1, y1 = line[int(rng.integers(4))]
    cv2.line(kernel, (x0, y0), (x1, y1), 1.0)
    return np.asarray(cv2.filter2D(image, -1, kernel / kernel.sum()), np.uint8)


def down_up(rng: Rng, image: Image, low: float = 0.25, high: float = 0.7) -> Image:
    """Lose detail: shrink and grow again."""
    h, w = image.shape[:2]
    f = rng.uniform(low, high)
    small = cv2.resize(image, (max(4, int(w * f)), max(4, int(h * f))), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.resize(small, (w, h), interpolation=cv2.INTER_LINEAR), np.uint8)


def add_noise(rng: Rng, image: Image, most: float = 14.0) -> Image:
    """Add sensor noise of a random strength."""
    h, w = image.shape[:2]
    return np.clip(image + noise_patch(rng, h, w) * rng.uniform(1, most), 0, 255).astype(np.uint8)


def jpeg(rng: Rng, image: Image) -> Image:
    """Pass through a JPEG of low quality."""
    _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(25, 80))])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def photometric_scene(rng: Rng, image: Image) -> Image:
    """Change a whole detector sample: tone, colour, shade, sharpness, noise."""
    if rng.random() < 0.8:
        image = np.asarray(cv2.LUT(image, _gamma_table(rng, 1.0)), np.uint8)
    if rng.random() < 0.4:
        image = shift_hue(rng, image, 25)
    if rng.random() < 0.5:
        gains = np.clip(np.arange(256)[:, None] * np.exp(rng.normal(0, 0.1, 3)), 0, 255).astype(np.uint8)
        image = np.asarray(cv2.LUT(image, gains[:, None, :]), np.uint8)
    if rng.random() < 0.25:
        image = shade(rng, image)
    if rng.random() < 0.3:
        image = blur(rng, image)
    if rng.random() < 0.15:
        image = down_up(rng, image, 0.45, 0.85)
    if rng.random() < 0.3:
        image = add_noise(rng, image)
    return image


def _edge(rng: Rng, image: Image) -> Image:
    h, w = image.shape[:2]
    image = image.copy()
    colour = rng.integers(0, 256, 3)
    depth = rng.uniform(0.04, 0.16)
    side = int(rng.integers(4))
    if side < 2:
        n = max(1, int(h * depth))
        image[:n] = colour if side == 0 else image[:n]
        image[h - n :] = colour if side == 1 else image[h - n :]
    else:
        n = max(1, int(w * depth))
        image[:, :n] = colour if side == 2 else image[:, :n]
        image[:, w - n :] = colour if side == 3 else image[:, w - n :]
    return image


def photometric_crop(rng: Rng, image: Image, tint: bool = True) -> Image:
    """Change one classifier crop, stronger than a whole scene; without ``tint`` its hues stay."""
    if rng.random() < 0.8:
        image = np.asarray(cv2.LUT(image, _gamma_table(rng, 1.1)), np.uint8)
    if rng.random() < 0.6:
        gains = np.clip(np.arange(256)[:, None] * np.exp(rng.normal(0, 0.15, 3)), 0, 255).astype(np.uint8)
        image = np.asarray(cv2.LUT(image, gains[:, None, :]), np.uint8)
    if tint and rng.random() < 0.35:
        image = shift_hue(rng, image, 90 if rng.random() < 0.2 else 30)
    if tint and rng.random() < 0.12:
        image = np.repeat(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)[..., None], 3, 2)
    if rng.random() < 0.25:
        image = shade(rng, image)
    if rng.random() < 0.15:
        image = glare(rng, image)
    if rng.random() < 0.3:
        image = blur(rng, image, 0.7)
    if rng.random() < 0.3:
        image = down_up(rng, image)
    if rng.random() < 0.3:
        image = add_noise(rng, image)
    if rng.random() < 0.15:
        image = jpeg(rng, image)
    if rng.random() < 0.08:
        image = _edge(rng, image)
    return image

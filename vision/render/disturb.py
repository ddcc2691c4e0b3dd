"""Draws what disturbs a frame (`vision.render.upset`) over a rendered table (numpy and OpenCV only)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from vision.geometry import Matrix, Pinhole
from vision.readings import Image
from vision.render.upset import Arm, Bump, Colour, Glare, Upset
from vision.table import TABLE_HALF, TILE_DEPTH, from_place

__all__ = ["draw_arms", "draw_glares", "shake"]

USUAL_WIDTH = 1600
"""Width of the picture whose pixels an `Upset` counts in."""
FINGERS = ((-32.0, -38.0), (-14.0, -8.0), (4.0, 0.0), (22.0, -12.0))
"""Across the hand, and how far behind the longest finger tip the others end, in mm."""
THUMB = ((-34.0, -118.0), (-66.0, -78.0))
FINGER, PALM, WRIST, ELBOW = 9.5, 44.0, 34.0, 46.0
"""Half widths of the parts of an arm, in mm."""
SHADE = 0.62
HALO = 2.3
"""Radius of a mirrored lamp's halo, in radii of its core: what lies beyond is below a grey level."""


def _line(
    start: Sequence[float], end: Sequence[float], first: float, last: float
) -> list[tuple[Matrix, float]]:
    """Discs along a line whose radius goes from first to last: middles and radii in the hand's own frame."""
    steps = max(2, int(np.hypot(end[0] - start[0], end[1] - start[1]) / 5))
    return [
        (
            np.asarray(start) + (np.asarray(end) - np.asarray(start)) * k / steps,
            first + (last - first) * k / steps,
        )
        for k in range(steps + 1)
    ]


def _parts(arm: Arm) -> tuple[list[tuple[Matrix, float]], list[tuple[Matrix, float]]]:
    """Discs of hand and sleeve in the arm's frame: the longest finger tip at 0, 0, the elbow towards -y."""
    hand: list[tuple[Matrix, float]] = []
    for x, y in FINGERS:
        hand += _line((x, y - FINGER), (x * 0.9, -95.0), FINGER, FINGER + 1)
    hand += _line(*THUMB, 13.0, 10.0)
    hand += _line((0.0, -118.0), (0.0, -150.0), PALM, PALM) + _line((0.0, -150.0), (0.0, -195.0), PALM, WRIST)
    sleeve = _line((0.0, -195.0), (0.0, -205.0 - arm.reach), WRIST, ELBOW)
    return hand, sleeve


def _discs(
    arm: Arm, parts: list[tuple[Matrix, float]], camera: Pinhole, z: float
) -> list[tuple[Matrix, float]]:
    """Middles and radii in pixels."""
    cos, sin = np.cos(np.radians(-arm.lean)), np.sin(np.radians(-arm.lean))
    tip = np.asarray([arm.x, -TABLE_HALF + arm.reach])
    local = np.asarray([middle for middle, _ in parts])
    turned = np.stack([local[:, 0] * cos - local[:, 1] * sin, local[:, 0] * sin + local[:, 1] * cos], axis=1)
    world = from_place(arm.place, turned + tip)
    flat = np.concatenate([world, np.full((len(world), 1), z)], axis=1)
    middles = camera.project(flat)
    beside = camera.project(flat + np.asarray([[radius, 0.0, 0.0] for _, radius in parts]))
    radii = np.linalg.norm(beside - middles, axis=1)
    return list(zip(middles, radii.tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class _Shape:
    """A mask ``(h, w)`` and where its top left corner lies in the picture, x and y."""

    mask: Image
    x: int
    y: int

    def part(self, image: Image) -> Image:
        """The pixels of a picture beneath the mask."""
        return image[self.y : self.y + self.mask.shape[0], self.x : self.x + self.mask.shape[1]]


def _shape(size: tuple[int, int], discs: list[tuple[Matrix, float]], margin: int = 2) -> _Shape | None:
    """Draw discs, as far as they are inside a picture of ``size`` (height, width); None where none is."""
    middles = np.clip(np.asarray([middle for middle, _ in discs]), -1e4, 1e4)
    radii = np.asarray([radius for _, radius in discs])[:, None]
    low = np.maximum(np.floor((middles - radii).min(axis=0)).astype(int) - margin, 0)
    high = np.minimum(np.ceil((middles + radii).max(axis=0)).astype(int) + margin, (size[1], size[0]))
    if (high <= low).any():
        return None
    mask = np.zeros((int(high[1] - low[1]), int(high[0] - low[0])), np.uint8)
    for (x, y), radius in zip(np.rint(middles - low).astype(int).tolist(), radii[:, 0], strict=True):
        cv2.circle(mask, (x, y), max(1, round(float(radius))), 255, -1, cv2.LINE_AA)
    return _Shape(mask, int(low[0]), int(low[1]))


def draw_arms(image: Image, arms: Sequence[Arm], camera: Pinhole, slant: Matrix) -> Image:
    """Draw arms with their soft shadows; ``slant``: millimetres of shadow per millimetre of height."""
    if not arms:
        return image
    image, size = image.copy(), (image.shape[0], image.shape[1])
    for arm in arms:
        hand, sleeve = _parts(arm)
        points = np.asarray([[*(slant * arm.height), 2.0], [0.0, 0.0, 2.0]])
        shift = -np.diff(camera.project(points), axis=0)[0]
        below = [(middle + shift, radius) for middle, radius in _discs(arm, [*hand, *sleeve], camera, 2.0)]
        soft = image.shape[1] / 180
        shadow = _shape(size, below, margin=int(3 * soft))
        if shadow is not None:
            blurred = np.asarray(cv2.GaussianBlur(shadow.mask, (0, 0), soft), np.uint8)
            part = shadow.part(image)
            part[:] = _mix(part, (part * SHADE).astype(np.uint8), blurred)
        for parts, colour in ((sleeve, arm.sleeve or arm.colour), (hand, arm.colour)):
            shape = _shape(size, _discs(arm, parts, camera, arm.height))
            if shape is not None:
                part = shape.part(image)
                part[:] = _mix(part, _rounded(shape.mask, colour, image.shape[1] / 90), shape.mask)
    return image


def _rounded(mask: Image, colour: Colour, round_px: float) -> Image:
    """The colour, darker towards the rim: skin and cloth are round, not flat."""
    depth = cv2.distanceTransform((mask > 127).astype(np.uint8), cv2.DIST_L2, 3)
    shade = 0.72 + 0.28 * np.clip(depth / max(1.0, round_px), 0, 1)
    return np.asarray(np.clip(shade[..., None] * np.asarray(colour, np.float32), 0, 255), np.uint8)


def _mix(image: Image, over: Image, mask: Image) -> Image:
    share = mask.astype(np.float32)[..., None] / 255
    return np.asarray(np.rint(image * (1 - share) + over * share), np.uint8)


def draw_glares(image: Image, glares: Sequence[Glare], camera: Pinhole) -> Image:
    """Add the light of lamps mirrored at tile height: a core that is white, and a halo."""
    if not glares:
        return image
    image = image.copy()
    for glare in glares:
        spot = np.asarray([[glare.x, glare.y, TILE_DEPTH], [glare.x + glare.radius, glare.y, TILE_DEPTH]])
        middle, beside = camera.project(spot)
        radius = max(1.0, float(np.linalg.norm(beside - middle)))
        left, top = np.maximum((middle - HALO * radius).astype(int), 0)
        right, bottom = np.minimum((middle + HALO * radius).astype(int), (image.shape[1], image.shape[0]))
        if right <= left or bottom <= top:
            continue
        y, x = np.mgrid[top:bottom, left:right].astype(np.float32)
        far = np.hypot(x - middle[0], y - middle[1]) / radius
        light = 330 * glare.strength * np.exp(-(np.maximum(0, far - 0.6) ** 2) / 0.35)
        part = image[top:bottom, left:right]
        part[:] = np.clip(part + light[..., None], 0, 255).astype(np.uint8)
    return image


def shake(image: Image, upset: Upset) -> Image:
    """Light, bump, blur and motion of a frame, in this order."""
    scale = image.shape[1] / USUAL_WIDTH
    if upset.gain != 1.0:
        image = np.asarray(cv2.convertScaleAbs(image, alpha=upset.gain), np.uint8)
    if upset.bump != Bump():
        image = _bumped(image, upset.bump, scale)
    if upset.blur > 0:
        image = np.asarray(cv2.GaussianBlur(image, (0, 0), upset.blur * scale), np.uint8)
    length = float(np.hypot(*upset.smear)) * scale
    if length >= 1:
        image = np.asarray(cv2.filter2D(image, -1, _streak(upset.smear, length)), np.uint8)
    return image


def _bumped(image: Image, bump: Bump, scale: float) -> Image:
    height, width = image.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), bump.turn, 1.0)
    matrix[0, 2] += bump.x * scale
    matrix[1, 2] += bump.y * scale
    moved = cv2.warpAffine(
        image, matrix, (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(moved, np.uint8)


def _streak(way: tuple[float, float], length: float) -> Matrix:
    """Kernel of a straight even motion of ``length`` pixels."""
    half = int(np.ceil(length / 2))
    kernel = np.zeros((2 * half + 1, 2 * half + 1), np.float64)
    step = np.asarray(way) / np.hypot(*way)
    for part in np.linspace(-length / 2, length / 2, 8 * half + 1):
        column, row = np.rint(half + part * step).astype(int)
        kernel[row, column] += 1
    return np.asarray(kernel / kernel.sum(), np.float64)

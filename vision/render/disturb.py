"""Draws what disturbs a frame (`vision.render.upset`) over a rendered table (numpy and OpenCV only)."""

from __future__ import annotations

from collections.abc import Sequence

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


def _mask(image: Image, discs: list[tuple[Matrix, float]]) -> Image:
    mask = np.zeros(image.shape[:2], np.uint8)
    for middle, radius in discs:
        centre = (round(float(np.clip(middle[0], -1e4, 1e4))), round(float(np.clip(middle[1], -1e4, 1e4))))
        cv2.circle(mask, centre, max(1, round(radius)), 255, -1, cv2.LINE_AA)
    return mask


def draw_arms(image: Image, arms: Sequence[Arm], camera: Pinhole, slant: Matrix) -> Image:
    """Draw arms with their soft shadows; ``slant``: millimetres of shadow per millimetre of height."""
    for arm in arms:
        hand, sleeve = _parts(arm)
        below = [(middle, radius) for middle, radius in _discs(arm, [*hand, *sleeve], camera, 2.0)]
        shift = camera.project(np.asarray([[*(slant * arm.height), 2.0]])) - camera.project(
            np.asarray([[0.0, 0.0, 2.0]])
        )
        shadow = _mask(image, [(middle + shift[0], radius) for middle, radius in below])
        shadow = np.asarray(cv2.GaussianBlur(shadow, (0, 0), image.shape[1] / 180), np.uint8)
        image = _mix(image, (image * SHADE).astype(np.uint8), shadow)
        covered = arm.sleeve or arm.colour
        for parts, colour in ((sleeve, covered), (hand, arm.colour)):
            mask = _mask(image, _discs(arm, parts, camera, arm.height))
            image = _mix(image, _rounded(mask, colour), mask)
    return image


def _rounded(mask: Image, colour: Colour) -> Image:
    """The colour, darker towards the rim: skin and cloth are round, not flat."""
    depth = cv2.distanceTransform((mask > 127).astype(np.uint8), cv2.DIST_L2, 3)
    shade = 0.72 + 0.28 * np.clip(depth / max(1.0, mask.shape[1] / 90), 0, 1)
    return np.asarray(np.clip(shade[..., None] * np.asarray(colour, np.float32), 0, 255), np.uint8)


def _mix(image: Image, over: Image, mask: Image) -> Image:
    share = mask.astype(np.float32)[..., None] / 255
    return np.asarray(np.rint(image * (1 - share) + over * share), np.uint8)


def draw_glares(image: Image, glares: Sequence[Glare], camera: Pinhole) -> Image:
    """Add the light of lamps mirrored at tile height: a core that is white, and a halo."""
    if not glares:
        return image
    y, x = np.mgrid[0 : image.shape[0], 0 : image.shape[1]].astype(np.float32)
    bright = image.astype(np.float32)
    for glare in glares:
        spot = np.asarray([[glare.x, glare.y, TILE_DEPTH], [glare.x + glare.radius, glare.y, TILE_DEPTH]])
        middle, beside = camera.project(spot)
        radius = max(1.0, float(np.linalg.norm(beside - middle)))
        far = np.hypot(x - middle[0], y - middle[1]) / radius
        bright += 330 * glare.strength * np.exp(-(np.maximum(0, far - 0.6)[..., None] ** 2) / 0.35)
    return np.asarray(np.clip(bright, 0, 255), np.uint8)


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

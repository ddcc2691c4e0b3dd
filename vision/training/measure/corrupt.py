"""What spoils pictures of tables, each at three strengths: lens, lamp, camera position, hands, laying."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision.training.dataset import Image
from vision.training.measure.compose import Conditions, Picture
from vision.training.measure.deal import Deal
from vision.training.measure.lens import noise
from vision.training.pen import Rng

STRENGTHS = ("weak", "medium", "strong")
BLUR = (0.015, 0.03, 0.05)
"""Sigma as a share of a tile's long side."""
GLARE = ((1, 0.5, 110.0), (2, 0.8, 170.0), (3, 1.2, 230.0))
"""Blobs, their radius in long sides of a tile, their height in grey values."""
DARK = (0.5, 0.3, 0.15)
"""What is left of the light; the sensor's noise stays."""
JPEG = (40, 20, 10)
ROTATION = (5.0, 10.0, 15.0)
SCALE = ((90.0, 120.0), (30.0, 36.0), (24.0, 27.0))
COVER = ((1, 0.15), (1, 0.3), (2, 0.5))
"""Tiles covered from one side, and which share of each."""
COVERS = ((110, 135, 185), (150, 175, 225), (60, 50, 45), (90, 90, 160))
"""Colours of fingers and sleeves."""
SIDEWAYS = (1, 2, 4)
UPSIDE_DOWN = (0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Corruption:
    """A way of spoiling and its strength, 0 to 2."""

    name: str
    strength: int

    @property
    def cell(self) -> str:
        """Name of its cell in the table."""
        return f"{self.name} {STRENGTHS[self.strength]}"

    def conditions(self, rng: Rng) -> Conditions:
        """How the picture is taken."""
        plain = Conditions()
        if self.name == "rotation":
            return replace(plain, turn=ROTATION[self.strength] * float(rng.choice([-1, 1])))
        if self.name == "scale":
            return replace(plain, long_side=SCALE[self.strength], most_enlarged=4.0)
        if self.name == "upside down":
            return replace(plain, upside_down=UPSIDE_DOWN[self.strength])
        return plain

    def dealt(self, rng: Rng, dealt: Deal) -> Deal:
        """How the tiles lie."""
        if self.name != "sideways":
            return dealt
        turned = rng.choice(len(dealt.kinds), SIDEWAYS[self.strength], replace=False)
        return replace(dealt, sideways=frozenset(int(i) for i in turned))

    def spoil(self, rng: Rng, picture: Picture) -> Picture:
        """Spoil a picture that was taken."""
        image, k = picture.image, self.strength
        sizes = picture.boxes[:, 2:] - picture.boxes[:, :2]
        long_side = float(np.median(sizes.max(1)))
        if self.name == "blur":
            image = np.asarray(cv2.GaussianBlur(image, (0, 0), BLUR[k] * long_side), np.uint8)
        elif self.name == "dark":
            grain = noise(rng, image.shape[0], image.shape[1]) * 4
            image = np.clip(image * DARK[k] + grain, 0, 255).astype(np.uint8)
        elif self.name == "JPEG":
            _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG[k]])
            image = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
        elif self.name == "glare":
            image = _glare(rng, picture, long_side, *GLARE[k])
        elif self.name == "partial cover":
            image = _covered(rng, picture, *COVER[k])
        return replace(picture, image=image)


NAMES = ("blur", "glare", "dark", "JPEG", "rotation", "scale", "partial cover", "sideways", "upside down")
CORRUPTIONS = tuple(Corruption(name, k) for name in NAMES for k in range(len(STRENGTHS)))


def _glare(rng: Rng, picture: Picture, long_side: float, blobs: int, radius: float, height: float) -> Image:
    y, x = np.mgrid[0 : picture.image.shape[0], 0 : picture.image.shape[1]].astype(np.float32)
    light = np.zeros(picture.image.shape[:2], np.float32)
    for box in picture.boxes[rng.choice(len(picture.boxes), blobs, replace=False)]:
        cx, cy = rng.uniform(box[0], box[2]), rng.uniform(box[1], box[3])
        rx, ry = radius * long_side * rng.uniform(0.6, 1.4, 2) / 1.5
        light += height * np.exp(-(((x - cx) / rx) ** 2) - ((y - cy) / ry) ** 2)
    return np.asarray(np.clip(picture.image + light[..., None], 0, 255), np.uint8)


def _covered(rng: Rng, picture: Picture, tiles: int, share: float) -> Image:
    """Lay something of one colour, as a finger or a sleeve, over a side of some tiles."""
    image = picture.image.copy()
    for index in rng.choice(len(picture.boxes), tiles, replace=False):
        x0, y0, x1, y1 = (float(v) for v in picture.boxes[index])
        middle, half = np.array([(x0 + x1) / 2, (y0 + y1) / 2]), np.array([x1 - x0, y1 - y0]) / 2
        angle = float(rng.choice([0, 90, 180, 270])) + rng.uniform(-12, 12)
        way = np.array([math.cos(math.radians(angle)), math.sin(math.radians(angle))])
        reach = float(np.abs(way) @ half)
        across = np.array([-way[1], way[0]]) * float(np.abs(way[::-1]) @ half) * 1.05
        near, far = middle + way * reach * (1 - 2 * share), middle + way * reach * 1.35
        quad = np.stack([near - across, near + across, far + across, far - across])
        colour = COVERS[int(rng.integers(len(COVERS)))]
        cv2.fillConvexPoly(image, np.round(quad * 16).astype(np.int32), colour, cv2.LINE_AA, 4)
    return image

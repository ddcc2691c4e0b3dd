# mypy: disable-error-code="import-not-found"
"""A small canvas for tile faces: shapes in grid units, glyph masks from fonts."""

from __future__ import annotations

import math
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.training.dataset import Image

FACE_W, FACE_H = 96, 128
GRID = (60, 80)
SCALE = 4.0
SHIFT = 4

Colour = tuple[int, int, int]
Rng = np.random.Generator


class Pen:
    """A canvas with drawing calls in grid units (60 x 80), antialiased, shrunk to a face at the end."""

    def __init__(self, paper: Colour, zoom: float = 1.0):
        self.canvas = np.full((int(GRID[1] * SCALE), int(GRID[0] * SCALE), 3), paper, np.uint8)
        self.zoom = zoom

    def points(self, points: NDArray[np.float64]) -> NDArray[np.int32]:
        """Scale grid points about the middle and turn them into fixed-point pixels."""
        middle = np.array([30.0, 40.0])
        moved = (np.asarray(points, np.float64) - middle) * self.zoom + middle
        return np.asarray(np.round(moved * SCALE * (1 << SHIFT)), np.int32)

    def poly(self, points: NDArray[np.float64], colour: Colour) -> None:
        """Fill a polygon."""
        cv2.fillPoly(self.canvas, [self.points(points)], colour, cv2.LINE_AA, SHIFT)

    def line(self, points: NDArray[np.float64], colour: Colour, width: float, closed: bool = False) -> None:
        """Draw a polyline of a given width."""
        thick = max(1, round(width * self.zoom * SCALE))
        cv2.polylines(self.canvas, [self.points(points)], closed, colour, thick, cv2.LINE_AA, SHIFT)

    def disc(self, x: float, y: float, r: float, colour: Colour) -> None:
        """Fill a circle."""
        (cx, cy), radius = self.points(np.array([x, y])), round(r * self.zoom * SCALE * (1 << SHIFT))
        cv2.circle(self.canvas, (int(cx), int(cy)), max(1, radius), colour, -1, cv2.LINE_AA, SHIFT)

    def ellipse(self, x: float, y: float, rx: float, ry: float, angle: float, colour: Colour) -> None:
        """Fill a turned ellipse (angle in degrees)."""
        t = np.linspace(0, 2 * math.pi, 28, endpoint=False)
        a = math.radians(angle)
        u, v = rx * np.cos(t), ry * np.sin(t)
        self.poly(
            np.stack([x + u * math.cos(a) - v * math.sin(a), y + u * math.sin(a) + v * math.cos(a)], 1),
            colour,
        )

    def stamp(
        self, mask: Image, x: float, y: float, w: float, h: float, colour: Colour, keep: bool = True
    ) -> None:
        """Lay a glyph mask into the box (x, y, w, h), keeping its proportions if asked."""
        (x0, y0), (x1, y1) = self.points(np.array([[x, y], [x + w, y + h]])) / (1 << SHIFT)
        bw, bh = x1 - x0, y1 - y0
        sx, sy = bw / mask.shape[1], bh / mask.shape[0]
        if keep:
            sx = sy = min(sx, sy)
        size = max(1, round(mask.shape[1] * sx)), max(1, round(mask.shape[0] * sy))
        alpha = cv2.resize(mask, size, interpolation=cv2.INTER_AREA).astype(np.float32)[..., None] / 255
        px, py = max(0, round(x0 + (bw - size[0]) / 2)), max(0, round(y0 + (bh - size[1]) / 2))
        spot = self.canvas[py : py + size[1], px : px + size[0]]
        alpha = alpha[: spot.shape[0], : spot.shape[1]]
        spot[:] = (spot * (1 - alpha) + np.array(colour, np.float32) * alpha).astype(np.uint8)

    def face(self) -> Image:
        """Return the finished face."""
        return np.asarray(cv2.resize(self.canvas, (FACE_W, FACE_H), interpolation=cv2.INTER_AREA), np.uint8)


@cache
def glyph(path: str, index: int, text: str, bold: int) -> Image:
    """Return the tight coverage mask of a text in a font, about 150 px high."""
    from PIL import Image as PilImage
    from PIL import ImageDraw, ImageFont

    font = ImageFont.truetype(path, 150, index=index)
    page = PilImage.new("L", (240 * len(text), 260), 0)
    ImageDraw.Draw(page).text((40, 30), text, fill=255, font=font, stroke_width=bold)
    mask = np.asarray(page)
    rows, cols = np.flatnonzero(mask.max(1)), np.flatnonzero(mask.max(0))
    return np.ascontiguousarray(mask[rows[0] : rows[-1] + 1, cols[0] : cols[-1] + 1])

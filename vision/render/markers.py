"""Lays printed markers on a rendered table, so that teaching can be tried without a printer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import cv2
import numpy as np

from vision.calibration.edge import marker_cells
from vision.calibration.layout import CARD, CLOTH, CORNERS, MARKER, marker_middle
from vision.geometry import Pinhole, homography
from vision.planes import map_points
from vision.readings import Image

__all__ = ["card_picture", "lay_markers"]

FINE = 8
"""Pixels a millimetre of a card's picture."""
PAPER, BLACK = 226, 34


def card_picture(marker: int) -> Image:
    """Picture of a printed card: uint8 ``(H, H, 3)``, `FINE` pixels a millimetre."""
    side = round(CARD * FINE)
    card = np.full((side, side, 3), PAPER, np.uint8)
    cells = marker_cells(marker)
    rim, cell = round((CARD - MARKER) / 2 * FINE), round(MARKER / len(cells) * FINE)
    inside = np.kron(np.where(cells, BLACK, PAPER).astype(np.uint8), np.ones((cell, cell), np.uint8))
    card[rim : rim + len(inside), rim : rim + len(inside)] = inside[..., None]
    return card


def lay_markers(
    image: Image,
    camera: Pinhole,
    markers: Iterable[int] = CORNERS,
    *,
    cloth: float = CLOTH,
    share: float = 1.0,
    moved: Mapping[int, tuple[float, float, float]] | None = None,
    as_number: Mapping[int, int] | None = None,
) -> Image:
    """Draw cards on the cloth of a frame that ``camera`` sees; returns a new picture.

    ``share``: printed size as a share of the right one; ``moved``: marker to x, y in millimetres and turn in
    degrees, off its spot; ``as_number``: marker to the one whose spot it takes.
    """
    drawn = image.copy()
    for marker in markers:
        dx, dy, turn = (moved or {}).get(marker, (0.0, 0.0, 0.0))
        half = CARD / 2 * share
        spot = marker_middle((as_number or {}).get(marker, marker), cloth)
        # A smaller card is pushed into its corner, too.
        spot = spot + np.sign(spot.round(6)) * (CARD / 2 - half) + np.asarray([dx, dy])
        angle = np.radians(turn)
        turned = np.asarray([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        square = np.asarray([[-half, half], [half, half], [half, -half], [-half, -half]]) @ turned.T
        quad = map_points(camera.plane(0.0), spot + square)
        _paste(drawn, card_picture(marker), quad)
    return drawn


def _paste(image: Image, picture: Image, quad: np.typing.NDArray[np.float64]) -> None:
    """Draw a picture into a quad of the frame (four times as fine, then averaged: no steps at the edges)."""
    height, width = image.shape[:2]
    low = np.clip(np.floor(quad.min(axis=0)).astype(int) - 2, 0, [width, height])
    high = np.clip(np.ceil(quad.max(axis=0)).astype(int) + 3, 0, [width, height])
    if (high <= low).any():
        return
    side = float(picture.shape[0])
    source = np.asarray([[0, 0], [side, 0], [side, side], [0, side]], np.float64) - 0.5
    times = 4
    target = (quad - low + 0.5) * times - 0.5
    size = (int(high[0] - low[0]) * times, int(high[1] - low[1]) * times)
    matrix = homography(source, target)
    shrunk = (int(high[0] - low[0]), int(high[1] - low[1]))
    colour = cv2.resize(
        cv2.warpPerspective(picture, matrix, size, borderMode=cv2.BORDER_REPLICATE),
        shrunk,
        interpolation=cv2.INTER_AREA,
    )
    full = np.full(picture.shape[:2], 255, np.uint8)
    share = cv2.resize(cv2.warpPerspective(full, matrix, size), shrunk, interpolation=cv2.INTER_AREA)
    part = image[low[1] : high[1], low[0] : high[0]]
    mixed = part + (colour.astype(np.float32) - part) * (share.astype(np.float32)[..., None] / 255)
    part[:] = np.rint(mixed).astype(np.uint8)

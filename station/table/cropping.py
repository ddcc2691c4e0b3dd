"""What of a frame becomes evidence: the zone that was read, and nothing of what others hold.

A taught zone is a picture of its own. Where one picture is every zone at once (nothing was taught), only the
tiles that were read and the cloth around them are kept, and the boxes move with the cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import cv2
import numpy as np

from vision.hand_reading import HandReading
from vision.readings import Box, Image

__all__ = ["around", "cut_hand", "encode_jpeg", "on_one_sheet"]

JPEG_QUALITY = 88
MARGIN = 1.0
"""Cloth kept around the tiles, in long sides of the largest of them: room for one that was overlooked."""
GAP_PX = 8
"""Black line between two zones on one sheet."""


def around(image: Image, boxes: Iterable[Box], margin: float = MARGIN) -> tuple[Image, tuple[int, int]]:
    """Cut a picture (uint8 ``(H, W, 3)``) to boxes and a margin; the whole one where there is no box.

    Returns:
        the cut picture and its top left corner ``(x, y)`` in the whole one, in pixels.
    """
    found = np.asarray(list(boxes), np.float64).reshape(-1, 4)
    if not len(found):
        return image, (0, 0)
    long_side = float(np.max(found[:, 2:] - found[:, :2]))
    height, width = image.shape[:2]
    x0, y0 = np.floor(found[:, :2].min(axis=0) - margin * long_side).astype(int).clip(0)
    x1, y1 = np.ceil(found[:, 2:].max(axis=0) + margin * long_side).astype(int)
    return image[y0 : min(int(y1), height), x0 : min(int(x1), width)], (int(x0), int(y0))


def cut_hand(image: Image, hand: HandReading) -> tuple[Image, HandReading]:
    """Cut a picture to a hand read in it, and give the hand with its boxes in the cut picture."""
    cut, (x, y) = around(image, [*(tile.box for tile in hand.reading.tiles), *hand.covered])
    tiles = tuple(replace(tile, box=_moved(tile.box, x, y)) for tile in hand.reading.tiles)
    reading = replace(hand.reading, tiles=tiles, size=(cut.shape[1], cut.shape[0]))
    return cut, replace(hand, reading=reading, covered=tuple(_moved(box, x, y) for box in hand.covered))


def on_one_sheet(zones: Sequence[Image]) -> Image:
    """Put pictures of zones under one another, on black; at least one."""
    width = max(zone.shape[1] for zone in zones)
    rows = [np.pad(zone, ((0, GAP_PX), (0, width - zone.shape[1]), (0, 0))) for zone in zones]
    return np.concatenate(rows)[:-GAP_PX]


def encode_jpeg(image: Image) -> bytes:
    """Return the image as JPEG bytes."""
    ok, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    if not ok:
        raise ValueError("the frame can't be stored as JPEG")
    return data.tobytes()


def _moved(box: Box, x: int, y: int) -> Box:
    return box[0] - x, box[1] - y, box[2] - x, box[3] - y

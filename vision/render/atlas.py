"""The tile pictures: one PNG grid, cut and shrunk on demand."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.tiles import TILE_IDS
from vision.errors import SceneError
from vision.readings import Image

__all__ = ["ATLAS_FILE", "CELL", "COLUMNS", "KINDS", "face"]

ATLAS_FILE = Path(__file__).parent / "atlas.png"
CELL = (96, 128)
"""Width and height of one picture in the atlas, pixels."""
COLUMNS = 8
KINDS: tuple[str, ...] = TILE_IDS[:43]
"""Order of the pictures: tile ids, ``back`` last."""
IVORY = (226, 243, 250)
GREEN_BACK = (92, 122, 29)
INSET = 0.08
"""Blank margin of a face beside its picture, as a share of the width."""


@lru_cache(maxsize=1)
def _atlas() -> NDArray[np.uint8]:
    image = cv2.imread(str(ATLAS_FILE), cv2.IMREAD_UNCHANGED)
    if image is None or image.ndim != 3 or image.shape[2] != 4:
        raise SceneError(f"The tile pictures {ATLAS_FILE} cannot be read: install the program again.")
    return np.asarray(image, np.uint8)


@lru_cache(maxsize=256)
def face(kind: str, width: int, back: tuple[int, int, int] = GREEN_BACK) -> Image:
    """Top of a tile of a kind: uint8 ``(H, W, 3)`` BGR, ``width`` wide, H = 4/3 of it.

    ``back``: colour (BGR) of a tile lying face down.

    Raises SceneError for a kind that has no picture.
    """
    if kind not in KINDS:
        raise SceneError(f"There is no picture of a tile {kind!r}: use tile ids such as 1m or back.")
    index = KINDS.index(kind)
    left, top = index % COLUMNS * CELL[0], index // COLUMNS * CELL[1]
    art = _atlas()[top : top + CELL[1], left : left + CELL[0]].astype(np.float32)
    full = np.empty((CELL[1], CELL[0], 3), np.float32)
    full[:] = back if kind == "back" else IVORY
    inset = 0 if kind == "back" else round(INSET * CELL[0])
    inner = full[inset : CELL[1] - inset, inset : CELL[0] - inset]
    small = cv2.resize(art, (inner.shape[1], inner.shape[0]), interpolation=cv2.INTER_AREA)
    share = small[..., 3:] / 255
    inner[:] = inner * (1 - share) + small[..., :3] * share
    size = (width, round(width * CELL[1] / CELL[0]))
    method = cv2.INTER_AREA if width < CELL[0] else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(full, size, interpolation=method).round(), np.uint8)

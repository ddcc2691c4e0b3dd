"""What is kept of one photographed tile: the network's view, a plain view, the picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from vision.errors import ShapeError
from vision.imaging import tile_crops
from vision.readings import EMBEDDING, Box, Floats, Image, Looks
from vision.recognizer import Classify
from vision.shapes import BACK

__all__ = ["LOOK", "Patch", "Shot", "both_ways", "look_of", "patch_of", "shots_of", "unit"]

GRID = (10, 14)
"""Width and height of the plain view of a face, in cells."""
LOOK = GRID[0] * GRID[1] * 3
"""Length of a plain view."""
PATCH_LONG = 96
"""Long side in pixels of a tile in its stored picture."""
PATCH_GROW = 0.25
"""Surroundings in the stored picture, as a share of the tile: fine-tuning shifts and turns it."""
JPEG = 94


@dataclass(frozen=True, slots=True)
class Patch:
    """A stored picture of a tile: ``jpeg`` bytes, ``box`` of the tile in its pixels."""

    jpeg: bytes
    box: Box

    def image(self) -> Image:
        """Decode the picture, uint8 ``(H, W, 3)`` BGR."""
        return np.asarray(cv2.imdecode(np.frombuffer(self.jpeg, np.uint8), cv2.IMREAD_COLOR), np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """One captured tile.

    ``kind``: by its place in the row. ``picture``: which frame or file it comes from; tiles of one picture
    share its light. ``logits`` float32 ``(2, 44)`` and ``embeddings`` float32 ``(2, 128)``, unit length:
    as it lies and turned by 180 degrees. ``look``: float32 ``(420,)``, see `look_of`.
    """

    kind: str
    picture: str
    logits: Floats
    embeddings: Floats
    look: Floats
    patch: Patch | None = None

    def __post_init__(self) -> None:
        if self.embeddings.shape != (2, EMBEDDING):
            raise ShapeError("embeddings", f"(2, {EMBEDDING})", self.embeddings.shape)
        if self.look.shape != (LOOK,):
            raise ShapeError("look", f"({LOOK},)", self.look.shape)

    @property
    def embedding(self) -> Floats:
        """Mean of both views, unit length ``(128,)``."""
        return unit(self.embeddings.mean(axis=0))


def unit(rows: Floats) -> Floats:
    """Scale vectors ``(…, D)`` to unit length; zero stays zero."""
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.maximum(length, 1e-9), np.float32)


def both_ways(crops: Image) -> Image:
    """Crops uint8 ``(N, H, W, 3)`` as they are and, behind them, turned by 180 degrees: ``(2N, H, W, 3)``."""
    return np.ascontiguousarray(np.concatenate([crops, crops[:, ::-1, ::-1]]))


def look_of(crop: Image, kind: str) -> Floats:
    """Plain view of a crop uint8 ``(64, 48, 3)`` for telling two sets apart: float32 ``(420,)``, unit length.

    The network was trained to overlook how a maker draws and colours a tile; this keeps just that. Of a face
    it keeps drawing and colours (L*a*b*, brightness evened out), of a face-down tile its hue alone.
    """
    lab = cv2.cvtColor(cv2.GaussianBlur(crop, (5, 5), 0), cv2.COLOR_BGR2LAB).astype(np.float32)
    wide, high = GRID[0] + 2, GRID[1] + 2
    cells = cv2.resize(lab, (wide, high), interpolation=cv2.INTER_AREA)[1:-1, 1:-1]
    if kind == BACK:
        view = np.zeros_like(cells)
        view[..., 1:] = np.median(cells[..., 1:], axis=(0, 1)) - 128
        view[..., 0] = 6.0  # a grey back has no hue: keeps it from being all noise
    else:
        light = cells[..., 0]
        colour = (cells[..., 1:] - np.median(cells[..., 1:], axis=(0, 1))) / 12
        view = np.concatenate([((light - light.mean()) / (light.std() + 4))[..., None], colour], axis=2)
    return unit(np.asarray(view.ravel(), np.float32))


def patch_of(image: Image, box: Sequence[float]) -> Patch:
    """Cut a tile with some surroundings out of a picture, shrunk where it is large."""
    x0, y0, x1, y1 = (float(v) for v in box)
    grow_x, grow_y = PATCH_GROW * (x1 - x0), PATCH_GROW * (y1 - y0)
    left, top = max(0, int(x0 - grow_x)), max(0, int(y0 - grow_y))
    part = image[top : int(np.ceil(y1 + grow_y)), left : int(np.ceil(x1 + grow_x))]
    shrink = min(1.0, PATCH_LONG / max(x1 - x0, y1 - y0, 1.0))
    if shrink < 1:
        size = max(1, round(part.shape[1] * shrink)), max(1, round(part.shape[0] * shrink))
        part = np.asarray(cv2.resize(part, size, interpolation=cv2.INTER_AREA), np.uint8)
    good, data = cv2.imencode(".jpg", part, [cv2.IMWRITE_JPEG_QUALITY, JPEG])
    if not good:
        raise ShapeError("patch", "(H, W, 3) with pixels", part.shape)
    inner = [round((v - edge) * shrink, 2) for v, edge in zip((x0, y0, x1, y1), (left, top) * 2, strict=True)]
    return Patch(data.tobytes(), (inner[0], inner[1], inner[2], inner[3]))


def shots_of(
    classify: Classify,
    image: Image,
    boxes: Sequence[Box],
    kinds: Iterable[str],
    picture: str,
    *,
    keep: bool = True,
) -> list[Shot]:
    """Look at tiles of a picture whose kinds are known.

    ``classify`` must be the plain network, without what an earlier enrolment made of it. ``keep``: store
    their pictures.
    """
    rows = np.asarray(boxes, np.float32).reshape(-1, 4)
    if not len(rows):
        return []
    crops = tile_crops(image, rows)
    looks: Looks = classify(both_ways(crops))
    n = len(rows)
    return [
        Shot(
            kind,
            picture,
            looks.logits[[i, n + i]],
            looks.embeddings[[i, n + i]],
            look_of(crops[i], kind),
            patch_of(image, rows[i].tolist()) if keep else None,
        )
        for i, kind in enumerate(kinds)
    ]

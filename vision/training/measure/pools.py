"""Faces of photographed tiles for composite hands: only from photographs that the model never saw.

A pool holds the faces of one photographed set (a session) or, where a source does not tell its sets
apart, of the whole source.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.training.dataset import LABELS, Image, Photo, read_image
from vision.training.measure.unseen import Unseen
from vision.training.pen import FACE_H, FACE_W
from vision.training.split import session_of

LEAST_KINDS = 26
"""A pool with fewer kinds makes no varied hand: its faces go into the pool of its source."""
UPRIGHT = 0.80
"""Short by long side of a box up to which a tile lies straight in it; a slanting one brings table along."""
NARROWEST = 0.55
LEAST_LONG_SIDE = 36.0
CORNER, CORNER_AWAY = 0.05, 90.0
"""Part of a face's sides that is its corner; grey values off the paper's from which table shows there."""
DYED = 0.5
"""Saturation of a face's paper above which its colour comes from an augmented copy, not from a tile."""
INSET = 0.03
"""Share of a box cut off on every side: labels are a little generous, and bring the neighbour along."""


@dataclass(frozen=True)
class Face:
    """A photographed face, uint8 (128, 96, 3) BGR, and its long side in the photograph, pixels."""

    image: Image
    long_side: float


@dataclass(frozen=True)
class Pool:
    """Faces of one set or source by tile id; ``source`` is that of the data folder, ``name`` the set's."""

    source: str
    name: str
    faces: Mapping[str, Sequence[Face]]

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds there are faces of."""
        return frozenset(kind for kind, faces in self.faces.items() if faces)


def cut_face(image: Image, box: NDArray[np.float32]) -> Face | None:
    """Cut a tile's face out of a photograph; None where it slants, shows table, is tiny, cut or dyed."""
    wide, high = float(box[2] - box[0]), float(box[3] - box[1])
    short, long = sorted((wide, high))
    inside = box[0] >= -1 and box[1] >= -1 and box[2] <= image.shape[1] + 1 and box[3] <= image.shape[0] + 1
    if long < LEAST_LONG_SIDE or not NARROWEST <= short / long <= UPRIGHT or not inside:
        return None
    x0, y0 = (max(0, round(float(v))) for v in (box[0] + INSET * wide, box[1] + INSET * high))
    x1, y1 = round(float(box[2] - INSET * wide)), round(float(box[3] - INSET * high))
    piece = image[y0:y1, x0:x1]
    if wide > high:
        piece = np.asarray(cv2.rotate(piece, cv2.ROTATE_90_CLOCKWISE), np.uint8)
    how = cv2.INTER_AREA if long > FACE_H else cv2.INTER_CUBIC
    face = np.asarray(cv2.resize(piece, (FACE_W, FACE_H), interpolation=how), np.uint8)
    return None if _saturation(face) > DYED or _shows_table(face) else Face(face, long)


def _shows_table(face: Image) -> bool:
    """Tell whether a corner of a face differs from its paper: cloth beside a tile that lies askew."""
    high, wide = (round(CORNER * n) for n in face.shape[:2])
    paper = _paper(face)
    corners = [
        face[y, x] for y in (slice(high), slice(-high, None)) for x in (slice(wide), slice(-wide, None))
    ]
    away = [np.abs(np.median(corner.reshape(-1, 3), 0) - paper).max() for corner in corners]
    return bool(max(away) > CORNER_AWAY)


def _paper(face: Image) -> NDArray[np.float32]:
    """Colour of the paper: the mean of the lighter half."""
    pixels = face.reshape(-1, 3).astype(np.float32)
    return np.asarray(pixels[pixels.sum(1) >= np.median(pixels.sum(1))].mean(0), np.float32)


def _saturation(piece: Image) -> float:
    """Saturation of a face's paper, 0..1."""
    light = _paper(piece)
    return float(light.max() - light.min()) / max(float(light.max()), 1.0)


def faces_of_photos(photos: Iterable[Photo]) -> dict[str, list[Face]]:
    """Cut the labelled tiles of photographs."""
    faces: dict[str, list[Face]] = defaultdict(list)
    for photo in photos:
        image = photo.read()
        for box, kind in zip(photo.boxes, photo.kinds, strict=True):
            face = cut_face(image, box)
            if face is not None:
                faces[LABELS[kind]].append(face)
    return dict(faces)


def faces_of_crops(crops: Iterable[tuple[Path, int]]) -> dict[str, list[Face]]:
    """Take single-tile photographs as they are."""
    faces: dict[str, list[Face]] = defaultdict(list)
    for path, kind in crops:
        image = read_image(path)
        high, wide = image.shape[:2]
        face = cut_face(image, np.array([0, 0, wide, high], np.float32))
        if face is not None:
            faces[LABELS[kind]].append(face)
    return dict(faces)


def make_pools(unseen: Unseen) -> list[Pool]:
    """Make the pools of all that a model never saw, sorted by name; small sets join their source's pool."""
    by_set: dict[tuple[str, str], list[Photo]] = defaultdict(list)
    for photo in unseen.photos:
        session = session_of(photo)
        by_set[photo.source, session.name if session else ""].append(photo)
    pools: list[Pool] = []
    rest: dict[str, list[Photo]] = defaultdict(list)
    for (source, name), photos in sorted(by_set.items()):
        pool = Pool(source, f"{source}/{name}".rstrip("/"), faces_of_photos(photos))
        if name and len(pool.kinds) >= LEAST_KINDS:
            pools.append(pool)
        else:
            rest[source] += photos
    for source, photos in rest.items():
        pools.append(Pool(source, source, faces_of_photos(photos)))
    for source, crops in sorted(unseen.crops.items()):
        pools.append(Pool(source, source, faces_of_crops(crops)))
    return sorted((p for p in pools if len(p.kinds) >= LEAST_KINDS), key=lambda p: p.name)

"""Faces cut out of photographs, to be laid anew in composed scenes: by source, by kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.training.dataset import Image, Photo, read_image
from vision.training.pen import FACE_H, FACE_W, Rng

UPRIGHT = (0.62, 0.86)
"""Width by height of a label that fits a face seen straight, upright or upside down."""
LEAST_SIDE = 24
"""Pixels of the short side below which a face is too coarse to be laid anew."""
CROP_INSET = 0.02
"""Share of a single-tile photograph that is border."""


@dataclass(frozen=True)
class FaceSet:
    """Faces of one source: ``faces`` maps a label number to uint8 (128, 96, 3) BGR pictures of that kind."""

    source: str
    faces: dict[int, list[Image]]

    @property
    def kinds(self) -> NDArray[np.int64]:
        """Label numbers that occur, ascending."""
        return np.array(sorted(self.faces), np.int64)

    def pick(self, rng: Rng, kind: int) -> Image:
        """Draw one face of a kind; raises KeyError for a kind the source does not show."""
        faces = self.faces[kind]
        return faces[int(rng.integers(len(faces)))]


def cut_face(image: Image, box: NDArray[np.float32]) -> Image | None:
    """Cut a labelled face (x0, y0, x1, y1); None where it lies sideways, at an angle, or is too small."""
    x0, y0, x1, y1 = (round(float(v)) for v in box)
    h, w = image.shape[:2]
    if x0 < 0 or y0 < 0 or x1 > w or y1 > h or min(x1 - x0, y1 - y0) < LEAST_SIDE:
        return None
    if not UPRIGHT[0] <= (x1 - x0) / (y1 - y0) <= UPRIGHT[1]:
        return None
    piece = image[y0:y1, x0:x1]
    how = cv2.INTER_AREA if y1 - y0 > FACE_H else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(piece, (FACE_W, FACE_H), interpolation=how), np.uint8)


def _add(faces: dict[int, list[Image]], kind: int, face: Image | None) -> None:
    if face is not None:
        faces.setdefault(kind, []).append(face)


def face_sets(photos: Sequence[Photo], crops: Sequence[tuple[Path, int]] = ()) -> list[FaceSet]:
    """Collect the faces of photographs and single-tile crops, one set per source."""
    found: dict[str, dict[int, list[Image]]] = {}
    for photo in photos:
        image, faces = photo.read(), found.setdefault(photo.source, {})
        for box, kind in zip(photo.boxes, photo.kinds, strict=True):
            _add(faces, int(kind), cut_face(image, box))
    for path, kind in crops:
        image = read_image(path)
        h, w = image.shape[:2]
        inner = np.array([w, h, w, h], np.float32) * np.array([0, 0, 1, 1], np.float32)
        inner += np.array([w, h, -w, -h], np.float32) * CROP_INSET
        faces = found.setdefault(path.parents[2].name, {})
        _add(faces, kind, cut_face(image, inner))
    return [FaceSet(source, faces) for source, faces in sorted(found.items())]

"""Faces cut from photographs: only straight, whole, large ones."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.training.dataset import Photo
from vision.training.realfaces import LEAST_SIDE, cut_face, face_sets


def box(*sides):
    return np.array(sides, np.float32)


@pytest.mark.parametrize(
    ("sides", "fits"),
    [
        ((10, 10, 58, 74), True),
        ((10, 10, 74, 58), False),  # sideways
        ((10, 10, 70, 74), False),  # at an angle: the box is nearly square
        ((10, 10, 10 + LEAST_SIDE - 2, 40), False),
        ((-3, 10, 45, 74), False),  # cut by the border
        ((60, 10, 108, 74), False),
    ],
)
def test_a_face_is_cut_only_where_it_lies_straight_and_whole(sides, fits):
    face = cut_face(np.full((100, 100, 3), 90, np.uint8), box(*sides))
    assert (face is not None) is fits
    assert face is None or face.shape == (128, 96, 3)


def test_faces_are_kept_by_source_and_kind(tmp_path):
    image = np.full((100, 200, 3), 50, np.uint8)
    image[10:74, 100:148] = 250
    path = tmp_path / "crops_x" / "crops" / "5z" / "1.png"
    path.parent.mkdir(parents=True)
    cv2.imwrite(str(path), image[10:74, 100:148])
    photo_path = tmp_path / "a.png"
    cv2.imwrite(str(photo_path), image)
    boxes = np.array([[10, 10, 58, 74], [100, 10, 148, 74]], np.float32)
    photo = Photo("rf_table", "a.png", Path(photo_path), boxes, np.array([3, 31]))
    sets = {found.source: found for found in face_sets([photo], [(path, 31)])}
    assert sets["rf_table"].kinds.tolist() == [3, 31]
    assert sets["crops_x"].kinds.tolist() == [31]
    assert (sets["crops_x"].pick(np.random.default_rng(0), 31) == 250).all()
    assert (sets["rf_table"].pick(np.random.default_rng(0), 31) == 250).all()
    with pytest.raises(KeyError):
        sets["crops_x"].pick(np.random.default_rng(0), 3)

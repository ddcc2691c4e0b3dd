"""Rows of real photographs: with the labelled boxes given, is the reading order the labelled one?"""

from pathlib import Path

import numpy as np
import pytest

from vision.arrange import arrange
from vision.readings import Detections
from vision.training.dataset import LABELS, PHOTO_SOURCES, Photo, load_photos, photo_meta

pytestmark = pytest.mark.real

TWO_ROWS = 28
"""Photographs whose labels call a block of two or more rows a single one: looked at by eye."""


def kinds(photo: Photo) -> list[str]:
    """Return the labels as corrected; the noted sequence is not, where they differ."""
    return [LABELS[k] for k in photo.kinds]


def order(photo: Photo) -> tuple[list[str], int]:
    lie = arrange(Detections(photo.boxes, np.ones(len(photo.boxes), np.float32)))
    return [kinds(photo)[i] for i in lie.order], len(lie.rows)


def test_rows_at_any_angle_are_read_in_the_labelled_order(photo_root: Path) -> None:
    photos = [p for source in PHOTO_SOURCES for p in load_photos(source, photo_root)]
    labelled = [p for p in photos if sorted(photo_meta(p).get("sequence") or ()) == sorted(kinds(p))]
    wrong = [p.name for p in labelled if order(p)[0] != photo_meta(p)["sequence"]]
    in_one_row = [name for name in wrong for p in labelled if p.name == name and order(p)[1] == 1]
    assert len(labelled) > 300
    assert in_one_row == []
    assert len(wrong) <= TWO_ROWS, wrong

"""The shipped recognizer on photographs it was never trained on, given what a table gives it:
the region (labels' bounding box plus half a tile) and the number of tiles.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from vision.recognizer import Recognizer
from vision.training.dataset import Boxes, Image, Photo, holdout_photos
from vision.training.evaluate import Tally, region_of, report, tally

pytestmark = [pytest.mark.real, pytest.mark.slow]

TILES_FLOOR = 0.95
HANDS_FLOOR = 0.70
"""Two of the photographs have stray tiles labelled among many unlabelled ones: nobody can read these."""
ROWS_FLOOR = 0.95


class Accepted:
    """What the recognizer accepted without a doubt, and how often that was wrong."""

    def __init__(self, recognizer: Recognizer) -> None:
        self.recognizer = recognizer
        self.accepted: list[str] = []

    def __call__(self, photo: Photo, image: Image) -> tuple[Boxes, Sequence[str]]:
        x0, y0, x1, y1 = region_of(photo, image)
        reading = self.recognizer.read(image, (x0, y0, x1, y1), expect=len(photo.kinds))
        if reading.accept:
            self.accepted.append(photo.name)
        boxes = np.asarray([tile.box for tile in reading.tiles], np.float32).reshape(-1, 4)
        return boxes, reading.kinds


Measured = tuple[dict[str, Tally], list[str], str]


@pytest.fixture(scope="module")
def measured(photo_root: Path) -> Measured:
    reader = Accepted(Recognizer.load())
    tallies = tally(holdout_photos(photo_root), reader)
    return tallies, reader.accepted, report(tallies)


def test_tiles_are_read_right(measured: Measured) -> None:
    count = measured[0]["all"]
    assert count.right >= TILES_FLOOR * count.tiles, measured[2]


def test_whole_photographs_are_read_right(measured: Measured) -> None:
    count = measured[0]["all"]
    assert count.exact >= HANDS_FLOOR * count.photos, measured[2]


def test_full_rows_are_read_right(measured: Measured) -> None:
    count = measured[0]["rows of 13 and more"]
    assert count.photos > 20
    assert count.exact >= ROWS_FLOOR * count.photos, measured[2]


def test_what_is_accepted_without_a_doubt_is_right(measured: Measured) -> None:
    tallies, accepted, text = measured
    wrong = {line.split(":")[0] for line in tallies["all"].wrong}
    assert [name for name in accepted if name in wrong] == [], text
    assert len(accepted) >= HANDS_FLOOR * tallies["all"].photos

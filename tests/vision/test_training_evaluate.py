"""Measuring: matches are counted once, and a photograph is exact only when all of it is right."""

from pathlib import Path

import numpy as np

from vision.training import evaluate
from vision.training.dataset import Photo

BOXES = np.array([[0, 0, 10, 14], [10, 0, 20, 14], [20, 0, 30, 14]], np.float32)


def photo():
    return Photo("rf_table", "a.jpg", Path("a.jpg"), BOXES, np.array([0, 1, 2]))


def test_all_right_is_exact():
    tally = evaluate.Tally()
    tally.add(photo(), BOXES + 1, ["1m", "2m", "3m"])
    assert tally.summary() == {
        "photos": 1, "photos_exact": 1, "tiles": 3, "tiles_right": 3, "tiles_found": 3, "false_boxes": 0,
    }  # fmt: skip


def test_confusion_missing_and_false_boxes_are_counted():
    tally = evaluate.Tally()
    tally.add(photo(), BOXES[[0, 0, 1]], ["1m", "1m", "9m"])
    assert (tally.right, tally.found, tally.extra, tally.exact) == (1, 2, 1, 0)
    assert tally.confusions == {"2m read as 9m": 1}
    assert "1/3 right, 3 read" in evaluate.report({"all": tally})


def test_nothing_read():
    tally = evaluate.Tally()
    tally.add(photo(), np.zeros((0, 4), np.float32), [])
    assert (tally.right, tally.found, tally.exact) == (0, 0, 0)


def test_region_is_half_a_tile_wider():
    assert evaluate.region_of(photo(), np.zeros((100, 100, 3), np.uint8)) == (0, 0, 35, 21)


def test_letterbox_pads_below_and_right():
    canvas, scale = evaluate.letterbox(np.zeros((100, 320, 3), np.uint8))
    assert canvas.shape == (224, 640, 3)
    assert scale == 2
    assert (canvas[200:] == 114).all()
    assert not canvas[:200].any()


def test_softmax_sharpens_with_low_temperature():
    logits = np.array([[1.0, 0.0]], np.float32)
    assert evaluate.softmax(logits, 0.5)[0, 0] > evaluate.softmax(logits, 1.0)[0, 0]
    np.testing.assert_allclose(evaluate.softmax(logits, 0.5).sum(), 1, rtol=1e-6)

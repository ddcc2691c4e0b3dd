"""Labels, hold-out lists and single-tile sources are read as they are written."""

import json

import cv2
import numpy as np
import pytest

from vision.training import dataset


def write_source(root, name="rf_table"):
    folder = root / name
    (folder / "images").mkdir(parents=True)
    (folder / "labels").mkdir()
    image = np.full((100, 200, 3), 90, np.uint8)
    cv2.imwrite(str(folder / "images" / "a.jpg"), image)
    (folder / "labels" / "a.txt").write_text("0 0.5 0.5 0.1 0.4\n33 0.25 0.5 0.1 0.2\n")
    facts = {"n": 2, "single_row": True, "sequence": ["7z", "1m"], "size": [200, 100]}
    (folder / "meta.json").write_text(json.dumps({"a.jpg": facts}))
    return folder


def test_labels_match_the_engine():
    from engine.tiles import TILE_IDS

    assert dataset.LABELS[:43] == tuple(TILE_IDS[:43])
    assert dataset.LABELS[43] == "other"


def test_yolo_labels_become_pixel_boxes(tmp_path):
    write_source(tmp_path)
    (photo,) = dataset.load_photos("rf_table", tmp_path)
    assert photo.key == "rf_table/a.jpg"
    np.testing.assert_allclose(photo.boxes, [[90, 30, 110, 70], [40, 40, 60, 60]], atol=1e-3)
    assert photo.counts == {"1m": 1, "7z": 1}
    assert photo.read().shape == (100, 200, 3)
    assert dataset.photo_meta(photo)["sequence"] == ["7z", "1m"]


def test_holdout_list_names_held_and_excluded(tmp_path):
    file = tmp_path / "holdout.txt"
    file.write_text(
        "# head\nrf_table/a.jpg  # why\n\nexclude rf_tray/b.jpg  # copy\nvalidate rf_tray/c.jpg\n"
    )
    holdout = dataset.load_holdout(file)
    assert holdout.held == {"rf_table/a.jpg"}
    assert holdout.excluded == {"rf_tray/b.jpg"}
    assert holdout.validation == {"rf_tray/c.jpg"}
    assert [holdout.allows(f"rf_t{name}.jpg") for name in ("able/a", "ray/b", "ray/c", "ray/d")] == [
        False,
        False,
        False,
        True,
    ]


def test_held_photographs_are_not_trained_on(tmp_path):
    for source in dataset.PHOTO_SOURCES:
        write_source(tmp_path, source)
    file = tmp_path / "holdout.txt"
    file.write_text("rf_table/a.jpg\nexclude rf_tray/a.jpg\n")
    assert [p.key for p in dataset.training_photos(tmp_path, file)] == ["rf_train_aug/a.jpg"]
    assert [p.key for p in dataset.holdout_photos(tmp_path, file)] == ["rf_table/a.jpg"]


def test_crops_are_listed_with_their_kind(tmp_path):
    folder = tmp_path / "crops_camerash" / "crops" / "5z"
    folder.mkdir(parents=True)
    (folder / "1.jpg").write_bytes(b"")
    assert dataset.load_crops("crops_camerash", tmp_path) == [(folder / "1.jpg", 31)]


def test_crops_are_kept_for_validation_by_their_key(tmp_path):
    folder = tmp_path / "crops_camerash" / "crops" / "5z"
    folder.mkdir(parents=True)
    for name in ("1.jpg", "2.jpg"):
        (folder / name).write_bytes(b"")
    file = tmp_path / "holdout.txt"
    file.write_text("validate crops_camerash/5z/2.jpg\n")
    assert [path.name for path, _ in dataset.training_crops(tmp_path, file)] == ["1.jpg"]
    assert [path.name for path, _ in dataset.validation_crops(tmp_path, file)] == ["2.jpg"]


@pytest.fixture
def corrections(monkeypatch):
    listed = {
        "photos": {
            "rf_table/a.jpg": [
                {"box": [90, 30, 110, 70], "label": "1m", "is": "7m"},
                {"box": [40, 40, 60, 60], "label": "7z", "is": None},
            ]
        },
        "crops": {"crops_camerash/5z/1.jpg": "8p"},
    }
    monkeypatch.setattr(dataset, "_corrections", lambda: listed)
    return listed


def test_wrong_labels_are_corrected_and_unclear_ones_set_aside(tmp_path, corrections):
    write_source(tmp_path)
    (photo,) = dataset.load_photos("rf_table", tmp_path)
    assert photo.counts == {"7m": 1}
    np.testing.assert_allclose(photo.unclear, [[40, 40, 60, 60]], atol=1e-3)
    folder = tmp_path / "crops_camerash" / "crops" / "5z"
    folder.mkdir(parents=True)
    (folder / "1.jpg").write_bytes(b"")
    assert dataset.load_crops("crops_camerash", tmp_path) == [(folder / "1.jpg", dataset.LABELS.index("8p"))]


def test_a_correction_that_meets_no_label_is_an_error(tmp_path, corrections):
    corrections["photos"]["rf_table/a.jpg"][0]["label"] = "2m"
    write_source(tmp_path)
    with pytest.raises(ValueError, match="no single 2m"):
        dataset.load_photos("rf_table", tmp_path)

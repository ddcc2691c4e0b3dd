"""The hold-out is large enough, whole by session, and holds what the rules need."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.training import dataset, split

ROOT = Path(__file__).parents[2].parent / "shared" / "data" / "tiles"
needs_photos = pytest.mark.skipif(not ROOT.is_dir(), reason="the photographs are not on this machine")
pytestmark = pytest.mark.filterwarnings("error")


def picture(seed):
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 256, (9, 12, 3)).astype(np.uint8)
    return cv2.resize(small, (240, 180), interpolation=cv2.INTER_CUBIC)


def test_hash_ignores_size_and_light():
    image = picture(1)
    lighter = np.clip(image * 0.8 + 30, 0, 255).astype(np.uint8)
    smaller = cv2.resize(image, (120, 90), interpolation=cv2.INTER_AREA)
    for other in (lighter, smaller):
        assert split.distance([split.dct_hash(image)], [split.dct_hash(other)]) <= 4


def test_turned_and_mirrored_copies_are_near():
    image = picture(2)
    hashes = [split.dct_hash(i) for i in split.orientations(image)]
    for copy in split.orientations(image):
        assert split.distance([split.dct_hash(copy)], hashes) <= split.NEAR_BITS


def test_other_pictures_are_far():
    assert split.distance([split.dct_hash(picture(3))], [split.dct_hash(picture(4))]) > split.NEAR_BITS


def test_sessions_are_told_by_name():
    def photo(source, name):
        return dataset.Photo(source, name, Path(name), np.zeros((0, 4), np.float32), np.zeros(0, np.int64))

    assert split.session_of(photo("rf_table", "387641981-2.jpg")).name == "white-tray"
    assert split.session_of(photo("rf_table", "382645002-1.jpg")).name == "white-tray"
    assert split.session_of(photo("rf_table", "382066564-6.jpg")).name == "rail"
    assert split.session_of(photo("rf_train_aug", "hand-135-jpg-d.jpg")).name == "rail"
    assert split.session_of(photo("rf_table", "hand-003-jpg-4.jpg")) is None
    assert split.session_of(photo("rf_tray", "387641981-2.jpg")) is None


def test_committed_list_is_big_enough_and_consistent():
    holdout = dataset.load_holdout()
    assert len(holdout.held) >= 0.2 * 129
    assert all(name.startswith("rf_table/") for name in holdout.held)
    assert not holdout.held & holdout.excluded


@needs_photos
@pytest.mark.real
def test_no_session_is_split():
    holdout = dataset.load_holdout()
    held = {p.key for p in dataset.holdout_photos(ROOT)}
    assert held == holdout.held
    for photo in dataset.training_photos(ROOT):
        assert split.session_of(photo) is None, photo.key


@needs_photos
@pytest.mark.real
@pytest.mark.slow
def test_list_is_what_the_script_makes_and_no_copy_is_trained_on():
    assert split.make_split(ROOT) == dataset.HOLDOUT_FILE.read_text()
    held = dataset.holdout_photos(ROOT)
    assert split.near_copies(dataset.training_photos(ROOT), held) == {}


@needs_photos
@pytest.mark.real
def test_holdout_has_rows_and_a_winning_hand():
    rows = [
        dataset.photo_meta(p)["sequence"]
        for p in dataset.holdout_photos(ROOT)
        if dataset.photo_meta(p)["single_row"] and len(p.kinds) >= 13
    ]
    assert len(rows) >= 10
    assert any(
        len(row) == 14
        and all(t[1] != "f" for t in row)
        and is_standard_win([dataset.LABELS.index(t) for t in row])
        for row in rows
    )


def is_standard_win(tiles):
    """Brute force: a pair, and sets taken greedily from the lowest tile on."""
    counts = np.bincount(tiles, minlength=34)
    for pair in np.flatnonzero(counts >= 2):
        rest = counts.copy()
        rest[pair] -= 2
        if takes_sets(rest):
            return True
    return False


def takes_sets(counts):
    left = np.flatnonzero(counts)
    if not left.size:
        return True
    low = left[0]
    if counts[low] >= 3:
        rest = counts.copy()
        rest[low] -= 3
        if takes_sets(rest):
            return True
    if low < 27 and low % 9 <= 6 and counts[low + 1] and counts[low + 2]:
        rest = counts.copy()
        rest[low : low + 3] -= 1
        return takes_sets(rest)
    return False

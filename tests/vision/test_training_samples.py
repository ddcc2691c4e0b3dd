"""What the networks are taught: target maps decode to the boxes, crops are cut as the product cuts."""

import cv2
import numpy as np
import pytest

from vision.training import art, classifier_samples, crops, detector_samples, evaluate
from vision.training.dataset import OTHER, Photo


def sample(boxes, ignore=None):
    n = detector_samples.CROP // detector_samples.STRIDE
    image = np.zeros((detector_samples.CROP,) * 2 + (3,), np.uint8)
    marks = np.zeros(len(boxes), bool) if ignore is None else np.array(ignore)
    return detector_samples.Sample(image, np.array(boxes, np.float32), marks, np.ones((n, n), np.float32))


def test_targets_decode_to_touching_boxes():
    boxes = [[40 + 30 * i, 100, 70 + 30 * i, 142] for i in range(8)]
    heat, sides, mask, _ = detector_samples.targets(sample(boxes))
    maps = np.concatenate(
        [np.log(np.clip(heat, 1e-4, 0.999) / (1 - np.clip(heat, 1e-4, 0.999)))[None], np.log(sides)]
    )
    found, _ = evaluate._peaks(maps.astype(np.float32))
    found = found[np.argsort(found[:, 0])]
    np.testing.assert_allclose(found, boxes, atol=0.01)
    assert mask[heat >= 0.999].all()


def test_hardly_visible_tiles_cost_nothing():
    heat, _, mask, weight = detector_samples.targets(sample([[400, 100, 440, 160]], [True]))
    assert not heat.any()
    assert not mask.any()
    assert (weight[13:20, 50:] == 0).all()
    assert weight[0, 0] == 1


def test_quarter_turns_move_boxes_with_the_picture():
    made = sample([[16, 80, 48, 120]])
    made.image[80:120, 16:48] = 255
    for seed in range(6):
        turned = detector_samples._quarter_turn(np.random.default_rng(seed), made)
        x0, y0, x1, y1 = turned.boxes[0].astype(int)
        assert (turned.image[y0:y1, x0:x1] == 255).all()
        assert turned.image.sum() == made.image.sum()


@pytest.mark.parametrize("box", [[10, 10, 34, 42], [10, 10, 60, 40]])
def test_training_crop_equals_the_products_crop(box):
    rng = np.random.default_rng(1)
    image = np.repeat(np.repeat(rng.integers(0, 256, (12, 14, 3)).astype(np.uint8), 8, 0), 8, 1)
    box = np.array(box, np.float32)
    warped = classifier_samples.warp_crop(image, classifier_samples.crop_quad(box))
    plain = crops.plain_crop(image, box)
    assert plain.shape == (crops.CROP_H, crops.CROP_W, 3)
    assert np.abs(warped.astype(int) - plain).mean() < 16


def test_half_turn_of_a_crop():
    image = np.random.default_rng(1).integers(0, 256, (80, 80, 3)).astype(np.uint8)
    box = np.array([10, 10, 45, 60], np.float32)
    np.testing.assert_array_equal(crops.plain_crop(image, box, 2), crops.plain_crop(image, box)[::-1, ::-1])


def test_patch_keeps_the_tile_at_its_box():
    image = np.zeros((200, 200, 3), np.uint8)
    image[100:180, 20:80] = 255
    patch = classifier_samples.cut_patch(image, np.array([20, 100, 80, 180], np.float32), 3, 1.0)
    x0, y0, x1, y1 = np.round(patch.box).astype(int)
    assert (patch.image[y0 + 1 : y1 - 1, x0 + 1 : x1 - 1] == 255).all()
    assert patch.image.mean() < 200


def test_batches_are_repeatable_and_mix_sources():
    faces = np.random.default_rng(0).integers(0, 256, (2, 46, 128, 96, 3)).astype(np.uint8)
    image = np.random.default_rng(2).integers(0, 256, (200, 200, 3)).astype(np.uint8)
    box = np.array([60, 60, 110, 130], np.float32)
    pool = [classifier_samples.cut_patch(image, box, kind, 1.0) for kind in (1, 2)]
    sampler = classifier_samples.Sampler(pool, faces, (0.5, 0.25, 0.25))
    (a, kinds, reds), (b, again, _) = (sampler.batch(np.random.default_rng(4), 96) for _ in range(2))
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(kinds, again)
    assert a.shape == (96, 64, 48, 3)
    assert OTHER in kinds
    assert {1, 2} <= set(kinds.tolist())
    assert len(set(kinds.tolist())) > 12
    assert set(reds[np.isin(kinds, art.FIVES)].tolist()) <= {-1, 0, 1}
    assert (reds[~np.isin(kinds, art.FIVES)] == -1).all()


def photo_file(tmp_path, image, boxes):
    path = tmp_path / "a.png"
    cv2.imwrite(str(path), image)
    return Photo("rf_table", "a.png", path, np.array(boxes, np.float32), np.arange(len(boxes)))


def test_gaps_are_bare_cloth_beside_tiles(tmp_path):
    image = np.full((200, 300, 3), 100, np.uint8)
    image[60:100, 100:130] = 250
    image[60:100, 20:60] = np.random.default_rng(1).integers(0, 256, (40, 40, 3))
    photo = photo_file(tmp_path, image, [[100, 60, 130, 100]])
    found = classifier_samples.gaps([photo])
    assert [p.kind for p in found] == [OTHER] * 4
    clutter = photo_file(tmp_path, image, [[100, 60, 130, 100], [62, 60, 92, 100]])
    assert len(classifier_samples.gaps([clutter])) < 7


def test_plain_cells_are_cloth_not_tiles():
    image = np.full((416, 416, 3), 100, np.uint8)
    image[200:240, 200:230] = 250
    plain = detector_samples.plain_cells(image, 52)
    assert plain[5, 5]
    assert not plain[25:30, 25:29].any()
    assert plain.mean() > 0.8


def test_bare_patches_hold_no_labelled_tile(tmp_path):
    image = np.full((400, 400, 3), 100, np.uint8)
    image[150:190, 150:180] = 250
    photo = photo_file(tmp_path, image, [[150, 150, 180, 190]])
    patches = detector_samples.clear_patches([photo] * 4, [image] * 4)
    assert patches
    assert all((patch == 100).all() for patch in patches)

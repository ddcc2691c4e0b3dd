"""Synthetic scenes: repeatable, boxes where the tiles are, hardly visible tiles marked."""

import numpy as np
import pytest

from vision.training import augment, scenes
from vision.training.art import FIVES
from vision.training.dataset import BACK
from vision.training.realfaces import FaceSet


@pytest.fixture(scope="module")
def faces():
    """One style whose kinds are flat colours: what a box holds can be read back."""
    sets = np.zeros((1, 46, 128, 96, 3), np.uint8)
    sets[0, :] = np.resize(np.linspace(10, 250, 43), 46)[:, None, None, None].astype(np.uint8)
    return sets


def test_same_seed_composes_the_same_scene(faces):
    a, b = (scenes.compose(np.random.default_rng(5), faces, [], 160) for _ in range(2))
    np.testing.assert_array_equal(a.image, b.image)
    np.testing.assert_array_equal(a.boxes, b.boxes)


@pytest.mark.parametrize("seed", range(8))
def test_boxes_hold_their_tiles(faces, seed):
    scene = scenes.compose(np.random.default_rng(seed), faces, [], 320)
    assert len(scene.boxes) == len(scene.kinds) == len(scene.ignore)
    sure = ~scene.ignore
    centres = ((scene.boxes[:, :2] + scene.boxes[:, 2:]) / 2).astype(int)
    grey = np.linspace(10, 250, 43)
    seen = [
        (scene.image[y, x].mean() / max(grey[k], 1))
        for (x, y), k in zip(centres[sure], scene.kinds[sure], strict=True)
    ]
    assert np.ptp(seen) < 0.35 * np.mean(seen) if seen else True


def test_tiles_outside_are_left_to_ignore(faces):
    many = [scenes.compose(np.random.default_rng(s), faces, [], 200) for s in range(20)]
    for scene in many:
        inside = np.clip(scene.boxes, 0, 200)
        share = np.prod(inside[:, 2:] - inside[:, :2], 1) / np.prod(
            scene.boxes[:, 2:] - scene.boxes[:, :2], 1
        )
        np.testing.assert_array_equal(scene.ignore, share < scenes.VISIBLE)
        assert (share > 0).all()
    assert any(scene.ignore.any() for scene in many)


def test_heap_does_not_overlap():
    places = scenes.heap_layout(np.random.default_rng(2))
    for i, a in enumerate(places):
        assert all(np.hypot(a.x - b.x, a.y - b.y) > 1.1 for b in places[:i])


def test_light_and_noise_keep_shape_and_type():
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (64, 48, 3)).astype(np.uint8)
    for _ in range(60):
        for change in (augment.photometric_crop, augment.photometric_scene):
            out = change(rng, image)
            assert out.shape == image.shape
            assert out.dtype == np.uint8


def test_photographed_faces_are_laid_with_their_kinds(faces):
    grey = np.full((128, 96, 3), 200, np.uint8)
    real = [FaceSet("crops", {4: [grey], 9: [grey]})]
    kinds = set()
    for seed in range(6):
        scene = scenes.compose(np.random.default_rng(seed), faces, [], 160, real=real, real_share=1.0)
        kinds |= set(scene.kinds.tolist())
        assert not scene.red.any()
    assert kinds - {BACK} == {4, 9}


def test_only_fives_are_red(faces):
    seen = [scenes.compose(np.random.default_rng(s), faces, [], 160) for s in range(240)]
    red = np.concatenate([s.kinds[s.red == 1] for s in seen])
    assert set(red.tolist()) == set(FIVES)
    assert np.mean([s.red.any() for s in seen]) < 0.5

"""Rendered tables used for measuring: repeatable, and no more tiles than a set has."""

from collections import Counter

import numpy as np

from vision.training.rendered import random_scene


def test_scenes_are_repeatable_and_possible():
    scene, again = (random_scene(np.random.default_rng(3)) for _ in range(2))
    assert scene == again
    counts = Counter(kind for hand in scene.hands.values() for kind in hand.kinds if kind != "back")
    counts[scene.indicator] += 1
    assert max(counts.values()) <= 4
    assert all(counts[f"{n}f"] <= 1 for n in range(1, 9))


def test_a_concealed_kong_shows_two_backs():
    for seed in range(20):
        for hand in random_scene(np.random.default_rng(seed)).hands.values():
            kongs = sum("back" in meld for meld in hand.melds)
            assert hand.kinds.count("back") == 2 * kongs
            assert len(hand.kinds) == 14 + kongs

"""Hands to measure with: possible, repeatable, and laid where the truth says."""

from collections import Counter

import cv2
import numpy as np
import pytest

from vision.training.measure.camera import random_view
from vision.training.measure.compose import BACK, Conditions, compose
from vision.training.measure.corrupt import CORRUPTIONS, Corruption
from vision.training.measure.deal import ORDER, Deal, deal
from vision.training.measure.hands import OWN, Table
from vision.training.measure.pools import Face, Pool, cut_face

KINDS = frozenset([*ORDER, *(f"{n}f" for n in range(1, 9))])
RED, BLUE = (40, 40, 220), (230, 60, 30)


def plain_faces(colour=RED):
    image = np.full((128, 96, 3), colour, np.uint8)
    return {kind: [Face(image, 128.0)] for kind in KINDS}


def back():
    return np.full((128, 96, 3), BLUE, np.uint8)


def dealt(seed):
    return deal(np.random.default_rng(seed), KINDS)


@pytest.mark.parametrize("seed", range(60))
def test_a_hand_has_no_more_tiles_than_a_set_and_as_many_as_its_rules(seed):
    hand = dealt(seed)
    counts = Counter(kind for kind in hand.kinds if kind != BACK)
    assert max(counts.values()) <= 4
    assert all(n == 1 for kind, n in counts.items() if kind.endswith("f"))
    kongs = sum(len(meld) == 4 for meld in hand.hand.melds)
    assert len(hand.kinds) == hand.shape.tiles + 1 + kongs + len(hand.hand.flowers)
    assert all(hand.kinds[i] != BACK for i in hand.sideways)


def test_the_same_seed_lays_the_same_picture():
    one, two = (compose(np.random.default_rng(5), dealt(4), plain_faces(), back(), []) for _ in range(2))
    np.testing.assert_array_equal(one.image, two.image)
    np.testing.assert_array_equal(one.boxes, two.boxes)


@pytest.mark.parametrize("seed", range(8))
def test_faces_lie_where_the_truth_says(seed):
    picture = compose(np.random.default_rng(seed), dealt(seed), plain_faces(), back(), [])
    assert len(picture.boxes) == len(picture.kinds)
    height, width = picture.image.shape[:2]
    assert (picture.boxes >= -1).all()
    assert (picture.boxes[:, 2] <= width + 1).all()
    assert (picture.boxes[:, 3] <= height + 1).all()
    for box, kind in zip(picture.boxes, picture.kinds, strict=True):
        x, y = int((box[0] + box[2]) / 2), int((box[1] + box[3]) / 2)
        blue, _, red = (float(v) for v in picture.image[y - 2 : y + 3, x - 2 : x + 3].mean((0, 1)))
        assert (blue > red) == (kind == BACK)


def test_views_keep_the_reading_order():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    for seed in range(40):
        seen = random_view(np.random.default_rng(seed)).project(points)
        assert seen[1, 0] > seen[0, 0]
        assert seen[2, 1] > seen[0, 1]


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=lambda c: c.cell)
def test_every_corruption_changes_the_picture_and_keeps_its_truth(corruption: Corruption):
    pools = [
        Pool(
            "s",
            "s",
            {
                k: [
                    Face(
                        np.ascontiguousarray(
                            np.tile(np.arange(96, dtype=np.uint8) * 2, (128, 1))[..., None].repeat(3, 2)
                        ),
                        128.0,
                    )
                ]
                for k in KINDS
            },
        )
    ]
    table = Table(pools, [], 3, rendered=())
    _, hand, spoilt = table.spoilt(1, np.random.default_rng(2), corruption)
    assert spoilt.kinds == hand.kinds
    rng = np.random.default_rng(2)
    faces = pools[0].faces
    from vision.training.measure.compose import back_face

    drawn = back_face(rng)
    plain = compose(rng, deal(rng, KINDS), faces, drawn, [])
    assert plain.image.shape != spoilt.image.shape or (plain.image != spoilt.image).any()


def test_scale_and_rotation_are_what_they_say():
    for strength, (low, high) in enumerate([(90, 120), (30, 36), (24, 27)]):
        conditions = Corruption("scale", strength).conditions(np.random.default_rng(0))
        picture = compose(np.random.default_rng(1), dealt(3), plain_faces(), back(), [], conditions)
        assert 0.7 * low <= np.median((picture.boxes[:, 2:] - picture.boxes[:, :2]).max(1)) <= 1.25 * high
    assert abs(Corruption("rotation", 2).conditions(np.random.default_rng(0)).turn) == 15
    assert Conditions().turn is None


def test_own_rendered_hands_have_boxes_on_their_tiles():
    table = Table([], [], 2, rendered=(OWN,))
    name, hand, picture = table.hand(0)
    assert name == OWN
    assert not hand.sideways
    assert picture.kinds == hand.kinds
    grey = cv2.cvtColor(picture.image, cv2.COLOR_BGR2GRAY)
    for box, kind in zip(picture.boxes, picture.kinds, strict=True):
        if kind != BACK:
            x0, y0, x1, y1 = (int(v) for v in box)
            assert np.percentile(grey[y0:y1, x0:x1], 80) > 120


def test_slanting_small_and_cut_labels_give_no_face():
    image = np.zeros((200, 200, 3), np.uint8)
    assert cut_face(image, np.array([10, 10, 70, 90], np.float32)).image.shape == (128, 96, 3)
    assert cut_face(image, np.array([10, 10, 90, 70], np.float32)).image.shape == (128, 96, 3)
    image[:] = 230
    assert cut_face(image, np.array([10, 10, 70, 90], np.float32)) is not None
    cv2.fillConvexPoly(image, np.array([[10, 90], [10, 70], [30, 90]]), (40, 120, 20))
    assert cut_face(image, np.array([10, 10, 70, 90], np.float32)) is None
    for box in ([10, 10, 80, 88], [10, 10, 28, 34], [-20, 10, 40, 90]):
        assert cut_face(image, np.array(box, np.float32)) is None


def test_a_deal_travels_with_its_shape():
    assert isinstance(dealt(1), Deal)

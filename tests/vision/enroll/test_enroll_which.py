from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np

from vision.enroll.shots import look_of
from vision.enroll.which import Rivals, odd_ones, strangers

HAND = ["1m", "2m", "3m", "5p", "5p", "5p", "7s", "8s", "9s", "1z", "1z", "2z", "2z", "2z"]
NOISE = 0.03


def test_each_of_two_sets_is_recognised_by_its_hand(maker: Callable) -> None:
    makers = [maker(seed=s, noise=NOISE) for s in (1, 2)]
    rivals = Rivals(*(m.set() for m in makers))
    for index, mine in enumerate(makers):
        told = rivals.tell([mine.shot(kind, "hand") for kind in HAND])
        assert told.index == index
        assert told.strangers == ()
        assert told.asked == len(HAND)


def test_two_sets_of_one_design_leave_the_answer_open(maker: Callable) -> None:
    one = maker(seed=1, noise=NOISE)
    rivals = Rivals(one.set(), one.set())
    told = rivals.tell([one.shot(kind, "hand") for kind in HAND])
    assert told.index is None
    assert told.strangers == ()


def test_no_tile_decides_alone(maker: Callable) -> None:
    makers = [maker(seed=s, noise=NOISE) for s in (1, 2)]
    rivals = Rivals(*(m.set() for m in makers))
    assert rivals.tell([makers[0].shot("1m", "hand")]).index is None
    assert rivals.tell([]).index is None


def test_a_tile_of_the_other_set_is_named(maker: Callable) -> None:
    makers = [maker(seed=s, noise=NOISE) for s in (1, 2)]
    rivals = Rivals(*(m.set() for m in makers))
    hand = [makers[0].shot(kind, "hand") for kind in HAND]
    hand[4] = makers[1].shot("5p", "hand")
    told = rivals.tell(hand)
    assert told.index == 0
    assert [(s.index, s.kind, s.code) for s in told.strangers] == [(4, "5p", "other_set")]


def test_a_tile_of_no_set_is_named(maker: Callable) -> None:
    makers = [maker(seed=s, noise=NOISE) for s in (1, 2, 3)]
    rivals = Rivals(makers[0].set(), makers[1].set())
    hand = [makers[0].shot(kind, "hand") for kind in HAND]
    hand[0] = makers[2].shot("1m", "hand")
    assert [(s.index, s.code) for s in rivals.tell(hand).strangers] == [(0, "foreign_tile")]
    assert [s.index for s in strangers(makers[0].set(), hand)] == [0]
    assert strangers(makers[0].set(), hand[1:]) == ()


def test_a_strange_copy_stands_out_in_a_set_nobody_knows(maker: Callable) -> None:
    own, other = maker(seed=1, noise=NOISE), maker(seed=2, noise=NOISE)
    tiles = [own.shot(kind, "block") for kind in ("1m", "2m", "5p") for _ in range(4)]
    assert odd_ones(tiles) == ()
    tiles[6] = other.shot("2m", "block")
    assert [s.index for s in odd_ones(tiles)] == [6]


def _back(colour: tuple[int, int, int], light: float) -> np.ndarray:
    crop = np.full((64, 48, 3), colour, np.float32) * light
    return np.clip(crop + np.random.default_rng(3).normal(0, 3, crop.shape), 0, 255).astype(np.uint8)


def test_sets_of_one_design_are_told_apart_by_their_backs(maker: Callable) -> None:
    one = maker(seed=1, noise=NOISE)
    kinds = [*HAND[:3], "back"]
    green, blue = (60, 140, 40), (190, 110, 40)
    sets = []
    for colour in (green, blue):
        tiles = one.set(kinds=sorted(set(kinds)))
        shots = [
            replace(s, look=look_of(_back(colour, 0.8 + 0.4 * (s.picture == "a")), "back"))
            if s.kind == "back"
            else s
            for s in tiles.shots
        ]
        more = [replace(s, picture=s.picture + "2") for s in shots if s.kind == "back"]
        sets.append(replace(tiles, shots=(*shots, *more)))
    rivals = Rivals(*sets)
    for index, colour in enumerate((green, blue)):
        hand = [one.shot(kind, "hand") for kind in HAND[:3]]
        backs = [
            replace(one.shot("back", "hand"), look=look_of(_back(colour, 0.9), "back")) for _ in range(6)
        ]
        assert rivals.tell(hand + backs).index == index


def test_a_face_looks_alike_in_other_light_and_a_back_keeps_its_hue() -> None:
    face = np.full((64, 48, 3), 220, np.uint8)
    cv2.circle(face, (24, 32), 12, (40, 40, 200), -1)
    dark = (face * 0.6).astype(np.uint8)
    assert look_of(face, "1p") @ look_of(dark, "1p") > 0.95
    green, blue = (look_of(_back(colour, 1.0), "back") for colour in ((60, 140, 40), (190, 110, 40)))
    assert green @ look_of(_back((60, 140, 40), 0.7), "back") > 0.97
    assert green @ blue < 0.5

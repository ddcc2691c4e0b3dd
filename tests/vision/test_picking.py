"""Which boxes count as tiles, by a look that is made up: what was overlooked puts the reading in doubt."""

import numpy as np
import pytest

from vision.decode import DecodeSettings
from vision.interpret import Sight, Thresholds
from vision.model_card import LABELS
from vision.picking import Candidates, pick
from vision.readings import Detections, Floats

AREA = (0.0, 0.0, 640.0, 300.0)
ROW = [(100.0 + 31 * k, 150.0, 130.0 + 31 * k, 190.0) for k in range(6)]
LONE = (150.0, 70.0, 180.0, 110.0)


def shares(**weights: float) -> Floats:
    row = np.zeros(len(LABELS), np.float32)
    for kind, weight in weights.items():
        row[LABELS.index(kind.lstrip("_"))] = weight
    return row


@pytest.mark.parametrize(
    ("shown", "doubted"),
    [
        (shares(_6f=0.9, other=0.1), True),
        (shares(_6f=0.45, _1f=0.3, _6z=0.15, other=0.1), True),  # printed, of a kind never seen like this
        (shares(_6f=0.2, other=0.8), False),
        (shares(_5z=0.8, other=0.2), False),  # bare cloth looks like a blank tile
    ],
)
def test_a_lone_weak_box_that_shows_print_puts_the_reading_in_doubt(shown: Floats, doubted: bool) -> None:
    found = Detections.of([*ROW, LONE], [0.9] * len(ROW) + [0.2])

    def look(boxes: Floats) -> Sight:
        rows = np.stack([shown if tuple(box) == LONE else shares(_1m=1.0) for box in boxes.tolist()])
        return Sight(rows, np.ones(len(boxes), np.float32))

    def glance(boxes: Floats) -> Floats:
        return np.tile(shares(other=1.0), (len(boxes), 1))

    candidates = Candidates(found, np.zeros(len(found), bool))
    picked = pick(candidates, None, AREA, look, glance, DecodeSettings(), Thresholds())
    assert len(picked.found) == len(ROW)
    assert picked.whole == ({"unseen_tile"} if doubted else frozenset())


@pytest.mark.parametrize(
    ("beside", "kept", "whole"),
    [("2m", 6, {"stray_back"}), ("1m", 7, set())],  # beside two alike it may be the end of a concealed kong
)
def test_what_may_be_a_back_counts_only_where_one_belongs(beside: str, kept: int, whole: set[str]) -> None:
    end = (100.0 + 31 * 6, 150.0, 130.0 + 31 * 6, 190.0)
    found = Detections.of([*ROW, end], [0.9] * 7)

    def look(boxes: Floats) -> Sight:
        next_ones = shares(**{f"_{beside}": 1.0})
        named = {end: shares(back=0.6, _3p=0.4), ROW[4]: next_ones, ROW[3]: next_ones}
        rows = np.stack([named.get(tuple(box), shares(_1m=1.0)) for box in boxes.tolist()])
        return Sight(rows, np.ones(len(boxes), np.float32))

    def glance(boxes: Floats) -> Floats:
        return np.tile(shares(other=1.0), (len(boxes), 1))

    candidates = Candidates(found, np.zeros(len(found), bool))
    picked = pick(candidates, None, AREA, look, glance, DecodeSettings(), Thresholds())
    assert (len(picked.found), picked.whole) == (kept, frozenset(whole))


def test_a_back_that_touches_no_tile_is_a_doubt_and_no_tile() -> None:
    found = Detections.of([*ROW, LONE], [0.9] * 7)

    def look(boxes: Floats) -> Sight:
        rows = np.stack(
            [shares(back=1.0) if tuple(box) == LONE else shares(_1m=1.0) for box in boxes.tolist()]
        )
        return Sight(rows, np.ones(len(boxes), np.float32))

    def glance(boxes: Floats) -> Floats:
        return np.tile(shares(other=1.0), (len(boxes), 1))

    candidates = Candidates(found, np.zeros(len(found), bool))
    open_number = pick(candidates, None, AREA, look, glance, DecodeSettings(), Thresholds())
    assert (len(open_number.found), open_number.whole) == (6, frozenset({"stray_back"}))
    known = pick(candidates, 6, AREA, look, glance, DecodeSettings(), Thresholds())
    assert (len(known.found), known.whole) == (6, frozenset())


def test_backs_apart_from_all_open_tiles_are_kept_where_tiles_may_lie_so() -> None:
    apart = [(100.0 + 31 * k, 40.0, 130.0 + 31 * k, 80.0) for k in range(3)]
    found = Detections.of([*ROW, *apart], [0.9] * 9)

    def look(boxes: Floats) -> Sight:
        rows = [shares(back=0.6, _5z=0.4) if tuple(b) in apart else shares(_1m=1.0) for b in boxes.tolist()]
        return Sight(np.stack(rows), np.ones(len(boxes), np.float32))

    def glance(boxes: Floats) -> Floats:
        return np.tile(shares(other=1.0), (len(boxes), 1))

    candidates = Candidates(found, np.zeros(len(found), bool))
    for covered_apart, kept in ((False, 6), (True, 9)):
        picked = pick(
            candidates,
            None,
            AREA,
            look,
            glance,
            DecodeSettings(),
            Thresholds(),
            covered_apart=covered_apart,
        )
        assert len(picked.found) == kept

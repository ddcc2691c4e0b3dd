"""Judging a reading against its truth: right, silently wrong, marked, overlooked, invented."""

import numpy as np
import pytest

from vision.readings import Detections, Reading, TileReading
from vision.render import LaidHand
from vision.shapes import HandShape
from vision.training.measure.compose import Picture
from vision.training.measure.deal import Deal
from vision.training.measure.outcome import Outcome, judge, laid_layout, match, parts, read_hand

BOXES = np.array([[0, 0, 30, 40], [30, 0, 60, 40], [60, 0, 90, 40]], np.float32)


def tile(kind, box, doubts=()):
    return TileReading(kind, 0.9, tuple(float(v) for v in box), ((kind, 0.9),), 0, doubts)


def reading(*tiles, accept=True):
    order = tuple(range(len(tiles)))
    return Reading(tiles, (order,), (order,), accept, () if accept else ("low_score",), 1.0, (90, 40))


def test_a_right_reading_is_exact():
    outcome = judge(reading(*(tile(k, b) for k, b in zip("ABC", BOXES + 2, strict=True))), BOXES, "ABC")
    assert outcome.exact
    assert not outcome.silent
    assert (outcome.right, outcome.wrong, outcome.false, outcome.missed) == (3, (), (), ())


def test_an_accepted_misreading_is_silent_and_its_marks_are_kept():
    outcome = judge(
        reading(tile("A", BOXES[0]), tile("X", BOXES[1], ("odd_size",)), tile("C", BOXES[2])), BOXES, "ABC"
    )
    assert outcome.silent
    assert [(w[:2], w[3]) for w in outcome.wrong] == [(("B", "X"), ("odd_size",))]
    assert outcome.flagged == 1


def test_overlooked_and_invented_tiles_are_told_apart():
    outcome = judge(
        reading(tile("A", BOXES[0]), tile("C", BOXES[2]), tile("Y", [200, 0, 230, 40])), BOXES, "ABC"
    )
    assert outcome.missed == ("B",)
    assert [f[0] for f in outcome.false] == ["Y"]
    assert not outcome.exact


def test_another_order_is_not_exact():
    assert not judge(reading(*(tile(k, b) for k, b in zip("BAC", BOXES, strict=True))), BOXES, "ABC").exact


def test_a_box_read_twice_counts_once():
    assert match(BOXES, np.concatenate([BOXES[:1], BOXES[:1] + 4])) == {0: 0}


def test_outcomes_travel_as_json():
    outcome = judge(
        reading(tile("A", BOXES[0]), tile("X", BOXES[1], ("overlap",)), accept=False), BOXES, "ABC"
    )
    assert Outcome.from_json(outcome.to_json()) == outcome


HAND = LaidHand(
    (("back", "5z", "5z", "back"),),
    ("1m", "1m", "2p", "3p", "4p", "5s", "5s", "5s", "7z", "7z"),
    "7z",
    ("2f",),
)


@pytest.mark.parametrize("way", ["table", "count", "plain"])
def test_a_painted_hand_is_read_in_every_way(paint, way):
    picture = paint(size=(640, 320))
    x = picture.row(HAND.melds[0], 40, 30) + 24
    picture.row(HAND.flowers, x, 30)
    x = picture.row(HAND.concealed, 40, 110)
    picture.row([HAND.win], x + 24, 110)
    deal = Deal(HAND, HandShape(13, "CPKA"))
    laid = Picture(picture.image, Detections.of(picture.boxes).boxes, deal.kinds)
    outcome = read_hand(picture.recognizer(), laid, deal, (way,))[way]
    assert (outcome.right, outcome.missed, outcome.false) == (16, (), ())
    assert outcome.exact


def test_parts_of_a_hand_do_not_depend_on_order():
    deal = Deal(HAND, HandShape(13, "CPKA"))
    layout = laid_layout(deal)
    swapped = list(deal.kinds)
    swapped[5], swapped[7] = swapped[7], swapped[5]
    assert parts(layout, deal.kinds) == parts(layout, swapped)
    assert deal.kinds[layout.win] == "7z"

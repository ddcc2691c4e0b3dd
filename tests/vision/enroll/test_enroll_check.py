from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.enroll.check import compare
from vision.errors import ShapeError
from vision.model_card import LABELS
from vision.readings import Floats

ROW = ["1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m"]


def seen(kinds: Sequence[str], share: float = 0.97) -> Floats:
    shares = np.full((len(kinds), len(LABELS)), (1 - share) / (len(LABELS) - 1), np.float32)
    for row, kind in zip(shares, kinds, strict=True):
        row[LABELS.index(kind)] = share
    return shares


def codes(kinds: Sequence[str], confirmed: bool = False) -> list[tuple[str, int | None, str | None]]:
    return [(f.code, f.place, f.expected) for f in compare(ROW, seen(kinds), confirmed=confirmed).findings]


def test_the_row_as_asked_for_is_taken() -> None:
    check = compare(ROW, seen(ROW))
    assert check.good
    assert check.labels == tuple(ROW)
    assert check.findings == ()


def test_a_row_from_right_to_left_is_taken_with_its_labels_turned() -> None:
    check = compare(ROW, seen(ROW[::-1]))
    assert check.good
    assert check.backwards
    assert check.labels == tuple(ROW[::-1])


def test_a_missing_tile_is_named_and_the_row_not_taken() -> None:
    row = [k for k in ROW if k != "4m"]
    assert codes(row) == [("missing", None, "4m")]
    check = compare(ROW, seen(row), confirmed=True)
    assert not check.good
    assert not check.confirmable


def test_a_tile_too_many_is_shown_by_its_place() -> None:
    assert codes([*ROW[:4], "5z", *ROW[4:]]) == [("extra", 4, None)]


def test_swapped_tiles_are_out_of_order() -> None:
    assert [code for code, *_ in codes(["1m", "2m", "4m", "3m", *ROW[4:]])] == ["out_of_order"]


def test_a_strong_contradiction_is_shown_and_can_be_confirmed() -> None:
    row = ["1m", "2m", "7m", *ROW[3:]]
    assert ("looks_like", 2, "3m") in codes(row)
    check = compare(ROW, seen(row))
    assert not check.good
    assert check.confirmable
    confirmed = compare(ROW, seen(row), confirmed=True)
    assert confirmed.good
    assert confirmed.labels == tuple(ROW)


def test_the_order_labels_a_tile_that_the_network_does_not_know() -> None:
    shares = seen(ROW)
    shares[4] = 1 / len(LABELS)
    check = compare(ROW, shares)
    assert check.good
    assert check.labels[4] == "5m"
    assert [(f.code, f.place) for f in check.findings] == [("doubtful", 4)]


def test_another_row_is_told_as_such() -> None:
    assert codes([k.replace("m", "p") for k in ROW])[0][0] == "wrong_row"


def test_no_tiles_are_no_row() -> None:
    check = compare(ROW, np.zeros((0, len(LABELS)), np.float32))
    assert not check.good
    assert check.findings[0].code == "no_tiles"
    assert [f.expected for f in check.findings[1:]] == ROW


def test_tiles_face_down_need_their_number() -> None:
    assert compare(["back"] * 4, seen(["back"] * 4)).good
    assert [f.code for f in compare(["back"] * 4, seen(["back"] * 3)).findings] == ["missing"]


def test_probabilities_of_other_labels_are_refused() -> None:
    with pytest.raises(ShapeError):
        compare(ROW, np.zeros((9, 10), np.float32))


@given(st.lists(st.sampled_from(LABELS[:43]), max_size=12), st.booleans())
def test_labels_come_from_the_row_each_at_most_once_and_a_good_row_has_all(
    lying: list[str], confirmed: bool
) -> None:
    check = compare(ROW, seen(lying), confirmed=confirmed)
    labels = [label for label in check.labels if label is not None]
    assert len(check.labels) == len(lying)
    assert len(set(labels)) == len(labels)
    assert set(labels) <= set(ROW)
    if check.good:
        assert sorted(labels) == ROW

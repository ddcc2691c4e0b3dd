"""Intervals and calibration: known values, and what any count must keep."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.training.measure.bounds import clopper_pearson, reliability, wilson


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(0, 90, 0.0, 0.04016), (3, 3000, 0.000206, 0.002919), (5, 10, 0.1871, 0.8129), (10, 10, 0.6915, 1.0)],
)
def test_exact_interval_has_the_published_values(hits, of, low, high):
    assert clopper_pearson(hits, of) == pytest.approx((low, high), rel=1e-3, abs=1e-6)


def test_wilson_has_the_published_value():
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)


@given(st.integers(0, 400).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_intervals_hold_the_share(counts):
    hits, of = counts
    for low, high in (clopper_pearson(hits, of), wilson(hits, of)):
        assert 0 <= low <= high <= 1
        if of:
            assert low - 1e-9 <= hits / of <= high + 1e-9


def test_nothing_tried_says_nothing():
    assert clopper_pearson(0, 0) == wilson(0, 0) == (0.0, 1.0)


def test_calibrated_scores_have_no_error():
    scores = [(0.75, True)] * 3 + [(0.75, False)]
    bins, error = reliability(scores)
    assert [(b.count, b.mean, b.right) for b in bins] == [(4, 0.75, 0.75)]
    assert error == pytest.approx(0)


def test_overconfidence_is_the_error():
    assert reliability([(1.0, False)] * 2 + [(1.0, True)] * 2)[1] == pytest.approx(0.5)

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from station import messages as m
from station.demo.summary import Counts, count, percentiles, typed_over
from station.session import Event


def _read(kinds: str, photo: str | None = "p.jpg", claim: int = 1, place: int | None = None) -> m.HandRead:
    tiles = [
        m.TileRead(kind=kind, score=1.0, box=None, alternatives=[], group="concealed")
        for kind in kinds.split()
    ]
    return m.HandRead(hand=1, claim=claim, place=place, photo=photo, size=(1, 1), tiles=tiles, why=[])


def _mended(kind: str, was: str) -> m.TileMended:
    return m.TileMended(hand=1, claim=1, index=0, kind=kind, was=was)


def _ruled(ruling: str, *, over: bool = True) -> m.HandRuled:
    zero = [0, 0, 0, 0]
    return m.HandRuled(
        hand=1,
        ruling=ruling,
        place=None,
        reason=None,
        over=over,
        pay=zero,
        outside=zero,
        deferred=zero,
        loans=zero,
        unpaid=zero,
        bank=0,
        next_dealer=0,
    )


def _counts(*bodies: m.Body) -> Counts:
    return count((float(second), body) for second, body in enumerate(bodies))


def test_only_the_first_look_at_a_claim_counts_as_read() -> None:
    counts = _counts(_read("1m 2m"), _read("1m 2m 3m"), _read("1m", claim=2), _read("1m 2m", photo=None))
    assert counts.tiles_read == 3


def test_a_changed_kind_is_mended_and_an_approved_one_doubted() -> None:
    counts = _counts(_mended("1m", "2m"), _mended("1m", "1m"))
    assert (counts.tiles_mended, counts.tiles_doubted) == (1, 1)


@pytest.mark.parametrize(
    ("ruling", "field", "played"),
    [
        ("draw", "draws", 1),
        ("void", "voids", 1),
        ("redeal", "voids", 1),
        ("win", "wins", 1),
    ],
)
def test_each_ruling_is_counted_where_it_belongs(ruling: str, field: str, played: int) -> None:
    counts = _counts(_ruled(ruling))
    assert getattr(counts, field) == 1
    assert counts.hands_played == played


@pytest.mark.parametrize(("over", "voids"), [(False, 0), (True, 1)])
def test_a_false_win_is_one_more_claim_that_did_not_win_and_may_end_the_hand(over: bool, voids: int) -> None:
    counts = _counts(_ruled("false_win", over=over))
    assert (counts.false_wins_ruled, counts.no_wins, counts.voids, counts.hands_played) == (
        1,
        1,
        voids,
        voids,
    )


def test_what_lies_open_at_other_places_counts_as_read_once() -> None:
    counts = _counts(_read("1m 2m"), _read("7z 7z 7z", place=1), _read("7z 7z", place=1), _read("", place=2))
    assert counts.tiles_read == 5
    assert len(counts.frame_to_verdict) == 1


def test_the_time_to_a_verdict_runs_from_claim_to_reading() -> None:
    claim = m.HandClaimed(hand=1, claim=1, place=0, how="self", source=None)
    assert _counts(claim, _read("1m")).frame_to_verdict == [1000.0]


def test_tiles_typed_over_a_reading_count_as_mended() -> None:
    bodies: Sequence[m.Body] = [_read("1m 2m 3m"), _read("1m 2m 4m 5m", photo=None)]
    assert typed_over([Event(n, 0.0, body) for n, body in enumerate(bodies, 1)]) == 2


def test_tiles_typed_for_another_place_are_compared_with_what_was_read_there() -> None:
    bodies = [_read("1m 2m 3m"), _read("7z 7z", place=1), _read("7z 7z 7z", photo=None, place=1)]
    assert typed_over([Event(n, 0.0, body) for n, body in enumerate(bodies, 1)]) == 1


@pytest.mark.parametrize(
    ("values", "p50", "p99"),
    [([], None, None), ([5.0], 5.0, 5.0), ([float(n) for n in range(1, 101)], 51.0, 100.0)],
)
def test_percentiles(values: list[float], p50: float | None, p99: float | None) -> None:
    assert percentiles(values) == {"p50": p50, "p99": p99}


def test_what_was_waited_for_is_counted_and_is_not_the_time_of_a_reading() -> None:
    claim = m.HandClaimed(hand=1, claim=1, place=0, how="self", source=None)
    waited = msgspec.structs.replace(_read("1m"), waited={"moving": 2, "glare": 1})
    counts = _counts(claim, waited, msgspec.structs.replace(waited, place=1))
    assert counts.guidance == {"moving": 4, "glare": 2}
    assert counts.read_anyway == 0
    assert counts.frame_to_verdict == []


def test_hands_that_were_read_as_they_were_are_counted() -> None:
    assert _counts(_read("1m"), msgspec.structs.replace(_read("1m", claim=2), anyway=True)).read_anyway == 1

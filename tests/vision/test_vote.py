"""Frames of one zone: their order does not matter, equal ones change nothing, differences are asked."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vision.readings import FRAMES_DIFFER, LOW_SCORE, UNSURE_BOX, WRONG_COUNT, Reading, TileReading
from vision.vote import vote

KINDS = ("1m", "2m", "3m", "5z", "back")


def tile(slot: int, kind: str = "1m", score: float = 0.9, doubts: tuple[str, ...] = ()) -> TileReading:
    other = "9s" if kind != "9s" else "8s"
    x = 10.0 + 70 * slot
    return TileReading(kind, score, (x, 20.0, x + 66, 110.0), ((kind, score), (other, 1 - score)), 0, doubts)


def reading(*tiles: TileReading, why: tuple[str, ...] = (), ms: float = 5.0) -> Reading:
    codes = tuple(dict.fromkeys([*why, *(code for t in tiles for code in t.doubts)]))
    row = tuple(range(len(tiles)))
    rows = (row,) if tiles else ()
    return Reading(tiles, rows, rows, not codes, codes, ms, (900, 200))


@st.composite
def readings(draw: st.DrawFn) -> Reading:
    slots = sorted(draw(st.sets(st.integers(0, 9), max_size=8)))
    jitter = st.floats(-2, 2, allow_nan=False)
    tiles = []
    for slot in slots:
        doubts = tuple(draw(st.sets(st.sampled_from([LOW_SCORE]), max_size=1)))
        made = tile(slot, draw(st.sampled_from(KINDS)), draw(st.floats(0.51, 1.0)), doubts)
        dx, dy = draw(jitter), draw(jitter)
        x0, y0, x1, y1 = made.box
        tiles.append(replace(made, box=(x0 + dx, y0 + dy, x1 + dx, y1 + dy)))
    return reading(*tiles)


def told(voted: Reading) -> Reading:
    return replace(voted, ms=0.0)


@settings(max_examples=60, deadline=None)
@given(st.lists(readings(), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_the_frames_does_not_matter(frames: list[Reading], random: object) -> None:
    mixed = list(frames)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert told(vote(mixed)) == told(vote(frames))


@settings(max_examples=60, deadline=None)
@given(readings(), st.integers(1, 5))
def test_equal_frames_give_what_each_of_them_gave(frame: Reading, count: int) -> None:
    voted = vote([replace(frame, ms=2.0)] * count)
    assert told(voted) == told(frame)
    assert voted.ms == pytest.approx(2.0 * count)


@settings(max_examples=60, deadline=None)
@given(st.lists(readings(), min_size=1, max_size=4))
def test_a_vote_is_accepted_only_where_nothing_is_in_doubt(frames: list[Reading]) -> None:
    voted = vote(frames)
    assert voted.accept == (not voted.why)
    assert {code for t in voted.tiles for code in t.doubts} <= set(voted.why)
    kinds = {kind for frame in frames for kind in frame.kinds}
    assert {t.kind for t in voted.tiles if FRAMES_DIFFER not in t.doubts} <= kinds


def test_a_low_score_in_one_of_three_frames_is_outvoted() -> None:
    unsure = reading(tile(0), tile(1, "2m", 0.6, (LOW_SCORE,)))
    sure = reading(tile(0), tile(1, "2m", 0.9))
    voted = vote([sure, unsure, sure])
    assert voted.accept
    assert voted.tiles[1].score == pytest.approx(0.8)
    assert not vote([sure, unsure]).accept


def test_frames_that_name_different_kinds_leave_the_tile_in_doubt() -> None:
    voted = vote([reading(tile(0, "1m", 0.95)), reading(tile(0, "1m", 0.9)), reading(tile(0, "9s", 0.6))])
    assert voted.kinds == ("1m",)
    assert voted.tiles[0].doubts == (FRAMES_DIFFER,)
    assert voted.why == (FRAMES_DIFFER,)


def test_a_tile_that_most_frames_saw_is_kept_and_one_that_few_saw_is_not() -> None:
    whole, short = reading(tile(0), tile(1)), reading(tile(0))
    assert len(vote([whole, whole, short]).tiles) == 2
    assert vote([whole, whole, short]).accept
    assert len(vote([short, whole, short]).tiles) == 1
    halved = vote([whole, short])
    assert [t.doubts for t in halved.tiles] == [(), (UNSURE_BOX,)]


def test_a_doubt_of_the_whole_stays_unless_most_frames_lack_it() -> None:
    short, whole = reading(tile(0), why=(WRONG_COUNT,)), reading(tile(0), tile(1))
    assert WRONG_COUNT in vote([short, whole]).why
    assert WRONG_COUNT not in vote([short, whole, whole]).why


def test_no_frame_is_no_vote() -> None:
    with pytest.raises(ValueError, match="at least one"):
        vote([])

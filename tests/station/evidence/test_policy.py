"""Which photos go, and in which order: docs/evidence.md as tests."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from station.evidence.policy import ORDER, Photo, Removal, Rules, to_remove

RULES = Rules(appeal_window_s=100.0, reserve=1000)
PLENTY = 1_000_000


def photo(
    name: str, *standings: str, at: float = 0.0, ended_at: float | None = None, safe: bool = True
) -> Photo:
    return Photo(name=name, size=100, standings=frozenset(standings), at=at, ended_at=ended_at, safe=safe)


def names(removals: list[Removal]) -> list[str]:
    return [removal.name for removal in removals]


def test_while_there_is_space_everything_stays_for_the_appeal_window() -> None:
    photos = [photo(kind, kind, ended_at=0.0) for kind in (*ORDER, "disputed")]
    assert to_remove(photos, 100.0, PLENTY, RULES) == []
    assert sorted(names(to_remove(photos, 101.0, PLENTY, RULES))) == sorted([*ORDER, "disputed"])


def test_the_window_counts_from_the_end_of_the_session_and_from_what_was_decided_after_it() -> None:
    running = photo("running", "clean", at=0.0, ended_at=None)
    late = photo("late", "disputed", at=60.0, ended_at=0.0)
    assert to_remove([running, late], 150.0, PLENTY, RULES) == []
    assert to_remove([running, late], 161.0, PLENTY, RULES) == [Removal("late", "window_over")]


def test_on_a_full_disk_indicators_go_first_then_clean_hands_the_oldest_first() -> None:
    photos = [
        photo("dispute", "disputed", at=1.0),
        photo("rejected", "rejected", at=1.0),
        photo("mended", "mended", at=1.0),
        photo("new", "clean", at=9.0),
        photo("old", "clean", at=2.0),
        photo("flip", "indicator", at=50.0),
        photo("both", "indicator", "clean", at=1.0),
        photo("open", "pending", at=0.0),
    ]
    order = to_remove(photos, 60.0, 0, Rules(appeal_window_s=100.0, reserve=10_000))
    assert [(r.name, r.why) for r in order] == [
        ("flip", "thin.indicator"),
        ("both", "thin.clean"),
        ("old", "thin.clean"),
        ("new", "thin.clean"),
        ("mended", "thin.mended"),
        ("rejected", "thin.rejected"),
    ]
    assert names(to_remove(photos, 60.0, 800, RULES)) == ["flip", "both"], "no more than needed"


def test_what_the_window_left_behind_counts_as_space() -> None:
    photos = [photo("over", "disputed", ended_at=0.0), photo("clean", "clean", at=150.0)]
    assert names(to_remove(photos, 150.0, 900, RULES)) == ["over"]


def test_what_no_event_names_goes_after_the_window_and_not_before() -> None:
    lost = photo("lost", "unnamed", at=10.0, ended_at=10.0)
    assert to_remove([lost], 100.0, 0, RULES) == []
    assert names(to_remove([lost], 111.0, PLENTY, RULES)) == ["lost"]


ANY = st.builds(
    photo,
    st.uuids().map(str),
    st.sampled_from([*ORDER, "disputed", "pending", "unnamed"]),
    st.sampled_from([*ORDER, "disputed", "pending"]),
    at=st.floats(0, 300),
    ended_at=st.none() | st.floats(0, 300),
    safe=st.booleans(),
)


@given(st.lists(ANY, max_size=30, unique_by=lambda p: p.name), st.floats(0, 500), st.integers(0, 3000))
def test_what_is_undecided_or_not_safe_never_goes_and_disputes_only_after_the_window(
    photos: list[Photo], now: float, free: int
) -> None:
    known = {photo.name: photo for photo in photos}
    removals = to_remove(photos, now, free, RULES)
    assert len(set(names(removals))) == len(removals)
    for removal in removals:
        gone = known[removal.name]
        assert gone.safe
        assert "pending" not in gone.standings
        if removal.why != "window_over":
            assert gone.standings <= set(ORDER)
            assert free < RULES.reserve
    thinned = [removal for removal in removals if removal.why != "window_over"]
    if thinned:
        freed = 100 * (len(removals) - 1)
        assert free + freed < RULES.reserve, "the last one was needed too"

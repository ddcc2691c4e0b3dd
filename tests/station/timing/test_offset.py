"""How far the station's clock is ahead of the table's."""

from hypothesis import given
from hypothesis import strategies as st

from station.timing.offset import OffsetFilter, Sample


def exchange(at: float, ahead: float, there: float, back: float) -> Sample:
    """An exchange that begins at `at` of the table's clock, `there` and `back` seconds on the line."""
    t2 = at + there + ahead
    return Sample(at, t2, t2 + 0.001, at + there + 0.001 + back)


def test_nothing_is_known_before_the_first_exchange() -> None:
    assert OffsetFilter().at(5.0) is None


@given(
    ahead=st.floats(-1e6, 1e6),
    delays=st.lists(st.tuples(st.floats(0, 2), st.floats(0, 2)), min_size=1, max_size=40),
)
def test_the_truth_lies_within_what_is_said(ahead: float, delays: list[tuple[float, float]]) -> None:
    offsets = OffsetFilter()
    for n, (there, back) in enumerate(delays):
        offsets.add(exchange(10.0 * n, ahead, there, back))
    estimate = offsets.at(10.0 * len(delays))
    assert estimate is not None
    assert abs(estimate.offset - ahead) <= estimate.error


def test_the_shortest_way_is_believed() -> None:
    offsets = OffsetFilter()
    for there, back in ((0.9, 0.1), (0.001, 0.001), (0.0, 1.5)):
        offsets.add(exchange(0.0, 100.0, there, back))
    estimate = offsets.at(3.0)
    assert estimate is not None
    assert abs(estimate.offset - 100.0) < 0.001


def test_an_old_good_exchange_gives_way_to_what_came_since() -> None:
    """After a day 50 ppm each are 8.6 s: a round trip of a second says more."""
    offsets = OffsetFilter()
    offsets.add(exchange(0.0, 100.0, 0.001, 0.001))
    offsets.add(exchange(86_400.0, 104.0, 0.5, 0.5))
    estimate = offsets.at(86_401.0)
    assert estimate is not None
    assert abs(estimate.offset - 104.0) < 0.01


def test_a_station_that_was_started_anew_is_believed_at_once() -> None:
    offsets = OffsetFilter()
    for n in range(10):
        offsets.add(exchange(float(n), 5000.0, 0.001, 0.001))
    offsets.add(exchange(11.0, -40.0, 0.2, 0.2))
    estimate = offsets.at(12.0)
    assert estimate is not None
    assert abs(estimate.offset + 40.0) < 0.5


def test_what_cannot_be_is_dropped() -> None:
    offsets = OffsetFilter()
    for bad in (Sample(5, 1, 2, 4), Sample(1, 5, 4, 2), Sample(0, 0, 9, 1)):
        offsets.add(bad)
    assert offsets.at(10.0) is None

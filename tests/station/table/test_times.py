"""The times of a table: its session and the hall's clock."""

import math
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from station.table.times import TableTimes
from station.timing.elapsed import Anchor, anchored, decode, encode
from station.timing.hall_clock import Countdown
from tests.station.clocks import Hands


@given(steps=st.lists(st.sampled_from([-3600.0, 3600.0]), max_size=6))
def test_a_session_goes_on_as_long_as_it_does_whatever_the_wall_says(steps: list[float]) -> None:
    hands = Hands()
    times, opened_at = TableTimes(hands.clock), hands.wall
    assert times.elapsed_s(opened_at) == 0
    for step in steps:
        hands.passes(60)
        hands.wall += step
    assert times.elapsed_s(opened_at) == pytest.approx(60 * len(steps))


def test_a_restart_of_the_program_goes_on_exactly(tmp_path: Path) -> None:
    hands, file = Hands(), tmp_path / "session-clock.json"
    opened_at = hands.wall
    TableTimes(hands.clock, file).elapsed_s(opened_at)
    hands.passes(100)
    hands.wall += 3600
    assert TableTimes(hands.clock, file).elapsed_s(opened_at) == pytest.approx(100)


def test_after_a_restart_of_the_machine_the_wall_is_asked_once(tmp_path: Path) -> None:
    hands, file = Hands(), tmp_path / "session-clock.json"
    opened_at = hands.wall
    TableTimes(hands.clock, file).elapsed_s(opened_at)
    hands.passes(100)
    hands.boot, hands.steady = "second", 9.0
    hands.wall += 50
    times = TableTimes(hands.clock, file)
    assert times.elapsed_s(opened_at) == pytest.approx(150)
    hands.wall -= 3600
    hands.steady += 10
    assert times.elapsed_s(opened_at) == pytest.approx(160)


def test_a_wall_clock_that_was_never_set_makes_no_negative_time(tmp_path: Path) -> None:
    hands = Hands(wall=10.0)
    assert TableTimes(hands.clock).elapsed_s(1_796_000_000.0) == 0
    assert TableTimes(hands.clock).elapsed_s(None) == 0
    assert TableTimes(Hands().clock).elapsed_s(0.0) == 86_400


def test_another_session_has_its_own_beginning() -> None:
    hands = Hands()
    times, first = TableTimes(hands.clock), hands.wall
    times.elapsed_s(first)
    hands.passes(1000)
    assert times.elapsed_s(hands.wall) == 0


def test_a_file_that_is_damaged_or_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    hands = Hands()
    (tmp_path / "x.json").write_text("{")
    for file in (tmp_path / "x.json", tmp_path / "nowhere" / "x.json"):
        assert TableTimes(hands.clock, file).elapsed_s(hands.wall - 5) == pytest.approx(5)
    assert decode(b"") is None
    anchor = Anchor(1.0, 2.0, "b")
    assert decode(encode(anchor)) == anchor


def test_an_anchor_that_lies_in_the_future_is_not_believed() -> None:
    future = Anchor(100.0, 900.0, "b")
    assert anchored(future, 100.0, steady=50.0, wall=110.0, boot="b") == Anchor(100.0, 40.0, "b")


def test_the_halls_clock_is_shown_where_there_is_one() -> None:
    hands = Hands()
    times = TableTimes(hands.clock)
    assert times.hall() is None
    idle, running = Countdown(), Countdown("running", 600.0, 1000.0, True, "s", 1)
    times.on_time(hands.steady, 1000.0, 1000.0, hands.steady)
    times.on_value("clock", msgspec.json.encode(idle.to_json("s")))
    assert times.hall() is None
    times.on_value("clock", msgspec.json.encode(running.to_json("s")))
    hands.passes(60)
    assert times.hall() == {"state": "running", "remaining_s": 540, "running": True}


@pytest.mark.parametrize("step", [-3600.0, 0.0, 3600.0])
def test_what_this_process_saw_happen_is_counted_whatever_the_wall_says(step: float) -> None:
    hands = Hands()
    times, dealt_at = TableTimes(hands.clock), hands.wall
    assert times.since("deal", dealt_at) == 0
    hands.passes(20)
    hands.wall += step
    assert times.since("deal", dealt_at) == pytest.approx(20)
    assert times.since("cycle", hands.wall - 5) == pytest.approx(5)
    assert times.since("deal", hands.wall) == 0


def test_what_lies_in_the_future_was_long_ago() -> None:
    """The wall clock was set back over a restart: nobody knows how old a start of the machine is."""
    hands = Hands()
    assert TableTimes(hands.clock).since("cycle", hands.wall + 3600) == math.inf
    assert TableTimes(hands.clock).since("cycle", hands.wall + 1) == 0

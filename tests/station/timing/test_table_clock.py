"""The hall's clock as a table counts it along."""

import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from station.timing.hall_clock import Countdown
from station.timing.table_clock import TableClock


class Hall:
    """A station and a table with clocks of their own: the table's runs `drift` fast and began elsewhere."""

    def __init__(self, drift: float = 0.0, ahead: float = 5000.0, boot: str = "boot") -> None:
        self.now = 0.0
        self.boot = boot
        self.drift = drift
        self.ahead = ahead
        self.run = boot
        self.table = TableClock()
        self.countdown = Countdown()
        self.shown: list[float] = []

    @property
    def station_time(self) -> float:
        return self.now + self.ahead

    @property
    def table_time(self) -> float:
        return 77.0 + self.now * (1 + self.drift)

    def event(self, left: float, *, running: bool = True, state: str = "running") -> None:
        self.countdown = Countdown(
            state, left, self.station_time, running, self.boot, self.countdown.events + 1
        )
        self.say()

    def say(self) -> None:
        self.table.on_value("clock", msgspec.json.encode(self.countdown.to_json(self.run)))

    def exchange(self, there: float = 0.002, back: float = 0.002) -> None:
        t1 = self.table_time
        self.now += there
        t2 = self.station_time
        self.now += back
        self.table.on_time(t1, t2, t2, self.table_time)

    def look(self) -> float:
        remaining = self.table.remaining_s(self.table_time)
        assert remaining is not None
        self.shown.append(remaining)
        return remaining

    @property
    def true(self) -> float:
        return self.countdown.remaining_s(self.station_time)


def test_nothing_is_shown_before_the_station_has_spoken() -> None:
    table = TableClock()
    assert (table.remaining_s(5.0), table.state, table.to_json(5.0)) == (None, None, None)
    hall = Hall()
    hall.event(3600)
    assert hall.table.remaining_s(hall.table_time) is None  # the station's clock is not known yet
    hall.exchange()
    assert hall.look() == pytest.approx(3600, abs=0.01)


def test_a_table_shows_what_the_station_shows() -> None:
    hall = Hall()
    hall.exchange()
    hall.event(3600)
    hall.now += 100
    assert hall.look() == pytest.approx(3500, abs=0.01)
    hall.event(3400, running=False, state="paused")
    hall.now += 50
    assert hall.look() == 3400
    hall.event(3400)
    hall.now += 10
    assert hall.look() == pytest.approx(3390, abs=0.01)
    assert hall.table.to_json(hall.table_time) == {"state": "running", "remaining_s": 3390, "running": True}


@given(drift=st.floats(-5e-5, 5e-5), delay=st.floats(0.001, 0.8))
def test_eight_hours_without_the_station_are_counted_and_worked_off_slowly(
    drift: float, delay: float
) -> None:
    hall = Hall(drift)
    hall.exchange()
    hall.event(9 * 3600)
    for _ in range(8 * 60):
        hall.now += 60
        hall.look()
    assert hall.look() == pytest.approx(hall.true, abs=1.5)
    for _ in range(60):  # the link is back
        hall.exchange(delay / 2, delay / 2)
        hall.say()
        hall.now += 1
        hall.look()
    assert hall.look() == pytest.approx(hall.true, abs=0.1)
    assert all(after <= before for before, after in zip(hall.shown, hall.shown[1:], strict=False))


@given(st.lists(st.tuples(st.floats(0, 3), st.floats(0, 3), st.floats(0, 30)), min_size=1, max_size=30))
def test_whatever_the_line_does_a_countdown_never_goes_up(steps: list[tuple[float, float, float]]) -> None:
    hall = Hall(2e-5)
    hall.exchange()
    hall.event(3600)
    hall.look()
    for there, back, wait in steps:
        hall.exchange(there, back)
        hall.look()
        hall.now += wait
        hall.look()
        hall.say()
        hall.look()
    assert all(after <= before for before, after in zip(hall.shown, hall.shown[1:], strict=False))


def test_an_event_may_give_time_back_at_once() -> None:
    hall = Hall()
    hall.exchange()
    hall.event(600)
    hall.now += 30
    assert hall.look() == pytest.approx(570, abs=0.01)
    hall.event(870)
    assert hall.look() == pytest.approx(870, abs=0.01)


def test_time_that_a_sleeping_table_missed_is_taken_off_at_once() -> None:
    """A table whose steady clock stood still for ten minutes, which its kernel should not do."""
    hall = Hall()
    hall.exchange()
    hall.event(3600)
    hall.look()
    hall.now += 600
    hall.drift = -600 / hall.now
    hall.exchange()
    assert hall.look() == pytest.approx(hall.true, abs=0.1)


def test_time_that_a_sleeping_station_missed_is_waited_for() -> None:
    hall = Hall()
    hall.exchange()
    hall.event(3600)
    for _ in range(60):
        hall.now += 1
        hall.look()
    hall.ahead -= 20  # it stood still for 20 s
    for _ in range(60):
        hall.exchange()
        hall.now += 1
        hall.look()
    assert hall.look() == pytest.approx(hall.true, abs=0.1)
    assert all(after <= before for before, after in zip(hall.shown, hall.shown[1:], strict=False))


def test_a_station_in_a_new_run_is_counted_with_until_its_clock_is_known() -> None:
    hall = Hall()
    hall.exchange()
    hall.event(3600)
    hall.now += 100
    hall.look()
    hall.ahead, hall.run = -90.0, "next"
    hall.countdown = Countdown(
        "unconfirmed", 3490.0, hall.station_time, True, "next", hall.countdown.events + 1
    )
    hall.say()
    assert hall.look() == pytest.approx(3500, abs=0.1)
    assert hall.table.state == "unconfirmed"
    hall.exchange()
    assert hall.look() == pytest.approx(3490, abs=0.1)


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"state": 5}', b"\xff", b"[" * 5000])
def test_a_damaged_word_is_passed_over(body: bytes) -> None:
    hall = Hall()
    hall.exchange()
    hall.event(3600)
    hall.table.on_value("clock", body)
    hall.table.on_value("weather", b"{}")
    assert hall.look() == pytest.approx(3600, abs=0.01)


def test_a_clock_that_was_never_started_does_not_hold_the_one_that_is() -> None:
    hall = Hall()
    hall.exchange()
    hall.say()
    assert hall.look() == 0
    hall.event(600)
    assert hall.look() == pytest.approx(600, abs=0.01)
    hall.run = "next"
    hall.ahead = 3.0
    hall.countdown = Countdown()
    hall.say()
    hall.look()
    hall.countdown = Countdown("running", 500.0, hall.station_time, True, "next", 1)
    hall.say()
    assert hall.table.remaining_s(hall.table_time) is None
    hall.exchange()
    assert hall.look() == pytest.approx(500, abs=0.01)


class Two:
    """A hall with a main and a stand-by station, whose clocks have nothing to do with each other."""

    def __init__(self) -> None:
        self.main, self.second = Hall(), Hall(ahead=-40.0, boot="second")
        self.second.table = self.main.table

    def passes(self, seconds: float) -> None:
        self.main.now += seconds
        self.second.now = self.main.now

    def come(self, station: Hall) -> None:
        """The table connects to a station, which says what it knows, and exchanges times with it."""
        station.now = self.main.now
        self.main.table.on_station(standby=station is self.second)
        station.exchange()  # whatever comes first
        station.say()
        station.exchange()
        self.main.now = station.now

    def look(self) -> float:
        return self.main.look()


@pytest.fixture
def two() -> Two:
    two = Two()
    two.come(two.main)
    two.main.event(3600)
    two.look()
    return two


def test_a_second_station_that_does_not_know_the_clock_lets_it_go_on_and_asks_the_head_referee(
    two: Two,
) -> None:
    two.passes(600)
    two.come(two.second)
    for gone in (0, 100):
        two.passes(gone)
        assert two.look() == pytest.approx(two.main.true, abs=0.1)
        assert two.main.table.state == "unconfirmed"
    two.second.event(2700)
    assert two.look() == pytest.approx(2700, abs=0.01)  # as the head referee has set it there
    two.passes(60)
    assert two.look() == pytest.approx(2640, abs=0.1)
    assert two.main.table.state == "running"


def test_coming_back_to_the_first_station_is_no_event(two: Two) -> None:
    two.come(two.second)
    two.second.event(3000)
    two.passes(10)
    assert two.look() == pytest.approx(2990, abs=0.1)
    two.come(two.main)  # 600 s more are left there, and nobody has said so
    before = two.look()
    assert before == pytest.approx(2990, abs=0.1)
    two.passes(60)
    assert before - 60 <= two.look() <= before
    two.main.event(3500)
    assert two.look() == pytest.approx(3500, abs=0.1)


def test_what_was_decided_at_the_first_station_meanwhile_is_an_event(two: Two) -> None:
    two.come(two.second)
    two.look()
    two.main.now = two.second.now
    two.main.countdown = Countdown("running", 4200.0, two.main.station_time, True, "boot", 9)
    two.come(two.main)
    assert two.look() == pytest.approx(4200, abs=0.1)


@pytest.mark.parametrize(("state", "running"), [("paused", False), ("running", True), ("ended", False)])
@pytest.mark.parametrize("visits", [1, 3])
def test_going_to_and_fro_never_shows_more_time(two: Two, state: str, running: bool, visits: int) -> None:
    two.main.event(1800 if state != "ended" else 0, running=running, state=state)
    shown = [two.look()]
    for _ in range(visits):
        for station in (two.second, two.main):
            two.come(station)
            for _ in range(5):
                shown.append(two.look())
                two.passes(7)
    assert all(after <= before for before, after in itertools.pairwise(shown))
    assert two.main.table.state == state
    assert two.look() == pytest.approx(two.main.true, abs=0.2)


def test_time_that_ran_out_stays_so_at_a_station_that_does_not_know(two: Two) -> None:
    two.main.event(0, running=False, state="ended")
    two.come(two.second)
    assert (two.look(), two.main.table.state) == (0, "ended")

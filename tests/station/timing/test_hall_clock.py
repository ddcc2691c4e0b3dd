"""The hall's countdown, and what a restart of the station makes of it."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from station.timing import persistence
from station.timing.hall_clock import ACTIONS, Change, ClockRefused, Countdown, apply, decide
from station.timing.persistence import LONGEST_GAP_S, Moment, after_restart


@dataclass
class Station:
    """A station whose clocks are in our hand."""

    steady: float = 100.0
    wall: float = 1_796_000_000.0
    boot: str = "first"
    clock: Countdown = field(default_factory=Countdown)
    written: Moment | None = None

    def do(self, action: str, seconds: int | None = None, reason: str = "why", key: str = "") -> None:
        event = decide(
            self.clock,
            action,
            steady=self.steady,
            boot=self.boot,
            seconds=seconds,
            reason=reason,
            key=key,
        )
        if event is not None:
            self.clock = apply(self.clock, *event)

    def passes(self, seconds: float) -> None:
        self.steady += seconds
        self.wall += seconds
        self.write()

    def write(self) -> None:
        self.written = Moment(self.steady, self.wall, self.boot)

    def restarts(self) -> None:
        event = after_restart(self.clock, self.written, Moment(self.steady, self.wall, self.boot))
        if event is not None:
            self.clock = apply(self.clock, *event)

    def reboots(self, off_s: float, wall_s: float | None = None) -> None:
        """The machine was off for `off_s`; its wall clock says `wall_s`."""
        self.boot += "+"
        self.steady = 3.0
        self.wall += off_s if wall_s is None else wall_s
        self.restarts()

    @property
    def left(self) -> float:
        return self.clock.remaining_s(self.steady)


def started(seconds: int = 3600) -> Station:
    station = Station()
    station.do("start", seconds)
    return station


def test_it_counts_down_stands_and_goes_on() -> None:
    station = started()
    station.passes(600)
    assert station.left == 3000
    station.do("pause")
    station.passes(300)
    assert station.left == 3000
    station.do("resume")
    station.passes(100)
    assert (station.left, station.clock.state) == (2900, "running")
    station.do("extend", 300)
    station.do("extend", -600)
    assert station.left == 2600
    station.do("set", 60)
    station.passes(61)
    assert station.left == 0


def test_time_can_be_given_after_the_end() -> None:
    station = started(10)
    station.passes(11)
    station.clock = apply(station.clock, "clock.ended", Change(1, 0, False, 111_000, "first"))
    assert station.clock.state == "ended"
    station.do("extend", 120)
    station.passes(20)
    assert (station.clock.state, station.left) == ("running", 100)


@pytest.mark.parametrize(
    ("action", "seconds", "reason", "code"),
    [
        ("start", 60, "", "clock.not_now"),
        ("resume", None, "", "clock.not_now"),
        ("confirm", None, "", "clock.not_now"),
        ("extend", 60, " ", "clock.reason"),
        ("set", 60, "", "clock.reason"),
        ("set", 60, "x" * 201, "clock.reason"),
        ("extend", None, "why", "clock.seconds"),
        ("extend", -3601, "why", "clock.seconds"),
        ("set", -1, "why", "clock.seconds"),
        ("set", 10**9, "why", "clock.seconds"),
        ("stop", None, "", "clock.no_action"),
    ],
)
def test_what_cannot_be_is_refused(action: str, seconds: int | None, reason: str, code: str) -> None:
    station = started()
    before = station.clock
    with pytest.raises(ClockRefused) as caught:
        station.do(action, seconds, reason)
    assert (caught.value.code, station.clock) == (code, before)


def test_a_request_that_is_sent_twice_counts_once() -> None:
    station = started()
    station.do("extend", 300, key="a")
    station.do("extend", 300, key="a")
    station.do("extend", 300, key="b")
    assert station.left == 4200


def test_a_kind_of_a_newer_version_changes_nothing() -> None:
    clock = started().clock
    after = apply(clock, "clock.hastened", Change(9, 1, False, 1, "x"))
    assert (after.state, after.left_s, after.events) == (clock.state, clock.left_s, clock.events + 1)


# ---- restarts ----


@given(gone=st.floats(0, 3000), off=st.floats(0, 500), step=st.sampled_from([-3600.0, 0.0, 3600.0]))
def test_a_restart_of_the_program_changes_nothing_whatever_the_wall_says(
    gone: float, off: float, step: float
) -> None:
    station = started()
    station.passes(gone)
    station.steady += off  # nobody writes while it is down
    station.wall += off + step
    station.restarts()
    assert station.clock.state == "running"
    assert station.left == pytest.approx(max(0.0, 3600 - gone - off))


def test_a_sleep_of_the_machine_is_time_that_has_passed() -> None:
    """The steady clock counts on in its sleep (CLOCK_BOOTTIME)."""
    station = started()
    station.steady += 1000
    assert station.left == 2600


@given(gone=st.floats(0, 1000), off=st.floats(0, 2000))
def test_after_a_restart_of_the_machine_the_wall_proposes_and_a_person_decides(
    gone: float, off: float
) -> None:
    station = started()
    station.passes(gone)
    station.reboots(off)
    assert station.clock.state == "unconfirmed"
    assert station.left == pytest.approx(3600 - gone - off, abs=0.01)
    station.passes(10)
    before = station.left
    station.do("confirm")
    assert (station.clock.state, station.left) == ("running", pytest.approx(before, abs=0.01))


@pytest.mark.parametrize("wall_s", [-3600.0, LONGEST_GAP_S + 60, -1_796_000_000.0])
def test_a_wall_clock_that_makes_no_sense_is_not_believed(wall_s: float) -> None:
    station = started()
    station.passes(600)
    station.reboots(120, wall_s)
    assert (station.clock.state, station.left) == ("unconfirmed", 3000)
    station.do("set", 2880)
    assert (station.clock.state, station.left) == ("running", 2880)


def test_a_wall_clock_that_was_never_set_is_not_believed() -> None:
    station = Station(wall=1000.0)
    station.do("start", 3600)
    station.passes(600)
    station.reboots(120)
    assert station.left == 3000


def test_without_what_was_written_the_last_event_is_proposed() -> None:
    station = started()
    station.passes(600)
    station.do("extend", 60)
    station.passes(600)
    station.written = None
    station.reboots(5)
    assert (station.clock.state, station.left) == ("unconfirmed", 3060)


def test_a_clock_that_stood_needs_nobody() -> None:
    station = started()
    station.passes(600)
    station.do("pause")
    station.passes(50)
    station.reboots(120)
    assert (station.clock.state, station.left) == ("paused", 3000)
    station.do("resume")
    station.passes(10)
    assert station.left == 2990


def test_a_second_restart_before_anybody_came_is_in_doubt_again() -> None:
    station = started()
    station.passes(600)
    station.reboots(100)
    station.passes(50)
    station.reboots(100)
    assert (station.clock.state, station.left) == ("unconfirmed", pytest.approx(2750, abs=0.01))


def test_what_was_written_is_read_and_damage_is_nothing() -> None:
    moment = Moment(1.5, 2.5, "b")
    assert persistence.decode(persistence.encode(moment)) == moment
    for damaged in (b"", b"{", b'{"steady": "x"}', b'{"steady": 1, "wall": 1, "boot": ""}', b"\xff" * 40):
        assert persistence.decode(damaged) is None


class Evening(RuleBasedStateMachine):
    """Whatever happens, what is left is what a stopwatch beside the station says."""

    def __init__(self) -> None:
        super().__init__()
        self.station = Station()
        self.left = 0.0

    @rule(seconds=st.integers(1, 20_000))
    @precondition(lambda self: self.station.clock.state == "idle")
    def start(self, seconds: int) -> None:
        self.station.do("start", seconds)
        self.left = seconds

    @rule(seconds=st.floats(0, 2000))
    def time_passes(self, seconds: float) -> None:
        self.station.passes(seconds)
        if self.station.clock.running:
            self.left = max(0.0, self.left - seconds)

    @rule(step=st.sampled_from([-3600.0, 3600.0]))
    def the_wall_clock_is_set(self, step: float) -> None:
        self.station.wall += step
        self.station.write()

    @rule(action=st.sampled_from(["pause", "resume", "confirm"]))
    def a_person_acts(self, action: str) -> None:
        if self.station.clock.state in ACTIONS[action]:
            self.station.do(action)

    @rule(seconds=st.integers(-500, 500))
    def a_person_gives_time(self, seconds: int) -> None:
        if self.station.clock.state in ACTIONS["extend"] and self.left + seconds >= 1:
            self.station.do("extend", seconds)
            self.left += seconds

    @rule()
    def the_program_is_started_again(self) -> None:
        self.station.restarts()

    @rule(off=st.floats(0, 3000))
    def the_machine_is_started_again(self, off: float) -> None:
        self.station.write()
        counted = self.station.clock.running
        self.station.reboots(off)
        if counted:
            assert self.station.clock.state == "unconfirmed"
            self.left = max(0.0, self.left - off)

    @invariant()
    def both_say_the_same(self) -> None:
        assert self.station.left == pytest.approx(self.left, abs=0.1)


TestEvening = Evening.TestCase

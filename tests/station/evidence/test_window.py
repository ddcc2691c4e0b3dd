"""The appeal window does not end because somebody set a clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from station import messages as m
from station.evidence.index import Index
from station.evidence.keeping import LONGEST_GAP_S, Keeper, Stored
from station.evidence.policy import Rules
from tests.station.evidence import hands as h

FILE = h.name(1)
HOUR = 3600.0


class Folder:
    def stored(self) -> dict[str, Stored]:
        return {FILE: Stored(1, 0.0)}

    def remove(self, name: str) -> None: ...

    def free(self) -> int:
        return 1 << 40


class Hall:
    """A process that starts, runs and stops; its clocks are set by hand."""

    def __init__(self, folder: Path, *bodies: m.Body) -> None:
        self.steady = self.wall = 1000.0
        self.index = Index.open(folder / "index.db")
        self.told = h.Chain()
        self.say(*bodies)
        self.start()

    def say(self, *bodies: m.Body) -> None:
        before = len(self.told.lines)
        self.told.tell(*bodies)
        self.index.catch_up(self.told.log_id, self.told.lines[before:])

    def start(self) -> None:
        rules = Rules.of(24, 0)
        self.keeper = Keeper(self.index, Folder(), rules, None, lambda: self.steady, lambda: self.wall)
        self.keeper.sweep()

    def goes(self, hours: float, wall_hours: float | None = None) -> bool:
        """Let time pass; tell whether the photo is due."""
        self.steady += HOUR * hours
        self.wall += HOUR * (hours if wall_hours is None else wall_hours)
        return bool(self.keeper.sweep())


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[..., Hall]]:
    halls: list[Hall] = []

    def make(*bodies: m.Body) -> Hall:
        halls.append(Hall(tmp_path, *bodies))
        return halls[-1]

    yield make
    for hall in halls:
        hall.index.close()


@pytest.fixture
def hall(begin: Callable[..., Hall]) -> Hall:
    """A session with one photo has just ended."""
    return begin(h.read(1, FILE), h.confirmed(1), h.closed())


def test_a_wall_clock_set_ahead_removes_nothing(hall: Hall) -> None:
    assert not hall.goes(1, wall_hours=100_000)
    assert not hall.goes(22)
    assert hall.goes(2)


def test_of_the_time_a_process_was_away_a_night_counts_at_most(hall: Hall) -> None:
    hall.wall += 100_000 * HOUR
    hall.start()
    assert hall.index.counted()[0] == LONGEST_GAP_S
    assert not hall.goes(11)
    assert hall.goes(2)


def test_a_photo_that_no_event_names_is_kept_as_long_as_it_was_seen(begin: Callable[..., Hall]) -> None:
    hall = begin()
    assert not hall.goes(1, wall_hours=100_000)
    assert hall.goes(24)


def test_a_penalty_after_the_end_begins_the_window_anew(hall: Hall) -> None:
    assert not hall.goes(20, wall_hours=100_000)
    hall.say(m.PenaltyApplied(hand=1, place=0, penalty="warning", amount=0))
    assert not hall.goes(23)
    assert hall.goes(2)

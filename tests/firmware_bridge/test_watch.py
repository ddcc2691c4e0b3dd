"""What lamps and a lid switch tell: levels in, meaning out."""

import pytest

from firmware_bridge import profiles
from firmware_bridge.drivers.watch_core import Happening, Watch, Wired
from firmware_bridge.interlock import Fault, Lid, Magazine
from firmware_bridge.profiles import LampRule, Lit

READY, FAULT, LID = 0, 1, 2
EVERYTHING = Wired(READY, FAULT, LID)
STEP = 0.1
BLINKING = (
    LampRule("tiles_short", {"ready": Lit.BLINK}),
    LampRule("jam", {"ready": Lit.OFF, "fault": Lit.ON}),
    LampRule("ready", {"ready": Lit.ON}),
    LampRule("building", {"ready": Lit.OFF}),
)


class Panel:
    """Feeds looks at inputs, ten a second."""

    def __init__(self, wired=EVERYTHING, lamps=profiles.USUAL_LAMPS, blink_s=0.6):
        from dataclasses import replace

        self.watch = Watch(wired, replace(profiles.load("136"), lamps=lamps, blink_s=blink_s))
        self.now = 100.0

    def look(self, *on, times=1):
        happened = []
        for _ in range(times):
            self.now += STEP
            happened += self.watch.feed(tuple(n in on for n in range(8)), self.now)
        return happened

    def blink(self, lamp, half, seconds, *on):
        happened = []
        for n in range(round(seconds / STEP)):
            lit = int(n * STEP / half) % 2 == 0
            happened += self.look(*on, *([lamp] if lit else []))
        return happened


def test_a_lamp_counts_after_two_looks_and_a_flicker_does_not():
    panel = Panel()
    panel.look(READY, times=2)
    assert (panel.watch.shows, panel.watch.magazine) == ("ready", Magazine.READY)
    panel.look()
    panel.look(READY)
    assert panel.watch.shows == "ready"
    panel.look(times=2)
    assert panel.watch.magazine is Magazine.BUILDING


def test_nothing_is_known_before_the_first_looks():
    panel = Panel()
    assert (panel.watch.shows, panel.watch.lid, panel.watch.magazine) == (None, None, Magazine.UNKNOWN)
    panel.look(READY, LID)
    assert (panel.watch.shows, panel.watch.lid) == (None, None)


def test_the_lid_s_boundaries_are_told_once_and_bouncing_is_none():
    panel = Panel()
    assert panel.look(READY, times=3) == []
    assert panel.watch.lid is Lid.CLOSED
    assert panel.look(LID) + panel.look(times=3) == []
    assert panel.look(LID, times=5) == [Happening.LID_OPENED]
    assert panel.watch.lid is Lid.OPEN
    assert panel.look(times=5) == [Happening.LID_CLOSED]


def test_a_switch_may_be_wired_the_other_way_round():
    panel = Panel(Wired(READY, None, LID, lid_open=False))
    panel.look(LID, times=2)
    assert panel.watch.lid is Lid.CLOSED
    assert panel.look(times=2) == [Happening.LID_OPENED]


def test_a_lid_that_stands_open_from_the_start_is_seen_and_is_no_boundary():
    panel = Panel()
    assert panel.look(LID, times=4) == []
    assert panel.watch.lid is Lid.OPEN


def test_without_a_switch_the_ready_lamp_s_going_off_begins_a_cycle():
    panel = Panel(Wired(READY))
    panel.look(times=3)
    assert panel.look(READY, times=3) == []
    assert panel.look(times=3) == [Happening.CYCLE_BEGUN]
    assert panel.look(times=30) == []
    assert panel.look(READY, times=3) == []


@pytest.mark.parametrize("half", [0.2, 0.3, 0.5])
def test_blinking_is_told_apart_from_on_and_off(half):
    panel = Panel(lamps=BLINKING)
    panel.look(READY, times=10)
    assert panel.watch.shows == "ready"
    assert panel.blink(READY, half, 4.0) == []
    assert panel.watch.shows == "tiles_short"
    assert [report.fault for report in panel.watch.faults] == [Fault.TILES_SHORT]
    panel.look(READY, times=10)
    assert (panel.watch.shows, panel.watch.faults) == ("ready", ())


def test_a_lamp_that_may_blink_never_begins_a_cycle_by_blinking():
    panel = Panel(Wired(READY, FAULT), lamps=BLINKING)
    panel.look(READY, times=10)
    assert panel.blink(READY, 0.4, 6.0) == []
    assert panel.look(times=20) == [Happening.CYCLE_BEGUN]


def test_the_first_rule_that_fits_counts_and_one_without_its_lamp_never_fits():
    panel = Panel(lamps=BLINKING)
    panel.look(FAULT, times=10)
    assert panel.watch.shows == "jam"
    blind = Panel(Wired(READY), lamps=BLINKING)
    blind.look(FAULT, times=10)
    assert blind.watch.shows == "building"


def test_a_slow_change_is_no_blinking():
    panel = Panel(lamps=BLINKING)
    panel.blink(READY, 1.0, 10.0)
    assert panel.watch.shows in ("ready", "building")

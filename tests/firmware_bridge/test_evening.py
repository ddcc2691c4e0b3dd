"""A virtual evening: many hands, faults of the whole menu, and a person who answers the questions.

Nothing is left unexplained, no command is carried out twice or of unknown fate without a reset, and what is
remembered does not grow.
"""

import gc
import random
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest

from firmware_bridge.event_log import EVENTS_KEPT
from firmware_bridge.interlock import Allowed, Lid, Magazine, Surface
from firmware_bridge.link import Phase
from firmware_bridge.machine import LinkState, Outcome, Status
from firmware_bridge.ops import Op
from firmware_bridge.sim.menu import MENU, Takes, When
from firmware_bridge.sim.plant import SETS
from firmware_bridge.sim.records import REMEMBERED
from firmware_bridge.sim.rig import Rig
from firmware_bridge.sim.session import EVENT_RING
from station.web.sentences import SENTENCES

DEALT = (14, 13, 13, 13)
FAST, SLOW = 0.02, 0.1
"""Steps while something moves or is asked, and while people play."""


class Evening:
    """One table's people and bad luck."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.rig = Rig(seed, fresh="empty", speed=2.0)
        self.start = self.rig.now
        self.codes = Counter()
        self.ends = Counter()
        self.ordered = Counter()
        self.hands = 0
        self.dealt_hand = None
        """The number the people remember, should the board forget it."""
        self.asked = None
        self.sent = set()
        self.bag = []

    # -- time -----------------------------------------------------------------------------------------

    @property
    def minutes(self):
        return (self.rig.now - self.start) / 60

    def pass_time(self, seconds, step=SLOW):
        end = self.rig.now + seconds
        while self.rig.now < end:
            busy = self.rig.view.active or self.rig.host.link.phase is not Phase.UP
            self.rig.step(FAST if busy else step)
            self.look()

    def look(self):
        """What has to be true at every moment."""
        view, sensors, device = self.rig.view, self.rig.device.plant.sensors, self.rig.device
        assert view.code in SENTENCES, view
        self.codes[view.code] += 1
        places = (sensors.in_drum, sensors.in_tray, sensors.built, sensors.on_table, *sensors.outside)
        assert sorted(number for number in places if number) == list(SETS)
        if device.plant.motions:
            assert self.rig.now <= device.lease_until
            assert not device.latches.estop

    # -- asking ---------------------------------------------------------------------------------------

    def ask(self, op, **args):
        """Ask, wait for the end as long as it takes, and hold the answer to what the mechanism counted."""
        asked = self.rig.submit(op, rev=self.rig.view.rev, **args)
        if isinstance(asked, Outcome):
            self.pass_time(1.0)
            return asked
        self.sent.add(asked)
        for _ in range(60_000):
            said = self.rig.outcomes.get(asked)
            if said and asked not in self.rig.host.desk.open:
                break
            self.rig.step(FAST)
            self.look()
        outcome = self.rig.outcomes[asked][-1]
        self.ends[outcome.status.value] += 1
        ran = self.rig.executed[asked]
        assert ran == {Status.DONE: 1, Status.FAILED: 1, Status.REJECTED: 0}.get(outcome.status, ran)
        assert ran <= 1
        if outcome.status is Status.UNKNOWN:
            assert outcome.code in ("rebooted", "interrupted", "expired"), outcome
        return outcome

    # -- a person -------------------------------------------------------------------------------------

    def person(self):
        """One look at the screen and one tap; whether something was to be done."""
        view = self.rig.view
        if not view.ready:
            self.pass_time(2.0)
            return True
        if view.link is LinkState.RECOVER:
            self.pass_time(self.rng.uniform(3, 20))
            if self.dealt_hand is not None:
                self.ask(Op.ADOPT, hand=self.dealt_hand)
            else:
                self.ask(Op.START)
        elif view.estop or (view.faults and not view.hold):
            self.pass_time(self.rng.uniform(3, 30))
            self.ask(Op.CLEAR)
        elif view.hold:
            self.pass_time(self.rng.uniform(3, 30))
            if view.faults:
                self.ask(Op.CLEAR)
            possible = [op for op in (Op.RESUME, Op.LOWER, Op.LEAVE) if self.rig.view.may(op) == Allowed()]
            self.ask(self.rng.choice(possible or [Op.LEAVE]))
        else:
            return False
        return True

    # -- a hand ---------------------------------------------------------------------------------------

    def hand(self):
        """From the last hand's tiles to the next hand's deal, then play."""
        self.hands += 1
        for _ in range(400):
            view = self.rig.view
            if self.person():
                continue
            if view.surface is Surface.DEALT and self.dealt_hand is not None:
                break
            self.prepare(view)
        else:
            raise AssertionError(f"The hand was never dealt: {self.rig.view}")
        self.play()

    def prepare(self, view):
        loose = view.magazine is Magazine.LOADED
        if view.lid is Lid.OPEN:
            self.ask(Op.CLOSE_LID)
        elif view.surface is Surface.WALLS_UP:
            self.ask(Op.ROLL_DICE)
            self.ask(Op.DEAL, tiles=DEALT)
        elif view.surface is Surface.DEALT and view.locked:
            self.dealt_hand = view.hand_no
        elif loose:
            self.ask(Op.START_BUILD)
        elif view.surface is Surface.CLEAR and view.magazine is Magazine.READY:
            if self.rng.random() < 0.7:
                self.ask(Op.RAISE_WALLS)
            else:
                self.ask(Op.DEAL, tiles=DEALT)
        else:
            self.ask(Op.OPEN_LID)

    def play(self):
        end = self.rig.now + self.rng.uniform(120, 260)
        self.ask(Op.FLIP_INDICATOR)
        while self.rig.now < end:
            if not self.person():
                if self.rig.view.magazine is Magazine.LOADED:
                    self.ask(Op.START_BUILD)  # the other set, beneath the hand in play
                self.pass_time(self.rng.uniform(5, 20))
        while self.dealt_hand is not None:
            if self.person():
                continue
            hand = self.rig.view.hand_no
            if self.ask(Op.RELEASE_INTAKE, hand=hand).done or not self.rig.view.locked:
                self.dealt_hand = None

    # -- bad luck -------------------------------------------------------------------------------------

    def bad_luck(self):
        self.rig.order("none")
        for _ in range(self.rng.choice([0, 0, 1, 1, 2])):
            self.bag = self.bag or self.rng.sample(list(MENU.values()), len(MENU))
            item = self.bag.pop()
            seconds = [0.02, 0.2] if item.when is When.ALWAYS else [0.4, 2, 8]
            value = {
                Takes.CHANCE: f"={self.rng.choice([0.02, 0.08])}",
                Takes.SECONDS: f"={self.rng.choice(seconds)}s",
                Takes.PLACE: f"={self.rng.randrange(4)}",
                Takes.PLACE_OR_NOTHING: self.rng.choice(["", f"={self.rng.randrange(4)}"]),
                Takes.TILES: f"={self.rng.randint(1, 4)}",
                Takes.TILES_AT_PLACE: f"={self.rng.randint(1, 4)}:{self.rng.randrange(4)}",
                Takes.NOTHING: "",
            }[item.takes]
            where = f"@{self.rng.choice(item.motions)}" if item.motions and self.rng.random() < 0.8 else ""
            self.rig.order(f"{item.name}{value}{where}")
            self.ordered[item.name] += 1
        pick = self.rng.random()
        if pick < 0.05:
            self.rig.restart_host()
        elif pick < 0.1:
            self.rig.unplug()
            self.pass_time(self.rng.choice([0.5, 15.0]))
            self.rig.plug()

    def play_until(self, minutes, hands):
        """Hands until so much time has passed; at the end everything heals."""
        while self.minutes < minutes or self.hands < hands:
            self.bad_luck()
            self.hand()
            self.settle()
        self.rig.order("none")
        self.rig.ready()
        self.pass_time(5.0)

    def settle(self):
        """Every command of the hand has its end; whatever runs later must be one of the next hand's."""
        rig = self.rig
        assert set(rig.outcomes) == self.sent >= set(rig.executed)
        assert all(count == 1 for count in rig.executed.values())
        for kept in (rig.outcomes, rig.executed, rig.log, self.sent):
            kept.clear()

    def remembered(self):
        """What host and board keep: bounded, whatever has happened."""
        device, host = self.rig.device, self.rig.host
        assert len(device._commands) <= REMEMBERED
        assert len(device._session.ring) <= EVENT_RING
        assert len(host.events) <= EVENTS_KEPT
        assert not host.desk.open
        assert not device.plant.motions or self.rig.view.active
        assert self.rig.book.open_intents() == ()
        self.settle()


def ours():
    """Bytes that the bridge's own lines hold, without what the harness and the ledger collect."""
    gc.collect()
    kept = [tracemalloc.Filter(True, "*/firmware_bridge/*")]
    kept += [tracemalloc.Filter(False, f"*/{name}") for name in ("rig.py", "ledger.py", "test_evening.py")]
    shot = tracemalloc.take_snapshot().filter_traces(kept)
    return sum(stat.size for stat in shot.statistics("filename"))


def descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


def test_half_an_hour_with_every_kind_of_bad_luck():
    evening = Evening(1)
    evening.play_until(30, 5)
    evening.remembered()
    assert evening.hands >= 5
    assert evening.ends["done"] > 30


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_an_evening_of_six_hours():
    tracemalloc.start()
    try:
        evening = Evening(1)
        evening.play_until(120, 20)
        evening.remembered()
        before, files = ours(), descriptors()
        evening.play_until(360, 60)
        evening.remembered()
        assert ours() < before + 65_536
        assert descriptors() == files
    finally:
        tracemalloc.stop()
    assert evening.hands >= 60
    assert set(evening.ordered) == set(MENU)
    assert evening.ends["done"] > 500
    assert evening.ends["failed"] > 10
    assert evening.ends["unknown"]
    assert set(evening.codes) >= {
        "machine.fault.jam",
        "machine.fault.tiles_short",
        "machine.fault.tiles_over",
        "machine.hold",
        "machine.estop",
        "machine.recover",
        "machine.suspect",
    }

"""What only the board's pins show: the order of outputs, and inputs that nobody asked to change."""

from itertools import pairwise

import pytest

from firmware_bridge import messages as m
from firmware_bridge.codec import STOP, Frame, encode
from firmware_bridge.interlock import Fault, Lid, Reason, Surface
from firmware_bridge.machine import FaultReport
from firmware_bridge.ops import Op, pack_args
from tests.firmware_bridge.conformance.bench import Talk
from tests.firmware_bridge.conformance.benches import LibBench
from tests.firmware_bridge.firmware.board_library import Rig

BUILD, LIFT, LID, DIR, FEED, TOOL, SEL = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0xC0
MOTORS = BUILD | LIFT | LID | FEED | TOOL


class Scope(LibBench):
    """Samples the outputs every millisecond: `trace` holds (ms, outputs) at each change."""

    def __init__(self, firmware):
        super().__init__(Rig(firmware))
        self.ms = 0
        self.trace = [(0, 0)]

    def send(self, data):
        super().send(data)
        self.sample()

    def pass_time(self, seconds):
        self.ahead += seconds * 1000
        while self.ahead >= 1:
            self.ahead -= 1
            self.ms += 1
            self.rig.pass_ms(1)
            self.sample()

    def sample(self):
        if self.rig.outputs != self.trace[-1][1]:
            self.trace.append((self.ms, self.rig.outputs))


@pytest.fixture
def talk(firmware_library):
    scope = Scope(firmware_library)
    yield Talk(scope)
    scope.close()


def steps(trace):
    """(ms, before, after) of every change."""
    return [(now, before, after) for (_, before), (now, after) in pairwise(trace)]


def test_direction_and_place_change_only_while_what_they_steer_is_off(talk):
    talk.raised()
    talk.begin(Op.LOWER)
    talk.wait(0.2)
    talk.ask(m.Hold())
    talk.do(Op.RESUME)
    talk.do(Op.DEAL, tiles=(3, 2, 1, 4), dealer=3)
    talk.do(Op.RELEASE_INTAKE, hand=2)
    talk.until(lambda: talk.status().drum, limit=3)
    talk.do(Op.START_BUILD)
    talk.do(Op.OPEN_LID)
    talk.do(Op.CLOSE_LID)
    turned = on_since = off_since = 0
    for now, before, after in steps(talk.bench.trace):
        if (before ^ after) & DIR:
            assert not (before | after) & (LIFT | LID)
            assert now - off_since >= 20
            turned = now
        if (before ^ after) & SEL:
            assert not (before | after) & (FEED | TOOL)
        if after & ~before & (LIFT | LID):
            assert now - turned >= 20
            on_since = now
        if before & ~after & (LIFT | LID):
            off_since = now
    assert on_since > 0


def test_every_fed_tile_is_one_pulse_and_building_rests_meanwhile(talk):
    talk.raised()
    talk.until(lambda: talk.status().drum, limit=3)
    before = talk.bench.rig.pulses(4)
    build = talk.begin(Op.START_BUILD)
    talk.until(lambda: sum(talk.status().stacks) > 0)
    talk.do(Op.DEAL, tiles=(5, 4, 3, 2))
    talk.done(build)
    assert talk.bench.rig.pulses(4) - before == 14
    assert not any(outputs & FEED and outputs & BUILD for _, outputs in talk.bench.trace)


@pytest.mark.parametrize("how", ["stop", "hold", "lease", "reset"])
def test_the_pins_are_off_at_once(talk, how):
    talk.built()
    talk.amid(Op.RAISE_WALLS)
    assert talk.bench.rig.outputs & LIFT
    if how == "stop":
        talk.stop()
    elif how == "hold":
        talk.ask(m.Hold())
    elif how == "lease":
        talk.ping(lease_ms=30)
        talk.alive = False
        talk.wait(0.04)
    else:
        talk.bench.reset()
        talk.alive = False
    assert not talk.bench.rig.outputs & MOTORS
    talk.wait(0.5)
    assert not talk.bench.rig.outputs & MOTORS


def test_a_lid_opened_by_hand_is_told_and_counts_as_open(talk):
    talk.built()
    talk.bench.rig.fault("low LID_CLOSED")
    talk.until(lambda: m.EventCode.INTAKE_OPENED_EARLY in talk.codes(), limit=2)
    assert talk.status().lid is Lid.OPEN
    assert talk.refused(Op.RAISE_WALLS) == Reason.LID
    talk.bench.rig.fault("repair")
    talk.until(lambda: talk.status().lid is Lid.CLOSED, limit=2)
    assert talk.codes().count(m.EventCode.INTAKE_OPENED_EARLY) == 1


@pytest.mark.parametrize("switch", ["LIFT_TOP", "LID_OPEN"])
def test_a_part_at_both_its_ends_has_a_stuck_switch(talk, switch):
    talk.built()
    talk.bench.rig.fault(f"high {switch}")
    talk.until(lambda: talk.status().faults, limit=2)
    assert talk.status().faults == (FaultReport(Fault.SENSOR_STUCK),)
    assert talk.refused(Op.RAISE_WALLS) == Reason.FAULT
    talk.wait(1.0)
    assert talk.codes().count(m.EventCode.FAULT) == 1
    talk.bench.rig.fault("repair")
    talk.wait(0.2)
    talk.clear()
    talk.do(Op.RAISE_WALLS)


def test_a_switch_that_lies_during_the_lift_cuts_it(talk):
    talk.built()
    talk.bench.rig.fault("high LIFT_BOTTOM")
    done = talk.done(talk.begin(Op.RAISE_WALLS))
    assert (done.result, done.code) == (m.Result.FAILED, Fault.SENSOR_STUCK)
    assert talk.status().hold


def test_a_lid_that_does_not_close_again_is_tried_again(talk):
    talk.built()
    talk.do(Op.OPEN_LID)
    talk.bench.rig.fault("lid")
    assert talk.done(talk.begin(Op.CLOSE_LID)).code == Fault.LID_TIMEOUT
    talk.bench.rig.fault("repair")
    talk.clear()
    talk.do(Op.CLOSE_LID)


def test_a_lift_found_between_its_switches_was_cut_whatever_is_remembered(talk):
    talk.hello()
    talk.bench.rig.fault("low LIFT_BOTTOM")
    talk.reset()
    status = talk.status()
    assert (status.surface, status.cut, status.hold) == (Surface.UNKNOWN, (Op.LOWER,), True)
    talk.bench.rig.fault("repair")
    talk.do(Op.ADOPT, hand=0)
    talk.do(Op.LOWER)
    assert talk.status().surface is Surface.CLEAR


@pytest.mark.parametrize("op", [Op.RAISE_WALLS, Op.START_BUILD])
def test_a_lid_opened_by_hand_cuts_what_must_not_move_under_it(talk, op):
    talk.start() if op is Op.START_BUILD else talk.built()
    cmd_id = talk.amid(op)
    talk.bench.rig.fault("low LID_CLOSED")
    done = talk.done(cmd_id)
    assert (done.result, done.code) == (m.Result.ABORTED, Fault.HELD)
    assert not talk.bench.rig.outputs & MOTORS
    assert m.EventCode.INTAKE_OPENED_EARLY in talk.codes()
    assert talk.refused(Op.RESUME) == Reason.LID
    talk.bench.rig.fault("repair")
    talk.until(lambda: talk.status().lid is Lid.CLOSED, limit=2)
    talk.do(Op.RESUME)


def test_a_lid_opened_by_hand_while_a_motion_is_cut_keeps_it_cut(talk):
    talk.built()
    talk.amid(Op.RAISE_WALLS)
    talk.ask(m.Hold())
    talk.bench.rig.fault("low LID_CLOSED")
    talk.until(lambda: talk.status().lid is Lid.OPEN, limit=2)
    assert talk.refused(Op.RESUME) == Reason.LID
    assert not talk.bench.rig.outputs & MOTORS


def test_closing_a_lid_that_was_opened_by_hand_leaves_walls_where_they_are(talk):
    talk.raised()
    talk.bench.rig.fault("low LID_CLOSED")
    talk.until(lambda: talk.status().lid is Lid.OPEN, limit=2)
    since = len(talk.bench.trace)
    talk.begin(Op.CLOSE_LID)
    talk.wait(0.2)
    talk.bench.rig.fault("repair")
    assert talk.done().result is m.Result.DONE
    assert not any(outputs & LIFT for _, outputs in talk.bench.trace[since:])
    status = talk.status()
    assert (status.surface, status.lid, status.walls) == (Surface.WALLS_UP, Lid.CLOSED, (17, 17, 17, 17))


def test_a_board_that_was_held_up_counts_the_whole_time_against_the_lease(talk):
    talk.built()
    talk.amid(Op.RAISE_WALLS)
    talk.bench.rig.stall(2000)
    assert not talk.bench.rig.outputs & MOTORS
    assert talk.done().code == Fault.LEASE_EXPIRED


def test_a_lift_that_stands_where_the_memory_does_not_know_it_counts_as_cut(talk):
    talk.hello()
    talk.bench.rig.fault("high LIFT_TOP")
    talk.bench.rig.fault("low LIFT_BOTTOM")
    talk.reset()
    assert (talk.status().surface, talk.status().cut) == (Surface.UNKNOWN, (Op.LOWER,))


@pytest.mark.parametrize("op", [Op.RAISE_WALLS, Op.OPEN_LID, Op.START_BUILD])
def test_nothing_moves_before_it_is_written_down(talk, op):
    talk.start() if op is Op.START_BUILD else talk.built()
    talk.bench.rig.hold_memory(True)
    cmd_id = talk.begin(op)
    since = len(talk.bench.trace)
    talk.wait(1.0)
    assert not any(outputs & MOTORS for _, outputs in talk.bench.trace[since:])
    talk.bench.rig.hold_memory(False)
    assert talk.done(cmd_id).result is m.Result.DONE


def test_what_waits_unread_when_a_stop_comes_is_dropped(talk):
    talk.start()
    command = m.Command(50, Op.RELEASE_INTAKE, m.ANY_REV, pack_args(Op.RELEASE_INTAKE, {"hand": 0}))
    talk.bench.send(encode(Frame(command.KIND, 200, talk.session, command.to_bytes())) + STOP)
    talk.wait(0.1)
    assert talk.status().estop
    assert talk.outcome(50).result is m.Result.NEVER_SEEN

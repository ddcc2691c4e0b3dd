"""Stops, silence, resets, jams, missing tiles: what a board does, says, and lets be done afterwards."""

import pytest

from firmware_bridge import messages as m
from firmware_bridge.interlock import Fault, Lid, Magazine, Reason, Surface
from firmware_bridge.machine import FaultReport
from firmware_bridge.ops import Op

FULL = (17, 17, 17, 17)
NONE = (0, 0, 0, 0)


def faults(board):
    return {report.fault for report in board.status().faults}


def still(board):
    """Nothing moves, and what moved is cut."""
    status = board.status()
    assert status.active == ()
    assert status.hold
    return status


# -- cuts -------------------------------------------------------------------------------------------


def test_a_lease_that_ends_in_mid_motion_cuts_it(board):
    board.built()
    board.ping(lease_ms=400)
    board.alive = False
    cmd_id = board.begin(Op.RAISE_WALLS)
    board.wait(1.5)
    board.hello(session=8)
    status = still(board)
    assert (status.surface, status.cut, status.locked) == (Surface.UNKNOWN, (Op.RAISE_WALLS,), True)
    assert status.faults == (FaultReport(Fault.LEASE_EXPIRED),)
    assert status.hand_no == 0
    outcome = board.outcome(cmd_id)
    assert (outcome.result, outcome.code) == (m.Result.ABORTED, Fault.LEASE_EXPIRED)
    board.until(lambda: m.EventCode.LEASE_EXPIRED in board.codes(), limit=2)
    assert board.refused(Op.ROLL_DICE) == Reason.HOLD


def test_a_new_lease_alone_moves_nothing(board):
    board.built()
    board.ping(lease_ms=400)
    board.alive = False
    board.begin(Op.RAISE_WALLS)
    board.wait(1.5)
    board.alive = True
    lift = still(board).lift
    board.wait(1.0)
    assert still(board).lift == lift


def test_hold_cuts_and_resume_finishes(board):
    board.built()
    cut = board.amid(Op.RAISE_WALLS)
    status = board.ask(m.Hold())
    assert (status.active, status.cut) == ((), (Op.RAISE_WALLS,))
    assert board.done(cut).result is m.Result.ABORTED
    assert m.EventCode.HELD in board.codes()
    assert faults(board) == {Fault.HELD}
    assert board.refused(Op.RAISE_WALLS) == Reason.HOLD
    board.do(Op.RESUME)
    status = board.status()
    assert (status.surface, status.walls, status.hand_no) == (Surface.WALLS_UP, FULL, 1)
    assert (status.hold, status.faults) == (False, ())
    assert board.outcome(cut).result is m.Result.ABORTED


def test_hold_with_nothing_in_motion_changes_nothing(board):
    board.built()
    rev = board.status().state_rev
    status = board.ask(m.Hold())
    assert (status.hold, status.state_rev) == (False, rev)
    assert board.refused(Op.RESUME) == Reason.NOTHING_CUT
    assert board.refused(Op.LEAVE) == Reason.NOTHING_CUT


def test_abort_stops_only_the_named_command(board):
    board.built()
    cmd_id = board.amid(Op.RAISE_WALLS)
    assert board.ask(m.Abort(cmd_id - 1)).active != ()
    status = board.ask(m.Abort(cmd_id))
    assert status.active == ()
    assert status.hold
    assert board.outcome(cmd_id).result is m.Result.ABORTED


def test_cut_walls_go_down_again(board):
    board.built()
    board.amid(Op.RAISE_WALLS)
    board.ask(m.Hold())
    board.do(Op.LOWER)
    status = board.status()
    assert (status.surface, status.magazine, status.stacks) == (Surface.CLEAR, Magazine.READY, FULL)
    assert (status.hold, status.faults, status.lift) == (False, (), 0)
    assert status.hand_no == 0
    board.do(Op.RAISE_WALLS)
    assert board.status().hand_no == 1


def test_cut_walls_are_left_to_the_players(board):
    board.built()
    board.amid(Op.RAISE_WALLS)
    board.ask(m.Hold())
    board.do(Op.LEAVE)
    status = board.status()
    assert (status.surface, status.walls, status.stacks) == (Surface.DEALT, FULL, NONE)
    assert (status.hand_no, status.locked, status.taken) == (1, True, True)
    assert (status.hold, status.faults) == (False, ())


def test_a_cut_build_goes_on(board):
    board.start()
    board.begin(Op.START_BUILD)
    board.until(lambda: sum(board.status().stacks) > 8)
    board.ask(m.Hold())
    status = still(board)
    assert (status.magazine, status.cut) == (Magazine.BUILDING, (Op.START_BUILD,))
    board.wait(0.5)
    before = sum(still(board).stacks)
    board.wait(0.5)
    assert sum(still(board).stacks) == before
    board.do(Op.RESUME)
    status = board.status()
    assert (status.magazine, status.stacks) == (Magazine.READY, FULL)


def test_a_cut_build_that_is_left_is_loose_again(board):
    board.start()
    board.begin(Op.START_BUILD)
    board.until(lambda: sum(board.status().stacks) > 8)
    board.ask(m.Hold())
    board.do(Op.LEAVE)
    status = board.status()
    assert (status.magazine, status.drum, status.stacks) == (Magazine.LOADED, True, NONE)
    assert board.do(Op.START_BUILD) == {"stacks": FULL}


def test_a_cut_deal_goes_on_where_it_stood(board):
    board.raised()
    cmd_id = board.begin(Op.DEAL, tiles=(14, 13, 13, 13))
    board.until(lambda: sum(board.status().dealt) > 5)
    board.ask(m.Abort(cmd_id))
    assert still(board).surface is Surface.UNKNOWN
    board.do(Op.RESUME)
    status = board.status()
    assert (status.surface, status.dealt, status.hand_no) == (Surface.DEALT, (14, 13, 13, 13), 1)


def test_resume_moves_both_lanes_and_ends_with_the_later(board):
    board.raised()
    board.until(lambda: board.status().magazine is Magazine.LOADED, limit=5)
    board.begin(Op.START_BUILD)
    board.begin(Op.ROLL_DICE)
    board.ask(m.Hold())
    assert set(still(board).cut) == {Op.START_BUILD, Op.ROLL_DICE}
    board.do(Op.RESUME)
    status = board.status()
    assert (status.magazine, status.stacks, status.active) == (Magazine.READY, FULL, ())
    assert status.dice is not None


# -- emergency stop ---------------------------------------------------------------------------------


def test_a_stop_ends_all_motion_and_stays(board):
    board.built()
    cmd_id = board.amid(Op.RAISE_WALLS)
    board.stop()
    status = still(board)
    assert status.estop
    assert faults(board) == {Fault.ESTOPPED}
    outcome = board.outcome(cmd_id)
    assert (outcome.result, outcome.code) == (m.Result.ABORTED, Fault.ESTOPPED)
    for op in (Op.RAISE_WALLS, Op.RESUME, Op.LOWER, Op.ROLL_DICE, Op.LEAVE):
        assert board.refused(op) == Reason.ESTOP
    board.wait(1.0)
    assert board.status().estop
    assert board.codes().count(m.EventCode.ESTOP) == 1


def test_a_stop_needs_no_session_and_no_whole_frame(board):
    board.bench.send(b"\x01\x02\x03")
    board.stop()
    board.stop()
    board.hello()
    assert board.status().estop
    board.wait(0.5)
    assert board.codes().count(m.EventCode.ESTOP) == 1


def test_a_clear_that_saw_an_earlier_stop_does_not_end_a_later_one(board):
    board.built()
    board.stop()
    seen = board.status().state_rev
    board.stop()
    assert board.refused(Op.CLEAR, rev=seen) == Reason.STALE_STATE
    assert board.status().estop


def test_only_a_clear_that_saw_the_stop_ends_it(board):
    board.built()
    before = board.status().state_rev
    board.amid(Op.RAISE_WALLS)
    board.stop()
    assert board.refused(Op.CLEAR, rev=before) == Reason.STALE_STATE
    assert board.refused(Op.CLEAR) == Reason.STALE_STATE
    assert board.status().estop
    board.clear()
    status = board.status()
    assert not status.estop
    assert status.cut == (Op.RAISE_WALLS,)
    board.do(Op.RESUME)
    assert board.status().surface is Surface.WALLS_UP


def test_there_is_nothing_to_clear_when_nothing_is_wrong(board):
    board.start()
    assert board.refused(Op.CLEAR, rev=board.status().state_rev) == Reason.NOTHING_TO_CLEAR


# -- resets -----------------------------------------------------------------------------------------


def test_a_reset_in_mid_motion_leaves_it_interrupted(board):
    board.built()
    before = board.amid(Op.RAISE_WALLS)
    welcome = board.reset()
    assert welcome.last_cmd == before
    assert board.outcome(before).result is m.Result.INTERRUPTED
    assert board.outcome(1).result is m.Result.EXPIRED
    assert board.refused(Op.RAISE_WALLS, cmd_id=before) == Reason.STALE_ID
    status = still(board)
    assert (status.locked, status.hand_no) == (True, None)
    assert (status.surface, status.cut) == (Surface.UNKNOWN, (Op.RAISE_WALLS,))
    board.cmd_id = before
    assert board.refused(Op.RESUME) == Reason.NOT_STARTED
    board.do(Op.ADOPT, hand=0)
    board.do(Op.LOWER)
    status = board.status()
    assert (status.surface, status.magazine, status.stacks) == (Surface.CLEAR, Magazine.READY, FULL)


def test_a_lift_between_its_switches_is_finished_after_a_reset(board):
    board.built()
    last = board.amid(Op.RAISE_WALLS)
    board.reset()
    board.cmd_id = last
    board.do(Op.ADOPT, hand=4)
    board.do(Op.RESUME)
    status = board.status()
    assert (status.surface, status.walls, status.hand_no) == (Surface.WALLS_UP, FULL, 5)


def test_a_build_is_loose_after_a_reset(board):
    board.start()
    board.begin(Op.START_BUILD)
    board.until(lambda: sum(board.status().stacks) > 8)
    last = board.cmd_id
    board.reset()
    assert board.outcome(last).result is m.Result.INTERRUPTED
    status = board.status()
    assert (status.magazine, status.drum, status.stacks) == (Magazine.LOADED, True, NONE)
    assert not status.hold
    board.cmd_id = last
    board.do(Op.START)
    assert board.do(Op.START_BUILD) == {"stacks": FULL}


def test_a_deal_lies_on_the_table_after_a_reset(board):
    board.raised()
    last = board.amid(Op.DEAL, tiles=(14, 13, 13, 13))
    board.reset()
    status = board.status()
    assert (status.surface, status.taken, status.hold) == (Surface.DEALT, True, False)
    assert status.walls == FULL
    board.cmd_id = last
    board.do(Op.ADOPT, hand=1)
    assert board.refused(Op.OPEN_LID) == Reason.INTERLOCK


def test_a_lid_on_its_way_counts_as_open_after_a_reset(board):
    board.built()
    board.begin(Op.OPEN_LID)
    board.wait(0.05 + board.bench.remembers)
    last = board.cmd_id
    board.reset()
    status = board.status()
    assert (status.surface, status.lid) == (Surface.COLLECTING, Lid.OPEN)
    board.cmd_id = last
    board.do(Op.ADOPT, hand=0)
    board.do(Op.CLOSE_LID)
    assert board.status().surface is Surface.CLEAR


def test_walls_and_tiles_are_known_after_a_reset_in_peace(board):
    board.raised()
    last = board.cmd_id
    board.wait(board.bench.remembers)
    board.reset()
    status = board.status()
    assert (status.surface, status.walls, status.stacks) == (Surface.WALLS_UP, FULL, NONE)
    assert (status.locked, status.hand_no, status.hold) == (True, None, False)
    assert board.outcome(last).result is m.Result.EXPIRED
    assert board.codes() == [] or board.codes()[0] == m.EventCode.BOOTED


# -- faults of the mechanism ------------------------------------------------------------------------


def failed(board, op, fault, **args):
    cmd_id = board.begin(op, **args)
    done = board.done(cmd_id)
    assert (done.result, done.code) == (m.Result.FAILED, fault), done
    board.until(lambda: m.EventCode.FAULT in board.codes(), limit=2)
    return board.status()


def test_a_jam_in_a_build_names_its_place(board):
    board.start()
    board.bench.fault("jam", Op.START_BUILD, 2)
    status = failed(board, Op.START_BUILD, Fault.JAM)
    assert status.faults == (FaultReport(Fault.JAM, 2),)
    assert (status.magazine, status.drum, status.hold) == (Magazine.LOADED, True, False)
    assert status.stacks[2] < 17
    assert board.refused(Op.START_BUILD) == Reason.FAULT
    board.bench.repair()
    board.clear()
    assert board.do(Op.START_BUILD) == {"stacks": FULL}


@pytest.mark.parametrize("missing", [2, 4])
def test_missing_tiles_are_counted_at_their_place(board, missing):
    board.start()
    board.bench.fault("missing", Op.START_BUILD, missing)
    status = failed(board, Op.START_BUILD, Fault.TILES_SHORT)
    (report,) = status.faults
    short = [place for place in range(4) if status.stacks[place] < 17]
    assert report.place == (short[0] if len(short) == 1 else None)
    assert report.count == missing
    assert sum(status.stacks) == 68 - missing // 2
    assert status.magazine is Magazine.LOADED
    assert board.refused(Op.START_BUILD) == Reason.FAULT
    board.bench.repair()
    board.clear()
    assert board.do(Op.START_BUILD) == {"stacks": FULL}


def test_surplus_tiles_block_the_walls(board):
    board.start()
    board.bench.fault("surplus", Op.START_BUILD, 2)
    status = failed(board, Op.START_BUILD, Fault.TILES_OVER)
    (report,) = status.faults
    assert (report.fault, report.place) == (Fault.TILES_OVER, None)
    assert report.count in (0, 2)
    assert (status.magazine, status.drum) == (Magazine.LOADED, True)
    assert board.refused(Op.RAISE_WALLS) == Reason.FAULT
    board.bench.repair()
    board.clear()
    assert board.do(Op.START_BUILD) == {"stacks": FULL}


def test_a_stuck_counter_ends_the_build(board):
    board.start()
    board.bench.fault("stuck", Op.START_BUILD, 1)
    status = failed(board, Op.START_BUILD, Fault.SENSOR_STUCK)
    assert status.faults == (FaultReport(Fault.SENSOR_STUCK, 1),)
    assert status.magazine is Magazine.LOADED
    board.bench.repair()
    board.clear()
    assert board.do(Op.START_BUILD) == {"stacks": FULL}


def test_a_lift_that_stays_halfway_is_cut_and_goes_down_when_it_can(board):
    board.built()
    board.bench.fault("lift", Op.RAISE_WALLS)
    status = failed(board, Op.RAISE_WALLS, Fault.LIFT_TIMEOUT)
    assert status.faults == (FaultReport(Fault.LIFT_TIMEOUT),)
    assert (status.surface, status.cut, status.hold) == (Surface.UNKNOWN, (Op.RAISE_WALLS,), True)
    assert board.refused(Op.RESUME) == Reason.FAULT
    assert board.refused(Op.LOWER) == Reason.FAULT
    board.bench.repair()
    board.clear()
    board.do(Op.LOWER)
    status = board.status()
    assert (status.surface, status.magazine, status.stacks) == (Surface.CLEAR, Magazine.READY, FULL)


def test_a_lid_that_stays_halfway_counts_as_open_and_closes_when_it_can(board):
    board.built()
    board.bench.fault("lid", Op.OPEN_LID)
    status = failed(board, Op.OPEN_LID, Fault.LID_TIMEOUT)
    assert (status.surface, status.lid, status.hold) == (Surface.COLLECTING, Lid.OPEN, False)
    assert board.refused(Op.CLOSE_LID) == Reason.FAULT
    board.bench.repair()
    board.clear()
    board.do(Op.CLOSE_LID)
    status = board.status()
    assert (status.surface, status.lid) == (Surface.CLEAR, Lid.CLOSED)


def test_a_jam_in_a_deal_is_cut_and_goes_on_when_it_is_cleared(board):
    board.raised()
    board.bench.fault("jam", Op.DEAL, 3)
    status = failed(board, Op.DEAL, Fault.JAM, tiles=(4, 4, 4, 4))
    assert status.faults == (FaultReport(Fault.JAM, 3),)
    assert (status.surface, status.cut) == (Surface.UNKNOWN, (Op.DEAL,))
    assert board.refused(Op.RESUME) == Reason.FAULT
    board.bench.repair()
    board.clear()
    board.do(Op.RESUME)
    status = board.status()
    assert (status.surface, status.dealt, status.hand_no) == (Surface.DEALT, (4, 4, 4, 4), 1)


def test_an_empty_drum_gives_nothing_to_build(board):
    board.raised()
    board.until(lambda: board.status().magazine is Magazine.LOADED, limit=5)
    board.do(Op.START_BUILD)
    board.do(Op.RELEASE_INTAKE, hand=1)
    assert board.refused(Op.START_BUILD) == Reason.MAGAZINE
    status = board.status()
    assert (status.magazine, status.drum) == (Magazine.READY, False)

"""An evening without accidents: builds, walls, deals, dice, the lid, and the lock between them."""

import pytest

from firmware_bridge import messages as m
from firmware_bridge import profiles
from firmware_bridge.interlock import Lid, Magazine, Reason, Surface
from firmware_bridge.ops import Op
from tests.firmware_bridge.conformance.bench import QUICK
from tests.firmware_bridge.conformance.benches import SimBench

FULL = (17, 17, 17, 17)
NONE = (0, 0, 0, 0)


def test_a_build_counts_every_stack_and_the_second_set_follows(board):
    board.start()
    assert board.do(Op.START_BUILD) == {"stacks": FULL}
    status = board.status()
    assert (status.magazine, status.stacks) == (Magazine.READY, FULL)
    board.until(lambda: board.status().drum, limit=5)
    assert board.refused(Op.START_BUILD) == Reason.MAGAZINE


def test_raised_walls_lock_and_begin_the_hand(board):
    board.built()
    assert board.do(Op.RAISE_WALLS) == {"stacks": FULL}
    status = board.status()
    assert (status.surface, status.walls, status.stacks) == (Surface.WALLS_UP, FULL, NONE)
    assert (status.hand_no, status.locked, status.lift) == (1, True, 100)
    assert status.dealt == NONE
    assert not status.taken


def test_the_lock_closes_before_the_walls_move(board):
    board.built()
    assert not board.status().locked
    board.begin(Op.RAISE_WALLS)
    assert board.status().locked


def test_walls_that_nobody_touched_go_down_again(board):
    board.raised()
    board.until(lambda: board.status().magazine is Magazine.LOADED, limit=5)
    board.do(Op.LOWER)
    status = board.status()
    assert (status.surface, status.magazine) == (Surface.CLEAR, Magazine.READY)
    assert (status.stacks, status.walls, status.lift) == (FULL, NONE, 0)
    assert (status.hand_no, status.locked) == (1, True)


def test_a_deal_from_raised_walls_belongs_to_their_hand(board):
    board.raised()
    assert board.do(Op.DEAL, tiles=(14, 13, 13, 13)) == {"tiles": (14, 13, 13, 13)}
    status = board.status()
    assert (status.surface, status.dealt, status.hand_no) == (Surface.DEALT, (14, 13, 13, 13), 1)
    assert (status.walls, status.taken, status.locked) == (FULL, True, True)
    assert board.refused(Op.LOWER) == Reason.SURFACE


def test_a_direct_deal_begins_a_hand(board):
    board.built()
    board.do(Op.DEAL, tiles=(13, 13, 13, 13), dealer=2)
    status = board.status()
    assert (status.surface, status.dealt, status.hand_no) == (Surface.DEALT, (13, 13, 13, 13), 1)
    assert (status.walls, status.stacks, status.lift) == (FULL, NONE, 100)


def test_dice_and_indicator_work_over_walls_only(board):
    board.built()
    assert board.refused(Op.ROLL_DICE) == Reason.SURFACE
    assert board.refused(Op.FLIP_INDICATOR) == Reason.SURFACE
    board.do(Op.RAISE_WALLS)
    seen = set()
    for _ in range(6):
        dice = board.do(Op.ROLL_DICE)["dice"]
        board.acknowledge()
        assert all(1 <= die <= 6 for die in dice)
        assert board.status().dice == dice
        seen.add(dice)
    assert len(seen) > 1
    board.do(Op.FLIP_INDICATOR)
    assert board.status().indicator_up


def test_a_deal_must_fit_the_walls(board):
    board.built()
    assert board.refused(Op.DEAL, tiles=(0, 0, 0, 0)) == Reason.COUNTS
    assert board.refused(Op.DEAL, tiles=(50, 50, 50, 50)) == Reason.COUNTS
    assert board.refused(Op.RAISE_WALLS, stacks=(14, 13, 14, 13)) == Reason.COUNTS
    assert board.command(Op.RAISE_WALLS, stacks=FULL).verdict is m.Verdict.ACCEPTED


def test_a_whole_hand_and_the_tiles_come_back(board):
    board.raised()
    board.do(Op.DEAL, tiles=(14, 13, 13, 13))
    board.until(lambda: board.status().magazine is Magazine.LOADED, limit=5)
    board.do(Op.START_BUILD)  # the other set, while this one is played
    assert board.refused(Op.OPEN_LID) == Reason.INTERLOCK
    assert board.refused(Op.RELEASE_INTAKE, hand=2) == Reason.WRONG_HAND
    board.do(Op.RELEASE_INTAKE, hand=1)
    assert not board.status().locked
    board.do(Op.OPEN_LID)
    status = board.status()
    assert (status.surface, status.lid) == (Surface.COLLECTING, Lid.OPEN)
    assert (status.walls, status.dealt) == (NONE, NONE)
    assert board.refused(Op.RAISE_WALLS) == Reason.LID
    board.do(Op.CLOSE_LID)
    status = board.status()
    assert (status.surface, status.lid, status.lift) == (Surface.CLEAR, Lid.CLOSED, 0)
    assert (status.magazine, status.drum) == (Magazine.READY, True)
    board.do(Op.RAISE_WALLS)
    status = board.status()
    assert (status.hand_no, status.locked) == (2, True)
    assert status.magazine is Magazine.LOADED


def test_the_other_set_is_built_while_tiles_are_dealt(board):
    board.raised()
    board.until(lambda: board.status().magazine is Magazine.LOADED, limit=5)
    build = board.begin(Op.START_BUILD)
    board.until(lambda: sum(board.status().stacks) > 0)
    deal = board.begin(Op.DEAL, tiles=(4, 4, 4, 4))
    assert {active.op for active in board.status().active} == {Op.START_BUILD, Op.DEAL}
    assert board.done(deal).values == bytes([4, 4, 4, 4])
    assert board.done(build).values == bytes(FULL)


def test_a_lane_does_one_thing_at_a_time(board):
    board.raised()
    rolls = board.begin(Op.ROLL_DICE)
    assert board.refused(Op.FLIP_INDICATOR) == Reason.BUSY
    assert board.refused(Op.DEAL, tiles=(1, 1, 1, 1)) == Reason.BUSY
    board.done(rolls)


def test_the_lid_is_not_opened_under_a_locked_hand(board):
    board.raised()
    assert board.refused(Op.OPEN_LID) == Reason.INTERLOCK
    board.do(Op.RELEASE_INTAKE, hand=1)
    assert board.refused(Op.OPEN_LID) == Reason.SURFACE


def test_a_motion_needs_a_living_host(board):
    board.built()
    board.alive = False
    board.wait(2.0)
    assert not board.status().lease
    assert board.refused(Op.RAISE_WALLS) == Reason.NO_LEASE
    board.ping()
    board.do(Op.RAISE_WALLS)


def test_a_lease_lasts_ten_seconds_whatever_is_asked_for(board):
    board.built()
    board.alive = False
    board.ping(lease_ms=60_000)
    board.wait(9.0)
    assert board.status().lease
    board.wait(1.5)
    assert not board.status().lease
    assert board.refused(Op.RAISE_WALLS) == Reason.NO_LEASE


def test_service_motions_need_the_key_and_a_word(board):
    board.start()
    assert board.refused(Op.HOME, nobody=1) == Reason.SERVICE_KEY
    board.bench.service_key(True)
    board.until(lambda: board.status().service, limit=2)
    assert board.refused(Op.HOME) == Reason.SERVICE_KEY
    board.do(Op.HOME, nobody=1)
    board.do(Op.JOG, axis=0, steps=1, nobody=1)
    board.do(Op.HOME, nobody=1)
    assert board.status().lift == 0
    board.bench.service_key(False)
    board.until(lambda: not board.status().service, limit=2)


@pytest.mark.parametrize("empty", range(4))
def test_three_walls_are_built_around_any_empty_side(board, empty):
    profile = profiles.load(f"102@{empty}")
    board.hello()
    assert board.ask(m.ConfigSet(m.BoardConfig(profile.id, profile.walls, QUICK, 0))).reason == 0
    if not isinstance(board.bench, SimBench):  # there the plant in C is set by hand, as a machine is
        board.bench.fault("empty", Op.START_BUILD, empty)
    board.do(Op.START)
    board.do(Op.START_BUILD)
    assert board.status().stacks == profile.walls
    board.do(Op.RAISE_WALLS)
    tiles = tuple(13 * (wall > 0) for wall in profile.walls)
    assert board.do(Op.DEAL, tiles=tiles) == {"tiles": tiles}
    status = board.status()
    assert (status.surface, status.dealt, status.walls) == (Surface.DEALT, tiles, profile.walls)
    assert (status.hand_no, status.locked) == (1, True)


def test_a_machine_that_deals_directly_keeps_the_tiles_for_it_loose(board):
    profile = profiles.load("136-dealt")
    board.hello()
    config = m.BoardConfig(profile.id, profile.walls, QUICK, sum(profile.dealt))
    assert board.ask(m.ConfigSet(config)).config == config
    if not isinstance(board.bench, SimBench):
        board.bench.fault("direct", Op.START_BUILD, config.dealt)
    board.do(Op.START)
    assert board.do(Op.START_BUILD) == {"stacks": profile.walls}
    status = board.status()
    assert (status.magazine, status.stacks, status.drum) == (Magazine.READY, profile.walls, True)
    assert board.do(Op.DEAL, tiles=profile.dealt, dealer=1) == {"tiles": profile.dealt}
    status = board.status()
    assert (status.surface, status.walls, status.dealt) == (Surface.DEALT, profile.walls, profile.dealt)
    assert (status.hand_no, status.locked, status.stacks) == (1, True, NONE)
    board.until(lambda: board.status().magazine is Magazine.LOADED, limit=5)  # by the second set
    board.do(Op.RELEASE_INTAKE, hand=1)
    board.do(Op.START_BUILD)
    assert board.status().stacks == profile.walls
    board.do(Op.OPEN_LID)
    board.do(Op.CLOSE_LID)
    board.do(Op.DEAL, tiles=profile.dealt)
    status = board.status()
    assert (status.walls, status.dealt, status.hand_no) == (profile.walls, profile.dealt, 2)

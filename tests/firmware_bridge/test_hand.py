"""Whole hands, host core against simulated machine, under a virtual clock."""

from itertools import pairwise

import pytest

from firmware_bridge.interlock import Fault, Lid, Magazine, Surface
from firmware_bridge.machine import FaultReport, LinkState, Status
from firmware_bridge.ops import Op
from firmware_bridge.sim.rig import Rig

FULL = (17, 17, 17, 17)
DEALT = (14, 13, 13, 13)


def go(rig, op, **args):
    outcome = rig.execute(op, **args)
    assert outcome.status is Status.DONE, outcome
    return outcome


def refused(rig, op, **args):
    outcome = rig.execute(op, **args)
    assert outcome.status is Status.REJECTED, outcome
    return outcome.code


def started(**kwargs):
    rig = Rig(**kwargs)
    rig.ready()
    go(rig, Op.START)
    return rig


def dealt(**kwargs):
    rig = started(**kwargs)
    go(rig, Op.START_BUILD)
    go(rig, Op.RAISE_WALLS)
    go(rig, Op.ROLL_DICE)
    go(rig, Op.DEAL, tiles=DEALT)
    return rig


def test_a_machine_that_was_switched_on_waits_for_a_person():
    rig = Rig()
    rig.ready()
    assert rig.view.link is LinkState.RECOVER
    assert rig.view.code == "machine.recover"
    assert rig.view.locked
    assert rig.view.hand_no is None
    assert refused(rig, Op.START_BUILD) == "not_started"
    assert refused(rig, Op.OPEN_LID) == "not_started"
    go(rig, Op.START)
    assert rig.view.link is LinkState.UP
    assert (rig.view.hand_no, rig.view.locked) == (0, False)


def test_two_hands_with_two_sets():
    rig = started(seed=3)
    built = go(rig, Op.START_BUILD)
    assert built.result == {"stacks": FULL}
    assert rig.view.magazine is Magazine.READY
    go(rig, Op.RAISE_WALLS)
    assert (rig.view.surface, rig.view.hand_no, rig.view.locked) == (Surface.WALLS_UP, 1, True)
    dice = go(rig, Op.ROLL_DICE).result["dice"]
    assert rig.view.dice == dice
    assert go(rig, Op.DEAL, tiles=DEALT, dealer=2).result == {"tiles": DEALT}
    assert (rig.view.surface, rig.view.hand_no, rig.view.dealt) == (Surface.DEALT, 1, DEALT)
    go(rig, Op.FLIP_INDICATOR, place=1, stack=4)
    assert rig.view.indicator_up
    assert rig.view.magazine is Magazine.LOADED  # the other set waits below
    go(rig, Op.START_BUILD)
    assert refused(rig, Op.OPEN_LID) == "interlock"
    assert refused(rig, Op.RELEASE_INTAKE, hand=2) == "wrong_hand"
    go(rig, Op.RELEASE_INTAKE, hand=1)
    go(rig, Op.OPEN_LID)
    assert (rig.view.surface, rig.view.lid) == (Surface.COLLECTING, Lid.OPEN)
    go(rig, Op.CLOSE_LID)
    assert (rig.view.surface, rig.view.magazine) == (Surface.CLEAR, Magazine.READY)
    go(rig, Op.RAISE_WALLS)
    assert (rig.view.hand_no, rig.view.locked, rig.view.magazine) == (2, True, Magazine.LOADED)
    assert rig.view.dice is None
    assert rig.executed.total() == 11
    assert set(rig.executed.values()) == {1}


def test_a_new_machine_is_filled_by_hand():
    rig = started(fresh="empty")
    assert rig.view.magazine is Magazine.EMPTY
    for _ in range(2):
        go(rig, Op.OPEN_LID)
        go(rig, Op.CLOSE_LID)
        if rig.view.magazine is Magazine.LOADED:
            go(rig, Op.START_BUILD)
    assert (rig.view.magazine, rig.view.drum) == (Magazine.READY, True)


def test_building_without_tiles_fails_plainly():
    rig = started(fresh="empty")
    outcome = rig.execute(Op.START_BUILD)
    assert (outcome.status, outcome.code) == (Status.FAILED, "tiles_short")
    assert rig.view.magazine is Magazine.EMPTY


def test_a_direct_deal_and_a_three_player_profile():
    rig = started(profile="102", fresh="ready")
    assert rig.view.profile == "102"
    go(rig, Op.DEAL, tiles=(17, 16, 16, 0))
    assert (rig.view.surface, rig.view.hand_no) == (Surface.DEALT, 1)
    assert rig.view.walls == (17, 17, 17, 0)


def test_stacks_rise_while_building():
    rig = started()
    rig.submit(Op.START_BUILD)
    seen = []
    while not rig.view.active:
        rig.step()
    assert rig.view.code == "machine.moving"
    while rig.view.active:
        rig.step()
        seen.append(rig.view.progress)
    assert len(set(seen)) > 15
    assert all(a <= b for was, now in pairwise(seen) for a, b in zip(was, now, strict=True))
    assert seen[-1] == FULL


def test_building_goes_on_while_the_other_set_is_dealt():
    rig = started()
    go(rig, Op.START_BUILD)
    go(rig, Op.RAISE_WALLS)
    build = rig.submit(Op.START_BUILD)
    go(rig, Op.ROLL_DICE)
    go(rig, Op.DEAL, tiles=DEALT)
    assert [active.op for active in rig.view.active] == [Op.START_BUILD]
    rig.run_until(lambda: build in rig.outcomes)
    assert rig.outcomes[build][0].done


def test_a_jam_is_cleared_by_a_person():
    rig = started()
    rig.device.plant.trouble.append((Op.START_BUILD, FaultReport(Fault.JAM, 2)))
    outcome = rig.execute(Op.START_BUILD)
    assert (outcome.status, outcome.code) == (Status.FAILED, "jam")
    assert rig.view.faults == (FaultReport(Fault.JAM, 2),)
    assert rig.view.code == "machine.fault.jam"
    assert rig.host.events[-1].code == "fault"
    assert rig.host.events[-1].args == (Fault.JAM, 2, 0)
    assert refused(rig, Op.START_BUILD) == "fault"
    go(rig, Op.CLEAR)
    go(rig, Op.START_BUILD)
    assert rig.view.faults == ()


def test_missing_tiles_block_the_raise():
    rig = started()
    rig.device.plant.trouble.append((Op.START_BUILD, FaultReport(Fault.TILES_SHORT, None, 1)))
    assert rig.execute(Op.START_BUILD).code == "tiles_short"
    assert rig.view.progress == (17, 17, 17, 16)
    assert refused(rig, Op.RAISE_WALLS) == "fault"
    go(rig, Op.CLEAR)
    assert refused(rig, Op.RAISE_WALLS) == "magazine"


def test_lowering_raised_walls():
    rig = started(fresh="ready")
    go(rig, Op.RAISE_WALLS)
    go(rig, Op.LOWER)
    assert (rig.view.surface, rig.view.magazine, rig.view.progress) == (Surface.CLEAR, Magazine.READY, FULL)
    assert rig.view.locked
    go(rig, Op.RAISE_WALLS)
    assert rig.view.hand_no == 2


def test_a_taken_tile_forbids_lowering():
    rig = started(fresh="ready")
    go(rig, Op.RAISE_WALLS)
    rig.device.plant.take_tile()
    assert refused(rig, Op.LOWER) in ("surface", "tiles_taken")
    assert rig.view.surface is Surface.DEALT


def test_the_lock_survives_a_restart_of_either_side():
    rig = dealt()
    go(rig, Op.START_BUILD)
    assert refused(rig, Op.OPEN_LID) == "interlock"
    rig.restart_host()
    rig.ready()
    assert rig.view.link is LinkState.UP
    assert refused(rig, Op.OPEN_LID) == "interlock"
    rig.reset_device()
    rig.run(2)
    rig.ready()
    assert rig.view.link is LinkState.RECOVER
    assert rig.view.reset_cause == "brown_out"
    assert rig.view.surface is Surface.DEALT
    assert refused(rig, Op.OPEN_LID) == "not_started"
    go(rig, Op.ADOPT, hand=1)
    assert refused(rig, Op.OPEN_LID) == "interlock"
    go(rig, Op.RELEASE_INTAKE, hand=1)
    go(rig, Op.OPEN_LID)


@pytest.mark.parametrize("choice", [Op.RESUME, Op.LOWER, Op.LEAVE])
def test_a_motion_cut_by_its_lease_waits_for_a_choice(choice):
    rig = started(fresh="ready")
    raising = rig.submit(Op.RAISE_WALLS)
    rig.run(1)
    rig.unplug()
    rig.run(5)
    assert rig.view.link is LinkState.PORT_MISSING
    assert rig.execute(Op.LAMP, place=0).code == "link_down"
    assert not rig.device.plant.motions  # outputs are off without any host
    rig.plug()
    rig.ready()
    rig.run_until(lambda: raising in rig.outcomes)
    outcome = rig.outcomes[raising][-1]
    assert (outcome.status, outcome.code) == (Status.FAILED, "lease_expired")
    assert outcome.seconds < 3.1
    assert rig.view.hold
    assert rig.view.cut == (Op.RAISE_WALLS,)
    assert rig.view.fault == "lease_expired"
    assert rig.view.surface is Surface.UNKNOWN
    assert rig.view.code == "machine.hold"
    rig.run(0.5)
    assert "lease_expired" in [event.code for event in rig.host.events]
    assert refused(rig, Op.ROLL_DICE) == "hold"
    go(rig, choice)
    expected = {
        Op.RESUME: (Surface.WALLS_UP, 1),
        Op.LOWER: (Surface.CLEAR, 0),
        Op.LEAVE: (Surface.DEALT, 1),
    }
    assert (rig.view.surface, rig.view.hand_no) == expected[choice]
    assert not rig.view.hold
    assert rig.view.faults == ()
    assert rig.view.locked


def test_a_lift_stopped_by_a_reset_is_known_from_its_switches():
    rig = started(fresh="ready")
    raising = rig.submit(Op.RAISE_WALLS)
    rig.run(2)
    rig.reset_device()
    rig.run_until(lambda: raising in rig.outcomes)
    assert (rig.outcomes[raising][-1].status, rig.outcomes[raising][-1].code) == (Status.UNKNOWN, "rebooted")
    rig.ready()
    assert rig.view.hold
    assert refused(rig, Op.RESUME) == "not_started"
    go(rig, Op.START)
    go(rig, Op.LOWER)
    assert rig.view.surface is Surface.CLEAR


def test_a_build_and_a_deal_cut_together_are_finished_together():
    rig = started()
    go(rig, Op.START_BUILD)
    go(rig, Op.RAISE_WALLS)
    build, deal = rig.submit(Op.START_BUILD), rig.submit(Op.DEAL, tiles=DEALT)
    rig.run(2)
    rig.host.hold(rig.now)
    rig.run_until(lambda: build in rig.outcomes and deal in rig.outcomes)
    assert rig.outcomes[build][-1].code == rig.outcomes[deal][-1].code == "held"
    assert set(rig.view.cut) == {Op.DEAL, Op.START_BUILD}
    go(rig, Op.RESUME)
    assert (rig.view.surface, rig.view.magazine, rig.view.dealt) == (Surface.DEALT, Magazine.READY, DEALT)
    assert rig.view.hand_no == 1


def test_a_stop_is_latched():
    rig = started()
    build = rig.submit(Op.START_BUILD)
    rig.run(3)
    rig.host.estop()
    rig.run_until(lambda: build in rig.outcomes)
    assert rig.outcomes[build][-1].code == "estopped"
    assert rig.view.estop
    assert rig.view.code == "machine.estop"
    assert refused(rig, Op.RESUME) == "estop"
    go(rig, Op.CLEAR)
    assert rig.view.hold
    go(rig, Op.RESUME)
    assert rig.view.magazine is Magazine.READY


def test_a_stale_wish_is_refused_by_the_device():
    rig = started()
    seen = rig.view.rev
    go(rig, Op.START_BUILD)
    assert refused_with_rev(rig, Op.RAISE_WALLS, seen) == "stale_state"
    assert refused_with_rev(rig, Op.RAISE_WALLS, rig.view.rev) is None


def refused_with_rev(rig, op, rev):
    outcome = rig.execute(op, rev=rev)
    return outcome.code if outcome.status is Status.REJECTED else None


def test_service_motions_need_the_key():
    rig = started(fresh="ready")
    assert refused(rig, Op.HOME, nobody=1) == "service_key"
    rig.device.plant.service_key = True
    assert refused(rig, Op.JOG, axis=0, steps=3) == "service_key"
    go(rig, Op.JOG, axis=0, steps=-3, nobody=1)
    go(rig, Op.HOME, nobody=1)


def test_lamps_light_even_before_the_start():
    rig = Rig()
    rig.ready()
    go(rig, Op.LAMP, place=2, pattern=3)
    assert rig.device.latches.lamps == {2: 3}


def test_the_makers_button_is_reported():
    rig = dealt()
    rig.device.button()
    rig.run(1)
    assert rig.host.events[-1].code == "intake_opened_early"
    assert rig.view.surface is Surface.DEALT

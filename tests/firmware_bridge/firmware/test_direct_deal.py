"""A machine that lays the first tiles: some of each set stay loose, and are fed from the drum."""

import pytest

from firmware_bridge import messages as m
from firmware_bridge import profiles
from firmware_bridge.interlock import Fault, Magazine, Surface
from firmware_bridge.machine import FaultReport
from firmware_bridge.ops import Op
from tests.firmware_bridge.conformance.bench import QUICK, Talk
from tests.firmware_bridge.conformance.benches import LibBench
from tests.firmware_bridge.firmware.board_library import Rig

PROFILE = profiles.load("136-dealt")
CONFIG = m.BoardConfig(PROFILE.id, PROFILE.walls, QUICK, sum(PROFILE.dealt))
FEED = 4
"""Number of the output."""


@pytest.fixture(params=["loaded"])
def talk(firmware_library, request):
    bench = LibBench(Rig(firmware_library, fresh=request.param))
    bench.fault("direct", Op.START_BUILD, CONFIG.dealt)
    talk = Talk(bench)
    talk.hello()
    assert talk.ask(m.ConfigSet(CONFIG)).reason == 0
    talk.do(Op.START)
    yield talk
    bench.close()


def test_every_dealt_tile_is_one_feed_from_the_drum(talk):
    talk.do(Op.START_BUILD)
    assert talk.do(Op.DEAL, tiles=PROFILE.dealt, dealer=3) == {"tiles": (13, 13, 13, 13)}
    assert talk.bench.rig.pulses(FEED) == 52
    assert talk.status().walls == (10, 10, 11, 11)


def test_a_drum_that_is_empty_after_the_build_is_short_of_tiles(talk):
    talk.bench.fault("missing", Op.START_BUILD, 52)
    done = talk.done(talk.begin(Op.START_BUILD))
    assert (done.result, done.code) == (m.Result.FAILED, Fault.TILES_SHORT)
    status = talk.status()
    assert status.faults == (FaultReport(Fault.TILES_SHORT, None, 52),)
    assert (status.magazine, status.stacks) == (Magazine.LOADED, PROFILE.walls)
    talk.bench.repair()
    talk.clear()
    talk.do(Op.START_BUILD)
    assert talk.status().magazine is Magazine.READY


def test_walls_that_stay_low_lack_the_dealt_tiles_too(talk):
    talk.bench.fault("missing", Op.START_BUILD, 60)
    talk.done(talk.begin(Op.START_BUILD))
    assert talk.status().faults[0].fault is Fault.TILES_SHORT
    assert talk.status().faults[0].count == 60
    talk.bench.repair()


def test_a_stack_too_many_is_told(talk):
    talk.begin(Op.START_BUILD)
    talk.until(lambda: talk.status().stacks == PROFILE.walls)
    talk.bench.rig.fault("high COUNT0")
    talk.wait(0.05)
    talk.bench.rig.fault("repair")
    assert talk.done().code == Fault.TILES_OVER


def test_a_board_that_is_not_told_of_dealt_tiles_finds_too_many(talk):
    assert talk.ask(m.ConfigSet(m.BoardConfig(PROFILE.id, PROFILE.walls, QUICK, 0))).reason == 0
    assert talk.done(talk.begin(Op.START_BUILD)).code == Fault.TILES_OVER


@pytest.mark.parametrize("talk", ["empty"], indirect=True)
def test_the_magazine_is_empty_after_a_deal_when_no_other_set_is_in(talk):
    talk.do(Op.RELEASE_INTAKE, hand=0)
    talk.do(Op.OPEN_LID)
    talk.do(Op.CLOSE_LID)
    talk.do(Op.START_BUILD)
    talk.do(Op.DEAL, tiles=PROFILE.dealt)
    status = talk.status()
    assert (status.surface, status.magazine, status.drum) == (Surface.DEALT, Magazine.EMPTY, False)


def test_a_deal_that_was_held_goes_on_with_the_tiles_that_are_left(talk):
    talk.do(Op.START_BUILD)
    deal = talk.begin(Op.DEAL, tiles=PROFILE.dealt)
    talk.until(lambda: sum(talk.status().dealt) > 20)
    talk.ask(m.Hold())
    assert talk.done(deal).result is m.Result.ABORTED
    talk.do(Op.RESUME)
    status = talk.status()
    assert (status.dealt, status.walls) == (PROFILE.dealt, PROFILE.walls)
    assert talk.bench.rig.pulses(FEED) == 52

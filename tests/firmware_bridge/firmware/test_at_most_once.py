"""The key property again, with the firmware at the far end of the line.

The host, the lines and their faults are those of `test_exactly_once`; the board and its motors are C. What
ran is counted at the board, and the pins tell whether anything moves.
"""

import random
from collections import Counter

import pytest

from firmware_bridge import messages as m
from firmware_bridge.machine import Status
from firmware_bridge.ops import Op
from firmware_bridge.sim.rig import Rig
from tests.firmware_bridge.firmware import board_library
from tests.firmware_bridge.test_exactly_once import Story, chance_step

MOTORS = 0x3F & ~0x08
LID, DIR = 0x04, 0x08


class Board:
    """What `Rig` needs of a device, over the C library."""

    def __init__(self, firmware, now, count):
        self.board = board_library.Rig(firmware, speed=800)
        self._from = now
        self._passed = 0
        self._seen = 0
        self._count = count

    def feed(self, data, now):
        self.tick(now)
        self.board.receive(data)
        self._look()

    def tick(self, now):
        due = round((now - self._from) * 1000)
        self.board.pass_ms(max(0, due - self._passed))
        self._passed = max(due, self._passed)
        self._look()

    def take(self):
        sent = self.board.take()
        return [sent] if sent else []

    def reset(self, boot_id, cause, now):
        self.tick(now)
        self.board.reset(boot_id, cause)

    def _look(self):
        while self._seen < self.board.executed:
            self._count(self.board.executed_id(self._seen))
            self._seen += 1


class CStory(Story):
    """The same story, told to the firmware."""

    def __init__(self, firmware, seed):
        self.rig = Rig(seed)
        self.ops = {}
        self.sent = set()
        self.line_tail = b""
        self.stopped = False
        self.device = self.rig.device = Board(firmware, self.rig.now, self.ran)
        self.feed = self.device.feed
        self.device.feed = self.overhear
        self.rig.ready()
        self.person()
        self.rig.run(0.3)

    def ran(self, cmd_id):
        op = self.ops.get(cmd_id)
        assert not self.stopped or op in (Op.CLEAR, None), op
        self.stopped = self.stopped and op is not Op.CLEAR
        self.rig.executed[cmd_id] += 1

    def send(self, op, **args):
        asked = self.rig.submit(op, **args)
        if isinstance(asked, int):
            self.sent.add(asked)
            self.ops[asked] = op

    def reset_board(self, _):
        self.rig.reset_device()
        self.stopped = False

    def never_without_lease(self):
        board = self.device.board
        if board.outputs & MOTORS:
            assert board.lease
            assert not board.estop
            assert not self.stopped
            assert not (board.outputs & LID and board.outputs & DIR and board.locked)


def play(firmware, seed, length):
    rng = random.Random(seed)
    story = CStory(firmware, seed)
    for _ in range(length):
        name, value = chance_step(rng)
        getattr(story, name)(value)
        story.rig.exchange()
        story.never_without_lease()
        story.truthful()
    story.end()
    assert story.device.board.tiles == 2 * 136
    story.device.board.close()
    return Counter(said[-1].status for said in story.rig.outcomes.values())


def ends_of(firmware, seeds):
    ends = Counter()
    for seed in seeds:
        ends += play(firmware, seed, 16)
    return ends


@pytest.mark.slow
def test_no_schedule_of_faults_moves_the_board_twice(firmware_library):
    ends = ends_of(firmware_library, range(120))
    # All four ends occur, or the test tests little.
    assert all(ends[status] > 10 for status in Status), ends


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_years_of_bad_luck_with_the_firmware(firmware_library):
    assert all(ends_of(firmware_library, range(10_000, 14_000)).values())


def test_an_acknowledgement_that_is_lost_moves_the_board_once(firmware_library):
    story = CStory(firmware_library, 1)
    story.lose((m.CommandAck.KIND, 3))
    story.send(Op.START_BUILD)
    story.wait(3.0)
    story.end()
    assert set(story.rig.executed.values()) == {1}
    story.device.board.close()

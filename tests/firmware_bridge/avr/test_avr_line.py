"""A bad line between the product's own bridge and the compiled program, judged at the pins."""

import pytest

from firmware_bridge.machine import Status
from tests.firmware_bridge.asking import done
from tests.firmware_bridge.avr.scenes import FAST, HASTE, HASTY, config, play

pytestmark = [pytest.mark.avr, pytest.mark.system, pytest.mark.slow]


@pytest.mark.timeout(200)
def test_every_command_on_a_bad_line_is_one_pulse(start_board, bad_line, tmp_path):
    """500 pulses with 5 % of all frames damaged each way, in either of three manners."""
    board = start_board(*FAST, *HASTE)
    quick = config(ROLL_DICE=0.02, FLIP_INDICATOR=0.02)
    line = bad_line(board.pty, seed=5)
    ends = {}

    async def scene(bridge):
        for op in ("START", "START_BUILD", "RAISE_WALLS"):
            await done(bridge, op)
        line.rate = 0.05
        before = board.rises("TOOL")
        for number in range(500):
            await bridge.wait_ready()
            outcome = await bridge.execute("FLIP_INDICATOR" if number % 5 == 4 else "ROLL_DICE")
            after = board.rises("TOOL")
            ends[outcome.status] = ends.get(outcome.status, 0) + 1
            if outcome.done:
                assert after - before == 1, (number, outcome)
            else:
                assert after - before <= 1, (number, outcome)
            before = after
        line.rate = 0.0
        return bridge.stats

    stats = play(board, tmp_path, scene, url=line.url, limit=170, timing=HASTY, config=quick)
    print(f"{line.damaged} of {line.frames} frames damaged; {stats}; ends {ends}")
    assert line.damaged > 100
    assert ends[Status.DONE] > 450

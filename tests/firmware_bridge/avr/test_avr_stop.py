"""The stop string on the board's chip: at any moment of a motion, to the microsecond."""

import random

import pytest

from firmware_bridge.codec import STOP, Frame, encode
from firmware_bridge.ops import Op
from tests.firmware_bridge.avr.board import HERTZ

pytestmark = [pytest.mark.avr, pytest.mark.slow]

BYTE = 1500
"""Cycles of a byte on the line of the harness; the receiver tells of it a byte later."""

INTERRUPT = HERTZ * 50 // 1_000_000
"""Fifty microseconds: the other interrupts, and this one up to its pins."""


def fell(board, pin, since):
    return [cycle for name, level, cycle in board.edges if (name, level) == (pin, 0) and cycle > since]


@pytest.mark.parametrize("seed", range(4))
def test_a_stop_at_any_moment_switches_off_within_its_interrupt(bench, seed):
    rng = random.Random(seed)
    talk = bench().built()
    board = talk.bench.board
    for _ in range(12):
        talk.begin(Op.RAISE_WALLS)
        while not board.pins()["outputs"]["LIFT"]:
            talk.wait(0.02)
        talk.wait(rng.randrange(40) / 1000)
        # Whatever else is on the line or on its way.
        before = rng.choice([b"", b"\x00", STOP[:-1], rng.randbytes(rng.randrange(120)), encode(frame(rng))])
        since = board.now()
        talk.bench.send(before + STOP)
        talk.wait(0.03)
        (off,) = fell(board, "LIFT", since)
        assert off - since < (len(before) + len(STOP)) * BYTE + BYTE + INTERRUPT
        assert talk.status().estop
        talk.clear()
        talk.do(Op.LOWER)
    rises = [cycle for name, level, cycle in board.edges if name == "LIFT" and level]
    assert len(rises) == 24, "once up and once down each time, and never by itself"


def frame(rng):
    return Frame(
        rng.randrange(128), rng.randrange(256), rng.randrange(1 << 16), rng.randbytes(rng.randrange(40))
    )


def test_steering_outlasts_the_motor_it_steers(bench):
    """A direction that changes with its motor could reverse it for a moment: relays are not equally quick."""
    talk = bench().built()
    talk.amid(Op.RAISE_WALLS)
    since = talk.bench.board.now()
    talk.stop()
    talk.wait(0.5)
    changes = [(name, level) for name, level, cycle in talk.bench.board.edges if cycle > since]
    assert changes == [("LIFT", 0)]


def test_a_flood_does_not_keep_the_stop_from_being_seen(bench):
    talk = bench().built()
    talk.amid(Op.RAISE_WALLS)
    since = talk.bench.board.now()
    flood = random.Random(1).randbytes(1500).replace(b"\xff", b"\xfe")
    talk.bench.send(flood + STOP)
    talk.bench.pass_time(0.3)
    (off,) = fell(talk.bench.board, "LIFT", since)
    assert off - since < (len(flood) + len(STOP)) * BYTE + BYTE + INTERRUPT
    talk.wait(0.5)
    assert talk.status().estop


def test_the_stop_works_while_the_program_hangs(bench):
    """It is found in the receive interrupt: no turn of the main loop is needed."""
    talk = bench(extra="-DQZ_TEST_HANG=QZ_OUT_LIFT").built()
    board = talk.bench.board
    talk.begin(Op.RAISE_WALLS)
    while not board.pins()["outputs"]["LIFT"]:
        talk.bench.pass_time(0.001)
    talk.bench.pass_time(0.1)
    assert board.pins()["outputs"]["LIFT"], "nobody switches it off"
    since = board.now()
    talk.stop()
    talk.bench.pass_time(0.01)
    (off,) = fell(board, "LIFT", since)
    assert off - since < len(STOP) * BYTE + BYTE + INTERRUPT
    talk.bench.pass_time(0.5)
    talk.collect()
    talk.events.clear()
    assert talk.hello(session=talk.session + 1).reset_cause.name == "WATCHDOG"

"""What can go wrong around the board, proven on its compiled program and judged at its pins."""

import asyncio
import os
import signal
import subprocess
import sys
import time

import pytest

from firmware_bridge.codec import STOP
from firmware_bridge.interlock import Surface
from firmware_bridge.link import Timing
from firmware_bridge.machine import LinkState, Status
from tests.firmware_bridge.asking import clear, done
from tests.firmware_bridge.avr.board import FLASH_MAX, HERTZ, RAM_MAX
from tests.firmware_bridge.avr.scenes import FAST, HASTE, HASTY, SLOW_LIFT, config, play

pytestmark = [pytest.mark.avr, pytest.mark.system, pytest.mark.slow]

MOTORS = ("BUILD", "LIFT", "LID", "FEED", "TOOL")
LEASE = Timing().lease
AT_ONCE = HERTZ // 5
"""Cycles that a busy machine may take to put our bytes on the line; test_avr_stop.py is exact."""

HOST = """
import asyncio, sys
from firmware_bridge.bridge import Bridge

async def main(url, ledger, *ops):
    async with Bridge(url, ledger) as bridge:
        await bridge.wait_ready()
        for op in ops:
            await bridge.execute(op)

asyncio.run(main(*sys.argv[1:]))
"""


def moving(board):
    return [name for name in MOTORS if board.pins()["outputs"][name]]


def still(board, since, seconds=1.0):
    """Whether no motor was switched on from that cycle on, for so many more simulated seconds."""
    until = board.now() + seconds * HERTZ
    while board.now() < until:
        time.sleep(0.02)
    return [edge for edge in board.edges if edge[0] in MOTORS and edge[1] and edge[2] > since] == []


@pytest.mark.parametrize(
    ("pin", "ops"), [("BUILD", ["START", "START_BUILD"]), ("LIFT", ["START", "START_BUILD", "RAISE_WALLS"])]
)
def test_a_killed_host_leaves_a_motor_on_only_for_the_lease(start_board, tmp_path, pin, ops):
    slow = {"BUILD": ("--speed", "300"), "LIFT": SLOW_LIFT}[pin]
    board = start_board(*slow)  # in real time, for the lease is
    host = subprocess.Popen([sys.executable, "-c", HOST, board.url, str(tmp_path / "ledger.sqlite"), *ops])
    try:
        rose = board.wait_edge(pin, 1)
        time.sleep(0.3)
    finally:
        host.send_signal(signal.SIGKILL)
        host.wait()
    killed = board.now()
    fell = board.wait_edge(pin, 0, after=rose)
    assert fell > killed, "it moved until its host was killed"
    assert (fell - killed) / HERTZ < LEASE + 0.05
    assert still(board, fell)

    async def recovery(bridge):
        outcomes = await bridge.resolve_open()
        assert [(o.status, o.code) for o in outcomes if not o.done] == [(Status.FAILED, "lease_expired")]
        assert bridge.view.hold
        assert (await bridge.recover("leave")).done
        return bridge.view

    assert not play(board, tmp_path, recovery).hold


@pytest.mark.parametrize("cause", ["reset", "brownout", "power"])
def test_a_board_that_resets_in_mid_motion_moves_nothing_by_itself(start_board, tmp_path, cause):
    board = start_board(*SLOW_LIFT, *HASTE)
    told = {"reset": "external", "brownout": "brown_out", "power": "power_on"}[cause]

    async def scene(bridge):
        await done(bridge, "START")
        await done(bridge, "START_BUILD")
        raising = asyncio.create_task(bridge.execute("RAISE_WALLS"))
        await board.edge("LIFT", 1)
        await asyncio.sleep(0.2)
        boot = bridge.view.boot_id
        since = board.ask(cause)["cycle"]
        assert moving(board) == []
        outcome = await raising
        assert (outcome.status, outcome.code) == (Status.UNKNOWN, "rebooted")
        view = await bridge.wait_for(lambda view: view.ready and view.boot_id != boot)
        assert (view.link, view.locked, view.hand_no, view.reset_cause) == (
            LinkState.RECOVER,
            True,
            None,
            told,
        )
        assert (view.surface, view.hold) == (Surface.UNKNOWN, True)
        assert await asyncio.to_thread(still, board, since)
        await done(bridge, "START")  # a person looked: nothing is in play
        assert (await bridge.recover("lower")).done
        await done(bridge, "RAISE_WALLS")
        return bridge.view

    view = play(board, tmp_path, scene, timing=HASTY)
    assert (view.surface, view.hand_no, view.hold) == (Surface.WALLS_UP, 1, False)


def test_a_hung_program_is_ended_by_the_watchdog(start_board, tmp_path):
    board = start_board(*SLOW_LIFT, *HASTE, extra="-DQZ_TEST_HANG=QZ_OUT_LIFT")

    async def scene(bridge):
        await done(bridge, "START")
        await done(bridge, "START_BUILD")
        outcome = await bridge.execute("RAISE_WALLS")
        assert (outcome.status, outcome.code) == (Status.UNKNOWN, "rebooted")
        view = await bridge.wait_ready()
        assert (view.link, view.reset_cause) == (LinkState.RECOVER, "watchdog")

    play(board, tmp_path, scene, timing=HASTY)
    rose = board.wait_edge("LIFT", 1)
    fell = board.wait_edge("LIFT", 0, after=rose)
    assert 0.2 < (fell - rose) / HERTZ < 0.3
    assert still(board, fell)


@pytest.mark.parametrize("before", [b"\x00\x20half a frame", b"x" * 400, STOP[:5]])
def test_the_stop_is_found_whatever_comes_before_it(start_board, tmp_path, before):
    board = start_board(*SLOW_LIFT)

    async def scene(bridge):
        await done(bridge, "START")
        await done(bridge, "START_BUILD")
        raising = asyncio.create_task(bridge.execute("RAISE_WALLS"))
        rose = await board.edge("LIFT", 1)
        wire = os.open(board.pty, os.O_WRONLY | os.O_NOCTTY)
        shouted = board.now()
        os.write(wire, before + STOP)
        os.close(wire)
        fell = await board.edge("LIFT", 0, after=rose)
        assert fell - shouted < AT_ONCE
        assert (await raising).code == "estopped"
        await bridge.wait_for(lambda view: view.estop)
        return fell

    fell = play(board, tmp_path, scene)
    assert still(board, fell)


def test_it_fits(start_board, avr_workshop, tmp_path):
    """Flash, and variables with the deepest stack of a hand that has faults."""
    board = start_board(*FAST, "--lift-ms", "8000", *HASTE)
    quick = config(START_BUILD=4)  # a jam is known after an eighth

    async def scene(bridge):
        await done(bridge, "START")
        board.ask("jam 2")
        assert (await bridge.execute("START_BUILD")).code == "jam"
        board.ask("repair")
        await clear(bridge)
        await done(bridge, "START_BUILD")
        await done(bridge, "RAISE_WALLS")
        await asyncio.gather(bridge.execute("START_BUILD"), bridge.execute("DEAL", tiles=(14, 13, 13, 13)))
        await done(bridge, "FLIP_INDICATOR")
        await done(bridge, "RELEASE_INTAKE", hand=1)
        await done(bridge, "OPEN_LID")
        await done(bridge, "CLOSE_LID")
        raising = asyncio.create_task(bridge.execute("RAISE_WALLS"))
        await board.edge("LIFT", 1, after=board.now())
        bridge.estop()
        assert (await raising).code == "estopped"
        await clear(bridge)
        assert (await bridge.recover("finish")).done

    play(board, tmp_path, scene, timing=HASTY, config=quick)
    program, stack, pins = avr_workshop.program(), board.ask("stack"), board.pins()
    used = stack["static"] + stack["stack"]
    print(
        f"flash {program.flash} of {FLASH_MAX}; "
        f"variables {stack['static']} + stack {stack['stack']} = {used} of {RAM_MAX}; "
        f"asleep {pins['slept'] / pins['cycle']:.0%}, awake {pins['longest'] / HERTZ * 1e3:.1f} ms at most"
    )
    assert program.flash <= FLASH_MAX
    assert used <= RAM_MAX
    assert stack["static"] == program.variables

"""A command ledger whose disk is full or refuses: nothing new moves, no end is lost."""

import asyncio
from contextlib import contextmanager, nullcontext

import pytest

from firmware_bridge.bridge import Bridge
from firmware_bridge.ledger import Ledger
from firmware_bridge.machine import Status
from tests.disks import fill, refusing_disk, small_disk
from tests.firmware_bridge.asking import clear, done, refused
from tests.firmware_bridge.pty_board import PtyBoard
from tests.firmware_bridge.test_press_machine import LIFT, board, ledger, play  # noqa: F401 - fixtures

pytestmark = [pytest.mark.system, pytest.mark.slow]


@contextmanager
def full(folder):
    ballast = fill(folder)
    try:
        yield
    finally:
        ballast.unlink()


@pytest.mark.parametrize("kind", ["full", "refusing"])
def test_the_bridge_of_a_full_disk_stops_moves_nothing_new_and_mends_itself(tmp_path, kind):
    folder = tmp_path / "disk"
    if kind == "refusing":
        folder.mkdir()
    rig = PtyBoard(speed=4.0)
    path = folder / "ledger.sqlite"

    async def scene(bridge):
        await done(bridge, "START")
        building = asyncio.create_task(bridge.execute("OPEN_LID"))
        await bridge.wait_for(lambda view: view.active)
        with full(folder) if kind == "full" else refusing_disk():
            assert (await building).done  # the motion under way ends, and its end is told
            await bridge.wait_for(lambda view: view.unwritten)
            assert bridge.view.code == "machine.unwritten"
            sent = len(rig.executed)
            assert await refused(bridge, "CLOSE_LID") == "unwritten"
            bridge.estop()
            await bridge.wait_for(lambda view: view.estop)
            assert len(rig.executed) == sent
        await bridge.wait_for(lambda view: not view.unwritten)
        await clear(bridge)
        await done(bridge, "CLOSE_LID")
        return bridge.view

    async def whole():
        rig.plug()
        try:
            async with asyncio.timeout(40), Bridge(rig.tty, path) as bridge:
                await bridge.wait_ready()
                return await scene(bridge)
        finally:
            rig.unplug()

    with small_disk(folder, "1m") if kind == "full" else nullcontext():
        view = asyncio.run(whole())
        assert view.code != "machine.unwritten"
        ids = [cmd_id for cmd_id, _ in rig.executed]
        assert len(ids) == len(set(ids))
        book = Ledger(path)
        assert (book.open_intents(), book.last_id()) == ((), max(ids))
        book.close()


def test_a_button_is_not_pressed_while_the_ledger_can_not_be_written(board, ledger):  # noqa: F811
    async def scene(s):
        await s.started()
        with refusing_disk():
            outcome = await s.machine.execute("OPEN_LID")
            assert (outcome.status, outcome.code) == (Status.REJECTED, "unwritten")
            assert s.machine.view.unwritten
        assert board.pulses == []
        await s.until(lambda view: not view.unwritten)
        return await s.machine.execute("OPEN_LID")

    assert play(board, ledger, scene).done
    assert board.pulses == [(LIFT, 3)]


def test_the_end_of_a_press_is_told_and_written_later(board, ledger):  # noqa: F811
    async def scene(s):
        await s.started()
        limits = []

        def refuse(function, address):
            if address == 0x0200 and not limits:  # the pulse: the intent is on the disk
                limits.append(refusing_disk())
                limits[0].__enter__()

        board.at_request = refuse
        try:
            outcome = await s.machine.execute("OPEN_LID")
            assert s.machine.view.unwritten
        finally:
            limits[0].__exit__(None, None, None)
        await s.until(lambda view: not view.unwritten)
        return outcome

    assert play(board, ledger, scene).done
    assert board.pulses == [(LIFT, 3)]
    book = Ledger(ledger)
    assert book.open_intents() == ()
    book.close()

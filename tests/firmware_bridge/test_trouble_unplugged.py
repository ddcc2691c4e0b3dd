"""Trouble with machines that go away, come back or stay mute: a board behind a pseudo-terminal of ours."""

import asyncio
import contextlib
import itertools
import logging
import time
from dataclasses import replace
from pathlib import Path

import pytest

from firmware_bridge import bridge as bridge_module
from firmware_bridge import messages as m
from firmware_bridge.bridge import Bridge
from firmware_bridge.machine import LinkState, Status, sentence_code
from firmware_bridge.ops import Op
from firmware_bridge.sim.rig import Rig
from tests.firmware_bridge.pty_board import PtyBoard, point
from tests.pace import Pace


class Board(PtyBoard):
    """One whose port has a name that lasts, for as long as it is plugged in."""

    def __init__(self, path, uid):
        super().__init__(uid)
        self.path = path

    def plug(self):
        super().plug()
        point(self.path, self.tty)

    def unplug(self):
        super().unplug()
        self.path.unlink(missing_ok=True)


def evening(folder, scene, *, uids=(0x51,), **kwargs):
    """Run `scene(bridge, board)`, or of as many as there are numbers; log and loop must stay silent."""
    complaints = []

    async def whole():
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        boards = [Board(folder / f"port{n}", uid) for n, uid in enumerate(uids)]
        async with asyncio.timeout(60), contextlib.AsyncExitStack() as stack:
            bridges = []
            for n, board in enumerate(boards):
                board.plug()
                stack.callback(board.unplug)
                bridge = Bridge(
                    str(board.path), folder / f"ledger{n}.db", uid=f"{board.device.uid:016x}", **kwargs
                )
                bridges.append(await stack.enter_async_context(bridge))
            return await scene(*bridges, *boards)

    result = asyncio.run(whole())
    assert complaints == []
    return result


@pytest.fixture
def hasty(monkeypatch):
    """Ports are opened again after a hundredth of a second, not a quarter."""
    monkeypatch.setattr(bridge_module, "BACKOFF_FIRST", 0.01)
    monkeypatch.setattr(bridge_module, "BACKOFF_MAX", 0.02)


def gone(view):
    return not view.ready


def test_a_hang_up_is_told_once_without_a_traceback(tmp_path, caplog):
    links = []

    async def scene(bridge, board):
        await bridge.wait_ready()
        links.clear()
        board.unplug()
        await bridge.wait_for(lambda view: view.link is LinkState.PORT_MISSING)

    with caplog.at_level(logging.DEBUG):
        evening(tmp_path, scene, on_change=lambda view: links.append(view.link))
    assert [link for link, _ in itertools.groupby(links)] == [
        LinkState.DOWN,
        LinkState.PORT_MISSING,
        LinkState.CLOSED,
    ]
    assert [r for r in caplog.records if r.name != "asyncio" or r.levelno > logging.DEBUG] == []


def test_a_machine_that_is_away_costs_neither_time_nor_words(tmp_path, caplog):
    changes = []

    async def scene(bridge, board):
        await bridge.wait_ready()
        board.unplug()
        await bridge.wait_for(gone)
        changes.clear()
        before = time.process_time()
        await asyncio.sleep(1.0)
        return time.process_time() - before

    with caplog.at_level(logging.INFO):
        spent = evening(tmp_path, scene, on_change=changes.append)
    assert spent < 0.3
    assert len(changes) <= 5
    assert caplog.records == []


def test_two_machines_that_changed_places_get_no_command(tmp_path, hasty):
    async def scene(first, second, one, two):
        await asyncio.gather(first.wait_ready(), second.wait_ready())
        for board in (one, two):
            board.unplug()
        await asyncio.gather(first.wait_for(gone), second.wait_for(gone))
        one.path, two.path = two.path, one.path
        for board in (one, two):
            board.plug()
        wrong = [
            bridge.wait_for(lambda view: view.link is LinkState.UID_MISMATCH) for bridge in (first, second)
        ]
        await asyncio.gather(*wrong)
        for bridge in (first, second):
            assert (await bridge.execute("START")).code == "link_down"
        await asyncio.sleep(0.6)
        assert one.device.lease_until < time.monotonic() + 2.0  # nobody renews it
        return one.executed + two.executed

    assert evening(tmp_path, scene, uids=(0x51, 0x52)) == []


def test_a_mute_machine_is_noticed_within_two_seconds(tmp_path):
    async def scene(bridge, board):
        await bridge.wait_ready()
        board.mute = True
        pace = Pace()
        view = await bridge.wait_for(gone)
        assert view.link is LinkState.SUSPECT
        seconds = pace.own_s
        board.mute = False
        await bridge.wait_ready()
        return seconds

    assert evening(tmp_path, scene) < 2.0


def test_a_machine_that_never_answers_stays_silent_and_is_not_called_connecting_again(tmp_path, hasty):
    """Whoever reads the screen has to be sent to the cable; a word that changes every second sends nobody."""
    links = []

    async def scene(bridge, board):
        await bridge.wait_ready()
        board.mute = True
        await bridge.wait_for(lambda view: view.link is LinkState.DOWN)
        links.clear()
        await bridge.wait_for(lambda view: view.attempt > 1)
        seen = set(links)
        board.mute = False
        await bridge.wait_ready()
        return seen

    said = evening(tmp_path, scene, on_change=lambda view: links.append(view.link))
    assert said == {LinkState.DOWN}


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.slow
def test_fifty_times_out_and_in_with_one_bridge_leaks_nothing(tmp_path, hasty):
    async def scene(bridge, board):
        await bridge.wait_ready()
        counts = []
        for _ in range(50):
            board.unplug()
            await bridge.wait_for(gone)
            board.plug()
            view = await bridge.wait_ready()
            assert view.attempt == 0
            counts.append(open_files())
        assert (await bridge.execute("START")).done
        return counts, bridge.stats

    counts, stats = evening(tmp_path, scene)
    assert len(set(counts)) == 1
    assert (stats.opens, stats.sessions, stats.reconnects) == (51, 51, 50)


CONFIG = m.BoardConfig("136", (17, 17, 17, 17), (1,) * 10, 0)


@pytest.mark.parametrize("kind", [m.Welcome.KIND, m.StatusReport.KIND, m.Pong.KIND, m.ConfigReport.KIND])
def test_a_hang_up_at_any_point_of_the_start_is_recovered_from(tmp_path, hasty, kind):
    """Before the WELCOME, just after it, in the first questions, and while the configuration is set."""

    async def scene(bridge, board):
        board.hang_up_before = kind
        await bridge.wait_for(lambda view: view.link is LinkState.PORT_MISSING)
        assert board.hang_up_before is None
        files = open_files()
        board.plug()
        await bridge.wait_ready()
        assert open_files() == files + 7  # master and slave; ours, and two pipes of pyserial
        assert board.device.config == CONFIG
        return (await bridge.execute("START")).status, board.executed

    status, executed = evening(tmp_path, scene, config=CONFIG)
    assert (status, executed) == (Status.DONE, [(1, Op.START)])


def test_every_state_of_the_line_is_a_code_of_its_own():
    """What is said for each code, in three languages, is the station's; see its test of the catalogues."""
    rig = Rig()
    said = {}
    view = rig.view
    for state in LinkState:
        said[state] = sentence_code(replace(view, link=state))
    assert said.pop(LinkState.UP) == "machine.ok"
    assert said == {state: f"machine.{state.value}" for state in said}

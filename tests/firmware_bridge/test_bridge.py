"""The bridge against a simulated machine behind a real pseudo-terminal; whole processes."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from firmware_bridge.bridge import Bridge
from firmware_bridge.errors import BridgeError, LedgerError, UsageError
from firmware_bridge.interlock import Magazine, Surface
from firmware_bridge.link import Timing
from firmware_bridge.machine import LinkState, Status
from firmware_bridge.messages import BoardConfig
from firmware_bridge.ops import Op
from firmware_bridge.recorder import parse
from firmware_bridge.sim.replay import replay_device, replay_host
from firmware_bridge.transport import open_serial
from tests.firmware_bridge.asking import done, refused, with_bridge
from tests.pace import Pace

pytestmark = pytest.mark.system
DEALT = (14, 13, 13, 13)


class Sim:
    def __init__(self, folder, *options):
        self.folder = folder
        self.link = folder / "port"
        self.url = f"pty:{self.link}"
        self.pulses = folder / "pulses.json"
        self.options = ("--pulses", str(self.pulses), "--pty-link", str(self.link), "--seed", "1", *options)
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "firmware_bridge.sim", *self.options], stdout=subprocess.PIPE, text=True
        )
        self.ready = json.loads(self.process.stdout.readline())

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=30)
        return self.process.returncode

    def counts(self):
        return json.loads(self.pulses.read_text())["counts"]

    def motions(self):
        return [(motion["cmd_id"], motion["op"]) for motion in json.loads(self.pulses.read_text())["motions"]]


@contextmanager
def machine(folder, *options):
    sim = Sim(folder, *options)
    try:
        yield sim
    finally:
        sim.stop()


def play(sim, scene, ledger="ledger.sqlite", **kwargs):
    """Run `scene(bridge)` with a bridge to this machine, within a minute."""
    return with_bridge(sim.url, sim.folder / ledger, scene, 60, **kwargs)


@pytest.mark.slow
def test_a_whole_hand(tmp_path):
    changes, events = [], []

    async def scene(bridge):
        assert bridge.view.link is LinkState.RECOVER
        await done(bridge, "START")
        await done(bridge, "OPEN_LID")
        await done(bridge, "CLOSE_LID")
        await done(bridge, "START_BUILD")
        await done(bridge, "RAISE_WALLS")
        assert len((await done(bridge, "ROLL_DICE")).result["dice"]) == 2
        assert (await done(bridge, "DEAL", tiles=DEALT, dealer=1)).result == {"tiles": DEALT}
        await done(bridge, "FLIP_INDICATOR", place=1)
        assert await refused(bridge, "OPEN_LID") == "interlock"
        assert await refused(bridge, "RELEASE_INTAKE", hand=2) == "wrong_hand"
        await done(bridge, "RELEASE_INTAKE", hand=1)
        await done(bridge, "OPEN_LID")
        await done(bridge, "CLOSE_LID")
        await done(bridge, "START_BUILD")
        await done(bridge, "RAISE_WALLS")
        return bridge.view, bridge.stats

    with machine(tmp_path, "--speed", "50", "--fresh", "empty") as sim:
        assert sim.ready["pid"] == sim.process.pid
        assert str(sim.link.readlink()) == sim.ready["pty"]
        view, stats = play(sim, scene, on_change=changes.append, on_event=events.append)
        counts = sim.counts()
    assert (view.hand_no, view.surface, view.locked, view.code) == (2, Surface.WALLS_UP, True, "machine.ok")
    assert stats.sessions == 1
    assert counts == {
        "OPEN_LID": 2, "CLOSE_LID": 2, "START_BUILD": 2, "RAISE_WALLS": 2, "DEAL": 1, "ROLL_DICE": 1,
        "FLIP_INDICATOR": 1,
    }  # fmt: skip
    assert len(changes) > 20
    assert changes[-1].link is LinkState.CLOSED
    assert [event.no for event in events] == list(range(1, 1 + len(events)))
    assert not sim.link.is_symlink()


def test_two_builds_at_once_are_one(tmp_path):
    async def scene(bridge):
        await done(bridge, "START")
        both = await asyncio.gather(bridge.execute("START_BUILD"), bridge.execute("START_BUILD"))
        return sorted(outcome.status for outcome in both)

    with machine(tmp_path, "--speed", "50") as sim:
        assert play(sim, scene) == [Status.DONE, Status.REJECTED]
        assert sim.counts() == {"START_BUILD": 1}


def test_what_went_over_the_line_is_kept_when_something_fails(tmp_path):
    async def scene(bridge):
        await done(bridge, "START")
        outcome = await bridge.execute("START_BUILD")
        assert (outcome.status, outcome.code) == (Status.FAILED, "jam")
        return bridge.view

    board = tmp_path / "board.jsonl"
    with machine(tmp_path, "--speed", "50", "--faults", "jam=2", "--record", str(board)) as sim:
        view = play(sim, scene, dumps=tmp_path / "frames", record=tmp_path / "line.jsonl")
    assert [path.name for path in (tmp_path / "frames").iterdir()] == ["frames-000001-jam.jsonl"]
    kept = parse((tmp_path / "frames" / "frames-000001-jam.jsonl").read_text())
    assert {"host", "device"} <= {kind for entry in kept.entries for kind in entry}
    again = replay_host(parse((tmp_path / "line.jsonl").read_text()))
    assert again.differs is None
    assert [outcome.code for outcome in again.outcomes] == ["ok", "jam"]
    assert again.events[-1].code == "fault"
    recording = parse(board.read_text())
    assert recording.entries[0]["faults"] == "jam=2"
    assert replay_device(recording).executed == [(1, Op.START), (2, Op.START_BUILD)]
    assert view.fault == "jam"


HOST = """
import asyncio, sys
from firmware_bridge.bridge import Bridge

async def main(url, ledger):
    async with Bridge(url, ledger) as bridge:
        await bridge.wait_ready()
        await bridge.execute("START")
        print("started", flush=True)
        await bridge.execute("START_BUILD")

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("faults", ["", "ack-lost=1", "done-lost=0.9"])
def test_a_host_killed_in_mid_command_finds_it_executed_once(tmp_path, faults):
    async def scene(bridge):
        outcomes = await bridge.resolve_open()
        assert await bridge.resolve_open() == ()
        return outcomes

    with machine(tmp_path, "--speed", "20", "--faults", faults) as sim:
        host = subprocess.Popen(
            [sys.executable, "-c", HOST, sim.url, str(tmp_path / "ledger.sqlite")],
            stdout=subprocess.PIPE,
            text=True,
        )
        deadline = time.monotonic() + 20
        while sim.counts().get("START_BUILD", 0) == 0:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        host.send_signal(signal.SIGKILL)
        host.communicate()
        outcomes = play(sim, scene)
        build = [outcome for outcome in outcomes if outcome.op.name == "START_BUILD"]
        assert [outcome.status for outcome in build] == [Status.DONE]
        assert sim.counts()["START_BUILD"] == 1


@pytest.mark.slow
def test_a_motion_outlives_its_host_only_for_a_lease(tmp_path):
    async def scene(bridge):
        (outcome,) = await bridge.resolve_open()
        assert (outcome.status, outcome.code) == (Status.FAILED, "lease_expired")
        assert bridge.view.hold
        assert bridge.view.fault == "lease_expired"
        assert await refused(bridge, "FLIP_INDICATOR") == "hold"
        with pytest.raises(UsageError):
            await bridge.recover("sing")
        outcome = await bridge.recover("finish")
        return outcome, bridge.view

    with machine(tmp_path, "--speed", "5") as sim:
        host = subprocess.Popen([sys.executable, "-c", HOST, sim.url, str(tmp_path / "ledger.sqlite")])
        while sim.counts().get("START_BUILD", 0) == 0:
            time.sleep(0.01)
        host.kill()
        host.wait()
        time.sleep(2.3)  # the lease is the machine's own, in real time
        outcome, view = play(sim, scene)
        assert outcome.done
        assert (view.magazine, view.hold, view.faults) == (Magazine.READY, False, ())
        assert sim.motions() == [(2, "START_BUILD"), (4, "RESUME")]


@pytest.mark.slow
def test_the_lock_holds_over_restarts_of_host_and_machine(tmp_path):
    async def first(bridge):
        await done(bridge, "START")
        await done(bridge, "DEAL", tiles=DEALT)
        assert await refused(bridge, "OPEN_LID") == "interlock"
        return bridge.view

    async def second(bridge):
        assert (bridge.view.link, bridge.view.hand_no) == (LinkState.UP, 1)
        return await refused(bridge, "OPEN_LID")

    async def third(bridge):
        assert bridge.view.link is LinkState.RECOVER
        assert bridge.view.surface is Surface.DEALT
        assert await refused(bridge, "OPEN_LID") == "not_started"
        await done(bridge, "ADOPT", hand=1)
        assert await refused(bridge, "OPEN_LID") == "interlock"
        await done(bridge, "RELEASE_INTAKE", hand=1)
        return await done(bridge, "START_BUILD"), bridge.view

    options = ("--speed", "50", "--fresh", "ready", "--state", str(tmp_path / "tiles.json"))
    with machine(tmp_path, *options) as sim:
        view = play(sim, first)
        assert play(sim, second) == "interlock"
        sim.process.kill()
        sim.process.communicate()
        sim.start()
        built, again = play(sim, third)
    assert built.cmd_id > 4
    assert again.uid == view.uid
    assert again.boot_id != view.boot_id


def test_a_machine_that_loses_power_in_mid_raise_knows_where_its_tiles_are(tmp_path):
    async def first(bridge):
        await done(bridge, "START")
        raising = asyncio.create_task(bridge.execute("RAISE_WALLS"))
        await bridge.wait_for(lambda view: 10 < view.lift < 90)
        sim.process.kill()
        await bridge.wait_for(lambda view: not view.ready)
        raising.cancel()

    async def second(bridge):
        view = bridge.view
        assert (view.reset_cause, view.link, view.locked) == ("power_on", LinkState.RECOVER, True)
        assert (view.surface, view.cut, view.hold) == (Surface.UNKNOWN, (Op.RAISE_WALLS,), True)
        (raised,) = await bridge.resolve_open()
        assert (raised.status, raised.code) == (Status.UNKNOWN, "rebooted")
        await done(bridge, "START")
        assert (await bridge.recover("lower")).done
        return bridge.view

    state = tmp_path / "tiles.json"
    with machine(tmp_path, "--speed", "4", "--fresh", "ready", "--state", str(state)) as sim:
        play(sim, first)
        sim.process.communicate()
        sim.start()
        view = play(sim, second)
    assert (view.surface, view.magazine, view.progress) == (Surface.CLEAR, Magazine.READY, (17,) * 4)
    assert json.loads(state.read_text())["plant"]["sensors"]["tiles"] == [136, 136]


@pytest.mark.slow
def test_a_board_that_resets_in_mid_deal_is_never_resumed(tmp_path):
    events = []

    async def scene(bridge):
        await done(bridge, "START")
        outcome = await bridge.execute("DEAL", tiles=DEALT)
        assert (outcome.status, outcome.code) == (Status.UNKNOWN, "rebooted")
        view = await bridge.wait_ready()
        assert (view.link, view.locked, view.hand_no) == (LinkState.RECOVER, True, None)
        assert view.reset_cause == "brown_out"
        await done(bridge, "ADOPT", hand=1)

    with machine(tmp_path, "--speed", "10", "--fresh", "ready", "--faults", "brownout@deal") as sim:
        play(sim, scene, on_event=events.append)
        assert sim.counts() == {"DEAL": 1}
    assert [event.code for event in events].count("booted") == 2


@pytest.mark.slow
def test_a_dead_line_in_mid_motion_ends_in_a_choice(tmp_path):
    links = []

    async def scene(bridge):
        await done(bridge, "START")
        outcome = await bridge.execute("RAISE_WALLS")
        assert (outcome.status, outcome.code) == (Status.FAILED, "lease_expired")
        assert (await bridge.recover("lower")).done
        return bridge.view

    options = ("--speed", "3", "--fresh", "ready", "--faults", "mute=3500ms@raise")
    with machine(tmp_path, *options) as sim:
        view = play(sim, scene, on_change=lambda view: links.append(view.link), timing=Timing(lease=0.6))
        assert sim.counts() == {"RAISE_WALLS": 1, "LOWER": 1}
    assert (view.surface, view.magazine, view.hold) == (Surface.CLEAR, Magazine.READY, False)
    assert LinkState.SUSPECT in links


@pytest.mark.slow
def test_a_noisy_line_costs_time_and_nothing_else(tmp_path):
    async def scene(bridge):
        for op, args in (("START", {}), ("RAISE_WALLS", {}), ("DEAL", {"tiles": DEALT}), ("ROLL_DICE", {})):
            await bridge.wait_ready()
            while (outcome := await bridge.execute(op, **args)).code in ("never_seen", "link_down"):
                await bridge.wait_ready()
            assert outcome.done
        return bridge.stats

    faults = "drop=0.1,flip=0.1,garbage=0.3,dup=0.2,delay=5ms"
    with machine(tmp_path, "--speed", "20", "--fresh", "ready", "--faults", faults) as sim:
        stats = play(sim, scene)
        assert sim.counts() == {"RAISE_WALLS": 1, "DEAL": 1, "ROLL_DICE": 1}
    assert stats.rx_bad > 0


def test_garbage_from_before_does_not_matter(tmp_path):
    async def scene(bridge):
        return await done(bridge, "START")

    with machine(tmp_path) as sim:
        line = open_serial(sim.ready["pty"])
        os.write(line.fileno(), b"\x07half a frame from another time" + os.urandom(300))
        line.close()
        assert play(sim, scene).done


def test_the_port_may_come_and_go(tmp_path):
    """The machine is switched off and on again: another pseudo-terminal behind the same name."""
    links = []

    async def scene(bridge):
        await done(bridge, "START")
        before = bridge.view
        await asyncio.to_thread(sim.stop)
        await bridge.wait_for(lambda view: not view.ready)
        assert await refused(bridge, "START_BUILD") == "link_down"
        await bridge.wait_for(lambda view: view.link is LinkState.PORT_MISSING)
        assert "plug the machine in" in bridge.view.detail
        assert bridge.view.attempt >= 1
        await asyncio.to_thread(sim.start)
        view = await bridge.wait_ready()
        assert view.link is LinkState.RECOVER
        assert view.boot_id != before.boot_id
        assert view.attempt == 0

    with machine(tmp_path, "--uid", "51") as sim:
        play(sim, scene, on_change=lambda view: links.append(view.link), uid="0000000000000051")
        assert sim.stop() == 0
    assert LinkState.PORT_MISSING in links


def test_a_missing_a_busy_and_a_wrong_machine(tmp_path):
    async def seen(url, ledger, state, **kwargs):
        async with asyncio.timeout(20), Bridge(url, ledger, **kwargs) as bridge:
            await bridge.wait_for(lambda view: view.link is state)
            assert (await bridge.execute("START")).code == "link_down"
            return bridge.view

    with machine(tmp_path) as sim:
        ledger = tmp_path / "l.sqlite"
        view = asyncio.run(seen("pty:/dev/nowhere", ledger, LinkState.PORT_MISSING))
        assert view.code == "machine.port_missing"
        line = open_serial(sim.ready["pty"])
        view = asyncio.run(seen(sim.url, ledger, LinkState.PORT_BUSY))
        assert "in use by" in view.detail
        line.close()
        view = asyncio.run(seen(sim.url, ledger, LinkState.UID_MISMATCH, uid="ff"))
        assert len(view.uid) == 16


def test_a_machine_keeps_the_configuration_it_was_told_over_a_restart(tmp_path):
    async def told(bridge):
        return bridge.view, [event.code for event in bridge.events if event.code.startswith("config")]

    wanted = BoardConfig("144", (18, 18, 18, 18), (0,) * 10, 0)
    with machine(tmp_path, "--state", str(tmp_path / "tiles.json")) as sim:
        view, codes = play(sim, told, config=wanted)
        assert (view.profile, view.plan, codes) == ("144", wanted.walls, ["config_sent", "config_set"])
        assert sim.stop() == 0
        sim.start()
        view, codes = play(sim, told, config=wanted)
        assert (view.profile, view.plan, codes) == ("144", wanted.walls, [])
        view, codes = play(sim, told)
        assert (view.profile, codes) == ("144", [])  # whatever it keeps


def test_a_ledger_belongs_to_one_bridge(tmp_path):
    with machine(tmp_path) as sim:

        async def scene():
            async with Bridge(sim.url, tmp_path / "l.sqlite"):
                with pytest.raises(LedgerError, match="in use"):
                    Bridge(sim.url, tmp_path / "l.sqlite")

        asyncio.run(scene())


def test_closing_releases_who_waits_and_the_end_is_told_to_the_next(tmp_path):
    async def first():
        bridge = Bridge(sim.url, tmp_path / "l.sqlite")
        run = asyncio.create_task(bridge.run())
        await bridge.wait_ready()
        await done(bridge, "START")
        building = asyncio.create_task(bridge.execute("START_BUILD"))
        await bridge.wait_for(lambda view: view.active)
        never = asyncio.create_task(bridge.wait_for(lambda view: view.estop))
        await asyncio.sleep(0)
        await bridge.close()
        await run
        with pytest.raises(BridgeError):
            await never
        with pytest.raises(BridgeError):
            await bridge.wait_ready()
        assert (await bridge.execute("LAMP", place=0)).code == "link_down"
        return await building

    async def second(bridge):
        return await bridge.resolve_open()

    with machine(tmp_path, "--speed", "100") as sim:
        outcome = asyncio.run(first())
        assert (outcome.status, outcome.code) == (Status.UNKNOWN, "closed")
        (told,) = play(sim, second, "l.sqlite")
        assert (told.cmd_id, told.status) == (outcome.cmd_id, Status.DONE)


def test_who_stops_waiting_is_told_later(tmp_path):
    async def scene(bridge):
        await done(bridge, "START")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await bridge.execute("START_BUILD")
        (told,) = await bridge.resolve_open()
        return told

    with machine(tmp_path, "--speed", "100") as sim:
        assert play(sim, scene).done


def test_stop_and_hold_from_the_host(tmp_path):
    async def scene(bridge):
        await done(bridge, "START")
        building = asyncio.create_task(bridge.execute("START_BUILD"))
        await bridge.wait_for(lambda view: view.active)
        bridge.hold()
        assert (await building).code == "held"
        resuming = asyncio.create_task(bridge.recover("finish"))
        await bridge.wait_for(lambda view: view.active)
        bridge.estop()
        assert (await resuming).code == "estopped"
        assert bridge.view.estop
        await done(bridge, "CLEAR")
        return await bridge.recover("leave"), bridge.view

    with machine(tmp_path, "--speed", "5") as sim:
        outcome, view = play(sim, scene)
    assert outcome.done
    assert (view.hold, view.estop, view.magazine) == (False, False, Magazine.LOADED)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--profile", "999"], "no machine profile"),
        (["--faults", "fire"], "is no fault"),
        (["--speed", "0"], "speed"),
    ],
)
def test_options_that_can_not_be_met(options, says):
    command = [sys.executable, "-m", "firmware_bridge.sim", *options]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert says in json.loads(ran.stdout)["error"]["message"]
    assert ran.stderr == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_simulator_stops_cleanly_at_once(tmp_path, number):
    with machine(tmp_path) as sim:
        pace = Pace()
        sim.process.send_signal(number)
        assert sim.process.wait(30) == 0
        assert pace.own_s < 2


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.slow
def test_plugging_many_times_leaks_nothing(tmp_path):
    rng = random.Random(3)

    async def scene():
        for _ in range(15):
            async with asyncio.timeout(10), Bridge(sim.url, tmp_path / "l.sqlite") as bridge:
                if rng.random() < 0.7:
                    await bridge.wait_ready()
        return open_files()

    with machine(tmp_path) as sim:
        before = open_files()
        assert asyncio.run(scene()) <= before + 5  # the loop's own
        assert open_files() == before

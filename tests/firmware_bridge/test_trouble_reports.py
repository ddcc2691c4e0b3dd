"""What went wrong for others on serial lines, and the test that keeps each of it from happening here.

`REPORTS` numbers public trouble reports of serial libraries, printers, robots and home controllers; each
names tests, by module (from this folder) and function. Those that fit nowhere else are here.
"""

import ast
import asyncio
import contextlib
import errno
import itertools
import logging
import os
import random
import signal
import subprocess
import sys
import termios
import time
import tty
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from firmware_bridge import bridge as bridge_module
from firmware_bridge import messages as m
from firmware_bridge import profiles, transport
from firmware_bridge.bridge import Bridge
from firmware_bridge.codec import Frame, FrameDecoder, encode
from firmware_bridge.errors import PortBusyError
from firmware_bridge.link import Answered
from firmware_bridge.machine import LinkState, Status, sentence_code
from firmware_bridge.ops import Op
from firmware_bridge.sim.device import Device
from firmware_bridge.sim.faulty import Rates
from firmware_bridge.sim.plant import FRESH, Plant
from firmware_bridge.sim.rig import Rig
from firmware_bridge.transport import Transport, open_port, open_serial

REPORTS = {
    1: ("pyserial/pyserial#341, #86, #17: readable, but nothing there", [
        "test_trouble_reports::test_a_hang_up_is_told_once_without_a_traceback",
        "test_transport::test_a_readable_port_without_data_is_lost",
    ]),
    2: ("pyserial/pyserial#68: a loop of exceptions after unplugging", [
        "test_trouble_reports::test_a_machine_that_is_away_costs_neither_time_nor_words",
        "test_transport::test_a_device_that_vanishes_is_lost_once",
    ]),
    3: ("pyserial/pyserial#326, #484, #378: two programs on one port", [
        "test_trouble_reports::test_a_second_opening_is_refused_even_within_one_process",
        "test_trouble_reports::test_a_real_port_is_kept_from_careless_openers_too",
        "test_transport::test_a_busy_port_names_its_holder",
        "test_bridge::test_a_ledger_belongs_to_one_bridge",
    ]),
    4: ("iotile/coretools#683: a lock remains after a crash", [
        "test_trouble_reports::test_a_holder_that_was_killed_leaves_no_lock",
    ]),
    5: ("pyserial/pyserial#124, harmsm/PyCmdMessenger#9: opening resets the board", [
        "test_trouble_reports::test_lines_are_low_before_opening_and_hang_up_on_close_is_off_after",
        "test_trouble_reports::test_a_board_that_resets_at_every_opening_waits_for_a_person_each_time",
    ]),
    6: ("Optiboot/optiboot#53, #178: a boot loader eats what comes first", [
        "test_trouble_reports::test_a_boot_loader_that_is_deaf_for_two_seconds_hears_only_greetings",
    ]),
    7: ("florisla/stm32loader#46, henols/firestarter_fw#44: stray bytes at start", [
        "test_codec::test_frames_are_found_in_any_garbage",
        "test_link::test_hello_is_repeated_until_a_welcome_with_its_nonce",
        "test_link::test_a_port_lost_in_mid_frame_is_opened_again",
    ]),
    8: ("jamesmunns/ergot#189: half a frame of a former session", [
        "test_trouble_reports::test_half_a_frame_left_over_spoils_nothing",
        "test_bridge::test_garbage_from_before_does_not_matter",
    ]),
    9: ("NUbots/NUbots#17: ttyUSB0 comes back as ttyUSB1", [
        "test_bridge::test_the_port_may_come_and_go",
    ]),
    10: ("systemd/systemd#30574, Klipper3d/klipper#4975: adapters without serial numbers", [
        "test_trouble_reports::test_two_machines_that_changed_places_get_no_command",
        "test_discovery::test_two_adapters_of_one_name_are_told_with_their_paths",
    ]),
    11: ("bigbadoooff/thz#84: settings that hold a passing name", [
        "test_discovery::test_a_name_in_the_order_of_plugging_in_is_told_with_the_lasting_one",
    ]),
    12: ("juliagoda/CH341SER, florisla/folie#31: unplugging is noticed only when writing", [
        "test_trouble_reports::test_a_mute_machine_is_noticed_within_two_seconds",
        "test_link::test_silence_becomes_a_named_state",
    ]),
    13: ("zigpy/bellows#654, #357: never connects again", [
        "test_trouble_reports::test_fifty_times_out_and_in_with_one_bridge_leaks_nothing",
        "test_bridge::test_plugging_many_times_leaks_nothing",
    ]),
    14: ("zigpy/bellows#481, #483: fails in the middle of the start", [
        "test_trouble_reports::test_a_hang_up_at_any_point_of_the_start_is_recovered_from",
    ]),
    15: ("zigpy/bellows#147: a reset because of a missed heartbeat", [
        "test_trouble_reports::test_a_mute_line_in_motion_holds_the_machine_and_resets_nothing",
        "test_bridge::test_a_dead_line_in_mid_motion_ends_in_a_choice",
    ]),
    16: ("pyserial/pyserial-asyncio#12, #28: closing fails, nobody is told", [
        "test_trouble_reports::test_a_hang_up_with_bytes_waiting_is_told_once",
    ]),
    17: ("home-assistant-libs/pyserial-asyncio-fast#16, #7: order and time of closing", [
        "test_trouble_reports::test_the_descriptor_is_closed_before_anybody_is_told",
    ]),
    18: ("pyserial/pyserial#163, wjwwood/serial#184: a write that never ends", [
        "test_trouble_reports::test_a_line_that_takes_no_bytes_is_lost_after_one_second",
        "test_transport::test_a_port_that_takes_no_bytes_is_lost_after_a_deadline",
    ]),
    19: ("PX4/PX4-Autopilot#11719: flushing hangs", [
        "test_transport::test_no_call_waits_for_unsent_bytes",
    ]),
    21: ("OctoPrint/OctoPrint#428: a long operation looks like a dead one", [
        "test_trouble_reports::test_an_operation_of_a_minute_neither_looks_dead_nor_floods_the_line",
    ]),
    22: ("OctoPrint/OctoPrint#4671, #5119, #1817: damaged replies, the wrong line sent again", [
        "test_trouble_reports::test_no_single_flipped_bit_of_a_reply_is_believed",
        "test_trouble_reports::test_a_border_flipped_behind_the_dice_costs_time_and_not_the_dice",
        "test_trouble_reports::test_any_flipped_bit_of_an_acknowledgement_costs_time_and_nothing_else",
    ]),
    23: ("Klipper3d/klipper#1919, #2900, #3868: errors rise before a line dies", [
        "test_trouble_reports::test_a_line_that_gets_worse_is_told_before_it_fails",
        "test_link::test_a_line_is_called_noisy_above_one_percent_and_calm_below_a_half",
    ]),
    24: ("Klipper3d/klipper#53, #729: a restart that hides itself", [
        "test_trouble_reports::test_a_board_that_resets_in_motion_waits_for_a_person_however_long",
        "test_bridge::test_a_board_that_resets_in_mid_deal_is_never_resumed",
        "avr/test_avr_faults::test_a_board_that_resets_in_mid_motion_moves_nothing_by_itself",
    ]),
    25: ("Klipper3d/klipper#1101, #2288, #5795: outputs stay on after the host is gone", [
        "test_device::test_motion_ends_exactly_with_its_lease",
        "test_bridge::test_a_motion_outlives_its_host_only_for_a_lease",
        "avr/test_avr_faults::test_a_killed_host_leaves_a_motor_on_only_for_the_lease",
    ]),
    26: ("gnea/grbl#1016, winder/Universal-G-Code-Sender#1367: motors disturb the line", [
        "test_trouble_reports::test_a_burst_at_the_start_of_a_motion_leaves_one_motion_or_none",
    ]),
    27: ("cncjs/cncjs#746: it stops without an error", [
        "test_link::test_a_mute_line_in_motion_is_suspect_then_down_then_found_again",
        "test_trouble_reports::test_a_mute_machine_is_noticed_within_two_seconds",
    ]),
    28: ("ArduPilot/ardupilot#20677, arduino/arduino-ide#1788: other programs grab the adapter", [
        "test_discovery::test_modemmanager_is_told_unless_the_adapter_is_marked",
        "test_discovery::test_a_running_brltty_is_told",
        "test_discovery::test_the_shipped_rule_names_the_adapters_that_are_looked_for",
    ]),
    29: ("OctoPrint/octoprint-docker#7, mkuf/prind#64: no permission", [
        "test_trouble_reports::test_a_port_without_rights_is_denied_with_the_group_to_join",
        "test_transport::test_a_denied_port_names_the_group",
    ]),
    30: ("missionpinball/mpf#1040, pyserial/pyserial#287: 16 ms of an adapter", [
        "test_trouble_reports::test_low_latency_is_asked_for_and_its_lack_ignored",
        "test_link::test_the_timeout_never_leaves_its_bounds",
    ]),
    31: ("pymodbus-dev/pymodbus#2592, stephane/libmodbus#380: the line echoes", [
        "test_trouble_reports::test_a_line_that_echoes_everything_changes_nothing",
        "test_trouble_reports::test_a_line_that_echoes_halves_changes_nothing",
        "test_link::test_our_own_echo_answers_nothing",
        "test_device::test_its_own_echo_is_ignored",
    ]),
    32: ("pymodbus-dev/pymodbus#1729: what a retry is", [
        "test_modbus_press::test_lost_replies_make_one_pulse_and_an_unknown",
        "test_link::test_two_lost_replies_do_not_repeat_a_motion",
    ]),
    33: ("home-assistant/core#137685: it stops until restarted", [
        "test_trouble_reports::test_seven_days_with_an_accident_in_each_hour",
        "test_trouble_reports::test_seven_hours_with_an_accident_in_each",
    ]),
    34: ("jromang/picochess#218, #150: the player does not see why nothing happens", [
        "test_trouble_reports::test_every_state_of_the_line_is_a_code_of_its_own",
        "../station/web/test_pages::test_the_state_of_the_machine_s_line_always_stands_on_the_referee_s_screen",
        "../station/web/test_catalogue::test_everything_a_machine_can_answer_has_a_sentence",
        "../station/web/test_catalogue::test_no_sentence_lacks_a_translation",
    ]),
    35: ("arduino/Arduino#3617: a brown-out in mid-command", [
        "test_device::test_after_a_reset_the_running_one_was_interrupted",
        "test_exactly_once::test_a_reset_in_mid_motion_leaves_the_outcome_unknown",
        "avr/test_avr_memory::test_a_reset_at_any_moment_leaves_what_was_or_what_is",
    ]),
}  # fmt: skip

NO_TEST = {20: "flushing a pseudo-terminal hung in older kernels only; nothing here flushes (19)"}


def test_every_report_has_a_test_that_exists():
    assert set(REPORTS) | set(NO_TEST) == set(range(1, 36))
    assert not set(REPORTS) & set(NO_TEST)
    for number, (_, tests) in REPORTS.items():
        assert tests, number
        for test in tests:
            module, _, name = test.partition("::")
            assert name in functions(module), f"{number}: {test}"


@cache
def functions(module):
    """Names of the functions in a file of tests."""
    tree = ast.parse((Path(__file__).parent / f"{module}.py").read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


# -- a board behind a pseudo-terminal of this process -------------------------------------------------------


class Board:
    """A machine that can be plugged in, pulled out, muted, and made to hang up at a chosen message."""

    def __init__(self, folder, uid=0x51, speed=20.0, name="port"):
        profile = profiles.load("136")
        plant = Plant(profile, random.Random(1), speed, FRESH["ready"](profile))
        self.executed = []
        self.device = Device(
            plant,
            uid=uid,
            boot_id=7,
            now=time.monotonic(),
            on_execute=lambda cmd_id, op, _: self.executed.append((cmd_id, op)),
        )
        self.path = folder / name
        self.master = None
        self.mute = False
        self.hang_up_before = None
        """Kind of the device's message at which the line breaks, once."""
        self.heard = set()

    def plug(self):
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.point(self.path)
        asyncio.get_running_loop().add_reader(self.master, self.turn)

    def point(self, path):
        fresh = path.with_name(path.name + "~")
        fresh.symlink_to(os.ttyname(self.slave))
        fresh.replace(path)

    def unplug(self):
        if self.master is None:
            return
        asyncio.get_running_loop().remove_reader(self.master)
        self.path.unlink(missing_ok=True)
        os.close(self.master)
        os.close(self.slave)
        self.master = None

    def turn(self):
        now = time.monotonic()
        with contextlib.suppress(BlockingIOError):
            data = os.read(self.master, 4096)
            if not self.mute:
                self.heard |= {frame.kind for frame in FrameDecoder().feed(data)}
                self.device.feed(data, now)
        self.tick(now)

    def tick(self, now):
        self.device.tick(now)
        for wire in self.device.take():
            if self.mute:
                continue
            if FrameDecoder().feed(wire)[0].kind == self.hang_up_before:
                self.hang_up_before = None
                self.unplug()
                return
            os.write(self.master, wire)


def evening(folder, scene, *, uids=(0x51,), **kwargs):
    """Run `scene(bridge, board)`, or of as many as there are numbers; log and loop must stay silent."""
    complaints = []

    async def whole():
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        boards = [Board(folder, uid, name=f"port{n}") for n, uid in enumerate(uids)]
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


@pytest.fixture
def pty():
    master, slave = os.openpty()
    tty.setraw(slave)
    yield master, os.ttyname(slave)
    for fd in (master, slave):
        with contextlib.suppress(OSError):
            os.close(fd)


def test_a_second_opening_is_refused_even_within_one_process(pty):
    _, path = pty
    line = open_serial(path)
    with pytest.raises(PortBusyError):
        open_serial(path)
    line.close()
    open_serial(path).close()


def test_a_real_port_is_kept_from_careless_openers_too(pty, monkeypatch):
    """A file lock is only a request; a real port has a flag that every opener meets."""
    _, path = pty
    calls = []
    monkeypatch.setattr(transport, "_PTY_MAJORS", ())
    monkeypatch.setattr(transport.fcntl, "ioctl", lambda fd, request, *_: calls.append(request))
    open_serial(path).close()
    assert termios.TIOCEXCL in calls


def test_a_holder_that_was_killed_leaves_no_lock(pty):
    _, path = pty
    code = (
        "import sys\n"
        "from firmware_bridge.transport import open_serial\n"
        "line = open_serial(sys.argv[1])\n"
        "print(1, flush=True)\n"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout.readline() == b"1\n"
        with pytest.raises(PortBusyError, match=f"process {holder.pid} "):
            open_serial(path)
        holder.send_signal(signal.SIGKILL)
        holder.wait(5)
    open_serial(path).close()


class FakeLine:
    """Records what is done to it, in order; its descriptor is a pseudo-terminal's."""

    def __init__(self, fd, latency=None):
        object.__setattr__(self, "calls", [])
        object.__setattr__(self, "fd", fd)
        object.__setattr__(self, "latency", latency)

    def __setattr__(self, name, value):
        self.calls.append((name, value))

    def open(self):
        self.calls.append("open")

    def close(self):
        self.calls.append("close")

    def fileno(self):
        return self.fd

    def set_low_latency_mode(self, on):
        self.calls.append(("latency", on))
        if self.latency is not None:
            raise self.latency


def test_lines_are_low_before_opening_and_hang_up_on_close_is_off_after(pty, monkeypatch):
    _, path = pty
    fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
    settings = termios.tcgetattr(fd)
    settings[2] |= termios.HUPCL
    termios.tcsetattr(fd, termios.TCSANOW, settings)
    line = FakeLine(fd)
    set_attributes = termios.tcsetattr
    monkeypatch.setattr(
        termios,
        "tcsetattr",
        lambda *args: (line.calls.append("settings"), set_attributes(*args)),
    )
    open_serial("/dev/x", lambda: line)
    order = [
        call
        for call in line.calls
        if call in (("dtr", False), ("rts", False), ("exclusive", True), "open", "settings")
    ]
    assert order == [("exclusive", True), ("dtr", False), ("rts", False), "open", "settings"]
    assert not termios.tcgetattr(fd)[2] & termios.HUPCL
    os.close(fd)


@pytest.mark.parametrize(
    "lack", [None, ValueError("no"), OSError(errno.ENOTTY, "no"), AttributeError("none")]
)
def test_low_latency_is_asked_for_and_its_lack_ignored(pty, lack):
    _, path = pty
    fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
    line = FakeLine(fd, lack)
    assert open_serial("/dev/x", lambda: line).fileno() == fd
    assert ("latency", True) in line.calls
    os.close(fd)


def test_a_board_that_resets_at_every_opening_waits_for_a_person_each_time():
    rig = Rig(5, fresh="ready")
    rig.ready()
    boots = set()
    for _ in range(5):
        assert rig.execute(Op.START).done
        boots.add(rig.view.boot_id)
        rig.unplug()
        rig.run(0.1)
        rig.reset_device()
        rig.plug()
        rig.ready()
        assert rig.view.link is LinkState.RECOVER
        assert rig.view.hand_no is None
    assert len(boots) == 5
    assert set(rig.executed.values()) == {1}


def test_a_boot_loader_that_is_deaf_for_two_seconds_hears_only_greetings():
    rig = Rig(6)
    start = rig.now
    rig.to_device.mute(start + 2.0)
    sent = []
    push = rig.to_device.push
    rig.to_device.push = lambda data, now: (sent.append((now, data)), push(data, now))
    while rig.now < start + 1.9:
        rig.to_host.inject(rig.rng.randbytes(40), rig.now)
        rig.run(0.05)
    assert not rig.view.ready
    early = b"".join(data for now, data in sent if now <= start + 2.0)
    assert {frame.kind for frame in FrameDecoder().feed(early)} == {m.Hello.KIND}
    rig.ready(limit=1.0)
    assert rig.host.link.stats.opens == 1


def test_half_a_frame_left_over_spoils_nothing():
    old = encode(Frame(m.StatusRequest.KIND, 9, 77, b""))
    decoder = FrameDecoder()
    for cut in range(1, len(old)):
        new = Frame(m.Hello.KIND, 0, 5, m.Hello(1, 1, 3).to_bytes())
        assert new in decoder.feed(old[:cut] + encode(new))


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
        began = time.monotonic()
        view = await bridge.wait_for(gone)
        assert view.link is LinkState.SUSPECT
        seconds = time.monotonic() - began
        board.mute = False
        await bridge.wait_ready()
        return seconds

    assert evening(tmp_path, scene) < 2.0


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


CONFIG = m.BoardConfig("136", (17, 17, 17, 17), (1,) * 10)


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


def test_a_mute_line_in_motion_holds_the_machine_and_resets_nothing():
    rig = Rig(fresh="ready")
    rig.ready()
    rig.execute(Op.START)
    boot = rig.view.boot_id
    rig.submit(Op.RAISE_WALLS)
    rig.run(1.0)
    for line in (rig.to_device, rig.to_host):
        line.mute(rig.now + 3.0)
    rig.run(2.5)
    assert not rig.device.plant.motions
    rig.ready()
    assert (rig.view.boot_id, rig.view.hold, rig.view.fault) == (boot, True, "lease_expired")
    rig.run(10)
    assert not rig.device.plant.motions  # never by itself


class Heard:
    def __init__(self):
        self.lost = []
        self.change = asyncio.Event()

    def on_lost(self, why):
        self.lost.append(why)
        self.change.set()


def test_a_hang_up_with_bytes_waiting_is_told_once(pty):
    master, path = pty

    async def scene():
        heard = Heard()
        line = Transport(await open_port(path), lambda _: None, heard.on_lost)
        while not line._out:  # until the terminal takes no more
            line.write(b"x" * 1000)
        os.close(master)
        await asyncio.wait_for(heard.change.wait(), 5)
        line.write(b"y")
        line.close()
        await asyncio.sleep(0)
        return heard.lost

    assert len(asyncio.run(scene())) == 1


def test_the_descriptor_is_closed_before_anybody_is_told(pty):
    master, path = pty

    async def scene():
        port = await open_port(path)
        fd = port.fileno()
        told = asyncio.get_running_loop().create_future()

        def on_lost(why):
            try:
                os.fstat(fd)
            except OSError as error:
                told.set_result((error.errno, time.perf_counter()))

        line = Transport(port, lambda _: None, on_lost)
        line.write(b"unsent")
        began = time.perf_counter()
        os.close(master)
        number, at = await asyncio.wait_for(told, 5)
        return number, at - began

    number, seconds = asyncio.run(scene())
    assert number == errno.EBADF
    assert seconds < 0.2


def test_a_line_that_takes_no_bytes_is_lost_after_one_second(pty):
    """Nobody reads the other end of a pseudo-terminal."""
    _, path = pty

    async def scene():
        heard = Heard()
        line = Transport(await open_port(path), lambda _: None, heard.on_lost)
        began = time.monotonic()
        while line._stuck is None:
            line.write(b"x" * 1000)
        await asyncio.wait_for(heard.change.wait(), 5)
        return heard.lost, time.monotonic() - began

    lost, seconds = asyncio.run(scene())
    assert lost == ["it takes no bytes"]
    assert 0.9 < seconds < 1.5


def test_an_operation_of_a_minute_neither_looks_dead_nor_floods_the_line():
    rig = Rig(speed=0.5)
    rig.ready()
    rig.execute(Op.START)
    before = rig.host.link.stats
    links = set()
    build = rig.submit(Op.START_BUILD)
    while build not in rig.outcomes:
        rig.step()
        links.add(rig.view.link)
    after = rig.host.link.stats
    assert rig.outcomes[build][-1].seconds == pytest.approx(60, abs=0.5)
    assert links == {LinkState.UP}
    assert (after.retransmits, after.sessions) == (0, 1)
    assert after.tx_frames - before.tx_frames < 60 * 9  # four pings and their STATUS a second
    assert rig.executed[build] == 1


def conversation():
    """A link with one request on its way, and the device's true answer to it."""
    rig = Rig(2, fresh="ready")
    rig.ready()
    rig.execute(Op.START)
    return rig


def replies():
    """One wire image of each kind of reply, with the link that waits for it."""
    rig = conversation()
    link = rig.host.link
    for request in (
        m.Ping(1, 2000),
        m.StatusRequest(),
        m.Query(1),
        m.ConfigGet(),
        m.Command(9, Op.LAMP, m.ANY_REV, b"\x01\x01"),
    ):
        link.request(request)
        link.poll(rig.now)
        while link._pending.request is not request:
            rig.exchange()
        rig.device.feed(link.take(), rig.now)
        for wire in rig.device.take():
            (frame,) = FrameDecoder().feed(wire)
            if frame.kind == m.REPLIES[request.KIND]:
                yield request, link, wire, rig.now
        link._pending = None


def test_no_single_flipped_bit_of_a_reply_is_believed():
    kinds = set()
    for request, link, wire, now in replies():
        pending = link._pending
        kinds.add(m.REPLIES[request.KIND])
        link.events()
        for bit in range(8 * len(wire)):
            spoiled = bytearray(wire)
            spoiled[bit // 8] ^= 1 << bit % 8
            link.feed(bytes(spoiled), now)
            told = [event.reply for event in link.events() if isinstance(event, Answered)]
            assert told == []
            link._pending = pending
        link.feed(b"\x00", now)
        link.feed(wire, now)
        link.events()
    assert len(kinds) == 5


def test_any_flipped_bit_of_an_acknowledgement_costs_time_and_nothing_else():
    size = None
    for bit in itertools.count():
        rig = conversation()
        pushed, spoiled = rig.to_host.push, []

        def push(wire, now, pushed=pushed, spoiled=spoiled, bit=bit):
            (frame,) = FrameDecoder().feed(wire)
            if frame.kind == m.CommandAck.KIND and not spoiled:
                spoiled.append(len(wire))
                copy = bytearray(wire)
                copy[bit // 8] ^= 1 << bit % 8
                wire = bytes(copy)
            pushed(wire, now)

        rig.to_host.push = push
        assert rig.execute(Op.LAMP, place=2).done
        assert set(rig.executed.values()) == {1}
        (size,) = spoiled
        if bit == 8 * size - 1:
            break
    assert size > 15


def test_a_border_flipped_behind_the_dice_costs_time_and_not_the_dice():
    """A flipped last border makes a frame that is one zero byte longer; the check sum tells."""
    rig = conversation()
    rig.execute(Op.RAISE_WALLS)
    pushed, spoiled = rig.to_host.push, []

    def push(wire, now):
        (frame,) = FrameDecoder().feed(wire)
        if frame.kind == m.CommandDone.KIND and not spoiled:
            spoiled.append(wire)
            wire = wire[:-1] + b"\x01"
        pushed(wire, now)

    rig.to_host.push = push
    outcome = rig.execute(Op.ROLL_DICE)
    assert spoiled
    assert len(outcome.result["dice"]) == 2


def test_a_line_that_gets_worse_is_told_before_it_fails():
    rig = Rig(3)
    rig.ready()
    rig.execute(Op.START)
    told = []
    for share in (0.0, 0.002, 0.02, 0.05, 0.0):
        for line in (rig.to_device, rig.to_host):
            line.rates = Rates(flip=share)
        for _ in range(1500 if share else 4000):
            rig.step(0.1)
            told.append((share, rig.view.link, rig.view.code))
    codes = [event.code for event in rig.host.events if event.code.startswith("link_")]
    assert codes == ["link_noisy", "link_calm"]
    first = next(n for n, (_, _, code) in enumerate(told) if code == "machine.noisy")
    assert all(link is LinkState.UP for _, link, _ in told[:first])
    assert told[first][0] > 0.01
    assert told[-1][2] == "machine.ok"


def test_a_board_that_resets_in_motion_waits_for_a_person_however_long():
    rig = conversation()
    raising = rig.submit(Op.RAISE_WALLS)
    rig.run(1.0)
    rig.reset_device()
    rig.run(600)
    assert rig.outcomes[raising][-1].status is Status.UNKNOWN
    assert rig.view.link is LinkState.RECOVER
    assert not rig.device.plant.motions
    assert rig.executed.total() == 2


@pytest.mark.parametrize("seconds", [0.05, 0.3, 1.0, 2.5, 5.0])
@pytest.mark.parametrize("both", [True, False])
def test_a_burst_at_the_start_of_a_motion_leaves_one_motion_or_none(seconds, both):
    rig = conversation()
    count = rig.device._on_execute

    def burst(cmd_id, op, boot_id):
        count(cmd_id, op, boot_id)
        rig.to_host.mute(rig.now + seconds)
        if both:
            rig.to_device.mute(rig.now + seconds)

    rig.device._on_execute = burst
    raising = rig.submit(Op.RAISE_WALLS)
    rig.run_until(lambda: bool(rig.outcomes.get(raising)))
    rig.ready()
    outcome = rig.outcomes[raising][-1]
    assert rig.executed[raising] == 1
    assert (outcome.status, outcome.code) in ((Status.DONE, "ok"), (Status.FAILED, "lease_expired"))
    assert outcome.done or seconds >= 2.0


def rights_of_nobody(path):
    """What opening gives to a user without rights, in a process of its own."""
    code = (
        "import os, sys\n"
        "from firmware_bridge.errors import PortError\n"
        "from firmware_bridge.transport import open_serial\n"
        "import serial\n"
        "if os.getuid() == 0:\n"
        "    os.setgroups([])\n"
        "    os.setgid(65534)\n"
        "    os.setuid(65534)\n"
        "try:\n"
        "    open_serial(sys.argv[1])\n"
        "except PortError as error:\n"
        "    print(error.code, error)\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True, timeout=30
    ).stdout


def test_a_port_without_rights_is_denied_with_the_group_to_join(pty):
    _, path = pty
    Path(path).chmod(0)
    told = rights_of_nobody(path)
    assert told.startswith("port_denied")
    assert "dialout" in told


def started(rig):
    rig.ready()
    for op, args in ((Op.START, {}), (Op.RAISE_WALLS, {}), (Op.DEAL, {"tiles": (14, 13, 13, 13)})):
        assert rig.execute(op, **args).done


def test_a_line_that_echoes_everything_changes_nothing():
    rig = Rig(4, fresh="ready", speed=10.0)
    for line in (rig.to_device, rig.to_host):
        line.rates = Rates(echo=1.0)
    started(rig)
    assert set(rig.executed.values()) == {1}
    assert rig.host.link.stats.sessions == 1
    assert rig.host.link.stats.rx_ignored > 20


def test_a_line_that_echoes_halves_changes_nothing():
    rig = Rig(4, fresh="ready", speed=10.0)
    push = rig.to_device.push

    def half(data, now):
        push(data, now)
        rig.to_host.inject(data[: len(data) // 2], now)

    rig.to_device.push = half
    started(rig)
    assert set(rig.executed.values()) == {1}
    assert rig.host.link.stats.sessions == 1


def live(hours):
    """Hours of standing by, a light and an accident in each."""
    rig = Rig(8, fresh="ready", speed=10.0)
    accidents = [
        lambda: rig.to_host.mute(rig.now + 20),
        lambda: rig.to_device.stall(rig.now + 4),
        rig.restart_host,
        rig.reset_device,
        rig.unplug,
        rig.to_host.hang_up,
        lambda: rig.host.link._decoder.feed(b"\x01" * 500),
    ]
    asked = 0
    for hour in range(hours):
        if not rig.plugged:
            rig.plug()
        rig.ready()
        if rig.view.link is LinkState.RECOVER:
            assert rig.execute(Op.START).done
            asked += 1
        assert rig.execute(Op.LAMP, place=hour % 4).done
        asked += 1
        end = rig.now + 3600
        while rig.now < end:
            rig.step(0.5)
            assert rig.view.ready
        accidents[hour % len(accidents)]()
        rig.run(30)
    assert rig.executed.total() == asked
    assert set(rig.executed.values()) == {1}
    return rig


@pytest.mark.slow
def test_seven_hours_with_an_accident_in_each():
    live(7)


@pytest.mark.soak
def test_seven_days_with_an_accident_in_each_hour():
    rig = live(24 * 7)
    assert rig.now > 7 * 86_400


def test_every_state_of_the_line_is_a_code_of_its_own():
    """What is said for each code, in three languages, is the station's; see its test of the catalogues."""
    rig = Rig()
    said = {}
    view = rig.view
    for state in LinkState:
        said[state] = sentence_code(replace(view, link=state))
    assert said.pop(LinkState.UP) == "machine.ok"
    assert said == {state: f"machine.{state.value}" for state in said}

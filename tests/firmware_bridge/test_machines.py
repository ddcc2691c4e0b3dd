"""Settings of every driver, and opening what they describe."""

import asyncio
import builtins
import subprocess
import sys

import pytest

from firmware_bridge.bridge import Bridge
from firmware_bridge.drivers.modbus_press import ModbusPress
from firmware_bridge.drivers.observe import Observe
from firmware_bridge.drivers.wiring import ObserveSettings, PressSettings
from firmware_bridge.errors import MissingExtraError, PortAmbiguousError, ProfileError, UsageError
from firmware_bridge.machine import NATIVE, Capability, LinkState, Status, supports
from firmware_bridge.machines import DRIVERS, NativeSettings, open_machine, settings_from
from firmware_bridge.ops import Op
from tests.firmware_bridge.relay_kit import need_modbus

PRESS = {"port": "/dev/serial/by-path/x", "lid_input": 1, "inhibit_relay": 2}


def test_settings_come_from_a_table_of_a_file():
    assert settings_from(NativeSettings, {"port": "pty:/tmp/x", "uid": "0123456789abcdEF"}).uid
    assert settings_from(PressSettings, PRESS) == PressSettings(**PRESS)
    assert settings_from(ObserveSettings, {}) == ObserveSettings()
    assert settings_from(ObserveSettings, {"port": "/dev/x", "ready_input": 3, "reply_s": 1}).reply_s == 1


@pytest.mark.parametrize(
    ("kind", "table", "says"),
    [
        (NativeSettings, {}, "port: is missing"),
        (NativeSettings, {"port": ""}, "port: the machine needs one"),
        (NativeSettings, {"port": 3}, "port: takes a text, not 3"),
        (NativeSettings, {"port": "/dev/x", "uid": "51"}, "uid: the number of a board has 16 hex digits"),
        (NativeSettings, {"port": "/dev/x", "baud": 9600}, "baud: is no key here"),
        (PressSettings, {}, "port: is missing"),
        (PressSettings, PRESS | {"lift_relay": "one"}, "lift_relay: takes a whole number"),
        (PressSettings, PRESS | {"lift_relay": True}, "lift_relay: takes a whole number"),
        (PressSettings, PRESS | {"lid_open": 1}, "lid_open: takes true or false"),
        (PressSettings, PRESS | {"reply_s": "fast"}, "reply_s: takes a number"),
        (PressSettings, PRESS | {"reply_s": 60}, "reply_s: a board answers within"),
        (PressSettings, PRESS | {"lid_input": 0}, "lid_input: has the number of ready_input"),
        (ObserveSettings, {"lid_input": 1}, "port: the board whose inputs are wired"),
        (ObserveSettings, {"port": "/dev/x"}, "lid_input: wire at least one"),
        (ObserveSettings, {"lift_relay": 1}, "lift_relay: is no key here"),
    ],
)
def test_a_wrong_setting_is_refused_and_its_key_named(kind, table, says):
    with pytest.raises(UsageError, match=f"^{says}"):
        settings_from(kind, table)


@pytest.mark.parametrize("kind", [PressSettings, ObserveSettings])
def test_an_unknown_profile_is_found_before_anything_is_opened(kind):
    with pytest.raises(ProfileError, match=r"^profile: There is no machine profile '137'"):
        settings_from(kind, {"port": "/dev/x", "lid_input": 1, "profile": "137"})


def test_every_driver_gives_one_kind_of_machine(tmp_path):
    need_modbus()
    made = [
        open_machine(NativeSettings("pty:/tmp/nowhere"), tmp_path / "a.db"),
        open_machine(PressSettings(**PRESS), tmp_path / "b.db"),
        open_machine(ObserveSettings("/dev/x", lid_input=1), tmp_path / "c.db"),
        open_machine(ObserveSettings(), tmp_path / "d.db"),
    ]
    assert [type(machine) for machine in made] == [Bridge, ModbusPress, Observe, Observe]
    assert [machine.capabilities == machine.view.capabilities for machine in made] == [True] * 4
    assert made[0].capabilities == NATIVE
    assert [supports(machine.capabilities, Op.OPEN_LID) for machine in made] == [True, True, False, False]
    assert [Capability.MODE in machine.capabilities for machine in made] == [True, False, False, False]
    assert [machine.view.advisory for machine in made] == [False, False, True, True]
    assert open_machine(None, tmp_path / "e.db") is None
    assert len(DRIVERS) == 4

    async def close():
        for machine in made:
            await machine.close()
            assert machine.view.link is LinkState.CLOSED

    asyncio.run(close())


def test_without_the_extra_one_line_says_which(monkeypatch, tmp_path):
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("pymodbus"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    for name in [n for n in sys.modules if n.startswith("pymodbus") or n.endswith("drivers.relay_board")]:
        monkeypatch.delitem(sys.modules, name)
    for settings in (PressSettings(**PRESS), ObserveSettings("/dev/x", lid_input=1)):
        with pytest.raises(MissingExtraError, match=r"^The relay board needs the extra `modbus`: .*modbus"):
            open_machine(settings, tmp_path / "a.db")


def test_a_table_without_a_relay_board_never_loads_its_library():
    code = "import sys, station.table.process; sys.exit(any(n.startswith('pymodbus') for n in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_a_relay_board_is_never_opened_by_a_passing_name():
    need_modbus()
    from firmware_bridge.drivers.relay_board import RelayBoard

    with pytest.raises(PortAmbiguousError, match="by-path"):
        asyncio.run(RelayBoard("/dev/ttyUSB0", 1, 9600, 0.1).open())


def test_a_machine_that_is_watched_refuses_everything(tmp_path):
    async def scene():
        machine = open_machine(ObserveSettings(), tmp_path / "a.db")
        task = asyncio.create_task(machine.run())
        view = await machine.wait_ready()
        outcomes = [await machine.execute(op) for op in ("START", "OPEN_LID", "ROLL_DICE")]
        outcomes.append(await machine.recover("leave"))
        with pytest.raises(UsageError):
            await machine.execute("SING")
        with pytest.raises(UsageError):
            await machine.execute("ADOPT")
        with pytest.raises(UsageError):
            await machine.recover("sing")
        machine.hold()
        machine.estop()
        assert await machine.resolve_open() == ()
        assert tuple(machine.events) == ()
        await machine.close()
        with pytest.raises(asyncio.CancelledError):
            await task
        return view, outcomes

    view, outcomes = asyncio.run(scene())
    assert (view.link, view.locked, view.hand_no) == (LinkState.UP, False, None)
    assert {(outcome.status, outcome.code) for outcome in outcomes} == {(Status.REJECTED, "unsupported")}
    assert not (tmp_path / "a.db").exists(), "what asks nothing needs no ledger"


def test_what_an_operation_takes_is_said_once():
    press = Capability.MOVES | Capability.DICE
    able = {op for op in Op if supports(press, op)}
    assert able == {
        Op.ADOPT,
        Op.START,
        Op.RELEASE_INTAKE,
        Op.OPEN_LID,
        Op.ROLL_DICE,
        Op.CLEAR,
        Op.LEAVE,
    }
    assert not any(supports(Capability.NONE, op) for op in Op)
    assert all(supports(NATIVE, op) for op in Op)

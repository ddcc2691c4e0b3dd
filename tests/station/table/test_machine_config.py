"""The machine's part of a table's file: one section a driver, checked when it is loaded."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from firmware_bridge.drivers.wiring import ObserveSettings, PressSettings
from firmware_bridge.machine import MachineView
from firmware_bridge.machines import NativeSettings
from station.errors import ConfigError
from station.table.config import EXAMPLE, TableConfig, load_config, machine_settings
from station.table.machine import machine_object


def load(folder: Path, text: str) -> TableConfig:
    file = folder / "table.toml"
    file.write_text('home = "T1"\n' + text)
    return load_config(file)


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ('serial = "/dev/x"', NativeSettings("/dev/x")),
        (
            '[native]\nport = "/dev/x"\nuid = "0123456789abcdef"',
            NativeSettings("/dev/x", "0123456789abcdef"),
        ),
        (
            'serial = "/dev/x"\n[native]\nuid = "0123456789abcdef"\nprofile = "102@1"',
            NativeSettings("/dev/x", "0123456789abcdef", "102@1"),
        ),
        ('serial = "/dev/x"\nprofile = "144"', NativeSettings("/dev/x", profile="144")),
        (
            'driver = "modbus_press"\n[modbus_press]\nport = "/dev/x"\nlid_input = 1\ninhibit_relay = 2',
            PressSettings("/dev/x", lid_input=1, inhibit_relay=2),
        ),
        (
            'driver = "observe"\n[observe]\nport = "/dev/x"\nlid_input = 1',
            ObserveSettings("/dev/x", lid_input=1),
        ),
        ('driver = "observe"', ObserveSettings()),
        ('driver = "none"', None),
    ],
)
def test_every_driver_has_its_section(tmp_path: Path, text: str, settings: object) -> None:
    assert machine_settings(load(tmp_path, text)) == settings


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('driver = "magic"', "driver = 'magic' is not known"),
        ("", "the native driver needs a port"),
        ('serial = "/dev/x"\n[native]\nport = "/dev/y"', "[native] port: serial names another one"),
        ('serial = "/dev/x"\n[native]\nbaud = 9600', "[native] baud: is no key here"),
        ('serial = "/dev/x"\n[native]\nuid = "x"', "[native] uid: the number of a board has 16 hex digits"),
        (
            'serial = "/dev/x"\n[native]\nprofile = "137"',
            "[native] profile: There is no machine profile",
        ),
        ('serial = "/dev/x"\nprofile = "137"', "profile: There is no machine profile"),
        (
            'serial = "/dev/x"\nprofile = "136"\n[native]\nprofile = "144"',
            "[native] profile: profile names another one",
        ),
        (
            'driver = "modbus_press"\nprofile = "136"\n[modbus_press]\nport = "/dev/x"',
            "table.toml: profile: driver = 'modbus_press' can not choose the machine's setting",
        ),
        ('driver = "observe"\nprofile = "136"', "profile: driver = 'observe' can not choose"),
        ('driver = "none"\nprofile = "136"', "profile: driver = 'none' can not choose"),
        ('driver = "modbus_press"', "[modbus_press] port: is missing"),
        (
            'driver = "modbus_press"\n[modbus_press]\nport = "/dev/x"\npulse_ms = 250',
            "[modbus_press] pulse_ms: a pulse lasts",
        ),
        (
            'driver = "modbus_press"\n[modbus_press]\nport = "/dev/x"\nrelay = 1',
            "[modbus_press] relay: is no key here",
        ),
        ('driver = "observe"\n[observe]\nlid_input = 1', "[observe] port: the board"),
        ('driver = "none"\nhttp_port = 70000', "http_port = 70000 is no port"),
        ('driver = "none"\nplayers = ["a", "b\\n", "c", "d"]', "players.1 holds a control character"),
        ('serial = "/dev/x"\n[native]\nport = "/dev/\\u0000x"', "native.port holds a control character"),
        ('driver = "none"\n"a\\nb" = 1', "unknown field `a b`"),
        ("x = " + "[" * 20_000, "recursion"),
        # A section that is not in use is looked at all the same.
        ('driver = "none"\n[observe]\nlid = 1', "[observe] lid: is no key here"),
    ],
)
def test_a_mistake_is_refused_and_its_key_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(says)) as refused:
        load(tmp_path, text)
    assert str(tmp_path / "table.toml") in refused.value.message
    assert refused.value.fix


def test_paths_of_a_section_start_at_the_file(tmp_path: Path) -> None:
    from importlib import resources

    text = (resources.files("firmware_bridge") / "profiles" / "136.toml").read_text()
    (tmp_path / "maker.toml").write_text(text)
    made = machine_settings(load(tmp_path, 'driver = "observe"\n[observe]\nprofile = "maker.toml"'))
    assert isinstance(made, ObserveSettings)
    assert made.profile == str(tmp_path / "maker.toml")
    native = machine_settings(load(tmp_path, 'profile = "maker.toml"\n[native]\nport = "pty:T1.pty"'))
    assert isinstance(native, NativeSettings)
    assert native.profile == str(tmp_path / "maker.toml")
    assert native.port == f"pty:{tmp_path / 'T1.pty'}"


def test_the_sections_of_the_example_are_valid_once_uncommented(tmp_path: Path) -> None:
    lines = EXAMPLE.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("# [native]"))
    end = next(i for i, line in enumerate(lines) if line.startswith("# [camera_wishes]"))
    lines[begin:end] = [line.removeprefix("# ") for line in lines[begin:end]]
    (tmp_path / "table.toml").write_text("\n".join(lines))
    config = load_config(tmp_path / "table.toml")
    assert machine_settings(config) == NativeSettings("/dev/serial/by-path/...", "0123456789abcdef")
    assert config.modbus_press["inhibit_relay"] == 2


def test_the_state_says_whose_setting_can_be_chosen() -> None:
    ours = machine_object(MachineView(capabilities=NativeSettings("/dev/x").capabilities))
    pressed = machine_object(MachineView(capabilities=PressSettings("/dev/x", lid_input=1).capabilities))
    assert ("mode" in ours["capabilities"], "mode" in pressed["capabilities"]) == (True, False)

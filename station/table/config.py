"""Configuration of a table process: one frozen tree, loaded once from TOML."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from firmware_bridge.drivers.wiring import ObserveSettings, PressSettings
from firmware_bridge.errors import BridgeError
from firmware_bridge.machine import Capability
from firmware_bridge.machines import DRIVERS, NativeSettings, Settings, settings_from
from station.errors import ConfigError
from station.whose_config import refuse_other
from vision.fitness import CODES

EXAMPLE = """\
# A table computer. Paths are relative to this file.
table = "T1"
home = "T1"                           # log, photographs and command ledger lie here
http_host = "127.0.0.1"               # address of the touchscreen's pages
http_port = 8081                      # 0 takes a free one
# http_names = ["table1.example"]     # names in front of the pages, besides address and host name
# metrics_public = true               # /metrics for other computers too
ruleset = "zhenjiang"                 # `quezhuo rules zhenjiang` lists the options
players = ["甲", "乙", "丙", "丁"]     # counter-clockwise from the touchscreen's side
chips = 50                            # left out: the stake of the rule set
duration_s = 3600
driver = "native"                     # "modbus_press", "observe", or "none": a table without a machine
serial = "/dev/serial/by-path/..."    # of the native driver; "pty:PATH" for a simulated machine
# profile = "136"                     # setting that our board shall keep; other machines are set by hand
# record = "line.jsonl"               # everything that goes over that line, for support
camera = 0                            # "/dev/v4l/by-id/…", "folder:DIR", "render", or "none": typed in
# camera_ignores = ["outside_zone"]   # what does not keep this table from reading
# calibration = "calibration.json"    # the taught zones
# tilesets = ["green.json", "blue.json"]  # this table's own tiles, see quezhuo enroll
# model = "recognizer.json"           # another recognizer
threads = 2                           # of the recognizer
# appeal_window_h = 24                # how long photos are kept after the end of the session
# photo_reserve_mb = 500              # less free on the disk: photos of settled hands go earlier
# secret_key = "keys/T1.key"          # with a central station: quezhuo keygen T1 --out keys

[options]                             # of the rule set
payment = "pei"

# [native]
# uid = "0123456789abcdef"            # its number, by a tap on the page's light: only this board is used

# [modbus_press]                      # a relay board presses the machine's own buttons: docs/drivers.md
# port = "/dev/serial/by-path/..."
# lift_relay = 0                      # relays and inputs count from 0; left out: not wired
# inhibit_relay = 2                   # in series with the lift button: holds it while the hand is not ruled
# ready_input = 0
# lid_input = 1
# profile = "136"                     # times and lamps of the machine, or a TOML file

# [observe]                           # the machine is only watched; without port nothing is wired
# port = "/dev/serial/by-path/..."
# lid_input = 1

# [camera_wishes]                     # of a device; left out: as it likes
# size = [1920, 1080]
# exposure = 150                      # fixed, in the driver's unit (V4L2: 0.1 ms)
# white_balance = 4600                # fixed, kelvin
# focus = 20                          # fixed, in the driver's unit

# [central]                           # without it the table plays alone
# endpoint = "tcp://192.168.1.2:7700" # left out: looked for in the network
# public_key = "keys/central.pub"     # made there by: quezhuo keygen central --out keys
# evidence_endpoint = "tcp://192.168.1.2:7702"  # its address for photos
# [central.standby]                   # a second station, for when the first cannot be reached
# endpoint = "tcp://192.168.1.3:7700"
# public_key = "keys/standby.pub"
"""
"""A commented example, printed by ``quezhuo config table``."""


_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
"""Names of tables: they stand in file names and in the allow-list."""


class Standby(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a second central station is and which key it must have; as in `Central`."""

    endpoint: str
    public_key: str


class Central(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the central station is and which key it must have."""

    endpoint: str = ""
    """Where its link is; empty: looked for in the network at every start, and remembered."""
    public_key: str
    """Path of the central station's public key file, relative to the configuration file's folder."""
    evidence_endpoint: str = ""
    """Where it takes photographs, if not where it says by itself."""
    standby: Standby | None = None
    """A second station, tried when the first cannot be reached."""


class CameraWishes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a camera device should take its pictures, see `vision.device.Wishes`."""

    size: tuple[int, int] | None = None
    exposure: float | None = None
    white_balance: float | None = None
    focus: float | None = None


class TableConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table computer. Durations in seconds, amounts in the smallest chip.

    Relative paths start from the folder of the configuration file.
    """

    table: str = "T1"
    home: str
    http_host: str = "127.0.0.1"
    http_port: int = 0
    http_names: tuple[str, ...] = ()
    """Names by which the pages may be asked for besides address and host name, see `station.guard`."""
    metrics_public: bool = False
    """Whether other computers may read ``/metrics``; else only this one."""
    ruleset: str = "zhenjiang"
    options: dict[str, Any] = {}
    players: tuple[str, ...] = ("甲", "乙", "丙", "丁")
    chips: int | None = None
    """What every player begins with; None: the stake of the rule set."""
    empty_side: int = 3
    """With three players: the side of the machine (0 to 3, 0 = the touchscreen) at which nobody sits."""
    format: str = "casual"
    duration_s: int | None = 3600
    driver: str = "native"
    """``native``: our own board; ``modbus_press``: a relay board presses the maker's buttons; ``observe``:
    the machine is only watched; ``none``: a table without a machine. Each has a section of its name."""
    serial: str = ""
    """Port of the native driver; the same as ``port`` in its section."""
    profile: str = ""
    """Setting (walls, times) that the machine shall have, for a driver that can choose it: the native one, in
    whose section ``profile`` is the same. Empty: whatever it is set to."""
    native: dict[str, Any] = {}
    modbus_press: dict[str, Any] = {}
    observe: dict[str, Any] = {}
    record: str | None = None
    """File for everything that goes over the machine's line; the newest frames are kept at a fault anyway."""
    camera: str | int = "render"
    """``render``, ``folder:DIR``, a device's number or path, or ``none`` (hands are typed in)."""
    camera_wishes: CameraWishes = CameraWishes()
    camera_ignores: tuple[str, ...] = ()
    """Problems of a frame (codes of `vision.fitness`) that do not keep this table from reading."""
    calibration: str | None = None
    tilesets: tuple[str, ...] = ()
    """Files of the table's one or two tile sets as enrolled; without any every set is read alike."""
    model: str | None = None
    threads: int = 1
    central: Central | None = None
    secret_key: str | None = None
    """Path of this table's secret key file (mode 0600); needed with ``central``."""
    appeal_window_h: float = 24.0
    """Hours after the end of a session for which its photographs are kept."""
    photo_reserve_mb: int = 500
    """MiB free on the disk below which photographs of settled hands go early, see docs/evidence.md."""


def load_config(path: Path) -> TableConfig:
    """Read a table's configuration; paths in the result are absolute.

    Raises:
        ConfigError: the file is missing, is not TOML, or holds an unknown key or a wrong type.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"Can't read {path}: {error.strerror}.", fix="Name an existing configuration file."
        ) from None
    try:
        config = msgspec.toml.decode(text, type=TableConfig)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        refuse_other(path, "table")
        said = " ".join(str(error).split())
        raise ConfigError(f"{path}: {said}.", fix="`quezhuo config table` prints a valid file.") from None
    _check(config, path)
    config = _absolute(config, path.absolute().parent)
    try:
        machine_settings(config)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", fix=error.fix) from None
    return config


def _check(config: TableConfig, path: Path) -> None:
    """Refuse what the types let through.

    Raises:
        ConfigError: a value is impossible; the message names its key.
    """
    broken = _control_character(msgspec.to_builtins(config))
    if broken is not None:
        raise ConfigError(f"{path}: {broken} holds a control character.", fix="Retype the line.")
    if config.driver not in DRIVERS:
        raise ConfigError(
            f"{path}: driver = {config.driver!r} is not known.", fix=f"Use {', '.join(DRIVERS)}."
        )
    if config.http_port not in range(65536):
        raise ConfigError(f"{path}: http_port = {config.http_port} is no port.", fix="Use 0 to 65535.")
    if not _NAME.fullmatch(config.table):
        raise ConfigError(
            f"{path}: table = {config.table!r} is no name.", fix="Use letters, digits, - and _."
        )
    if config.threads < 1 or (config.duration_s is not None and config.duration_s < 1):
        raise ConfigError(f"{path}: threads and duration_s have to be at least 1.", fix="Correct the file.")
    if config.appeal_window_h < 0 or config.photo_reserve_mb < 0:
        raise ConfigError(
            f"{path}: appeal_window_h and photo_reserve_mb can't be negative.", fix="Correct the file."
        )
    unknown = sorted(set(config.camera_ignores) - set(CODES))
    if unknown:
        raise ConfigError(
            f"{path}: camera_ignores = {unknown[0]!r} is not known.", fix=f"Use {', '.join(CODES)}."
        )
    if len(config.tilesets) > 2:
        raise ConfigError(f"{path}: a table has one or two tilesets.", fix="Name one or two files.")
    if config.empty_side not in range(4):
        raise ConfigError(f"{path}: empty_side = {config.empty_side} is no side.", fix="Use 0 to 3.")
    if config.central is not None and config.secret_key is None:
        raise ConfigError(
            f"{path}: with [central] the table needs its own key.",
            fix="Set secret_key; see `quezhuo keygen`.",
        )
    if config.driver == "native" and not (config.serial or config.native.get("port")):
        raise ConfigError(
            f"{path}: the native driver needs a port.", fix='Set serial = "/dev/…" or driver = "none".'
        )


def _control_character(value: Any, key: str = "") -> str | None:
    """Return the key of the first text that no name, path or address can be; None: all are fit to be used."""
    if isinstance(value, str):
        return key if any(unicodedata.category(sign) == "Cc" for sign in value) else None
    inner: Iterable[tuple[object, Any]] = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list | tuple):
        inner = enumerate(value)
    found = (_control_character(part, f"{key}.{name}" if key else str(name)) for name, part in inner)
    return next((name for name in found if name is not None), None)


def machine_settings(config: TableConfig) -> Settings | None:
    """Return the settings of the table's machine; None for a table without one.

    The sections of other drivers are looked at too: a mistake in them would wait for the day they are needed.

    Raises:
        ConfigError: a section holds an unknown key or an impossible value; the message names both.
    """
    native, press, observe = dict(config.native), config.modbus_press, config.observe
    if config.serial:
        if native.get("port", config.serial) != config.serial:
            raise ConfigError("[native] port: serial names another one.", fix="Leave one of the two out.")
        native["port"] = config.serial
    if config.profile and config.driver == "native":
        if native.get("profile", config.profile) != config.profile:
            raise ConfigError("[native] profile: profile names another one.", fix="Leave one of the two out.")
        native["profile"] = config.profile
    sections: dict[str, tuple[bool, Callable[[], Settings]]] = {
        "native": (bool(native), lambda: settings_from(NativeSettings, native)),
        "modbus_press": (bool(press), lambda: settings_from(PressSettings, press)),
        "observe": (bool(observe), lambda: settings_from(ObserveSettings, observe)),
    }
    made: dict[str, Settings] = {}
    for name, (present, make) in sections.items():
        if not present and name != config.driver:
            continue
        try:
            made[name] = make()
        except BridgeError as error:
            raise ConfigError(f"[{name}] {error}", fix="See docs/drivers.md.") from None
    settings = made.get(config.driver)
    if config.profile and (settings is None or Capability.MODE not in settings.capabilities):
        raise ConfigError(
            f"profile: driver = {config.driver!r} can not choose the machine's setting.",
            fix="Leave it out, and set the machine by hand; a section's own profile says what it is set to.",
        )
    return settings


def _absolute(config: TableConfig, base: Path) -> TableConfig:
    """Resolve paths against the folder of the configuration file."""
    central, camera = config.central, config.camera
    if central is not None:
        other = central.standby
        if other is not None:
            other = msgspec.structs.replace(other, public_key=str(base / other.public_key))
        central = msgspec.structs.replace(central, public_key=str(base / central.public_key), standby=other)
    if isinstance(camera, str) and camera.startswith(("folder:", "render:")):
        kind, _, place = camera.partition(":")
        camera = f"{kind}:{base / place}" if place else camera
    sections = {name: _settled(getattr(config, name), base) for name in ("native", "modbus_press", "observe")}
    optional = {name: getattr(config, name) for name in ("calibration", "model", "record", "secret_key")}
    return msgspec.structs.replace(
        config,
        home=str(base / config.home),
        profile=_profile(config.profile, base),
        tilesets=tuple(str(base / name) for name in config.tilesets),
        central=central,
        camera=camera,
        serial=_port(config.serial, base),
        **sections,
        **{name: str(base / value) for name, value in optional.items() if value},
    )


def _port(port: str, base: Path) -> str:
    """Return a port's address with an absolute path; a pseudo-terminal's is named relative to the file."""
    return f"pty:{base / port.removeprefix('pty:')}" if port.startswith("pty:") else port


def _profile(profile: str, base: Path) -> str:
    """Return a machine profile's id, or the absolute path of its file."""
    return str(base / profile) if profile.endswith(".toml") else profile


def _settled(section: dict[str, Any], base: Path) -> dict[str, Any]:
    """Return a driver's section with absolute paths; wrong types are left for the check that names them."""
    changed = dict(section)
    port, profile = section.get("port"), section.get("profile")
    if isinstance(port, str):
        changed["port"] = _port(port, base)
    if isinstance(profile, str):
        changed["profile"] = _profile(profile, base)
    return changed

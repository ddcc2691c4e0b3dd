"""Configuration of a table process: one frozen tree, loaded once from TOML."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from station.errors import ConfigError
from vision.fitness import CODES

EXAMPLE = """\
# A table computer. Paths are relative to this file.
table = "T1"
home = "T1"                           # log, photographs and command ledger lie here
http_host = "127.0.0.1"               # address of the touchscreen's pages
http_port = 8081                      # 0 takes a free one
ruleset = "zhenjiang"                 # `quezhuo rules zhenjiang` lists the options
players = ["甲", "乙", "丙", "丁"]     # counter-clockwise from the touchscreen's side
chips = 50                            # left out: the stake of the rule set
duration_s = 3600
driver = "native"                     # "none": a table without a machine
serial = "/dev/serial/by-path/..."    # "pty:PATH" for a simulated machine
camera = 0                            # "/dev/v4l/by-id/…", "folder:DIR", "render", or "none": typed in
# camera_ignores = ["outside_zone"]   # what does not keep this table from reading
# calibration = "calibration.json"    # the taught zones
# tilesets = ["green.json", "blue.json"]  # this table's own tiles, see quezhuo enroll
# model = "recognizer.json"           # another recognizer
threads = 2                           # of the recognizer
# secret_key = "keys/T1.key"          # with a central station: quezhuo keygen T1 --out keys

[options]                             # of the rule set
payment = "pei"

# [camera_wishes]                     # of a device; left out: as it likes
# size = [1920, 1080]
# exposure = 150                      # fixed, in the driver's unit (V4L2: 0.1 ms)
# white_balance = 4600                # fixed, kelvin
# focus = 20                          # fixed, in the driver's unit

# [central]                           # without it the table plays alone
# endpoint = "tcp://192.168.1.2:7700"
# public_key = "keys/central.pub"     # made there by: quezhuo keygen central --out keys
"""
"""A commented example, printed by ``quezhuo config table``."""


_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
"""Names of tables: they stand in file names and in the allow-list."""


class Central(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the central station is and which key it must have."""

    endpoint: str
    public_key: str
    """Path of the central station's public key file, relative to the configuration file's folder."""


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
    """``native``: our own board on ``serial``; ``none``: a table without a machine."""
    serial: str = ""
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
    except msgspec.DecodeError as error:
        raise ConfigError(f"{path}: {error}.", fix="`quezhuo config table` prints a valid file.") from None
    if config.driver not in ("native", "none"):
        raise ConfigError(f"{path}: driver = {config.driver!r} is not known.", fix='Use "native" or "none".')
    if not _NAME.fullmatch(config.table):
        raise ConfigError(
            f"{path}: table = {config.table!r} is no name.", fix="Use letters, digits, - and _."
        )
    if config.threads < 1 or (config.duration_s is not None and config.duration_s < 1):
        raise ConfigError(f"{path}: threads and duration_s have to be at least 1.", fix="Correct the file.")
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
    if config.driver == "native" and not config.serial:
        raise ConfigError(
            f"{path}: the native driver needs a port.", fix='Set serial = "/dev/…" or driver = "none".'
        )
    return _absolute(config, path.absolute().parent)


def _absolute(config: TableConfig, base: Path) -> TableConfig:
    """Resolve paths against the folder of the configuration file."""
    central, camera = config.central, config.camera
    if central is not None:
        central = msgspec.structs.replace(central, public_key=str(base / central.public_key))
    if isinstance(camera, str) and camera.startswith(("folder:", "render:")):
        kind, _, place = camera.partition(":")
        camera = f"{kind}:{base / place}" if place else camera
    serial = config.serial
    if serial.startswith("pty:"):
        serial = f"pty:{base / serial.removeprefix('pty:')}"
    optional = {name: getattr(config, name) for name in ("calibration", "model", "secret_key")}
    return msgspec.structs.replace(
        config,
        home=str(base / config.home),
        tilesets=tuple(str(base / name) for name in config.tilesets),
        central=central,
        camera=camera,
        serial=serial,
        **{name: str(base / value) for name, value in optional.items() if value},
    )

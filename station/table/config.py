"""Configuration of a table process: one frozen tree, loaded once from TOML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from station.errors import StationError


class ConfigError(StationError):
    """The configuration file can't be used; the message names the key and the fix."""


class Central(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the central station is and which key it must have."""

    endpoint: str
    public_key: str
    """Path of the central station's public key file, relative to the configuration file's folder."""


class TableConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table computer. Durations in seconds, amounts in the smallest chip."""

    table: str = "T1"
    home: str
    http_host: str = "127.0.0.1"
    http_port: int = 0
    ruleset: str = "zhenjiang"
    options: dict[str, Any] = {}
    players: list[str] = ["东", "南", "西", "北"]
    chips: int = 50
    format: str = "casual"
    duration_s: int | None = 3600
    driver: str = "native"
    """``native``: our own board on ``serial``; ``none``: a table without a machine."""
    serial: str = ""
    camera: str | int = "render"
    """``render``, ``folder:DIR``, a device number, or ``none`` (hands are typed in)."""
    calibration: str | None = None
    model: str | None = None
    threads: int = 1
    central: Central | None = None
    secret_key: str | None = None
    """Path of this table's secret key file (mode 0600); needed with ``central``."""


def load_config(path: Path) -> TableConfig:
    """Read a table's configuration.

    Raises:
        ConfigError: the file is missing, is not TOML, or holds an unknown key or a wrong type.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"Can't read {path}: {error.strerror}. Name an existing configuration file.") from None
    try:
        config = msgspec.toml.decode(text, type=TableConfig)
    except msgspec.DecodeError as error:
        raise ConfigError(f"{path}: {error}. `quezhuo config table` prints a valid file.") from None
    if config.driver not in ("native", "none"):
        raise ConfigError(f"{path}: driver = {config.driver!r} is not known; use \"native\" or \"none\".")
    if config.driver == "native" and not config.serial:
        raise ConfigError(f"{path}: driver = \"native\" needs serial = \"/dev/…\", or use driver = \"none\".")
    return config

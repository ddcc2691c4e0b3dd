"""Configuration of the central station: one frozen value, loaded once from TOML."""

from __future__ import annotations

from pathlib import Path

import msgspec

from station.errors import ConfigError

__all__ = ["EXAMPLE", "CentralConfig", "load_config"]

EXAMPLE = """\
# The central station of a hall. Paths are relative to this file.
home = "central"                      # its log lies here
http_host = "127.0.0.1"               # address of the pages
http_port = 8080                      # 0 takes a free port
link = "tcp://0.0.0.0:7700"           # where the tables connect; port 0 takes a free one
event = "Spring cup"                  # shown on the wall
format = "casual"
# duration_s = 3600                   # shown as time left, from the first opened session on
secret_key = "keys/central.key"       # quezhuo keygen central --out keys
allow_list = "tables.toml"            # [tables] T1 = "public key of T1"
"""
"""A commented example, printed by ``quezhuo config central``."""


class CentralConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The central station. Durations in seconds; relative paths start from the configuration file's folder.

    Args:
        home: folder of the central log; created when missing.
        allow_list: TOML file of the enrolled tables, see `station.link.keys`.
        secret_key: key file of the central station (mode 0600).
        link: where to listen for tables; port 0 takes a free one.
        http_host: address of the pages.
        http_port: port of the pages; 0 takes a free one.
        event: name of the event, shown on the wall.
        format: format of the event.
        duration_s: length of the event, counted from the first session that a table opens.
    """

    home: str
    allow_list: str
    secret_key: str
    link: str = "tcp://127.0.0.1:0"
    http_host: str = "127.0.0.1"
    http_port: int = 0
    event: str = ""
    format: str = "casual"
    duration_s: int | None = None


def load_config(path: Path) -> CentralConfig:
    """Read a configuration file; paths in the result are absolute.

    Raises:
        ConfigError: the file is missing, is not TOML, or holds an unknown key or a wrong type.
    """
    try:
        config = msgspec.toml.decode(path.read_bytes(), type=CentralConfig)
    except OSError as error:
        raise ConfigError(
            f"The configuration {path} cannot be read: {error.strerror}.", fix="Check the path."
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}.", fix="`quezhuo config central` prints a valid file.") from None
    base = path.absolute().parent
    return msgspec.structs.replace(
        config,
        home=str(base / config.home),
        allow_list=str(base / config.allow_list),
        secret_key=str(base / config.secret_key),
    )

"""Configuration of the central station: one frozen value, loaded once from TOML."""

from __future__ import annotations

from pathlib import Path

import msgspec

from station.errors import ConfigError
from station.whose_config import refuse_other

__all__ = ["EXAMPLE", "CentralConfig", "load_config"]

EXAMPLE = """\
# The central station of a hall. Paths are relative to this file.
home = "central"                      # its log lies here
http_host = "127.0.0.1"               # address of the pages
http_port = 8080                      # 0 takes a free port
# http_names = ["hall.example"]       # names in front of the pages, besides address and host name
# metrics_public = true               # /metrics for other computers too
link = "tcp://0.0.0.0:7700"           # where the tables connect; port 0 takes a free one
# announce = false                    # by mDNS, so that tables find it; they trust its key alone
# pair_port = 7701                    # open while `quezhuo pair` runs
evidence = "tcp://0.0.0.0:7702"       # where they bring photographs, beside the events
# appeal_window_h = 24                # how long photos are kept after the end of a session
# photo_reserve_mb = 500              # less free on the disk: photos of settled hands go earlier
event = "Spring cup"                  # shown on the wall
format = "casual"
# standby = true                      # the second station of a hall: docs/station.md
# duration_s = 3600                   # shown as time left, from the first opened session on
secret_key = "keys/central.key"       # quezhuo keygen central --out keys
allow_list = "tables.toml"            # who may connect; `quezhuo pair` writes it
"""
"""A commented example, printed by ``quezhuo config central``."""


class CentralConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The central station. Durations in seconds; relative paths start from the configuration file's folder.

    Args:
        home: folder of the central log; created when missing.
        allow_list: TOML file of the enrolled tables, see `station.link.keys`.
        secret_key: key file of the central station (mode 0600).
        link: where to listen for tables; port 0 takes a free one.
        announce: whether the link is announced in the network (mDNS); never on loopback.
        pair_port: where ``quezhuo pair`` listens; 0 takes a free port.
        evidence: where to listen for their photographs.
        appeal_window_h: hours after the end of a session for which its photographs are kept.
        photo_reserve_mb: MiB free on the disk below which photographs of settled hands go early.
        http_host: address of the pages.
        http_port: port of the pages; 0 takes a free one.
        http_names: names by which the pages may be asked for besides address and host name.
        metrics_public: whether other computers may read ``/metrics``.
        event: name of the event, shown on the wall.
        format: format of the event.
        standby: whether this is the second station of a hall: it knows no clock until one is set here.
        duration_s: length of the event, counted from the first session that a table opens.
    """

    home: str
    allow_list: str
    secret_key: str
    link: str = "tcp://127.0.0.1:0"
    announce: bool = True
    pair_port: int = 7701
    evidence: str = "tcp://127.0.0.1:0"
    appeal_window_h: float = 24.0
    photo_reserve_mb: int = 500
    http_host: str = "127.0.0.1"
    http_port: int = 0
    http_names: tuple[str, ...] = ()
    metrics_public: bool = False
    event: str = ""
    format: str = "casual"
    standby: bool = False
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
        refuse_other(path, "central")
        raise ConfigError(f"{path}: {error}.", fix="`quezhuo config central` prints a valid file.") from None
    if config.appeal_window_h < 0 or config.photo_reserve_mb < 0:
        raise ConfigError(
            f"{path}: appeal_window_h and photo_reserve_mb can't be negative.", fix="Correct the file."
        )
    base = path.absolute().parent
    return msgspec.structs.replace(
        config,
        home=str(base / config.home),
        allow_list=str(base / config.allow_list),
        secret_key=str(base / config.secret_key),
    )

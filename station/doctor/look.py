"""Facts for `checks` from this computer. A look never fails and changes nothing."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import pwd
import re
import sqlite3
import sys
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from station.central.config import CentralConfig
from station.doctor.facts import (
    CameraFacts,
    ClockFacts,
    Facts,
    KeyFacts,
    LibraryFacts,
    LinkFacts,
    LogFacts,
    PortFacts,
)
from station.doctor.network import port_facts
from station.doctor.settings import refused_settings
from station.errors import StationError
from station.link.keys import load_pair, load_public
from station.link.probe import handshake, pair_fits, unreachable
from station.link.register import EXPIRED, load_register
from station.log.chain import store_hash
from station.log.log import Log
from station.ops.health import disk_unusable, free_bytes
from station.table.config import TableConfig
from station.table.locate import recalled
from vision.errors import VisionError
from vision.model_card import ModelCard
from vision.pictures import SUFFIXES

__all__ = ["look"]

TAIL: Final = 500
"""So many of the log's last entries are checked: a second at most on a slow card."""
_MAX_PORT: Final = 65535
_TIME_ERROR: Final = 5
"""adjtimex(2): the clock is not synchronised."""


def look(config: TableConfig | CentralConfig) -> Facts:
    """Collect everything about the process with this configuration."""
    home = Path(config.home)
    central = isinstance(config, CentralConfig)
    path = home / ("central.db" if central else "table.db")
    trouble = _home_trouble(home)
    return Facts(
        process="central" if central else "table",
        home=home,
        user=pwd.getpwuid(os.geteuid()).pw_name,
        home_trouble=trouble,
        free=free_bytes(_existing(home)),
        running=_held(path),
        log=_log(path),
        clock=ClockFacts(time.time(), _synchronised()),
        keys=tuple(_keys(config)),
        ports=tuple(_ports(config)),
        link=None if isinstance(config, CentralConfig) else _link(config),
        standby=None if isinstance(config, CentralConfig) else _standby(config),
        settings=refused_settings(config),
        python=sys.version_info[:2],
        wide=sys.maxsize > 1 << 32,
        sqlite=sqlite3.sqlite_version_info,
        libraries=tuple(_libraries()),
        model_error=None if isinstance(config, CentralConfig) else _model(config),
        camera=None if isinstance(config, CentralConfig) else _camera(config),
    )


def _existing(path: Path) -> Path:
    """The folder itself, or the nearest one above it that is there."""
    return next(folder for folder in (path, *path.absolute().parents) if folder.is_dir())


def _home_trouble(home: Path) -> str | None:
    if home.exists() and not home.is_dir():
        return "no_folder"
    folder = _existing(home)
    if disk_unusable(folder) == "read_only":
        return "denied" if not os.statvfs(folder).f_flag & os.ST_RDONLY else "read_only"
    return None if home.exists() else "missing"


def _held(log: Path) -> bool:
    """Whether a process has this log open for writing."""
    # Without a lock file nobody writes; one that this user may not open is told by the log itself.
    with contextlib.suppress(OSError), log.with_name(f"{log.name}.lock").open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _log(path: Path) -> LogFacts:
    if not path.exists():
        return LogFacts(path)
    try:
        with Log.open(path, read_only=True) as log:
            head = log.pos_head.seq
            last = log.entries(max(0, head - TAIL - 1))
    except StationError as error:
        return LogFacts(path, trouble=(error.message, error.fix))
    before, bad = last[0] if last and last[0].pos > 1 else None, None
    for stored in last[1:] if before else last:
        fits = stored.prev == (before.hash if before else bytes(len(stored.prev)))
        entry = stored.entry
        right = store_hash(stored.prev, stored.pos, stored.source, stored.received_ms, entry.hash)
        if not (fits and entry.intact and right == stored.hash):
            bad = stored.pos
            break
        before = stored
    return LogFacts(path, head, last[-1].received_ms / 1000 if last else None, bad)


def _synchronised() -> bool | None:
    """Ask the kernel (adjtimex(2) without setting anything)."""
    with contextlib.suppress(OSError, AttributeError):  # a C library without the call: not known
        state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512))
        return None if state < 0 else state != _TIME_ERROR
    return None


def _keys(config: TableConfig | CentralConfig) -> Iterator[KeyFacts]:
    if config.secret_key:
        yield _pair(Path(config.secret_key))
    if isinstance(config, CentralConfig):
        yield _enrolled(Path(config.allow_list))
    elif config.central is not None:
        yield _public(Path(config.central.public_key))
        if config.central.standby is not None:
            yield _public(Path(config.central.standby.public_key))


def _public(key: Path) -> KeyFacts:
    try:
        load_public(key)
    except StationError as error:
        return KeyFacts(key, (error.message, error.fix))
    return KeyFacts(key)


def _pair(path: Path) -> KeyFacts:
    try:
        pair = load_pair(path)
    except StationError as error:
        return KeyFacts(path, (error.message, error.fix))
    return KeyFacts(path, fits=pair_fits(pair), signs=pair.signer is not None)


def _enrolled(path: Path) -> KeyFacts:
    try:
        tables = load_register(path).tables
    except StationError as error:
        return KeyFacts(path, (error.message, error.fix))
    now = time.time()
    refused = tuple((name, entry.why_not(now)) for name, entry in tables.items())
    return KeyFacts(path, refused=tuple((name, why) for name, why in refused if why == EXPIRED))


def _ports(config: TableConfig | CentralConfig) -> Iterator[PortFacts]:
    wanted = [("http_port", config.http_host, config.http_port)]
    if isinstance(config, CentralConfig):
        for setting, text in (("link", config.link), ("evidence", config.evidence)):
            with contextlib.suppress(ValueError):
                address = urlsplit(text)
                wanted.append((setting, address.hostname or "", address.port or 0))
    for setting, host, port in wanted:
        if not 0 <= port <= _MAX_PORT:
            continue  # told as a setting that is none
        facts = port_facts(setting, "0.0.0.0" if host == "*" else host, port)  # noqa: S104 (as configured)
        if facts is not None:
            yield facts


def _link(config: TableConfig) -> LinkFacts | None:
    if config.central is None or config.secret_key is None:
        return None
    endpoint, key_file = (
        config.central.endpoint or recalled(Path(config.home)),
        Path(config.central.public_key),
    )
    if endpoint is None:
        return None  # looked for in the network at the start
    return _way("central", endpoint, key_file, Path(config.secret_key))


def _standby(config: TableConfig) -> LinkFacts | None:
    second = None if config.central is None else config.central.standby
    if second is None or config.secret_key is None:
        return None
    return _way("central.standby", second.endpoint, Path(second.public_key), Path(config.secret_key))


def _way(section: str, endpoint: str, key_file: Path, secret_key: Path) -> LinkFacts:
    try:
        server_key, keys = load_public(key_file), load_pair(secret_key)
    except StationError:  # told by the keys themselves
        return LinkFacts(endpoint, key_file, unreachable(endpoint), section=section)
    said = handshake(endpoint, server_key, keys)
    # Not before the handshake: the station tells its head table of a connection that does not say who it is.
    why = unreachable(endpoint) if said == "silent" else None
    return LinkFacts(endpoint, key_file, why, said if why is None else None, section)


def _libraries() -> Iterator[LibraryFacts]:
    """What the distribution asks for, without its extras."""
    for line in requires("quezhuo") or ():
        wanted = re.fullmatch(r"([A-Za-z0-9_.-]+)[^;]*?>=([0-9.]+)[^;]*", line)
        if wanted is None:
            continue
        try:
            there: str | None = version(wanted[1])
        except PackageNotFoundError:
            there = None
        yield LibraryFacts(wanted[1], there, wanted[2])


def _model(config: TableConfig) -> str | None:
    if config.camera == "none":
        return None
    try:
        ModelCard.load(Path(config.model) if config.model else None)
    except VisionError as error:
        return str(error)
    return None


def _camera(config: TableConfig) -> CameraFacts | None:
    named = config.camera
    if named == "none" or (isinstance(named, str) and named.startswith("render")):
        return None
    if isinstance(named, str) and named.startswith("folder:"):
        folder = Path(named.partition(":")[2])
        pictures = [file for file in _listed(folder) if file.suffix.lower() in SUFFIXES]
        return CameraFacts(folder, folder.is_dir(), os.access(folder, os.R_OK), len(pictures))
    device = Path(f"/dev/video{named}") if isinstance(named, int) else Path(named)
    return CameraFacts(device, device.exists(), os.access(device, os.R_OK | os.W_OK))


def _listed(folder: Path) -> list[Path]:
    with contextlib.suppress(OSError):  # no pictures then; whether the folder can be read is asked beside
        return list(folder.iterdir())
    return []

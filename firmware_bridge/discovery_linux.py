"""Facts for `discovery` from a Linux system's files: /dev, /proc, /sys, /run/udev and /etc/group.

Everything is read below one root folder, so that a copied or made-up tree can be looked at too. What may not
be read counts as not there: a look never fails.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Final

from firmware_bridge.discovery import Device, Facts, User, kind_of

ADAPTER_NAMES: Final = ("ttyUSB*", "ttyACM*")

LINKS: Final = 16
"""Links followed one after another before a path counts as leading nowhere."""

WATCHED: Final = frozenset({"ModemManager", "brltty"})

RULE_FOLDERS: Final = ("etc/udev/rules.d", "lib/udev/rules.d", "usr/lib/udev/rules.d")

THROTTLE_FILE: Final = "sys/devices/platform/soc/soc:firmware/get_throttled"


def collect(
    port: str | None = None, root: Path = Path("/"), user: User | None = None, *, holders: bool = True
) -> Facts:
    """Look at the system below `root` for `port`, an address as `transport.open_port` takes it.

    `holders` False: leave out who has a device open and what runs, which takes a look at every process.

    Raises:
        UsageError: `port` is no kind of address.
    """
    who = user or _myself(root)
    groups = {gid: name for name, gid, _ in _groups(root)}
    processes = list(_processes(root)) if holders else []
    kind = kind_of(port) if port else ""
    path = _real(root, (port or "").removeprefix("pty:")) if kind in ("device", "pty") else None
    return Facts(
        user=who,
        port=port or None,
        target=_device(root, path, groups, processes) if path else None,
        adapters=tuple(_device(root, name, groups, processes) for name in _adapters(root)),
        running=frozenset(name for _, name in processes) & WATCHED,
        installed=frozenset(name for name in WATCHED if _has_rules(root, name)),
        throttled=_throttled(root),
    )


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _below(folder: Path, pattern: str = "*") -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def _real(root: Path, path: str) -> str | None:
    """Follow links as a program within `root` would; None where they end nowhere."""
    for _ in range(LINKS):
        here = root / path.lstrip("/")
        if not here.is_symlink():
            return path if os.path.exists(here) and not here.is_dir() else None  # noqa: PTH110 - never raises
        target = os.readlink(here)  # noqa: PTH115 - text of the link, which may be absolute within root
        path = normpath(join(dirname(path), target))
    return None


def _groups(root: Path) -> Iterator[tuple[str, int, frozenset[str]]]:
    for line in _text(root / "etc/group").splitlines():
        parts = line.split(":")
        if len(parts) == 4 and parts[2].isdigit():
            yield parts[0], int(parts[2]), frozenset(parts[3].split(","))


def _myself(root: Path) -> User:
    uid = os.geteuid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:  # containers run as numbers without a name
        name = str(uid)
    listed = frozenset(group for group, _, members in _groups(root) if name in members)
    return User(name, uid, frozenset({os.getegid(), *os.getgroups()}), listed)


def _processes(root: Path) -> Iterator[tuple[int, str]]:
    for entry in _below(root / "proc", "[0-9]*"):
        if entry.name.isdigit() and (name := _text(entry / "comm").strip()):
            yield int(entry.name), name


def _holders(root: Path, path: str, processes: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    for pid, name in processes:
        if pid != os.getpid() and any(_leads_to(fd, path) for fd in _below(root / f"proc/{pid}/fd")):
            yield pid, name


def _leads_to(link: Path, path: str) -> bool:
    try:
        return os.readlink(link) == path  # noqa: PTH115 - the kernel's text, as seen within root
    except OSError:
        return False


def _adapters(root: Path) -> list[str]:
    return [f"/dev/{found.name}" for pattern in ADAPTER_NAMES for found in _below(root / "dev", pattern)]


def _device(root: Path, path: str, groups: dict[int, str], processes: list[tuple[int, str]]) -> Device:
    uid = gid = mode = 0
    with contextlib.suppress(OSError):  # unplugged since it was listed: nobody may open it
        found = (root / path.lstrip("/")).stat()
        uid, gid, mode = found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)
    number = _text(root / "sys/class/tty" / path.rpartition("/")[2] / "dev").strip()
    lines = _text(root / f"run/udev/data/c{number}").splitlines() if number else []
    named = {f"/dev/{line[2:]}" for line in lines if line.startswith("S:serial/by-id/")}
    return Device(
        path=path,
        uid=uid,
        gid=gid,
        group=groups.get(gid, str(gid)),
        mode=mode,
        holders=tuple(sorted(_holders(root, path, processes))),
        by_id=tuple(sorted(named | _links(root, "by-id", path))),
        by_path=tuple(sorted(_links(root, "by-path", path))),
        properties=dict(line[2:].split("=", 1) for line in lines if line.startswith("E:") and "=" in line),
    )


def _links(root: Path, kind: str, path: str) -> set[str]:
    names = [f"/dev/serial/{kind}/{link.name}" for link in _below(root / "dev/serial" / kind)]
    return {name for name in names if _real(root, name) == path}


def _has_rules(root: Path, program: str) -> bool:
    return any(_below(root / folder, f"*{program}*.rules") for folder in RULE_FOLDERS)


def _throttled(root: Path) -> int | None:
    """The throttle word; newer kernels tell only its bit for undervoltage since the start, as an alarm."""
    word = _text(root / THROTTLE_FILE).strip()
    with contextlib.suppress(ValueError):
        return int(word, 16)
    for name in _below(root / "sys/class/hwmon", "*/name"):
        if _text(name).strip() == "rpi_volt":
            return 1 << 16 if _text(name.with_name("in0_lcrit_alarm")).strip() == "1" else 0
    return None

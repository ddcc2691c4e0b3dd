"""What keeps a port from being used, told from facts alone: no file is read here.

`discovery_linux` collects the facts; `examine` turns them into findings, each with what to do about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from firmware_bridge.errors import UsageError

UNSTABLE: Final = re.compile(r"/dev/tty(USB|ACM)\d+")
"""Names that the kernel gives out in the order of plugging in."""

ADAPTERS: Final = frozenset(
    {
        ("1a86", "7522"),
        ("1a86", "7523"),
        ("1a86", "5523"),
        ("1a86", "55d4"),
        ("10c4", "ea60"),
        ("10c4", "ea70"),
        ("0403", "6001"),
        ("0403", "6010"),
        ("0403", "6011"),
        ("0403", "6014"),
        ("0403", "6015"),
    }
)
"""USB vendor and product of the usual adapters (CH340 family, CP210x, FTDI), as in udev/70-quezhuo.rules."""

UNDERVOLTED_NOW: Final = 1 << 0
UNDERVOLTED_SINCE_BOOT: Final = 1 << 16
"""Bits of the throttle word (Raspberry Pi documentation, `vcgencmd get_throttled`)."""

READ_WRITE: Final = 0o6

RULE: Final = "install the udev rule of docs/wiring.md"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is in the way: a stable code, what is the matter, and what to do, each one sentence."""

    code: str
    sentence: str
    fix: str


@dataclass(frozen=True, slots=True)
class User:
    """Who wants to open the port; `groups` are those the process has, `listed` those the system lists."""

    name: str
    uid: int
    groups: frozenset[int]
    listed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Device:
    """A device file, by its real path; `mode` is its permission bits, `holders` (pid, program)."""

    path: str
    uid: int = 0
    gid: int = 0
    group: str = "dialout"
    mode: int = 0o660
    holders: tuple[tuple[int, str], ...] = ()
    by_id: tuple[str, ...] = ()
    by_path: tuple[str, ...] = ()
    properties: dict[str, str] = field(default_factory=dict)
    """udev's: ID_VENDOR_ID, ID_MODEL_ID, ID_MM_DEVICE_IGNORE, BRLTTY_BRAILLE_DRIVER, ..."""


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a look at the system gave.

    `port` is the address as configured, None when none was named; `target` the device it leads to, None when
    it leads nowhere. `running` are names of programs, `installed` those whose udev rules are there.
    `throttled` is the throttle word, None where the computer has none.
    """

    user: User
    port: str | None = None
    target: Device | None = None
    adapters: tuple[Device, ...] = ()
    running: frozenset[str] = frozenset()
    installed: frozenset[str] = frozenset()
    throttled: int | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One question: its stable name, the sentence for when all is well, and who answers it."""

    name: str
    well: str
    look: Callable[[Facts], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a check found; nothing is good."""

    check: Check
    findings: tuple[Finding, ...]


def kind_of(port: str) -> str:
    """Tell a `device`, a `pty` and a `socket` apart, with the addresses of `transport.open_port`.

    Raises:
        UsageError: no such kind of address.
    """
    if port.startswith("socket://"):
        return "socket"
    if port.startswith("pty:/"):
        return "pty"
    if port.startswith("/"):
        return "device"
    raise UsageError(
        f"{port!r} is no port; use a path like /dev/serial/by-path/..., pty:PATH or socket://HOST:PORT."
    )


@dataclass(frozen=True, slots=True)
class Targets:
    """Ports at which the machine may be, the likeliest first; none: `why` says what is in the way.

    `warning`: something to mend all the same.
    """

    ports: tuple[str, ...]
    why: Finding | None = None
    warning: Finding | None = None


def lasting(facts: Facts) -> Targets:
    """The configured port by a name that lasts, looked up once at the start.

    Later a passing name (`/dev/ttyUSB0`) may be another adapter, so nothing is ever opened by it.
    """
    port = facts.port or ""
    if not UNSTABLE.fullmatch(port):
        return Targets((port,))
    paths = () if facts.target is None else facts.target.by_path
    if not paths:
        return Targets((), why=_passing(facts))
    return Targets(
        (paths[0],),
        warning=Finding(
            "unstable_name",
            f"{port} may be another adapter after the next start; now it is {paths[0]}.",
            f'Write "{paths[0]}" instead.',
        ),
    )


def _passing(facts: Facts) -> Finding:
    paths = _paths(facts.adapters)
    return Finding(
        "port_ambiguous",
        f"{facts.port} is whichever adapter came first, so nothing is moved through it.",
        f"Use {paths}." if paths else "Plug the machine in and use its name in /dev/serial/by-path.",
    )


def targets(facts: Facts, *, uid_known: bool) -> Targets:
    """Where to look for the machine of `facts.port` now.

    Without the board's number only the port itself will do. With it, the board is looked for at every adapter
    once the port is gone or another board answers there. A name that several adapters share proves nothing,
    nor does one that does not last: it takes the number to tell them apart.
    """
    port = facts.port or ""
    if kind_of(port) != "device":
        return Targets((port,))
    if UNSTABLE.fullmatch(port):
        return Targets(_lasting_names(facts.adapters)) if uid_known else Targets((), why=_passing(facts))
    twins = tuple(device for device in facts.adapters if port in device.by_id)
    if len(twins) > 1:
        if not uid_known:
            return Targets(
                (),
                why=Finding(
                    "port_ambiguous",
                    f"{len(twins)} adapters share the name {port}, so nothing is moved through it.",
                    f"Use {_paths(twins) or 'a name in /dev/serial/by-path'}, or set the board's uid.",
                ),
            )
        return Targets(_lasting_names(twins))
    others = tuple(device for device in facts.adapters if device != facts.target) if uid_known else ()
    return Targets((port, *_lasting_names(others)))


def _lasting_names(devices: tuple[Device, ...]) -> tuple[str, ...]:
    """One lasting name a device, those without any left out."""
    return tuple(device.by_path[0] for device in devices if device.by_path)


def examine(facts: Facts) -> tuple[Answer, ...]:
    """Ask every check, in the order in which a person would mend what they find."""
    return tuple(Answer(check, tuple(check.look(facts))) for check in CHECKS)


def _usb(facts: Facts) -> bool:
    """Whether adapters matter: not for a simulated machine, nor for one behind a network bridge."""
    return facts.port is None or kind_of(facts.port) == "device"


def _looked_at(facts: Facts) -> tuple[Device, ...]:
    """The device of the port; without a port every adapter, since any may be meant."""
    if facts.port is None:
        return facts.adapters
    return () if facts.target is None else (facts.target,)


def _paths(devices: tuple[Device, ...]) -> str:
    return " or ".join(path for device in devices for path in device.by_path)


def _adapter(facts: Facts) -> Iterator[Finding]:
    # A board on a built-in UART needs none: then the port leads to a device that is no adapter.
    if _usb(facts) and not facts.adapters and facts.target is None:
        yield Finding(
            "no_adapter",
            "There is no serial adapter at all.",
            "Plug the machine's USB cable in, and try another cable: some only charge.",
        )


def _missing(facts: Facts) -> Iterator[Finding]:
    if facts.port is None or kind_of(facts.port) == "socket" or facts.target is not None:
        return
    there = _paths(facts.adapters)
    if not _usb(facts):
        start = f"quezhuo machine-sim --pty-link {facts.port.removeprefix('pty:')}"
        fix = f"Start it with `{start}`, or correct the path."
    elif there:
        fix = f"Plug the machine in, or use {there}."
    else:
        fix = "Plug the machine in, and use the name that `ls /dev/serial/by-path` shows then."
    what = "simulated machine" if not _usb(facts) else "device"
    yield Finding("port_missing", f"There is no {what} at {facts.port}.", fix)


def _allowed(device: Device, user: User) -> bool:
    if user.uid == 0:
        return True
    # The first that fits decides, also when a later one would allow more (POSIX, file access permissions).
    shift = 6 if device.uid == user.uid else 3 if device.gid in user.groups else 0
    return (device.mode >> shift) & READ_WRITE == READ_WRITE


def _denied(facts: Facts) -> Iterator[Finding]:
    user = facts.user
    for device in _looked_at(facts):
        if _allowed(device, user):
            continue
        if not _usb(facts):
            fix = f"Start machine and table as the same user, {user.name}."
        elif device.gid == 0 or (device.mode >> 3) & READ_WRITE != READ_WRITE:
            # Nobody should join the group root, and a group without rights helps nobody.
            fix = f"{RULE[:1].upper()}{RULE[1:]}, then plug the adapter in again."
        elif device.group in user.listed:
            fix = f"Log out and in again: the group {device.group} counts from the next login."
        else:
            fix = f"Run `sudo usermod -aG {device.group} {user.name}`, then log out and in again."
        yield Finding(
            "port_denied",
            f"The user {user.name} may not open {device.path}, which belongs to the group {device.group}.",
            fix,
        )


def _held(facts: Facts) -> Iterator[Finding]:
    if facts.port is not None and kind_of(facts.port) == "pty":
        return  # whoever simulates the machine may hold its own end
    for device in _looked_at(facts):
        for pid, program in device.holders:
            yield Finding(
                "port_busy",
                f"{device.path} is in use by process {pid} ({program}).",
                f"End that program first, unless it is the table itself: `kill {pid}`.",
            )


def _known(device: Device) -> bool:
    found = (device.properties.get("ID_VENDOR_ID", ""), device.properties.get("ID_MODEL_ID", ""))
    return found in ADAPTERS


def _modem_manager(facts: Facts) -> Iterator[Finding]:
    if "ModemManager" not in facts.running or not _usb(facts):
        return
    for device in facts.adapters:
        marks = (device.properties.get(f"ID_MM_{what}_IGNORE") for what in ("DEVICE", "PORT"))
        if "1" not in marks:
            yield Finding(
                "modem_manager",
                f"ModemManager runs and may talk to {device.path} as if it were a modem.",
                f"{RULE[:1].upper()}{RULE[1:]}, or run `sudo systemctl disable --now ModemManager`.",
            )


def _brltty(facts: Facts) -> Iterator[Finding]:
    """It takes the adapter away from the kernel, so its victim may be an adapter that is not to be seen."""
    runs = "brltty" in facts.running
    if not _usb(facts) or not (runs or "brltty" in facts.installed):
        return
    marked = any("BRLTTY_BRAILLE_DRIVER" in device.properties for device in facts.adapters)
    gone = not facts.adapters and facts.target is None
    if gone or marked or (runs and any(map(_known, facts.adapters))):
        yield Finding(
            "brltty",
            "brltty is there and may take the adapter for a braille display.",
            "Run `sudo apt-get remove brltty` unless somebody reads braille here, and plug in again.",
        )


def _shared(facts: Facts) -> Iterator[Finding]:
    if not _usb(facts):
        return
    names = sorted({name for device in facts.adapters for name in device.by_id})
    for name in names:
        twins = tuple(device for device in facts.adapters if name in device.by_id)
        if len(twins) > 1:
            paths = _paths(twins)
            yield Finding(
                "shared_by_id",
                f"{len(twins)} adapters share the name {name}, which leads to whichever came last.",
                f"Use {paths}." if paths else "Use the names in /dev/serial/by-path.",
            )


def _unstable(facts: Facts) -> Iterator[Finding]:
    if facts.port is None or not UNSTABLE.fullmatch(facts.port):
        return
    paths = () if facts.target is None else facts.target.by_path
    yield Finding(
        "unstable_name",
        f"{facts.port} may be another adapter after the next start.",
        f"Use {' or '.join(paths)}." if paths else "Use the adapter's name in /dev/serial/by-path.",
    )


def _power(facts: Facts) -> Iterator[Finding]:
    word = facts.throttled or 0
    if word & (UNDERVOLTED_NOW | UNDERVOLTED_SINCE_BOOT):
        when = "now" if word & UNDERVOLTED_NOW else "since it was started"
        yield Finding(
            "undervoltage",
            f"The computer had too little voltage {when}; USB adapters drop out then.",
            "Use the power supply made for this computer and a short, thick cable.",
        )


CHECKS: Final = (
    Check("power", "no undervoltage was told", _power),
    Check("adapter", "a serial adapter is there, or none is needed", _adapter),
    Check("port", "the port leads to a device, or none was named", _missing),
    Check("permission", "this user may open it", _denied),
    Check("holder", "no other program that this user may look at has it open", _held),
    Check("modem_manager", "ModemManager leaves the adapters alone", _modem_manager),
    Check("brltty", "brltty leaves the adapters alone", _brltty),
    Check("by_id", "no two adapters share a name", _shared),
    Check("name", "the port's name lasts over a restart, or none was named", _unstable),
)
"""Every check, in the order of mending."""

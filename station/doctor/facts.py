"""What a look at a process's surroundings gave, as values: `checks` makes findings of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "CameraFacts",
    "ClockFacts",
    "Facts",
    "KeyFacts",
    "LibraryFacts",
    "LinkFacts",
    "LogFacts",
    "PortFacts",
    "SettingFacts",
]


@dataclass(frozen=True, slots=True)
class LogFacts:
    """The process's log: `trouble` (sentence, fix) when it cannot be read; `bad`: the first of its last
    entries that does not hold; `last_at`: Unix seconds when its last entry was stored, if there is one."""

    path: Path
    entries: int = 0
    last_at: float | None = None
    bad: int | None = None
    trouble: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class SettingFacts:
    """A setting that the process refuses: its `key` (``central.endpoint``), why, and what to do."""

    key: str
    why: str
    fix: str


@dataclass(frozen=True, slots=True)
class ClockFacts:
    """Unix seconds `now`; `synchronised` as the kernel says, None where it does not."""

    now: float
    synchronised: bool | None = None


@dataclass(frozen=True, slots=True)
class KeyFacts:
    """A key file or list: `trouble` (sentence, fix) when it cannot be used; `fits` whether both halves of
    a pair belong together, None where there is no pair; `signs`: whether it can sign, None as well;
    `refused`: (table, why) of a list's entries whose time is over."""

    path: Path
    trouble: tuple[str, str] | None = None
    fits: bool | None = None
    signs: bool | None = None
    refused: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PortFacts:
    """An address to listen at: `error`: the errno with which it refused; `holder` (pid, program) if found."""

    setting: str
    address: str
    error: int | None = None
    holder: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """The way to a station: `unreachable` says why TCP failed; `handshake` is ``up``, ``denied``,
    ``expired``, ``revoked``, or ``silent`` (another key, or no station of ours), None when it was not tried;
    `section` of the table's configuration that names it."""

    endpoint: str
    key_file: Path
    unreachable: str | None = None
    handshake: str | None = None
    section: str = "central"


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    """A library: the version that is there (None: it is missing) and the least one."""

    name: str
    there: str | None
    least: str


@dataclass(frozen=True, slots=True)
class CameraFacts:
    """A camera: its device or folder, whether it is there and may be opened, and pictures of a folder."""

    path: Path
    there: bool
    readable: bool
    pictures: int | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a look gave.

    `home_trouble`: ``missing``, ``no_folder``, ``read_only``, ``denied``, or None. `running`: the process
    holds its log right now. `model_error`: what loading its card said; None: fine, or not needed here.
    """

    process: str
    home: Path
    clock: ClockFacts
    log: LogFacts
    user: str = "quezhuo"
    home_trouble: str | None = None
    free: int | None = None
    running: bool = False
    keys: tuple[KeyFacts, ...] = ()
    ports: tuple[PortFacts, ...] = ()
    link: LinkFacts | None = None
    standby: LinkFacts | None = None
    settings: tuple[SettingFacts, ...] = ()
    python: tuple[int, int] = (3, 11)
    wide: bool = True
    sqlite: tuple[int, ...] = (3, 40)
    libraries: tuple[LibraryFacts, ...] = ()
    model_error: str | None = None
    camera: CameraFacts | None = None

"""Opening a machine, whatever drives it: settings in, a `Machine` out.

The relay board's library is imported only when a board is wanted: it is the extra `modbus`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from firmware_bridge.abstract import Machine
from firmware_bridge.bridge import Bridge
from firmware_bridge.discovery import UNSTABLE, Finding, lasting, targets
from firmware_bridge.discovery_linux import collect
from firmware_bridge.drivers.line import Line
from firmware_bridge.drivers.modbus_press import ModbusPress
from firmware_bridge.drivers.observe import Observe
from firmware_bridge.drivers.wiring import ObserveSettings, PressSettings
from firmware_bridge.errors import MissingExtraError, PortAmbiguousError, ProfileError, UsageError
from firmware_bridge.machine import NATIVE, Capability, MachineEvent, MachineView
from firmware_bridge.profiles import load
from firmware_bridge.transport import open_port

DRIVERS: Final = ("native", "modbus_press", "observe", "none")
"""What a table's setting `driver` may be."""

_UID: Final = re.compile(r"[0-9a-fA-F]{16}")


@dataclass(frozen=True, slots=True)
class NativeSettings:
    """A board that speaks our own protocol.

    `port`: `/dev/serial/by-path/...`, `pty:PATH` or `socket://HOST:PORT`. `uid`: the board's number, 16 hex
    digits; only that one is used, and it is looked for at the other adapters when the port is gone.
    `profile`: walls and times that the board is told to keep; left out: whatever it keeps.

    Raises:
        UsageError: a value is impossible.
    """

    port: str
    uid: str | None = None
    profile: str | None = None

    def __post_init__(self) -> None:
        """Check everything at once."""
        if not self.port:
            raise UsageError("port: the machine needs one, such as /dev/serial/by-path/...")
        if self.uid is not None and not _UID.fullmatch(self.uid):
            raise UsageError(f"uid: the number of a board has 16 hex digits, unlike {self.uid!r}.")

    @property
    def capabilities(self) -> Capability:
        """What such a board can have; which of it this one has it says itself."""
        return NATIVE


Settings: TypeAlias = NativeSettings | PressSettings | ObserveSettings
Made = TypeVar("Made", NativeSettings, PressSettings, ObserveSettings)

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "str": (str,),
    "int": (int,),
    "bool": (bool,),
    "float": (int, float),
    "int | None": (int,),
    "str | None": (str,),
}
_WORDS: Final[Mapping[type, str]] = {str: "a text", int: "a whole number", bool: "true or false"}


def settings_from(kind: type[Made], table: Mapping[str, Any]) -> Made:
    """Settings of this kind from a table of a configuration file.

    Raises:
        UsageError: an unknown or missing key, or an impossible value; the message begins with the key.
        ProfileError: there is no such profile; likewise.
    """
    known = {field.name: field for field in fields(kind)}
    for key, value in table.items():
        if key not in known:
            raise UsageError(f"{key}: is no key here; use {', '.join(known)}.")
        allowed = _TYPES[str(known[key].type)]
        if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
            word = "a number" if float in allowed else _WORDS[allowed[0]]
            raise UsageError(f"{key}: takes {word}, not {value!r}.")
    missing = [name for name, field in known.items() if field.default is MISSING and name not in table]
    if missing:
        raise UsageError(f"{missing[0]}: is missing.")
    made = kind(**table)
    profile = getattr(made, "profile", None)
    if profile is not None:
        try:
            load(profile)
        except ProfileError as error:
            raise ProfileError(f"profile: {error}") from None
    return made


def with_lasting_port(settings: Settings, root: Path = Path("/")) -> tuple[Settings, Finding | None]:
    """The same settings with the port by a name that lasts, and what a person should mend in the file.

    A passing name that leads to no lasting one now stays as it is; nothing is opened by it.
    """
    if not UNSTABLE.fullmatch(settings.port):
        return settings, None
    found = lasting(collect(settings.port, root, holders=False))
    if found.why is not None:
        return settings, found.why
    return replace(settings, port=found.ports[0]), found.warning


async def probe(settings: Settings, root: Path = Path("/")) -> None:
    """Open the port of these settings once, and let it go: a wrong one is told at once.

    Raises:
        PortError: it can not be opened.
        UsageError: the address is no port.
    """
    if not settings.port:
        return
    known = isinstance(settings, NativeSettings) and settings.uid is not None
    found = targets(collect(settings.port, root, holders=False), uid_known=known)
    if found.why is not None:
        raise PortAmbiguousError(f"{found.why.sentence} {found.why.fix}")
    (await open_port(found.ports[0])).close()


def open_machine(
    settings: Settings | None,
    ledger_path: Path | str,
    *,
    on_change: Callable[[MachineView], None] | None = None,
    on_event: Callable[[MachineEvent], None] | None = None,
    root: Path = Path("/"),
    dumps: Path | None = None,
    record: Path | None = None,
    on_record_lost: Callable[[str], None] | None = None,
) -> Machine | None:
    """The machine of these settings, not yet running; None: a table without one.

    Args:
        settings: of the driver that is wanted.
        ledger_path: command ledger of whatever moves.
        on_change: called with each new view.
        on_event: called with each event.
        root: folder below which adapters are looked for.
        dumps, record, on_record_lost: what is kept of the line of our own board; see `bridge.Bridge`.

    Raises:
        MissingExtraError: the driver needs a library that is not installed.
        LedgerError: the ledger can not be used.
        ProfileError: there is no such profile.
    """
    match settings:
        case None:
            return None
        case NativeSettings(port, uid, profile):
            known = uid is not None
            return Bridge(
                port,
                ledger_path,
                uid=uid,
                config=None if profile is None else load(profile).config(),
                targets=lambda: targets(collect(port, root, holders=False), uid_known=known),
                on_change=on_change,
                on_event=on_event,
                dumps=dumps,
                record=record,
                on_record_lost=on_record_lost,
            )
        case PressSettings():
            board = _board(settings)
            return ModbusPress(settings, board, ledger_path, on_change=on_change, on_event=on_event)
        case ObserveSettings():
            wired = _board(settings) if settings.port else None
            return Observe(settings, wired, on_change=on_change, on_event=on_event)


def _board(settings: PressSettings | ObserveSettings) -> Line:
    try:
        from firmware_bridge.drivers.relay_board import RelayBoard
    except ImportError as error:
        raise MissingExtraError(str(error)) from None
    return RelayBoard(settings.port, settings.address, settings.baud, settings.reply_s)

"""The fault menu: what `--faults` understands.

Comma-separated items, each once or as a rate:

    drop=0.05  flip=0.01  dup=0.05  garbage=0.02      any frame, either way (chance 0..1)
    cmd-lost=0.1  ack-lost=0.1  done-lost=0.1         frames of that kind only
    reorder=0.05                                      any frame is overtaken by the next one
    echo=0.2                                          any frame also comes back to its sender
    delay=20ms                                        the line is slow
    coalesce=16ms                                     what is sent within so long arrives as one chunk
    mute=3s  mute=3s@deal                             the line is dead for so long, once (in the middle of the
                                                      next motion, or of the next one of that kind)
    stall=1s  stall=1s@deal                           nothing arrives for so long, then all at once,
                                                      once, likewise
    reboot  reboot@deal                               the board resets, once, likewise
    jam=2@build                                       tiles jam at place 2, once
    missing=1@build                                   so many tiles are missing, once
    stuck@raise  stuck@open                           lift or lid does not reach its switch, once
    button@deal                                       the maker's open button is pressed, once, likewise
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from firmware_bridge import messages as m
from firmware_bridge.errors import UsageError
from firmware_bridge.interlock import Fault
from firmware_bridge.machine import FaultReport
from firmware_bridge.ops import PLACES, Op
from firmware_bridge.sim.faulty import Rates

LONGEST_S: Final = 86_400.0
"""Seconds a fault may last."""

MOTIONS: Final[Mapping[str, Op]] = {
    "open": Op.OPEN_LID,
    "close": Op.CLOSE_LID,
    "build": Op.START_BUILD,
    "raise": Op.RAISE_WALLS,
    "deal": Op.DEAL,
    "lower": Op.LOWER,
    "dice": Op.ROLL_DICE,
    "flip": Op.FLIP_INDICATOR,
}


@dataclass(frozen=True, slots=True)
class Accident:
    """Something that happens once, halfway through a motion: `what` is mute, stall, reboot or button.

    `op` None: of whichever motion comes first. `seconds` of muteness or stalling.
    """

    what: str
    op: Op | None
    seconds: float = 0.0


@dataclass(slots=True)
class FaultPlan:
    """All that a simulated machine will do wrong."""

    to_device: Rates = field(default_factory=Rates)
    to_host: Rates = field(default_factory=Rates)
    delay: float = 0.0
    coalesce: float = 0.0
    trouble: list[tuple[Op, FaultReport]] = field(default_factory=list)
    accidents: list[Accident] = field(default_factory=list)


def parse_faults(spec: str) -> FaultPlan:
    """The plan of a `--faults` text; empty text: no faults.

    Raises:
        UsageError: an item that is not on the menu.
    """
    plan = FaultPlan()
    for item in filter(None, (part.strip() for part in spec.split(","))):
        head, _, where = item.partition("@")
        name, _, value = head.partition("=")
        handler = _MENU.get(name)
        if handler is None:
            raise UsageError(f"{item!r} is no fault; use some of {', '.join(_MENU)}.")
        try:
            handler(plan, name, value, _motion(item, where))
        except ValueError:
            raise UsageError(
                f"The value in {item!r} can not be read; see the fault menu in --help."
            ) from None
    return plan


def _motion(item: str, where: str) -> Op | None:
    if not where:
        return None
    if where not in MOTIONS:
        raise UsageError(f"{item!r} names no motion; use one of {', '.join(MOTIONS)}.")
    return MOTIONS[where]


def _chance(value: str) -> float:
    chance = float(value)
    if not 0 <= chance <= 1:
        raise ValueError(value)
    return chance


def _seconds(value: str) -> float:
    scale, number = (1000, value[:-2]) if value.endswith("ms") else (1, value.removesuffix("s"))
    seconds = float(number) / scale
    if not 0 <= seconds <= LONGEST_S:
        raise ValueError(value)
    return seconds


def _rate(plan: FaultPlan, name: str, value: str, op: Op | None) -> None:
    del op
    attribute = {"dup": "duplicate"}.get(name, name)
    for rates in (plan.to_device, plan.to_host):
        setattr(rates, attribute, _chance(value))


def _lose(plan: FaultPlan, name: str, value: str, op: Op | None) -> None:
    del op
    if name == "cmd-lost":
        plan.to_device.kinds[m.Command.KIND] = _chance(value)
    else:
        kind = m.CommandAck.KIND if name == "ack-lost" else m.CommandDone.KIND
        plan.to_host.kinds[kind] = _chance(value)


def _slow(plan: FaultPlan, name: str, value: str, op: Op | None) -> None:
    del op
    setattr(plan, name, _seconds(value))


def _accident(plan: FaultPlan, name: str, value: str, op: Op | None) -> None:
    plan.accidents.append(Accident(name, op, _seconds(value) if name in ("mute", "stall") else 0.0))


def _jam(plan: FaultPlan, name: str, value: str, op: Op | None) -> None:
    del name
    place = int(value)
    if not 0 <= place < PLACES:
        raise ValueError(value)
    plan.trouble.append((op or Op.START_BUILD, FaultReport(Fault.JAM, place)))


def _missing(plan: FaultPlan, name: str, value: str, op: Op | None) -> None:
    del name
    count = int(value)
    if not 1 <= count <= 100:
        raise ValueError(value)
    plan.trouble.append((op or Op.START_BUILD, FaultReport(Fault.TILES_SHORT, None, count)))


def _stuck(plan: FaultPlan, name: str, value: str, op: Op | None) -> None:
    del name, value
    target = op or Op.RAISE_WALLS
    lid = target in (Op.OPEN_LID, Op.CLOSE_LID)
    plan.trouble.append((target, FaultReport(Fault.LID_TIMEOUT if lid else Fault.LIFT_TIMEOUT)))


_Handler = Callable[[FaultPlan, str, str, Op | None], None]

_MENU: Final[Mapping[str, _Handler]] = {
    "drop": _rate,
    "flip": _rate,
    "dup": _rate,
    "garbage": _rate,
    "reorder": _rate,
    "echo": _rate,
    "cmd-lost": _lose,
    "ack-lost": _lose,
    "done-lost": _lose,
    "delay": _slow,
    "coalesce": _slow,
    "mute": _accident,
    "stall": _accident,
    "reboot": _accident,
    "button": _accident,
    "jam": _jam,
    "missing": _missing,
    "stuck": _stuck,
}

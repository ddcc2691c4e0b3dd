"""Reads what a simulated machine shall do wrong: comma-separated items of the fault menu, as a plan.

What a fault leaves behind, so that every firmware can be held to it, is said in `plant.LEAVES`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from firmware_bridge import messages as m
from firmware_bridge.errors import UsageError
from firmware_bridge.interlock import Fault
from firmware_bridge.machine import FaultReport
from firmware_bridge.ops import PLACES, Op
from firmware_bridge.sim.faulty import Rates
from firmware_bridge.sim.menu import MENU, MOTIONS, NOW, Item, Takes, When

LONGEST_S: Final = 86_400.0
"""Seconds a fault may last."""

MOST_TILES: Final = 100
"""Tiles that may be missing or too many."""


@dataclass(frozen=True, slots=True)
class Accident:
    """Something that happens once, by itself: `what` is the name of an item of `When.HALFWAY`.

    Halfway through a motion of kind `op` (None: of whichever comes first), or `now`. `seconds` it lasts.
    """

    what: str
    op: Op | None
    seconds: float = 0.0
    now: bool = False


@dataclass(slots=True)
class FaultPlan:
    """All that a simulated machine will do wrong. `named`: the items it was made from, `spec`: its text."""

    to_device: Rates = field(default_factory=Rates)
    to_host: Rates = field(default_factory=Rates)
    delay: float = 0.0
    coalesce: float = 0.0
    trouble: list[tuple[Op, FaultReport]] = field(default_factory=list)
    accidents: list[Accident] = field(default_factory=list)
    named: frozenset[str] = frozenset()
    spec: str = ""


def parse_faults(spec: str) -> FaultPlan:
    """The plan of a spec; empty text: no faults.

    Raises:
        UsageError: an item that is not on the menu, or not in its form; one line that names both.
    """
    plan = FaultPlan(spec=spec)
    seen: set[tuple[str, Op | None]] = set()
    for text in filter(None, (part.strip() for part in spec.split(","))):
        wish = _read(text)
        _enter(plan, wish)
        key = (wish.item.name, wish.op)
        if key in seen:
            raise _wrong(text, "stands there twice", wish.item)
        seen.add(key)
    plan.named = frozenset(name for name, _ in seen)
    return plan


@dataclass(frozen=True, slots=True)
class _Wish:
    """An item that was read. `numbers`: those of its value, in the order of its form."""

    item: Item
    op: Op | None
    now: bool
    numbers: tuple[float, ...]


def _wrong(text: str, why: str, item: Item) -> UsageError:
    return UsageError(f"{text!r} {why}. Write {item.form}, such as {item.example}.")


def _read(text: str) -> _Wish:
    head, at, where = text.partition("@")
    name, equals, value = head.partition("=")
    item = MENU.get(name)
    if item is None:
        raise UsageError(f"{text!r} is no fault; use some of {', '.join(MENU)}.")
    motion = _motion(text, item, where) if at else None
    if item.takes is Takes.NOTHING and equals:
        raise _wrong(text, "takes no value", item)
    if not value and (equals or item.takes not in (Takes.NOTHING, Takes.PLACE_OR_NOTHING)):
        raise _wrong(text, "lacks its value", item)
    try:
        numbers = _numbers(item.takes, value)
    except ValueError:
        raise _wrong(text, f"has a value that is no {item.takes.form.strip('[]')}", item) from None
    op = MOTIONS[motion] if motion not in (None, NOW) else None
    if op is None and item.when is When.MOTION:
        op = MOTIONS[item.motions[0]]
    return _Wish(item, op, motion == NOW, numbers)


def _motion(text: str, item: Item, where: str) -> str:
    known = (*item.motions, NOW) if item.when is When.HALFWAY else (*item.motions, *item.odd)
    if not known:
        raise _wrong(text, "takes no motion", item)
    if not where:
        raise _wrong(text, "names no motion after @", item)
    if where not in known:
        raise _wrong(text, f"names a motion that is none of {', '.join(known)}", item)
    return where


def _numbers(takes: Takes, value: str) -> tuple[float, ...]:
    match takes:
        case Takes.NOTHING:
            return ()
        case Takes.CHANCE:
            return (_within(float(value), 0, 1),)
        case Takes.SECONDS:
            return (_seconds(value),)
        case Takes.PLACE:
            return (_whole(value, 0, PLACES - 1),)
        case Takes.PLACE_OR_NOTHING:
            return (_whole(value, 0, PLACES - 1),) if value else ()
        case Takes.TILES:
            return (_whole(value, 1, MOST_TILES),)
        case Takes.TILES_AT_PLACE:
            tiles, colon, place = value.partition(":")
            at = (_whole(place, 0, PLACES - 1),) if colon else ()
            return (_whole(tiles, 1, MOST_TILES), *at)


def _within(number: float, low: float, high: float) -> float:
    if not low <= number <= high:
        raise ValueError(number)
    return number


def _whole(value: str, low: int, high: int) -> int:
    if not (value.isascii() and value.isdigit()):
        raise ValueError(value)
    return int(_within(int(value), low, high))


def _seconds(value: str) -> float:
    scale, number = (1000, value[:-2]) if value.endswith("ms") else (1, value.removesuffix("s"))
    seconds = float(number) / scale
    if not math.isfinite(seconds):
        raise ValueError(value)
    return _within(seconds, 0, LONGEST_S)


def _enter(plan: FaultPlan, wish: _Wish) -> None:
    match wish.item.when:
        case When.ALWAYS:
            _worsen(plan, wish.item.name, wish.numbers[0])
        case When.MOTION:
            assert wish.op is not None
            plan.trouble.append((wish.op, _report(wish.item.name, wish.op, wish.numbers)))
        case When.HALFWAY:
            seconds = wish.numbers[0] if wish.numbers else 0.0
            plan.accidents.append(Accident(wish.item.name, wish.op, seconds, wish.now))


def _worsen(plan: FaultPlan, name: str, amount: float) -> None:
    lost = {"ack-lost": m.CommandAck.KIND, "done-lost": m.CommandDone.KIND}
    if name in ("delay", "coalesce"):
        setattr(plan, name, amount)
    elif name == "cmd-lost":
        plan.to_device.kinds[m.Command.KIND] = amount
    elif name in lost:
        plan.to_host.kinds[lost[name]] = amount
    else:
        for rates in (plan.to_device, plan.to_host):
            setattr(rates, {"dup": "duplicate"}.get(name, name), amount)


def _report(name: str, op: Op, numbers: Sequence[float]) -> FaultReport:
    whole = [int(number) for number in numbers]
    match name:
        case "jam":
            return FaultReport(Fault.JAM, whole[0])
        case "missing":
            return FaultReport(Fault.TILES_SHORT, whole[1] if len(whole) > 1 else None, whole[0])
        case "extra":
            return FaultReport(Fault.TILES_OVER, None, whole[0])
        case "sensor":
            return FaultReport(Fault.SENSOR_STUCK, whole[0] if whole else None)
        case _:
            lid = op in (Op.OPEN_LID, Op.CLOSE_LID)
            return FaultReport(Fault.LID_TIMEOUT if lid else Fault.LIFT_TIMEOUT)


def tells(plan: FaultPlan) -> tuple[str, ...]:
    """What a table says when a plan has come true: sentence codes, the most important first.

    Trouble of the line that repetition cures says nothing.
    """
    codes: list[str] = []
    for op, report in plan.trouble:
        if op in _CUTS:
            codes.append("machine.hold")
        codes.append(f"machine.fault.{report.code}")
    for accident in plan.accidents:
        codes += _SAYS.get(accident.what, ())
    return tuple(dict.fromkeys(codes))


_CUTS: Final = frozenset({Op.RAISE_WALLS, Op.DEAL, Op.LOWER, Op.ROLL_DICE, Op.FLIP_INDICATOR})
_SAYS: Final[Mapping[str, tuple[str, ...]]] = {
    "reboot": ("machine.recover",),
    "brownout": ("machine.recover",),
    "power": ("machine.down", "machine.recover"),
    "estop": ("machine.estop",),
    "button": ("intake_opened_early",),
    "mute": ("machine.suspect",),
    "stall": ("machine.suspect",),
}

"""What a controller decides by itself and forgets at a reset: lock, hand number, stop, faults, lamps."""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware_bridge.interlock import Fault, HandEffect, Surface, effect_of
from firmware_bridge.machine import FaultReport
from firmware_bridge.ops import Args, Op, Value


@dataclass(slots=True)
class Latches:
    """The defaults are the safe side."""

    locked: bool = True
    hand_no: int | None = None
    estop: bool = False
    faults: list[FaultReport] = field(default_factory=list)
    lamps: dict[int, int] = field(default_factory=dict)

    def apply(self, op: Op, args: Args, surface: Surface) -> None:
        """What an operation that began on such a surface does to lock and hand number."""
        change = effect_of(op, surface=surface)
        if change.locked is not None:
            self.locked = change.locked
        match change.hand:
            case HandEffect.ZERO:
                self.hand_no = 0
            case HandEffect.GIVEN:
                self.hand_no = _number(args["hand"])
            case HandEffect.NEXT:
                self.hand_no = (self.hand_no or 0) + 1
            case HandEffect.KEEP:
                pass

    def light(self, args: Args) -> None:
        """A lamp shows a pattern."""
        self.lamps[_number(args["place"])] = _number(args["pattern"])

    def clear(self) -> None:
        """A person put it all right."""
        self.estop = False
        self.faults.clear()

    def end_hold(self) -> None:
        """What was cut goes on, or is given up."""
        ended = (Fault.LEASE_EXPIRED, Fault.HELD, Fault.ESTOPPED)
        self.faults = [report for report in self.faults if report.fault not in ended]

    def hold(self, fault: Fault) -> None:
        """Something was cut because of this."""
        if all(report.fault is not fault for report in self.faults):
            self.faults.append(FaultReport(fault))

    def report(self, report: FaultReport) -> None:
        """A fault, in place of an older report of the same fault at the same place."""
        place = (report.fault, report.place)
        self.faults = [old for old in self.faults if (old.fault, old.place) != place] + [report]


def _number(value: Value) -> int:
    return value if isinstance(value, int) else value[0]

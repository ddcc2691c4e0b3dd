"""What makes the items of the fault menu happen to a device and its two lines, at the right moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from firmware_bridge.interlock import Surface
from firmware_bridge.messages import ResetCause
from firmware_bridge.sim.device import Device
from firmware_bridge.sim.faults import Accident, FaultPlan, parse_faults
from firmware_bridge.sim.faulty import FaultyLine, Rates

NOTHING: Final = "none"
"""The word that takes all faults back."""

_RESETS: Final = {"reboot": ResetCause.WATCHDOG, "brownout": ResetCause.BROWN_OUT}


class Mishaps:
    """Faults of one simulated machine, those of the start and those that come later.

    Args:
        device: what they happen to.
        to_device, to_host: its lines; the rates given here are changed in place.
        numbers: fresh 32-bit numbers, for boot ids.
    """

    def __init__(
        self, device: Device, to_device: FaultyLine, to_host: FaultyLine, numbers: Callable[[], int]
    ) -> None:
        self.device = device
        self.waiting: list[Accident] = []
        """What has not happened yet."""
        self._lines = (to_device, to_host)
        self._numbers = numbers
        self._power_at: float | None = None

    def order(self, words: str, now: float) -> None:
        """Take a line of the control: items of the menu, or `none`.

        Raises:
            UsageError: not on the menu; nothing of the line is taken then.
        """
        if words.strip() == NOTHING:
            self.forget()
        else:
            self.add(parse_faults(words), now)

    def add(self, plan: FaultPlan, now: float) -> None:
        """Let these happen too. What waits already is not doubled; rates replace those of the same name."""
        for line, rates in zip(self._lines, (plan.to_device, plan.to_host), strict=True):
            _merge(line, rates, plan)
        trouble = self.device.plant.trouble
        trouble += [wish for wish in plan.trouble if wish not in trouble]
        for accident in plan.accidents:
            if accident.now:
                self._happen(accident, now)
            elif accident not in self.waiting:
                self.waiting.append(accident)

    def forget(self) -> None:
        """Everything is well from now on; what has happened already has happened."""
        for line in self._lines:
            line.rates = Rates()
            line.delay = line.coalesce = 0.0
        self.device.plant.trouble.clear()
        self.waiting.clear()

    def look(self, now: float) -> None:
        """Let happen what is due."""
        if self._power_at is not None and now >= self._power_at:
            self._power_at = None
            self.device.reset(self._numbers(), ResetCause.POWER_ON, now)
        for accident in [accident for accident in self.waiting if self._due(accident)]:
            self.waiting.remove(accident)
            self._happen(accident, now)

    def _due(self, accident: Accident) -> bool:
        plant = self.device.plant
        if accident.what == "taken":
            return plant.sensors.surface is Surface.WALLS_UP
        halfway = {motion.op for motion in plant.motions.values() if motion.share >= 0.5}
        return bool(halfway) and (accident.op is None or accident.op in halfway)

    def _happen(self, accident: Accident, now: float) -> None:
        until = now + accident.seconds
        match accident.what:
            case "mute":
                self._mute(until)
            case "stall":
                for line in self._lines:
                    line.stall(until)
            case "power":
                # Off at once, and the board of before is gone; what wakes up is another one.
                self._mute(until)
                self.device.reset(self._numbers(), ResetCause.POWER_ON, now)
                self._power_at = until
            case "reboot" | "brownout":
                self.device.reset(self._numbers(), _RESETS[accident.what], now)
            case "estop":
                self.device.press_stop()
            case "taken":
                self.device.plant.take_tile()
            case _:
                self.device.button()

    def _mute(self, until: float) -> None:
        for line in self._lines:
            line.mute(until)


def _merge(line: FaultyLine, rates: Rates, plan: FaultPlan) -> None:
    for name in ("drop", "flip", "duplicate", "garbage", "reorder", "echo"):
        if {"duplicate": "dup"}.get(name, name) in plan.named:
            setattr(line.rates, name, getattr(rates, name))
    line.rates.kinds.update(rates.kinds)
    if "delay" in plan.named:
        line.delay = plan.delay
    if "coalesce" in plan.named:
        line.coalesce = plan.coalesce

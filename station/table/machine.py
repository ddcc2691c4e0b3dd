"""The machine as the table shows and recovers it."""

from __future__ import annotations

from typing import Any

from firmware_bridge.abstract import Choice, Machine
from firmware_bridge.machine import MachineView, Outcome
from firmware_bridge.ops import Op

_CHOICES: dict[str, Choice] = {"finish": "finish", "lower": "lower", "leave": "leave"}


def machine_object(view: MachineView) -> dict[str, Any]:
    """Return what the screens need of the machine, ready for JSON."""
    return {
        "link": view.link.value,
        "surface": view.surface.name,
        "magazine": view.magazine.name,
        "lid": view.lid.name,
        "locked": view.locked,
        "hand_no": view.hand_no,
        "progress": list(view.progress),
        "walls": list(view.walls),
        "fault": view.fault,
        "hold": view.hold,
        "estop": view.estop,
        "moving": [active.op.name for active in view.active],
        "indicator_up": view.indicator_up,
        "code": view.code,
    }


async def recover(machine: Machine, choice: str, machine_hand: int | None) -> Outcome:
    """Carry out a person's choice: adopt the hand after a power-up, clear a fault, or end a cut motion.

    Faults are cleared first: that a person chooses means that a person looked.
    """
    if choice == "adopt":
        return await machine.execute(Op.ADOPT, hand=machine_hand if machine_hand is not None else 0)
    if machine.view.faults:
        cleared = await machine.execute(Op.CLEAR)
        if choice == "clear" or not cleared.done:
            return cleared
    return await machine.recover(_CHOICES[choice])

"""The machine as the table shows and recovers it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from engine.rulesets import RuleSet
from firmware_bridge import profiles
from firmware_bridge.abstract import Machine
from firmware_bridge.interlock import RULES, Lane, Surface
from firmware_bridge.machine import Capability, MachineView, Outcome
from firmware_bridge.ops import Op, Quad
from station.places import by_side
from station.session import Session, Stage
from station.table.conductor import CUT_CHOICES
from station.table.config import TableConfig
from station.table.decide import Device


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
        "fault_side": view.faults[0].place if view.faults else None,
        "fault_tiles": view.faults[0].count if view.faults else 0,
        "hold": view.hold,
        "estop": view.estop,
        "moving": [active.op.name for active in view.active],
        "indicator_up": view.indicator_up,
        "code": view.code,
        "uid": view.uid,
        "port": view.port,
        "capabilities": names_of(view.capabilities),
        "advisory": view.advisory,
    }


def names_of(able: Capability) -> list[str]:
    """Return the names of capabilities, for screens and scripts."""
    return [one.name.lower() for one in Capability if one in able and one.name]


def next_walls_stand(view: MachineView, session: Session) -> bool:
    """Tell whether people have run the machine's own cycle before the tap: the next hand's walls stand.

    Only where they can: our own board raises nothing before the tap.
    """
    between = session.stage in (Stage.START, Stage.RULED)
    newer = view.hand_no is not None and view.hand_no != session.machine_hand
    by_people = Capability.CYCLES not in view.capabilities
    return by_people and between and session.released and newer and view.surface is Surface.WALLS_UP


def holds_other_hand(view: MachineView, session: Session) -> bool:
    """Tell whether the machine is locked with a hand that this log never booked, so that nobody releases it.

    One of another session, or one that was given up while the machine was away: a person unlocks it, with a
    reason.
    """
    ended = session.stage in (Stage.RULED, Stage.CLOSED) and not session.released
    held = view.ready and view.locked and view.hand_no is not None
    unknown = session.machine_hand is None or view.hand_no != session.machine_hand
    return ended and held and unknown and Capability.CYCLES in view.capabilities


def device_of(view: MachineView, session: Session) -> Device:
    """Return the machine as decisions see it.

    A machine that is away may still hold the hand it was last told to keep. One that moves nothing holds
    nothing, and nobody waits for it.
    """
    if Capability.MOVES not in view.capabilities:
        return Device()
    if next_walls_stand(view, session):
        return Device()
    if not view.ready:
        held = None if session.released else session.machine_hand
        return Device(held=held, away=view.code)
    moving = any(RULES[active.op].lane is Lane.SURFACE for active in view.active)
    return Device(held=view.hand_no if view.locked else None, moving=moving)


async def recover(machine: Machine, choice: str, machine_hand: int | None) -> Outcome | None:
    """Carry out a person's choice: adopt the hand after a power-up, clear a fault, or end a cut motion.

    Faults are cleared first: that a person chooses means that a person looked.

    Returns:
        how the last command ended; None if none was needed, because nothing is wrong any more.
    """
    if choice == "adopt":
        return await machine.execute(Op.ADOPT, hand=machine_hand if machine_hand is not None else 0)
    cleared = None
    if machine.view.faults or machine.view.estop:
        cleared = await machine.execute(Op.CLEAR)
    if choice == "clear" or (cleared is not None and not cleared.done):
        return cleared
    return await machine.execute(CUT_CHOICES[choice])


def deals_directly(view: MachineView, config: TableConfig) -> Quad | None:
    """Return the tiles per side that this machine lays before the players; None: it raises all as walls.

    By the profile that the board keeps: one of this program, or the one that the table's file names.
    """
    name = view.profile
    if not profiles.is_known(name):
        name = config.profile or str(config.native.get("profile") or "")
        if not name or _profile(name).id != view.profile:
            return None
    profile = _profile(name)
    return profile.dealt if profile.deals_directly else None


_profile = cache(profiles.load)
"""Asked for at every step; a file is read once, when the table begins."""


def has_other_set(view: MachineView, rules: RuleSet, sides: Sequence[int]) -> bool:
    """Tell whether a machine builds other walls than the rule set's deal wants.

    A machine whose profile does not come with this program, or is not known yet, is believed.
    """
    if not profiles.is_known(view.profile):
        return False
    profile, stacks = profiles.load(view.profile), rules.deal_pattern.stacks
    if profile.deals_directly:  # its walls are lower by what lies before the players
        return profile.tiles != 2 * sum(stacks)
    return profile.walls != by_side(stacks, sides)

"""When a machine may move. Everything about permission lives here.

Host, simulated machine and firmware decide by the same table (protocol/protocol.toml): `may_move` looks a
rule up and checks its conditions in one fixed order, so that the same state always gives the same reason.
`effect` is what an operation has changed when it is done.

The rules in words: whatever takes tiles in is refused while the device is locked; it is locked at
power-up and by every deal, and unlocked by releasing exactly the hand in play, or by a start when
nothing is in play. Building the other set does not depend on the lock. Nothing moves without a live
lease, under a latched stop, or before a person has said whether a hand is in play. A motion that was
cut stays cut until a person chooses.

This is a convenience for the people at the table, not a safety function: the normally closed
hardware loop that removes motor power is. No software here claims a safety rating.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from firmware_bridge.ops import Args, Op, Quad
from firmware_bridge.rulebase import Case, Effect, Rule
from firmware_bridge.wire.enums import (
    Fault,
    Hand,
    HandEffect,
    Lane,
    Lid,
    Magazine,
    Reason,
    Surface,
)
from firmware_bridge.wire.rules import BLOCKS, EFFECTS, EFFECTS_FROM, RULES

__all__ = [
    "BLOCKS",
    "EFFECTS",
    "EFFECTS_FROM",
    "RULES",
    "Allowed",
    "Case",
    "Decision",
    "Effect",
    "Fault",
    "Hand",
    "HandEffect",
    "Lane",
    "Lid",
    "Magazine",
    "Reason",
    "Refused",
    "Rule",
    "State",
    "Surface",
    "effect",
    "effect_of",
    "may_move",
]


@dataclass(frozen=True, slots=True)
class State:
    """All that permission depends on, as the device knows it. Defaults: just powered up, empty."""

    surface: Surface = Surface.CLEAR
    magazine: Magazine = Magazine.EMPTY
    lid: Lid = Lid.CLOSED
    locked: bool = True
    hand_no: int | None = None
    lease: bool = False
    estop: bool = False
    hold: bool = False
    faults: frozenset[Fault] = frozenset()
    running: frozenset[Op] = frozenset()
    """Operations in motion now."""
    cut: frozenset[Op] = frozenset()
    """Operations stopped halfway; not empty exactly when `hold`."""
    drum: bool = False
    """A loose set lies in the drum (also while a built one is in the magazine)."""
    taken: bool = False
    """A tile was taken from the raised walls."""
    service: bool = False
    """The service key is held."""
    stacks: Quad = (0, 0, 0, 0)
    """Stacks built in the magazine, per place."""
    walls: Quad = (0, 0, 0, 0)
    """Stacks standing on the surface, per place."""
    plan: Quad = (17, 17, 17, 17)
    """Stacks per place of the machine's profile."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """Go."""


@dataclass(frozen=True, slots=True)
class Refused:
    """No, and why."""

    reason: Reason


Decision: TypeAlias = Allowed | Refused


def may_move(state: State, op: Op, args: Args | None = None) -> Decision:
    """Whether the machine may do `op` in `state`.

    Conditions are checked in the order of `Reason`; the first that fails is the answer.
    """
    rule = RULES[op]
    given: Args = args or {}
    for check in (_latches, _hand, _motion, _place):
        reason = check(state, op, rule, given)
        if reason is not None:
            return Refused(reason)
    return Allowed()


def _latches(state: State, op: Op, rule: Rule, args: Args) -> Reason | None:
    del args
    if state.estop and not rule.under_estop:
        return Reason.ESTOP
    if any(op in BLOCKS[fault] for fault in state.faults):
        return Reason.FAULT
    return None


def _hand(state: State, op: Op, rule: Rule, args: Args) -> Reason | None:
    del op
    if rule.hand is Hand.NONE and state.hand_no is not None:
        return Reason.ALREADY_STARTED
    if rule.hand in (Hand.KNOWN, Hand.SAME) and state.hand_no is None:
        return Reason.NOT_STARTED
    if rule.hand is Hand.SAME and args.get("hand") != state.hand_no:
        return Reason.WRONG_HAND
    return None


def _motion(state: State, op: Op, rule: Rule, args: Args) -> Reason | None:
    del op
    if rule.unlocked and state.locked:
        return Reason.INTERLOCK
    if state.hold and rule.motion and not rule.works_held:
        return Reason.HOLD
    if rule.needs_hold and not state.hold:
        return Reason.NOTHING_CUT
    if _busy(state, rule):
        return Reason.BUSY
    if rule.motion and not state.lease:
        return Reason.NO_LEASE
    if rule.service and not (state.service and args.get("nobody") == 1):
        return Reason.SERVICE_KEY
    return None


def _busy(state: State, rule: Rule) -> bool:
    if rule.still:
        return bool(state.running)
    if state.running & rule.not_during:
        return True
    return rule.motion and any(RULES[other].lane is rule.lane for other in state.running)


def _resumable(state: State) -> Reason | None:
    """What was cut goes on only where it might begin; a service motion never: its word was given once."""
    if any(RULES[op].service for op in state.cut):
        return Reason.SERVICE_KEY
    return Reason.LID if any(RULES[op].lid not in (None, state.lid) for op in state.cut) else None


def _place(state: State, op: Op, rule: Rule, args: Args) -> Reason | None:
    if op is Op.RESUME:
        return _resumable(state)
    if rule.lid is not None and state.lid is not rule.lid:
        return Reason.LID
    if op is Op.CLEAR and not state.estop and not state.faults:
        return Reason.NOTHING_TO_CLEAR
    if not rule.cases:
        return None
    cases = [case for case in rule.cases if _held_alike(state, case)]
    if not cases:
        return Reason.HOLD
    cases = [case for case in cases if case.surfaces is None or state.surface in case.surfaces]
    if not cases:
        return Reason.SURFACE
    cases = [case for case in cases if case.magazines is None or state.magazine in case.magazines]
    if not cases:
        return Reason.MAGAZINE
    if rule.untaken and state.taken:
        return Reason.TILES_TAKEN
    if not any(not case.counts or _counts_fit(state, op, args) for case in cases):
        return Reason.COUNTS
    return None


def _held_alike(state: State, case: Case) -> bool:
    return bool(state.cut & case.cut) if state.hold else not case.cut


def _counts_fit(state: State, op: Op, args: Args) -> bool:
    """The built stacks equal the plan, and a deal hands out some, but no more than there are."""
    from_walls = state.surface is Surface.WALLS_UP
    stacks = state.walls if from_walls else state.stacks
    asked = args.get("stacks")
    plan = asked if isinstance(asked, tuple) and any(asked) else state.plan
    if stacks != plan:
        return False
    if op is not Op.DEAL:
        return True
    tiles = args.get("tiles")
    return isinstance(tiles, tuple) and 0 < sum(tiles) <= 2 * sum(stacks)


def effect_of(op: Op, *, surface: Surface) -> Effect:
    """The effect of `op` begun on this surface."""
    return EFFECTS_FROM.get((op, surface)) or EFFECTS.get(op, Effect())


def effect(state: State, op: Op, args: Args | None = None) -> State:
    """`state` after `op` is done: surface, magazine, lid, lock and hand number only.

    Counts of tiles are the machine's sensors' and are not derived here.
    """
    change = effect_of(op, surface=state.surface)
    magazine = state.magazine if change.magazine is None else change.magazine
    drum = state.drum
    if op is Op.START_BUILD:
        drum = False
    if change.tiles_in:
        drum = True
        magazine = Magazine.LOADED if magazine is Magazine.EMPTY else magazine
    if change.magazine_leaves:
        magazine = Magazine.LOADED if drum else Magazine.EMPTY
    return replace(
        state,
        surface=state.surface if change.surface is None else change.surface,
        magazine=magazine,
        lid=state.lid if change.lid is None else change.lid,
        locked=state.locked if change.locked is None else change.locked,
        hand_no=_next_hand(state.hand_no, change.hand, args or {}),
        drum=drum,
    )


def _next_hand(hand_no: int | None, change: HandEffect, args: Args) -> int | None:
    if change is HandEffect.ZERO:
        return 0
    if change is HandEffect.NEXT:
        return (hand_no or 0) + 1
    if change is HandEffect.GIVEN:
        given = args["hand"]
        return given if isinstance(given, int) else given[0]
    return hand_no

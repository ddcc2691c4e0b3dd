"""When a machine may move, as data. Everything about permission lives here.

Host, simulated machine and firmware decide by the same table: `may_move` looks a rule up and checks
its conditions in one fixed order, so that the same state always gives the same reason. `effect` is
what an operation has changed when it is done.

The rules in words: whatever takes tiles in is refused while the device is locked; it is locked at
power-up and by every deal, and unlocked by releasing exactly the hand in play, or by a start when
nothing is in play. Building the other set does not depend on the lock. Nothing moves without a live
lease, under a latched stop, or before a person has said whether a hand is in play. A motion that was
cut stays cut until a person chooses.

This is a convenience for the people at the table, not a safety function: the normally closed
hardware loop that removes motor power is. No software here claims a safety rating.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, IntEnum, auto
from typing import Final, TypeAlias

from firmware_bridge.ops import Args, Op, Quad


class Surface(IntEnum):
    """What lies on the table top."""

    UNKNOWN = 0
    CLEAR = 1
    WALLS_UP = 2
    DEALT = 3
    """Tiles lie on the surface for play: dealt, or taken from raised walls."""
    COLLECTING = 4


class Magazine(IntEnum):
    """What lies beneath: LOADED is a loose set in the drum, READY is a built one."""

    UNKNOWN = 0
    EMPTY = 1
    LOADED = 2
    BUILDING = 3
    READY = 4


class Lid(IntEnum):
    """The centre lid. Anything not surely closed counts as open."""

    OPEN = 0
    CLOSED = 1


class Lane(IntEnum):
    """Mechanisms that move independently: one motion per lane at a time."""

    NONE = 0
    SURFACE = 1
    DRUM = 2


class Fault(IntEnum):
    """Why a motion failed. Wire values."""

    JAM = 64
    TILES_SHORT = 65
    LIFT_TIMEOUT = 66
    LID_TIMEOUT = 67
    LEASE_EXPIRED = 68
    """The host went silent in mid-motion; outputs were switched off."""
    HELD = 69
    """The host asked for a hold."""
    ESTOPPED = 70


class Reason(IntEnum):
    """Why a command was refused. Wire values; in the order in which they are checked."""

    ESTOP = 1
    FAULT = 2
    NOT_STARTED = 3
    """Powered up; a person must say START or ADOPT first."""
    ALREADY_STARTED = 4
    WRONG_HAND = 5
    INTERLOCK = 6
    """Locked: the hand on the table has not been released."""
    HOLD = 7
    NOTHING_CUT = 8
    BUSY = 9
    NO_LEASE = 10
    SERVICE_KEY = 11
    LID = 12
    SURFACE = 13
    MAGAZINE = 14
    TILES_TAKEN = 15
    COUNTS = 16
    """The stacks or tiles do not equal the plan."""
    NOTHING_TO_CLEAR = 17
    # Not the interlock's, but the device's other refusals:
    STALE_ID = 32
    STALE_STATE = 33
    BAD_ARGUMENTS = 34
    UNSUPPORTED = 35


class Hand(Enum):
    """What an operation asks of the hand number."""

    ANY = auto()
    KNOWN = auto()
    NONE = auto()
    SAME = auto()
    """The argument `hand` equals the device's."""


BLOCKS: Final[Mapping[Fault, frozenset[Op]]] = {
    Fault.JAM: frozenset({Op.START_BUILD, Op.RAISE_WALLS, Op.DEAL, Op.OPEN_LID, Op.RESUME}),
    Fault.TILES_SHORT: frozenset({Op.START_BUILD, Op.RAISE_WALLS}),
    Fault.LIFT_TIMEOUT: frozenset({Op.RAISE_WALLS, Op.DEAL, Op.LOWER, Op.RESUME}),
    Fault.LID_TIMEOUT: frozenset({Op.OPEN_LID, Op.CLOSE_LID, Op.RESUME}),
    Fault.LEASE_EXPIRED: frozenset(),
    Fault.HELD: frozenset(),
    Fault.ESTOPPED: frozenset(),
}
"""The operations each fault names. TILES_SHORT does not name DEAL: the set being dealt is the other one."""


@dataclass(frozen=True, slots=True)
class Case:
    """One combination of surface and magazine in which an operation makes sense.

    `cut` empty: the case of a machine that is not held. Otherwise: of one held in the middle of one
    of these operations. None for surfaces or magazines: any.
    """

    surfaces: frozenset[Surface] | None = None
    magazines: frozenset[Magazine] | None = None
    counts: bool = False
    cut: frozenset[Op] = frozenset()


@dataclass(frozen=True, slots=True)
class Rule:
    """Conditions of one operation. `cases` empty: whatever lies on or beneath the table."""

    lane: Lane = Lane.NONE
    hand: Hand = Hand.KNOWN
    unlocked: bool = False
    still: bool = False
    """No motion of any lane."""
    not_during: frozenset[Op] = frozenset()
    """Motions of another lane that need the same room."""
    lid: Lid | None = None
    untaken: bool = False
    service: bool = False
    needs_hold: bool = False
    works_held: bool = False
    under_estop: bool = False
    cases: tuple[Case, ...] = ()

    @property
    def motion(self) -> bool:
        """Something turns or lifts: a lease is needed, a stop forbids it."""
        return self.lane is not Lane.NONE


def _case(
    surfaces: tuple[Surface, ...] | None = None,
    magazines: tuple[Magazine, ...] | None = None,
    *,
    counts: bool = False,
    cut: tuple[Op, ...] = (),
) -> Case:
    return Case(
        None if surfaces is None else frozenset(surfaces),
        None if magazines is None else frozenset(magazines),
        counts,
        frozenset(cut),
    )


_ON_TABLE = (_case((Surface.WALLS_UP, Surface.DEALT)),)
_RAISE = _case((Surface.CLEAR,), (Magazine.READY,), counts=True)

RULES: Final[Mapping[Op, Rule]] = {
    Op.ADOPT: Rule(hand=Hand.NONE, still=True),
    Op.START: Rule(hand=Hand.NONE, still=True),
    Op.RELEASE_INTAKE: Rule(hand=Hand.SAME),
    Op.OPEN_LID: Rule(
        Lane.SURFACE,
        unlocked=True,
        cases=(_case((Surface.CLEAR, Surface.DEALT), (Magazine.READY, Magazine.EMPTY)),),
    ),
    Op.CLOSE_LID: Rule(Lane.SURFACE, lid=Lid.OPEN),
    Op.START_BUILD: Rule(
        Lane.DRUM,
        not_during=frozenset({Op.LOWER}),
        lid=Lid.CLOSED,
        cases=(_case(None, (Magazine.EMPTY, Magazine.LOADED)),),
    ),
    Op.RAISE_WALLS: Rule(Lane.SURFACE, lid=Lid.CLOSED, cases=(_RAISE,)),
    # From a clear surface the machine deals directly (a new hand); from raised walls it deals the
    # hand whose walls they are. docs/adr/0004-deal-from-raised-walls.md
    Op.DEAL: Rule(
        Lane.SURFACE,
        lid=Lid.CLOSED,
        untaken=True,
        cases=(_RAISE, _case((Surface.WALLS_UP,), counts=True)),
    ),
    # The lowered set needs its room beneath, hence the magazine; a lift cut halfway may always go down.
    Op.LOWER: Rule(
        Lane.SURFACE,
        untaken=True,
        works_held=True,
        cases=(
            _case((Surface.WALLS_UP,), (Magazine.EMPTY, Magazine.LOADED)),
            _case(cut=(Op.RAISE_WALLS, Op.LOWER)),
        ),
    ),
    Op.ROLL_DICE: Rule(Lane.SURFACE, cases=_ON_TABLE),
    Op.FLIP_INDICATOR: Rule(Lane.SURFACE, cases=_ON_TABLE),
    Op.LAMP: Rule(hand=Hand.ANY, under_estop=True),
    Op.HOME: Rule(Lane.SURFACE, service=True, still=True, cases=(_case((Surface.CLEAR,)),)),
    Op.JOG: Rule(Lane.SURFACE, service=True, still=True, cases=(_case((Surface.CLEAR,)),)),
    Op.CLEAR: Rule(hand=Hand.ANY, still=True, under_estop=True),
    Op.RESUME: Rule(Lane.SURFACE, needs_hold=True, works_held=True),
    Op.LEAVE: Rule(needs_hold=True, works_held=True),
}


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
    if rule.unlocked and state.locked:
        return Reason.INTERLOCK
    if state.hold and rule.motion and not rule.works_held:
        return Reason.HOLD
    if rule.needs_hold and not state.hold:
        return Reason.NOTHING_CUT
    if _busy(state, op, rule):
        return Reason.BUSY
    if rule.motion and not state.lease:
        return Reason.NO_LEASE
    if rule.service and not (state.service and args.get("nobody") == 1):
        return Reason.SERVICE_KEY
    return None


def _busy(state: State, op: Op, rule: Rule) -> bool:
    if op is Op.RESUME or rule.still:
        return bool(state.running)
    if state.running & rule.not_during:
        return True
    return rule.motion and any(RULES[other].lane is rule.lane for other in state.running)


def _place(state: State, op: Op, rule: Rule, args: Args) -> Reason | None:
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


class HandEffect(Enum):
    """What happens to the hand number."""

    KEEP = auto()
    ZERO = auto()
    GIVEN = auto()
    NEXT = auto()


@dataclass(frozen=True, slots=True)
class Effect:
    """What is different when an operation is done. None: unchanged.

    `lock_first`: locked already when the motion begins, so that a cut leaves it on the safe side.
    """

    surface: Surface | None = None
    magazine: Magazine | None = None
    lid: Lid | None = None
    locked: bool | None = None
    hand: HandEffect = HandEffect.KEEP
    lock_first: bool = False
    magazine_leaves: bool = False
    """The built set leaves the magazine: LOADED if another waits in the drum, else EMPTY."""
    tiles_in: bool = False
    """Tiles taken in lie loose in the drum: an EMPTY magazine becomes LOADED."""


EFFECTS: Final[Mapping[Op, Effect]] = {
    Op.ADOPT: Effect(hand=HandEffect.GIVEN),
    Op.START: Effect(locked=False, hand=HandEffect.ZERO),
    Op.RELEASE_INTAKE: Effect(locked=False),
    Op.OPEN_LID: Effect(surface=Surface.COLLECTING, lid=Lid.OPEN),
    Op.CLOSE_LID: Effect(surface=Surface.CLEAR, lid=Lid.CLOSED, tiles_in=True),
    Op.START_BUILD: Effect(magazine=Magazine.READY),
    Op.RAISE_WALLS: Effect(
        surface=Surface.WALLS_UP, locked=True, hand=HandEffect.NEXT, lock_first=True, magazine_leaves=True
    ),
    Op.DEAL: Effect(
        surface=Surface.DEALT, locked=True, hand=HandEffect.NEXT, lock_first=True, magazine_leaves=True
    ),
    Op.LOWER: Effect(surface=Surface.CLEAR, magazine=Magazine.READY),
}
"""Operations that are not named change nothing of this."""

DEAL_FROM_WALLS: Final = Effect(surface=Surface.DEALT, locked=True, lock_first=True)
"""A deal from raised walls belongs to the hand that raised them: the number does not move again."""


def effect_of(op: Op, *, surface: Surface) -> Effect:
    """The effect of `op` begun on this surface."""
    if op is Op.DEAL and surface is Surface.WALLS_UP:
        return DEAL_FROM_WALLS
    return EFFECTS.get(op, Effect())


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

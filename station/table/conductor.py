"""What the table does next, by itself: one pure function from session and machine to a step.

A machine that can do less than our own board is asked for less (`MachineView.capabilities`): what it can not
do a person does, and what it can not tell is not waited for. One that moves nothing is only shown.

A person's start is the authority for a hand's whole cycle (take in, build, raise, deal, flip). Every step
compares what the log says with what the machine reports, so a restart goes on where things stand and
repeats nothing: a motion that was cut, or a machine that was restarted, waits for a person.
Motion table: interlock of `firmware_bridge`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from firmware_bridge.interlock import RULES as MOTIONS
from firmware_bridge.interlock import Allowed, Lane, Lid, Magazine, Refused, Surface, may_move
from firmware_bridge.machine import Capability, MachineView, supports
from firmware_bridge.ops import Op, Quad, Value
from station.places import Place
from station.session import Session, Stage

POWER_UP = "POWER_UP"
"""Stands for the operation where it is the whole machine that was cut."""
CUT_CHOICES = {"finish": Op.RESUME, "lower": Op.LOWER, "leave": Op.LEAVE}
"""What a person may choose after a motion stopped halfway, with the command that carries it out."""
PLAYED = (Stage.FLOWERS, Stage.GOLD, Stage.DEALT, Stage.PLAY, Stage.CLAIM)
"""Stages in which tiles lie before the players and the hand has no ruling yet."""
AUTHORITY_S = 120.0
"""After a restart of the process, a start older than this no longer moves anything by itself."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do until something changes; ``why`` is a code for the screen."""

    why: str


@dataclass(frozen=True, slots=True)
class Motion:
    """Give the machine one command."""

    op: Op
    args: dict[str, Value] = field(default_factory=dict)

    @property
    def beside(self) -> bool:
        """Whether it runs beside everything else (building the other set while this one is played)."""
        return MOTIONS[self.op].lane is Lane.DRUM


@dataclass(frozen=True, slots=True)
class NoteDealt:
    """The tiles are dealt: book it."""


@dataclass(frozen=True, slots=True)
class NoteReleased:
    """The intake is unlocked: book it."""


@dataclass(frozen=True, slots=True)
class NoteCut:
    """Something did not finish: book it and ask a person."""

    op: str
    why: str
    cmd_id: int | None = None


@dataclass(frozen=True, slots=True)
class ReadIndicator:
    """Look at the flipped tile."""


@dataclass(frozen=True, slots=True)
class ReadHand:
    """Look at what lies open at a place: the claimed hand, or what counts of another."""

    place: Place


@dataclass(frozen=True, slots=True)
class AskStart:
    """The next motion needs a person's tap: the start was too long ago."""


Step = Wait | Motion | NoteDealt | NoteReleased | NoteCut | ReadIndicator | ReadHand | AskStart


def next_step(
    session: Session, view: MachineView | None, authorised: bool, dealt: Quad | None = None
) -> Step:
    """Return the next step.

    Args:
        session: the fold.
        view: the machine as last reported; None for a table without one.
        authorised: whether a person's start (or choice) still covers motion.
        dealt: tiles per side that a machine lays before the players instead of raising all walls; None: it
            raises them.
    """
    if session.cut is not None:
        return Wait("recovery")
    unread = _unread(session)
    if unread is not None:
        return ReadHand(unread)
    if view is None:
        return ReadIndicator() if session.stage is Stage.DEALT else Wait("person")
    if Capability.MOVES not in view.capabilities:
        return _watched(session)
    return _trouble(session, view) or _machine_step(session, view, authorised, dealt)


def _unread(session: Session) -> Place | None:
    """The next place whose tiles the pending claim still needs, the claimant's first."""
    if session.claim is None:
        return None
    waiting = (place for place, laid in session.claim.everything.items() if laid.read_at is None)
    return next(waiting, None)


def _watched(session: Session) -> Step:
    """People run the machine; the table only books what they tell, and looks at tiles."""
    if session.stage is Stage.CYCLE:
        return Wait("dice")
    if session.stage is Stage.DICED:
        return NoteDealt()
    return ReadIndicator() if session.stage is Stage.DEALT else Wait("person")


def choices(session: Session, view: MachineView | None) -> list[str]:
    """Return what a person may choose after a motion was cut, as the machine stands now.

    ``adopt``: the board restarted with a hand on the table, and has to be told which. ``finish``, ``lower``,
    ``leave``: a motion hangs halfway, and the interlock allows these once its fault is cleared. ``clear``:
    cause removed (or nothing is wrong any more), go on. Never empty.
    """
    if view is None or Capability.MOVES not in view.capabilities:
        return ["clear"]
    if view.estop:
        return ["clear"]  # under a stop the machine refuses everything else, ADOPT too
    if view.hand_no is None:
        return ["adopt"] if view.hold or _in_play(session, view) else ["clear"]
    if not view.hold:
        return ["clear"]
    state = replace(view.state(), faults=frozenset(), lease=True, running=frozenset())
    able = [(name, op) for name, op in CUT_CHOICES.items() if supports(view.capabilities, op)]
    possible = [name for name, op in able if isinstance(may_move(state, op), Allowed)]
    return possible or ["leave"]


def _trouble(session: Session, view: MachineView) -> Step | None:
    if not view.ready:
        return Wait("link_down")
    if view.hand_no is None and (view.hold or _in_play(session, view)):
        return NoteCut(POWER_UP, "machine_restarted")
    if view.estop:
        return NoteCut("FAULT", "estop")
    if view.hold:
        return NoteCut(view.cut[0].name if view.cut else "UNKNOWN", view.fault or "hold")
    if view.faults and Capability.CYCLES in view.capabilities:
        # The maker's own lamps tell of what people mend and end at the machine, not here.
        return NoteCut("FAULT", view.faults[0].code)
    if any(MOTIONS[active.op].lane is Lane.SURFACE for active in view.active):
        return Wait("moving")
    return None


def _in_play(session: Session, view: MachineView) -> bool:
    """Whether tiles on the table belong to a hand without a ruling (walls that stand up do)."""
    standing = session.stage is Stage.CYCLE and view.surface is Surface.WALLS_UP
    return standing or session.stage in (Stage.DICED, *PLAYED)


def _machine_step(session: Session, view: MachineView, authorised: bool, dealt: Quad | None) -> Step:
    ended = session.stage in (Stage.RULED, Stage.CLOSED)
    if ended or (session.overridden and not session.released):
        return _release(session, view)
    step = _cycle_step(session, view, dealt)
    if not isinstance(step, Motion):
        return step
    answer = view.may(step.op, **step.args) if step.op is not Op.DEAL else Allowed()
    if isinstance(answer, Refused):
        return Wait(f"machine.{answer.reason.name.lower()}")
    if authorised and not session.paused:
        return step
    # The other set's build can wait for the next start; the hand in play must not be interrupted for it.
    return Wait("play") if step.beside and session.stage in PLAYED else AskStart()


def _release(session: Session, view: MachineView) -> Step:
    if session.released or session.machine_hand is None or view.hand_no is None:
        return Wait("person")
    if not view.locked:
        return NoteReleased()
    if view.hand_no == session.machine_hand:
        return Motion(Op.RELEASE_INTAKE, {"hand": session.machine_hand})
    if Capability.CYCLES not in view.capabilities:
        # People brought walls up before the deal was booked; the hand is ruled, so nothing is in play.
        return Motion(Op.RELEASE_INTAKE, {"hand": view.hand_no})
    return Wait("other_hand")


def _cycle_step(session: Session, view: MachineView, dealt: Quad | None) -> Step:
    if session.stage is Stage.CYCLE:
        return _prepare(view, dealt)
    if session.stage is Stage.DICED:
        by_hand = not supports(view.capabilities, Op.DEAL)
        return NoteDealt() if by_hand or view.surface is Surface.DEALT else Motion(Op.DEAL)
    if session.stage is Stage.DEALT:
        # Where dice found it, it lies on a wall, and a player turned it up.
        by_hand = bool(session.gold_dice) or not supports(view.capabilities, Op.FLIP_INDICATOR)
        up = view.indicator_up or by_hand
        return ReadIndicator() if up else Motion(Op.FLIP_INDICATOR)
    if session.stage in PLAYED:
        return _build(view) or Wait("play")
    return Wait("person")


def _prepare(view: MachineView, dealt: Quad | None) -> Step:
    """Take the old hand in, build if need be, raise the walls or deal; then the dice are a person's."""
    if view.hand_no is None:
        return Motion(Op.START)
    by_people = not supports(view.capabilities, Op.CLOSE_LID)
    if view.lid is Lid.OPEN:
        # Whoever pushes tiles in closes the lid himself, and the machine's own cycle does the rest.
        return Wait("intake") if by_people else Motion(Op.CLOSE_LID)
    if view.locked and view.surface in (Surface.WALLS_UP, Surface.DEALT):
        # DEALT: a cut raise was left to hands, and the walls stand; or the machine has dealt by itself.
        return Wait("dice")
    if stands_unlocked(view):
        # Walls of a hand that was given up before its deal: they are dealt from, which locks, or go down.
        return Wait("dice") if supports(view.capabilities, Op.DEAL) else Motion(Op.LOWER)
    building = None if by_people else _build(view)
    if building is not None:
        return building
    if view.magazine is Magazine.BUILDING:
        return Wait("building")
    clear = view.surface is Surface.CLEAR and view.magazine is Magazine.READY
    if clear and not by_people:  # also while locked: after walls were lowered; a raise takes nothing in
        return Motion(Op.RAISE_WALLS) if dealt is None else Motion(Op.DEAL, {"tiles": dealt})
    return Wait("locked") if view.locked else Motion(Op.OPEN_LID)


def stands_unlocked(view: MachineView) -> bool:
    """Tell whether walls stand that belong to no hand, on a machine that only raises walls when asked."""
    standing = view.surface is Surface.WALLS_UP and not view.locked
    return standing and Capability.CYCLES in view.capabilities


def _build(view: MachineView) -> Step | None:
    """Build the set that lies beneath, if one waits there."""
    loose = view.magazine is Magazine.LOADED or (view.magazine is Magazine.EMPTY and view.drum)
    return Motion(Op.START_BUILD) if loose and view.lid is Lid.CLOSED else None

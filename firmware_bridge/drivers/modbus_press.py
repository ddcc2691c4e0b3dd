"""A machine whose own buttons are pressed through a relay board.

The board presses and looks; everything else is kept here: the lock, which is shut at the start and whenever
walls come up, the number of the hand, and the ledger, in which a press stands before it is made. The lock
reaches the machine's button through a contact in series with it; where none is wired it is advice, and an
opening against it is told as `intake_opened_early`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from firmware_bridge.drivers.driver import LOOK_EVERY, BoardDriver
from firmware_bridge.drivers.line import Line
from firmware_bridge.drivers.press_core import LIFT
from firmware_bridge.drivers.presser import Presser
from firmware_bridge.drivers.telling import Telling
from firmware_bridge.drivers.watch_core import STEADY, Happening, Watch
from firmware_bridge.drivers.wiring import PressSettings
from firmware_bridge.errors import PortError, UnwrittenError
from firmware_bridge.interlock import Lid, Magazine, Refused, Surface
from firmware_bridge.ledger import Intent, Ledger
from firmware_bridge.machine import (
    ActiveOp,
    Capability,
    LinkState,
    MachineEvent,
    MachineView,
    Outcome,
    Status,
)
from firmware_bridge.ops import Op, Value, pack_args
from firmware_bridge.profiles import load

CONFIRM_EACH: Final = 10
"""Looks after which the series contact is read back: a board that lost its power has let it go."""

PRESSED: Final = LIFT | {Op.ROLL_DICE}


class ModbusPress(BoardDriver):
    """One machine behind a relay board.

    Args:
        settings: how the board is wired.
        board: its line.
        ledger_path: command ledger, created if absent; one process at a time.
        clock: monotonic seconds.
        sleep: waits so many seconds.
        on_change: called with the new view, in the loop, whenever it differs.
        on_event: called with each event (`lid_opened`, `lid_closed`, `cycle_begun`, `intake_opened_early`).

    Raises:
        LedgerError: the ledger can not be opened or belongs to another process.
        ProfileError: there is no such profile.
    """

    def __init__(
        self,
        settings: PressSettings,
        board: Line,
        ledger_path: Path | str,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        on_change: Callable[[MachineView], None] | None = None,
        on_event: Callable[[MachineEvent], None] | None = None,
    ) -> None:
        profile = load(settings.profile)
        super().__init__(
            Telling(settings.capabilities, profile.id, clock, on_change, on_event, locked=True), sleep
        )
        self._settings = settings
        self._clock = clock
        self._watch = Watch(settings.wired, profile)
        self._presser = Presser(settings, profile, board, clock=clock, sleep=sleep)
        self._ledger = Ledger(ledger_path)
        self._latching = asyncio.Lock()
        """Held while the lock changes: walls that come up and a release that is under way must not mix."""
        self._looks = 0
        self._given_up = self._give_up()

    def _give_up(self) -> tuple[Outcome, ...]:
        """A press that a former process left open was made once or not at all; nobody can tell any more."""
        ended = []
        for intent in self._ledger.open_intents():
            outcome = Outcome(Status.UNKNOWN, "interrupted", intent.cmd_id, intent.op)
            self._ledger.conclude(outcome)
            if intent.op in PRESSED:
                self._presser.doubt()
                ended.append(outcome)
        return tuple(ended)

    # -- life -------------------------------------------------------------------------------------

    async def _turn(self) -> float:
        if self.view.unwritten and self._looks % CONFIRM_EACH == 0:
            self._telling.update(unwritten=not self._ledger.settle())
        if self.view.lease:
            await self._look()
        else:
            await self._presser.open()
            able = self._settings.capabilities
            self._telling.update(link=self._link(), lease=True, detail="", attempt=0, capabilities=able)
        return LOOK_EVERY

    async def _let_go(self) -> None:
        """Locked, with the series contact open: the machine's button must not live on without us."""
        await self._presser.close()
        self._ledger.close()

    async def _in_trouble(self, error: PortError, wait: float) -> float:
        """With a contact that stays closed the lock is advice: say so, and see who opens early."""
        if error.code != "contact_closed":
            return wait
        self._telling.update(capabilities=self._settings.capabilities & ~Capability.INHIBIT)
        try:
            happened = self._watch.feed(await self._presser.inputs_anyway(), self._clock())
            for happening in happened:
                await self._happened(happening)
            self._told_by_lamps()
        except PortError:
            return wait
        return LOOK_EVERY

    def _link(self) -> LinkState:
        return LinkState.RECOVER if self.view.hand_no is None else LinkState.UP

    async def _look(self) -> None:
        if self._presser.pressing:
            return  # it looks by itself, and a lost look of ours would drop its line
        self._looks += 1
        if self._looks % CONFIRM_EACH == 0:
            await self._presser.confirm()
        await self._feed()

    async def _feed(self) -> None:
        for happening in self._watch.feed(await self._presser.inputs(), self._clock()):
            await self._happened(happening)
        self._told_by_lamps()

    def _told_by_lamps(self) -> None:
        watch, wired = self._watch, self._settings.wired
        lit = wired.ready_input is not None
        if watch.lid is Lid.OPEN and self.view.lid is Lid.CLOSED:
            self._telling.update(surface=Surface.COLLECTING)  # it stood open when we began to look
        self._telling.update(
            lid=Lid.CLOSED if watch.lid is None else watch.lid,
            # Without a lamp the machine itself refuses what it can not do yet.
            magazine=watch.magazine if lit else Magazine.READY,
            faults=watch.faults,
        )

    async def _happened(self, happening: Happening) -> None:
        early = self._presser.locked and self.view.hand_no is not None
        if happening is Happening.LID_OPENED:
            self._telling.update(surface=Surface.COLLECTING, lid=Lid.OPEN)
            self._telling.report("intake_opened_early" if early else "lid_opened")
            return
        if happening is Happening.LID_CLOSED:
            self._telling.report("lid_closed")
        else:
            self._telling.report("intake_opened_early" if early else "cycle_begun")
        async with self._latching:
            await self._walls_come_up()

    async def _walls_come_up(self) -> None:
        """The machine's own cycle raises the other set: a new hand, unless the one before has no ruling."""
        if self._presser.locked:
            self._telling.update(surface=Surface.WALLS_UP, lid=Lid.CLOSED)
            return
        number = self.view.hand_no
        self._telling.update(
            surface=Surface.WALLS_UP,
            lid=Lid.CLOSED,
            locked=True,
            hand_no=None if number is None else number + 1,
        )
        await self._presser.lock()

    # -- asking -----------------------------------------------------------------------------------

    async def execute(self, op: Op | str, *, rev: int | None = None, **args: Value) -> Outcome:
        """Carry out `op` at most once and say how it ended; see `abstract.Machine.execute`.

        Presses `OPEN_LID` and `ROLL_DICE`; keeps `START`, `ADOPT`, `RELEASE_INTAKE`, `CLEAR` and `LEAVE`
        here. Everything else is REJECTED (`unsupported`).
        """
        wanted = Op.of(op)
        packed = pack_args(wanted, args)
        if not self.view.ready:
            return Outcome(Status.REJECTED, "link_down", 0, wanted)
        if rev is not None and rev != self.view.rev:
            return Outcome(Status.REJECTED, "stale_state", 0, wanted)
        answer = self.view.may(wanted, **args)
        if isinstance(answer, Refused):
            return Outcome(Status.REJECTED, answer.reason.name.lower(), 0, wanted)
        cmd_id = self._ledger.last_id() + 1
        try:
            self._ledger.intend(Intent(cmd_id, wanted, packed, 0, self.view.boot_id))
        except UnwrittenError:
            self._telling.update(unwritten=True)
            return Outcome(Status.REJECTED, "unwritten", 0, wanted)
        outcome = Outcome(Status.UNKNOWN, "interrupted", cmd_id, wanted)
        try:
            if wanted in PRESSED:
                outcome = await self._press(wanted, cmd_id)
            else:
                async with self._latching:
                    outcome = await self._keep(wanted, cmd_id, args)
        finally:
            if outcome.code == "interrupted":  # nobody waits any more
                self._cut(wanted)
                self._given_up = (*self._given_up, outcome)
            self._ledger.conclude(outcome)
            self._telling.update(unwritten=not self._ledger.sound)
        return outcome

    async def _press(self, op: Op, cmd_id: int) -> Outcome:
        self._telling.update(active=(ActiveOp(cmd_id, op),))
        outcome = await self._presser.press(op, cmd_id)
        if outcome.status is Status.UNKNOWN:
            self._cut(op)
        elif outcome.done:
            await self._see_it()
        self._telling.update(active=())
        return outcome

    async def _see_it(self) -> None:
        """Look until what a press did shows in the view, so that nobody acts on an older one."""
        try:
            for _ in range(STEADY):
                await self._feed()
        except PortError as error:
            self._telling.failed(error)

    def _cut(self, op: Op) -> None:
        """Nobody knows what became of a press: until a person has looked nothing is pressed."""
        if op in PRESSED:
            self._presser.doubt()
            self._telling.update(hold=True, cut=(op,), active=())

    async def _keep(self, op: Op, cmd_id: int, args: dict[str, Value]) -> Outcome:
        """Operations on what is kept here. The contact is proven before the lock counts as open."""
        answer = self.view.may(op, **args)  # walls may have come up since it was asked
        if isinstance(answer, Refused):
            return Outcome(Status.REJECTED, answer.reason.name.lower(), cmd_id, op)
        if op in (Op.START, Op.RELEASE_INTAKE):
            try:
                await self._presser.release()
            except PortError as error:
                return Outcome(Status.REJECTED, error.code, cmd_id, op)
        changes: dict[str, object] = {} if op is Op.CLEAR else {"hold": False, "cut": ()}
        if op is Op.START:
            changes |= {"locked": False, "hand_no": 0, "surface": _lying(self.view, Surface.CLEAR)}
        elif op is Op.ADOPT:
            standing = self.view.surface is Surface.WALLS_UP
            changes |= {"hand_no": args["hand"]}
            changes |= {} if standing else {"surface": _lying(self.view, Surface.DEALT)}
        elif op is Op.RELEASE_INTAKE:
            changes = {"locked": False, "surface": _lying(self.view, Surface.DEALT)}
        if op is not Op.RELEASE_INTAKE:
            self._presser.looked()  # a person asked, and looked before
        self._telling.update(**changes)
        self._telling.update(link=self._link())
        return Outcome(Status.DONE, "ok", cmd_id, op)

    async def resolve_open(self) -> tuple[Outcome, ...]:
        """Presses that a former process left open, and those nobody waited for: unknown. Told once."""
        ended, self._given_up = self._given_up, ()
        return ended


def _lying(view: MachineView, otherwise: Surface) -> Surface:
    """What lies on the table once a person has told; an open lid is seen, not told."""
    return Surface.COLLECTING if view.lid is Lid.OPEN else otherwise

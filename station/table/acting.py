"""The task that lets the table act by itself: asks the conductor, performs the step, looks again.

Every step re-reads session and machine, so it may be stopped anywhere: what was not booked is asked anew.
"""

from __future__ import annotations

import asyncio

import structlog

from firmware_bridge.errors import BridgeError
from firmware_bridge.interlock import Lid, Refused
from firmware_bridge.machine import Capability, Outcome, Status
from firmware_bridge.ops import Op, Value
from station import messages as m
from station.errors import StationError
from station.places import by_side
from station.session import Session, Stage
from station.table import conductor as c
from station.table.dealing import deal_of, steps_before_play
from station.table.looking import LOOK_AGAIN_S, Looker
from station.table.machine import deals_directly
from station.table.photos import PhotoStoreError
from station.table.runtime import Table
from vision.errors import VisionError

log = structlog.get_logger()

OPENINGS = ("lid_opened", "cycle_begun")
"""Events of a machine that keeps no lock which mean that tiles may go in."""
FINAL_REFUSALS = frozenset({"board_refused"})
"""Refusals that would come again for ever: a person has to mend something first."""
RETRY_S = 0.5
"""Pause after the machine refused a step or storage failed."""


class Actor:
    """Runs the conductor for one table until cancelled."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._looker = Looker(table)
        self._builds: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Act for ever."""
        table = self._table
        with table.watch() as changes:
            while True:
                await table.look_at_disk()
                if not await self._note_openings():
                    await asyncio.sleep(RETRY_S)
                view = table.machine.view if table.machine else None
                dealt = None if view is None else deals_directly(view, table.config)
                step = c.next_step(table.session, view, self._authorised(), dealt)
                table.ask_start(isinstance(step, c.AskStart))
                if not isinstance(step, c.ReadHand):
                    table.guide(None)
                table.tick()
                if isinstance(step, c.Wait | c.AskStart):
                    await changes.changed(1.0)
                    continue
                try:
                    await self._perform(step)
                except VisionError as error:
                    log.warning("camera", error=str(error))
                    table.camera_trouble(error.code)
                    await asyncio.sleep(RETRY_S)
                except (StationError, BridgeError) as error:
                    log.warning("step failed", step=type(step).__name__, error=str(error))
                    if isinstance(error, PhotoStoreError):
                        table.not_stored(error)
                    await asyncio.sleep(RETRY_S)

    async def _note_openings(self) -> bool:
        """Book that the machine was opened while tiles must not go in; False: it can't be stored now.

        What can't be stored stays in the queue, so that it is booked once the disk takes events again.
        """
        table = self._table
        try:
            while table.happened:
                event = table.happened[0]
                if self._is_early(event.code):
                    await self._note_early()
                if table.happened and table.happened[0] is event:  # a full queue drops its oldest by itself
                    table.happened.popleft()
        except StationError as error:
            log.warning("opening not booked", error=str(error))
            return False
        return True

    async def _note_early(self) -> None:
        table = self._table
        log.warning("intake opened early", hand=table.session.hand)
        view = table.machine.view if table.machine else None
        photo, no_photo = await self._looker.zones_of_claim()
        body = m.IntakeOpenedEarly(
            hand=table.session.hand,
            machine_hand=view.hand_no if view else None,
            # A machine that holds its intake tells of a mere push at its button too.
            opened=view is None or view.advisory or view.lid is Lid.OPEN,
            photo=photo,
            no_photo=no_photo,
        )
        await table.book(body)

    def _is_early(self, code: str) -> bool:
        """Whether an event means that: a driver with a lock knows, otherwise the log does."""
        session, machine = self._table.session, self._table.machine
        waiting = session.stage in (Stage.DICED, *c.PLAYED) and not session.released
        if code == "intake_opened_early":
            return waiting or session.stage is Stage.CYCLE
        keeps_no_lock = machine is not None and Capability.MOVES not in machine.view.capabilities
        return waiting and keeps_no_lock and code in OPENINGS

    def _authorised(self) -> bool:
        table = self._table
        view = table.machine.view if table.machine else None
        if view is not None and view.hand_no is None:
            # Switched on since: somebody has to look and tap before the first motion.
            return table.started_boot == view.boot_id
        if table.acted:
            return True
        since = table.session.cycle_at
        return since is not None and table.times.since("cycle", since) < c.AUTHORITY_S

    async def _perform(self, step: c.Step) -> None:
        session = self._table.session
        match step:
            case c.Motion():
                await self._move(step)
            case c.NoteDealt():
                await self._note_dealt(session)
            case c.NoteReleased():
                assert session.machine_hand is not None
                body = m.IntakeReleased(hand=session.hand, machine_hand=session.machine_hand)
                await self._table.book_if(lambda s: s.hand == session.hand and not s.released, body)
            case c.NoteCut():
                cut = m.MotionCut(hand=session.hand, op=step.op, cmd_id=step.cmd_id, why=step.why)
                await self._table.book_if(lambda s: s.cut is None, cut)
            case c.ReadIndicator():
                await self._looker.read_indicator(session)
            case c.ReadHand():
                await self._looker.read_hand(session, step.place)

    async def _move(self, step: c.Motion) -> None:
        args = {**step.args, **self._planned(step.op)}
        machine = self._table.machine
        assert machine is not None
        if isinstance(machine.view.may(step.op, **args), Refused):
            await asyncio.sleep(RETRY_S)  # it would be refused; a person may rule the hand void meanwhile
            return
        if step.beside:
            await self._beside(step.op, args)
        else:
            await self._ended(step.op, await self._execute(step.op, args))

    async def _execute(self, op: Op, args: dict[str, Value]) -> Outcome:
        machine = self._table.machine
        assert machine is not None
        return await machine.execute(op, rev=None, **args)

    async def _beside(self, op: Op, args: dict[str, Value]) -> None:
        """Start a motion that runs while the hand is played; its end is told like any other's."""
        if self._builds:
            await asyncio.sleep(LOOK_AGAIN_S)
            return

        async def build() -> None:
            try:
                await self._ended(op, await self._execute(op, args))
            except (StationError, BridgeError) as error:
                log.warning("build failed", error=str(error))

        task = asyncio.create_task(build())
        self._builds.add(task)
        task.add_done_callback(self._builds.discard)
        await asyncio.sleep(LOOK_AGAIN_S)

    async def _ended(self, op: Op, outcome: Outcome) -> None:
        """Book a motion that did not reach its goal; a refusal moved nothing and is looked at again."""
        if outcome.done:
            return
        log.warning("motion", op=op.name, status=outcome.status.value, code=outcome.code)
        if outcome.status is Status.REJECTED and outcome.code not in FINAL_REFUSALS:
            await asyncio.sleep(RETRY_S)
            return
        cut = m.MotionCut(
            hand=self._table.session.hand, op=op.name, cmd_id=outcome.cmd_id or None, why=outcome.code
        )
        await self._table.book_if(lambda s: s.cut is None, cut)

    def _planned(self, op: Op) -> dict[str, Value]:
        """Return what the rule set's deal says for a motion, by side."""
        table = self._table
        deal, sides = deal_of(table.session, table.rules), table.sides
        if op is Op.RAISE_WALLS:
            return {"stacks": by_side(deal.walls, sides)}
        if op is not Op.DEAL or deal.wall is None:
            return {}  # a machine that deals by itself does so before the dice
        assert deal.stack is not None
        return {
            "tiles": by_side(deal.tiles, sides),
            "dealer": sides[table.session.dealer],
            "opening": (sides[deal.wall], deal.stack),
        }

    async def _note_dealt(self, session: Session) -> None:
        machine, rules = self._table.machine, self._table.rules
        assert machine is not None
        deal = deal_of(session, rules)
        body = m.WallDealt(
            hand=session.hand,
            machine_hand=machine.view.hand_no,
            thrower=deal.thrower,
            wall=deal.wall,
            stack=deal.stack,
            steps=steps_before_play(rules, deal.plan),
        )
        await self._table.book_if(lambda s: s.hand == session.hand and s.stage is Stage.DICED, body)

"""The task that lets the table act by itself: asks the conductor, performs the step, looks again.

Every step re-reads session and machine, so it may be stopped anywhere: what was not booked is asked anew.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import structlog

from engine.tiles import Tile
from firmware_bridge.errors import BridgeError
from firmware_bridge.interlock import Lid, Refused
from firmware_bridge.machine import Capability, Outcome, Status
from firmware_bridge.ops import Op, Value
from station import messages as m
from station.errors import StationError
from station.places import Place, by_side
from station.session import Session, Stage
from station.table import conductor as c
from station.table.camera_worker import Seen, SeenHand, Unfit
from station.table.dealing import deal_of, gold_stacks, steps_before_play
from station.table.facts import has_red_fives
from station.table.interpret import tiles_of
from station.table.machine import deals_directly
from station.table.photos import PhotoStoreError
from station.table.proposal import wild_of
from station.table.runtime import Table
from station.table.view import Guidance
from vision.errors import VisionError
from vision.indicator import ONE, SEVERAL, UNSURE
from vision.readings import WRONG_COUNT

log = structlog.get_logger()

LOOK_AGAIN_S = 0.25
"""Pause between two looks at a zone that is not ready (no tile flipped yet, tiles missing)."""
LOOK_UNTIL_FIT_S = 0.05
"""Pause between two looks at a zone that is not fit to be read."""
HAND_LOOKS = 3
"""Frames taken of a hand whose number of tiles does not fit, before a person is shown what was read."""
TILE_APART = {"required": (True,), "optional": (True, False), "none": (False,)}
"""Whether a tile lies apart, by what the way to win says of it."""
DOUBT_BELOW = 0.7
"""An indicator read with a lower probability has to be approved by a person."""
FLIPPED_ALARMS = ("changed", "gone", "moved")
"""What may have become of the flipped tile by the time of a claim that a person has to look at."""
OPENINGS = ("lid_opened", "cycle_begun")
"""Events of a machine that keeps no lock which mean that tiles may go in."""
ZONE_NOT_TAUGHT = "photo.zone_not_taught"
"""Why an opening has no photo: without taught zones it would show what everybody holds."""
FINAL_REFUSALS = frozenset({"board_refused"})
"""Refusals that would come again for ever: a person has to mend something first."""
RETRY_S = 0.5
"""Pause after the machine refused a step or storage failed."""


class Actor:
    """Runs the conductor for one table until cancelled."""

    def __init__(self, table: Table) -> None:
        self._table = table
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
        photo, no_photo = await self._zones_of_claim()
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

    async def _zones_of_claim(self) -> tuple[str | None, str | None]:
        """Keep a picture of the hands that lie open as evidence, but only while a claim is pending.

        Returns:
            name of the photo, code of why there is none; both None where none is wanted.
        """
        table = self._table
        claim = table.session.claim
        if claim is None or table.eyes is None:
            return None, None
        # Of the others only who has been read lies open; the rest still hold their tiles.
        places = [p for p, laid in claim.everything.items() if p == claim.place or laid.read_at is not None]
        if not places:
            return None, None
        try:
            jpeg = await table.eyes.zones([table.sides[place] for place in places])
        except VisionError as error:
            log.warning("no photo of the opening", error=str(error))
            return None, error.code
        now = table.session.claim
        if now is None or now.number != claim.number:
            return None, None  # it fell while the camera looked: the hand goes on, and the camera sees hands
        return (None, ZONE_NOT_TAUGHT) if jpeg is None else await self._kept(jpeg)

    async def _kept(self, jpeg: bytes) -> tuple[str | None, str | None]:
        """Keep a photo; return its name, or the code of why the disk refused it: the hand goes on without.

        Whoever has the name may book it: the photo is on the disk by then. A slow card keeps only this task
        waiting, not the pages.
        """
        try:
            return await asyncio.to_thread(self._table.photos.put, jpeg), None
        except PhotoStoreError as error:
            log.warning("photo not kept", code=error.code, error=str(error))
            return None, error.code

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
                await self._read_indicator(session)
            case c.ReadHand():
                await self._read_hand(session, step.place)

    # ---- machine --------------------------------------------------------------------------------

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

    # ---- camera ---------------------------------------------------------------------------------

    async def _read_indicator(self, session: Session) -> None:
        table = self._table
        on_wall = bool(session.gold_dice)
        if table.eyes is None or not (table.eyes.sees_indicator or on_wall):
            await asyncio.sleep(LOOK_AGAIN_S)
            return
        stacks = [(table.sides[place], stack) for place, stack in gold_stacks(session, table.rules)]
        seen = await table.eyes.indicator(stacks)
        trouble = _indicator_trouble(seen)
        table.camera_trouble(trouble)
        tiles = seen.reading.tiles
        # A flower turned up is passed over: the players go on to the next tile.
        if trouble or len(tiles) != 1 or tiles[0].kind == Tile.BACK.id or Tile.of(tiles[0].kind).is_flower:
            await asyncio.sleep(LOOK_AGAIN_S)
            return
        tile = tiles[0]
        wild = wild_of(table.rules, Tile.of(tile.kind))
        photo, no_photo = await self._kept(seen.jpeg)
        body = m.IndicatorRevealed(
            hand=session.hand,
            tile=tile.kind,
            wild=wild,
            score=round(tile.score, 4),
            photo=photo,
            no_photo=no_photo,
            doubt=tile.score < DOUBT_BELOW
            or wild is None
            or (seen.state is not None and seen.state.status != ONE),
        )
        await table.book_if(lambda s: s.hand == session.hand and s.stage is Stage.DEALT, body)

    async def _read_hand(self, session: Session, place: Place) -> None:
        table, claim = self._table, session.claim
        assert claim is not None
        if table.eyes is None:
            await asyncio.sleep(LOOK_AGAIN_S)
            return
        claimed, waiting = place == claim.place, self._waiting(session.hand, claim.number, place)
        if claimed:
            how = table.rules.data.hows.get(claim.how)
            apart = TILE_APART["required" if how is None else how.tile]
            seen = await self._look_at_hand(place, apart, waiting.anyway)
        else:
            seen = await table.eyes.shown(table.sides[place], anyway=waiting.anyway)
        table.camera_trouble(None)
        table.frame_at = seen.taken_at or None
        if isinstance(seen, Unfit):
            await self._wait_until_fit(waiting, seen)
            return
        table.guide(None)
        flipped = [f"indicator_{seen.indicator}"] if seen.indicator in FLIPPED_ALARMS else []
        photo, no_photo = await self._kept(seen.jpeg)
        body = m.HandRead(
            hand=session.hand,
            claim=claim.number,
            place=None if claimed else place,
            photo=photo,
            no_photo=no_photo,
            size=seen.size,
            tiles=tiles_of(seen.hand, claimed=claimed, red=claimed and has_red_fives(table.rules)),
            why=[*seen.hand.reading.why, *flipped],
            expect=seen.hand.expected,
            ms=round(seen.hand.reading.ms, 1),
            waited=dict(waiting.waited),
            anyway=waiting.anyway,
        )
        await table.book_if(lambda s: _waits_for_reading(s, session.hand, claim.number, place), body)

    def _waiting(self, hand: int, claim: int, place: Place) -> Guidance:
        """What a person was told so far about the zone of a place."""
        told = self._table.guidance
        if told is not None and (told.hand, told.claim, told.place) == (hand, claim, place):
            return told
        return Guidance(hand, claim, place, ())

    async def _wait_until_fit(self, waiting: Guidance, seen: Unfit) -> None:
        """Tell what is wrong, count it, and let some time pass; a person's wish in the meantime stays."""
        table, problems = self._table, seen.fitness.problems
        counts = Counter(dict(waiting.waited)) + Counter([problems[0].code] if problems else [])
        now = self._waiting(waiting.hand, waiting.claim, waiting.place)
        table.guide(replace(waiting, problems=problems, waited=tuple(counts.items()), anyway=now.anyway))
        await asyncio.sleep(LOOK_UNTIL_FIT_S)

    async def _look_at_hand(self, place: Place, apart: tuple[bool, ...], anyway: bool) -> SeenHand | Unfit:
        """Look until the number of tiles fits the melds that lie there, a few frames at most.

        ``apart``: whether a tile apart completed the hand, the likelier answer first; ``anyway``: also where
        the zone is not fit.
        """
        eyes, side = self._table.eyes, self._table.sides[place]
        assert eyes is not None
        for look in range(HAND_LOOKS):
            if look:
                await asyncio.sleep(LOOK_AGAIN_S)
            for win in apart:
                seen = await eyes.hand(side, win=win, anyway=anyway)
                if isinstance(seen, Unfit):
                    return seen
                if seen.hand.complete:
                    return seen if win == apart[0] else _less_likely(seen)
        return seen


def _less_likely(seen: SeenHand) -> SeenHand:
    """Doubt a whole hand without a tile apart: a hand with one of which a tile hides looks the same."""
    return replace(seen, hand=replace(seen.hand, reading=seen.hand.reading.doubted(WRONG_COUNT)))


def _indicator_trouble(seen: Seen) -> str | None:
    """Say what keeps the flipped tile from being read; one that is only in doubt is shown to a person."""
    state = seen.state
    if state is None or state.status not in (SEVERAL, UNSURE):
        return None
    if "moving" in state.reasons:
        return "indicator.moving"
    return None if seen.reading.tiles else f"indicator.{state.status}"


def _waits_for_reading(session: Session, hand: int, number: int, place: Place) -> bool:
    claim = session.claim
    if session.hand != hand or claim is None or claim.number != number:
        return False
    laid = claim.at_place(place)
    return laid is not None and laid.read_at is None

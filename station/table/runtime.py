"""The running table: books decisions, keeps the fold, and lets the conductor act on the devices.

One object on one asyncio loop. Decide → append → apply runs under one lock; a request is answered only
after its events are committed. Motion and camera work happens in the conductor task, never in a request.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import structlog

from engine.rulesets import RuleSet
from firmware_bridge.abstract import Machine
from firmware_bridge.machine import Capability, MachineEvent, supports
from firmware_bridge.ops import Op
from station import messages as m
from station.clock import Clock
from station.errors import LogError, NotALog, StationError
from station.guarding import Traffic
from station.log.chain import MAX_BODY, Entry
from station.places import sides_of
from station.session import Event, Session, apply, checkpoint_due, replay
from station.table import decide
from station.table.asking import need
from station.table.conductor import choices
from station.table.config import TableConfig
from station.table.dealing import FlowerTime, flower_time
from station.table.disk_watch import DiskWatch
from station.table.machine import (
    device_of,
    has_other_set,
    holds_other_hand,
    machine_object,
    next_walls_stand,
    recover,
)
from station.table.opening import check_unchanged, opened_by
from station.table.photos import PhotoStore
from station.table.ports import EventWriter, Eyesight
from station.table.proposal import propose
from station.table.times import TableTimes
from station.table.view import Guidance, Surroundings, state_object
from station.watch import Broadcast

log = structlog.get_logger()

ACTIONS = frozenset({"start", "recovery", "anyway", *decide.DECISIONS})
"""Names of the POST routes below ``/api/``."""


BACKUP = "Restore it from a backup, or name another home."

HAPPENINGS_KEPT = 64

ANYWAY = "anyway"
"""Request: read the zone that waits to be fit as it is."""
LETS_MOVE = frozenset({"start", "dice", "recovery", "flowers"})
"""Requests that say "the machine may move". A call does not."""


class StaleRevision(StationError):
    """The request was based on an older state. ``current``: the revision now."""

    code = "stale_revision"

    def __init__(self, current: int) -> None:
        super().__init__("The table has moved on.", fix="Look again.")
        self.current = current


class Table(Broadcast):
    """State and acts of one table; devices and log are passed in."""

    def __init__(
        self,
        config: TableConfig,
        rules: RuleSet,
        writer: EventWriter,
        photos: PhotoStore,
        machine: Machine | None,
        eyes: Eyesight | None,
        clock: Clock,
        times: TableTimes | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        self.rules = rules
        self.sides = sides_of(rules.players, config.empty_side)
        """The side of the table (machine, camera) of each place."""
        self.photos = photos
        self.machine = machine
        self.eyes = eyes
        self.clock = clock
        self.times = times or TableTimes(clock)
        self.session = Session()
        self.camera_code = "camera.ok" if eyes else "camera.none"
        self.guidance: Guidance | None = None
        """What keeps the zone that is to be read next from being read."""
        self.frame_at: float | None = None
        """Unix seconds of the last frame that was looked at."""
        self.acted = False
        """Whether a person let the machine move since this process began (start, dice, recovery)."""
        self.started_boot: int | None = None
        """Run of the machine's board that a person last started or recovered; None: none yet."""
        self.asks_start = False
        self.port_to_use: str | None = None
        """The port's lasting name, where the configuration has one that does not last."""
        self.recorded = True
        """Whether the recording of the line that was asked for, if any, is still written."""
        self.disk = DiskWatch(Path(config.home))
        """Whether the disk takes what is to be stored."""
        self.happened: deque[MachineEvent] = deque(maxlen=HAPPENINGS_KEPT)
        """What the machine reported by itself and nobody has looked at yet."""
        self.traffic = Traffic()
        """What the pages' server is asked; refused requests are shown."""
        self.traffic.on_refused = self.changed
        self.photos_unsent = 0
        """Photos that the central station lacks."""
        self._flower_time = FlowerTime.NONE
        self._writer = writer
        self._lock = asyncio.Lock()
        self._machine_lock = asyncio.Lock()

    # ---- state ----------------------------------------------------------------------------------

    async def load(self) -> None:
        """Replay the log; open the session when the log is empty.

        Raises:
            ConfigError: the log's session was opened with other rules, players or chips.
            NotALog: the log does not begin with an opening, or holds an event that can't be decoded.
        """
        first = self._stored(limit=1)
        if not first:
            await self.book(opened_by(self.config, self.rules))
            return
        opened = first[0].body
        if not isinstance(opened, m.SessionOpened):
            raise NotALog("The log does not begin with the opening of a session.", fix=BACKUP)
        check_unchanged(opened, self.config, self.rules)
        self.session = self._writer.remembered() or Session()
        rest = self._stored(after=self.session.seq)
        self._fold(rest, self._stored() if _corrects(e.body for e in rest) else None)

    def _stored(self, after: int = 0, limit: int | None = None) -> list[Event]:
        """Read events from the log. Raises NotALog: one can't be decoded. LogError: the disk refuses."""
        try:
            return [_decoded(e) for e in self._writer.stored(after, limit)]
        except msgspec.DecodeError as error:
            raise NotALog(f"An event of the log can't be read ({error}).", fix=BACKUP) from None

    def _fold(self, events: list[Event], whole: list[Event] | None) -> None:
        """Take the next events of the log; where they correct something, the whole log is folded anew."""
        if whole is not None:
            self.session = replay(whole)
        else:
            for event in events:
                self.session = apply(self.session, event)
        self._writer.remember(self.session)

    def entries(self) -> Sequence[Entry]:
        """Return everything in the log, read from the disk; may be asked from any thread. Raises LogError."""
        return self._writer.stored()

    def state(self) -> dict[str, Any]:
        """Return the state for screens."""
        central, unsent = self._writer.link_state()
        around = Surroundings(
            machine=machine_object(self.machine.view) if self.machine else None,
            walls_stand=self.machine is not None and next_walls_stand(self.machine.view, self.session),
            port_to_use=self.port_to_use,
            recorded=self.recorded,
            disk=self.disk.code,
            other_hand=self.machine is not None and holds_other_hand(self.machine.view, self.session),
            camera=self.camera_code,
            frame_at=self.frame_at,
            refused=self.eyes.refused if self.eyes else (),
            tilesets=self.eyes.tilesets if self.eyes else None,
            guidance=self.guidance,
            central=central,
            unsent=unsent,
            photos_unsent=self.photos_unsent,
            refused_requests=self.traffic.alarm(),
            now=self.clock.wall(),
            elapsed_s=self.times.elapsed_s(self.session.opened_at),
            flowers_s=self._flowers_s(),
            hall=self.times.hall(),
            waits_for_start=self.asks_start,
            choices=tuple(choices(self.session, self.machine.view if self.machine else None)),
            sides=self.sides,
            other_set=self.machine is not None and has_other_set(self.machine.view, self.rules, self.sides),
        )
        return state_object(self.session, self.rules, propose(self.session, self.rules), around)

    def ask_start(self, wanted: bool) -> None:
        """Show, or no longer show, that the machine waits for a person's start."""
        if wanted != self.asks_start:
            self.asks_start = wanted
            self.changed()

    def machine_told(self, event: MachineEvent) -> None:
        """Take note of what the machine reports by itself; the actor books what belongs in the log."""
        self.happened.append(event)
        self.changed()

    def photos_wait(self, photos: int) -> None:
        """Show how many photos the central station lacks."""
        self.photos_unsent = photos
        self.changed()

    def record_lost(self) -> None:
        """Show that the disk refused the recording of the machine's line."""
        self.recorded = False
        self.changed()

    def not_stored(self, error: StationError) -> None:
        """Show that the disk refused something."""
        if self.disk.refused(error.code):
            log.error("not stored", code=error.code, reason=str(error))
            self.changed()

    def stored(self) -> None:
        """Show that the disk took something."""
        if self.disk.took():
            self._stores_again()

    async def look_at_disk(self) -> None:
        """Where the disk refused, see whether it takes files again."""
        if await self.disk.look(self.clock.monotonic()):
            self._stores_again()

    def _stores_again(self) -> None:
        log.info("storing works again")
        self.changed()

    def tick(self) -> None:
        """Tell the screens when the time for flowers is nearly over, and when it is over."""
        now = flower_time(self.session, self.rules, self._flowers_s())
        if now != self._flower_time:
            self._flower_time = now
            self.changed()

    def _flowers_s(self) -> float:
        dealt_at = self.session.dealt_at
        return 0.0 if dealt_at is None else min(self.times.since("deal", dealt_at), 86_400.0)

    def camera_trouble(self, code: str | None) -> None:
        """Show what is wrong with the camera; None: nothing."""
        shown = code or "camera.ok"
        if shown != self.camera_code:
            self.camera_code = shown
            self.changed()

    def guide(self, guidance: Guidance | None) -> None:
        """Show, or no longer show, what keeps a zone from being read."""
        before, self.guidance = self.guidance, guidance
        if (before and before.shown) != (guidance and guidance.shown):
            self.changed()

    def _read_anyway(self) -> None:
        """Take note that a person wants the waiting zone read as it is."""
        waiting = self.guidance
        need(waiting is not None, "nothing_waits", "No zone waits to be read.", "Look again.")
        assert waiting is not None
        self.guide(replace(waiting, anyway=True))

    # ---- booking --------------------------------------------------------------------------------

    async def book(self, *bodies: m.Body) -> None:
        """Append events and fold them; returns after the commit."""
        async with self._lock:
            await self._append(list(bodies))

    async def book_if(self, still: Callable[[Session], bool], *bodies: m.Body) -> bool:
        """Append events unless the session has moved on meanwhile; say whether they were booked."""
        async with self._lock:
            if not still(self.session):
                return False
            await self._append(list(bodies))
            return True

    async def _append(self, bodies: list[m.Body]) -> None:
        due = checkpoint_due(self.session, bodies)
        # Read before anything is stored: what is stored has to be folded, whatever the disk says then.
        before = self._stored() if _corrects(bodies) else None
        encoded = [_encoded(body) for body in bodies]
        try:
            entries = await self._writer.append(encoded, due)
        except LogError as error:
            self.not_stored(error)
            raise
        self.stored()
        events = [_decoded(e) for e in entries]
        self._fold(events, None if before is None else before + events)
        self.changed()

    # ---- requests -------------------------------------------------------------------------------

    async def act(self, action: str, body: dict[str, Any], key: str | None, revision: int | None) -> int:
        """Carry out one request of a screen; return the revision after it.

        Raises:
            Refused: can't be done now. StaleRevision: ``revision`` is not the present one.
            LogError: can't be stored; nothing happened.
        """
        # A key belongs to one request: the same one with another action is another request.
        key = None if key is None else f"{action}:{key}"
        if key is not None and self.session.known(key):
            return self.session.rev
        if action == ANYWAY:
            self._check(revision)
            self._read_anyway()
            return self.session.rev
        if action == "recovery" or (action == "dice" and body.get("dice") is None):
            return await self._by_machine(action, body, key, revision)
        async with self._lock:
            # Asked again under the lock: the same tap may have been booked while this one waited.
            if key is not None and self.session.known(key):
                return self.session.rev
            self._check(revision)
            await self._append(self._decide(action, body, key))
            self._acted(action)
            return self.session.rev

    def _check(self, revision: int | None) -> None:
        if revision is not None and revision != self.session.rev:
            raise StaleRevision(self.session.rev)

    def _acted(self, action: str) -> None:
        if action not in LETS_MOVE:
            return
        self.acted = True
        self.asks_start = False
        if action != "dice" and self.machine is not None:
            self.started_boot = self.machine.view.boot_id
        self.changed()

    def _decide(self, action: str, body: dict[str, Any], key: str | None) -> list[m.Body]:
        session = self.session
        device = device_of(self.machine.view, session) if self.machine is not None else None
        if action == "start" and self.asks_start:
            return [m.MotionRecovered(hand=session.hand, choice="continue", key=key)]
        if action == "start":
            return decide.start(session, self.rules, key, device)
        if action == "override":
            return decide.override(session, body, key, device)
        if action == "ruling" and session.stage in decide.UNDEALT:
            return decide.undealt(session, self.rules, body, key, device)
        return decide.DECISIONS[action](session, self.rules, body, key)

    async def _by_machine(
        self, action: str, body: dict[str, Any], key: str | None, revision: int | None
    ) -> int:
        """Carry out a request that the machine answers first, one at a time: a tap counts once."""
        async with self._machine_lock:
            if key is not None and self.session.known(key):
                return self.session.rev
            self._check(revision)
            await (self._roll(key) if action == "dice" else self._recover(body, key))
            self._acted(action)
            return self.session.rev

    async def _roll(self, key: str | None) -> None:
        wanted = decide.throw_now(self.session, self.rules)
        if wanted is None:
            raise decide.Refused("No wall is waiting for dice.", code="no_dice_now")
        if self.machine is None or not supports(self.machine.view.capabilities, Op.ROLL_DICE):
            raise decide.Refused("There is no machine to roll dice.", code="bad_dice", fix="Type them in.")
        hand = self.session.hand
        outcome = await self.machine.execute(Op.ROLL_DICE)
        dice = outcome.result.get("dice")
        if outcome.done and dice is None:
            raise decide.Refused("The machine has thrown.", code="dice_thrown", fix="Type in what they show.")
        if not outcome.done or not isinstance(dice, tuple):
            raise decide.Refused("The machine can't roll now.", code=f"machine.{outcome.code}")
        booked = await self.book_if(
            lambda s: s.hand == hand and decide.throw_now(s, self.rules) == wanted,
            *decide.thrown(self.session, self.rules, list(dice), "machine", key),
        )
        if not booked:
            raise StaleRevision(self.session.rev)

    async def _recover(self, body: dict[str, Any], key: str | None) -> None:
        view = self.machine.view if self.machine else None
        choice = decide.recovery(self.session, body.get("choice"), choices(self.session, view))
        if self.machine is not None and Capability.MOVES in self.machine.view.capabilities:
            if not self.machine.view.ready:
                raise decide.Refused("The machine does not answer.", code=self.machine.view.code)
            outcome = await recover(self.machine, choice, self.session.machine_hand)
            if outcome is not None and not outcome.done:
                raise decide.Refused(f"The machine refused: {outcome.code}.", code=f"machine.{outcome.code}")
        await self.book(m.MotionRecovered(hand=self.session.hand, choice=choice, key=key))


def _encoded(body: m.Body) -> tuple[str, bytes]:
    """Return an event as the log takes it; what no later start could read back is never stored.

    Raises:
        Refused: the event is too large or holds a value of a wrong type.
    """
    kind, data = m.encode(body)
    try:
        m.decode(kind, data)
    except msgspec.DecodeError as error:
        raise decide.Refused(f"The request can't be stored: {error}.", code="bad_request") from None
    if len(data) > MAX_BODY:
        raise decide.Refused("The request is too large to be stored.", code="bad_request")
    return kind, data


def _corrects(bodies: Iterable[m.Body | None]) -> bool:
    return any(isinstance(body, m.EventCorrected) for body in bodies)


def _decoded(entry: Entry) -> Event:
    return Event(entry.seq, entry.at_ms / 1000, m.decode(entry.kind, entry.body))

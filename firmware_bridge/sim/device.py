"""The controller of the simulated machine: the device's half of the protocol over a `Plant`.

Bytes in, frames out, time passed in (seconds). Its results, its latches and its lease are what the C
firmware does too; its storage that outlives a reset is `Memory`.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from firmware_bridge import messages as m
from firmware_bridge.codec import FROM_DEVICE, Frame, FrameDecoder, StopWatch, encode
from firmware_bridge.errors import MessageError
from firmware_bridge.interlock import (
    RULES,
    Fault,
    HandEffect,
    Lane,
    Reason,
    Refused,
    State,
    Surface,
    effect_of,
    may_move,
)
from firmware_bridge.machine import ActiveOp, FaultReport
from firmware_bridge.ops import Args, Op, Value, pack_result, unpack_args
from firmware_bridge.sim.plant import Ended, Plant
from firmware_bridge.wire.enums import MAX_STACKS

REMEMBERED: Final = 16
"""Command ids whose outcome is kept; the protocol asks for at least 8."""

EVENT_RING: Final = 64
"""Events kept for replay; the oldest unacknowledged one is lost when it overflows."""

EVENT_REPEAT: Final = 0.25
"""Seconds between repetitions of unacknowledged events, at most `EVENT_BURST` at a time."""

EVENT_BURST: Final = 4

SESSION_SILENCE: Final = 3.0
"""Seconds without a valid frame after which nothing is sent unasked: nobody seems to listen."""

OnExecute = Callable[[int, Op, int], None]
"""Called with (cmd_id, op, boot_id) just before a command takes effect."""


@dataclass(slots=True)
class Memory:
    """What survives a reset: one small write per command (EEPROM)."""

    last_id: int = 0
    running: tuple[int, ...] = ()
    config: m.BoardConfig | None = None
    """None: the board's own, which is that of its plant."""


@dataclass(slots=True)
class Record:
    """What became of one command id."""

    result: m.Result
    code: int = 0
    began: float = 0.0
    duration_ms: int = 0
    op: Op | None = None
    values: bytes = b""


@dataclass(slots=True)
class Latches:
    """What the controller decides by itself and forgets at a reset. The defaults are the safe side."""

    locked: bool = True
    hand_no: int | None = None
    estop: bool = False
    faults: list[FaultReport] = field(default_factory=list)
    lamps: dict[int, int] = field(default_factory=dict)


class Device:
    """One board. `feed` and `tick` often, then send what `take` returns.

    Args:
        plant: the mechanism.
        uid: 64-bit number of the board.
        boot_id: 32-bit, new at every start.
        now: seconds.
        on_execute: counts what is really carried out.
        memory: of a former run.
    """

    def __init__(
        self,
        plant: Plant,
        *,
        uid: int,
        boot_id: int,
        now: float,
        on_execute: OnExecute | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.plant = plant
        self.uid = uid
        self.memory = memory or Memory()
        self._configure(self.config)
        self._on_execute = on_execute
        self._out: list[bytes] = []
        self._state_rev = 0
        self._detail_rev = 0
        self._start(boot_id, m.ResetCause.POWER_ON, now)

    def _start(self, boot_id: int, cause: m.ResetCause, now: float) -> None:
        self.boot_id = boot_id
        self.cause = cause
        self.booted_at = now
        self.latches = Latches()
        self.lanes: dict[Lane, int] = {}
        self.lease_until = now
        self._now = now
        self._decoder = FrameDecoder()
        self._stop_watch = StopWatch()
        self._session = 0
        self._heard_at = now - 2 * SESSION_SILENCE
        self._table: dict[int, Record] = {}
        self._last_seen = self._forgotten = self.memory.last_id
        self._interrupted = self.memory.running
        self._ring: deque[tuple[int, bytes, int]] = deque(maxlen=EVENT_RING)
        self._next_no = 1
        self._acked = 0
        self._repeat_at = now
        self.plant.tick(now)
        self._known = (self._state(now), copy.copy(self.plant.sensors))
        self._event(m.EventCode.BOOTED, bytes([cause]))

    def reset(self, boot_id: int, cause: m.ResetCause, now: float) -> None:
        """The board restarts: motors off, everything but `memory` forgotten, the plant stays as it is."""
        self.plant.tick(min(now, self.lease_until))
        self.plant.power_cut()
        self._out.clear()
        self._start(boot_id, cause, now)

    # -- configuration ----------------------------------------------------------------------------

    @property
    def config(self) -> m.BoardConfig:
        """The configuration in force."""
        return self.memory.config or self.plant.profile.config()

    def _configure(self, config: m.BoardConfig) -> None:
        profile = self.plant.profile
        # A machine that deals directly has more tiles than stand in its walls; its own profile knows.
        tiles = profile.tiles if config.walls == profile.walls else 2 * sum(config.walls)
        self.plant.profile = replace(profile, id=config.profile, walls=config.walls, tiles=tiles)

    def _config_refusal(self, wanted: m.BoardConfig) -> Reason | None:
        if wanted == self.config:
            return None
        if self.plant.motions:
            return Reason.BUSY
        if self.plant.cut:
            return Reason.HOLD
        if self.latches.estop:
            return Reason.ESTOP
        if self.plant.sensors.surface is not Surface.CLEAR:
            return Reason.SURFACE
        return Reason.BAD_ARGUMENTS if max(wanted.walls) > MAX_STACKS else None

    def _set_config(self, wanted: m.BoardConfig) -> Reason | None:
        refused = self._config_refusal(wanted)
        if refused is None and wanted != self.config:
            self.memory.config = wanted
            self._configure(wanted)
            self.plant.mend()  # whoever sets another number of tiles puts other sets in
            self._revise()
        return refused

    # -- state ------------------------------------------------------------------------------------

    def state(self) -> State:
        """As the interlock sees it."""
        return self._state(self._now)

    def _state(self, now: float) -> State:
        s, latches = self.plant.sensors, self.latches
        return State(
            surface=s.surface,
            magazine=s.magazine,
            lid=s.lid,
            locked=latches.locked,
            hand_no=latches.hand_no,
            lease=now < self.lease_until,
            estop=latches.estop,
            hold=bool(self.plant.cut),
            faults=frozenset(report.fault for report in latches.faults),
            running=frozenset(motion.op for motion in self.plant.motions.values()),
            cut=frozenset(motion.op for motion in self.plant.cut.values()),
            drum=s.drum,
            taken=s.taken,
            service=self.plant.service_key,
            stacks=s.stacks,
            walls=s.walls,
            plan=self.plant.profile.walls,
        )

    def _revise(self) -> None:
        state, sensors = replace(self._state(self._now), lease=False), self.plant.sensors
        before, seen = self._known
        # Stacks that grow during a build are progress, not a change anybody decides by.
        if replace(state, stacks=before.stacks) != replace(before, lease=False):
            self._state_rev += 1
            self._detail_rev += 1
        elif sensors != seen:
            self._detail_rev += 1
        else:
            return
        self._known = (state, copy.copy(sensors))

    def _status(self) -> m.StatusReport:
        state, s = self.state(), self.plant.sensors
        return m.StatusReport(
            state_rev=self._state_rev,
            detail_rev=self._detail_rev,
            surface=state.surface,
            magazine=state.magazine,
            lid=state.lid,
            locked=state.locked,
            hand_no=state.hand_no,
            estop=state.estop,
            hold=state.hold,
            lease=state.lease,
            drum=state.drum,
            taken=state.taken,
            service=state.service,
            indicator_up=s.indicator_up,
            stacks=s.stacks,
            walls=s.walls,
            dealt=s.dealt,
            plan=state.plan,
            dice=s.dice,
            lift=s.lift,
            active=tuple(
                ActiveOp(self.lanes[lane], motion.op) for lane, motion in self.plant.motions.items()
            ),
            cut=tuple(sorted(state.cut)),
            faults=tuple(self.latches.faults),
        )

    # -- in ---------------------------------------------------------------------------------------

    def feed(self, data: bytes, now: float) -> None:
        """Take bytes from the line."""
        self.tick(now)
        stop_end = self._stop_watch.feed(data)
        if stop_end is not None:
            self._estop()
            # What came before a stop is dropped unread, or an older CLEAR among it would end the stop.
            self._decoder.forget()
            data = data[stop_end:]
        for frame in self._decoder.feed(data):
            if not frame.kind & FROM_DEVICE:
                self._frame(frame, now)
        self._revise()

    def _frame(self, frame: Frame, now: float) -> None:
        try:
            message = m.parse(frame)
        except MessageError:
            return
        if isinstance(message, m.Hello):
            self._hello(frame, message, now)
        elif frame.session == self._session != 0:
            self._heard_at = now
            self._request(frame, message, now)

    def _request(self, frame: Frame, message: m.Message, now: float) -> None:
        match message:
            case m.Ping(t_host, lease_ms):
                self.lease_until = now + lease_ms / 1000
                self._revise()
                self._answer(frame, m.Pong(t_host, self._ms(now), self._state_rev, self._detail_rev))
            case m.StatusRequest():
                self._revise()
                self._answer(frame, self._status())
            case m.Command():
                self._command(frame, message, now)
            case m.Query():
                self._query(frame, message)
            case m.EventAck(no):
                self._acked = max(self._acked, min(no, self._next_no - 1))
            case m.Hold():
                self._cut(Fault.HELD, m.EventCode.HELD)
                self._answer(frame, self._status())
            case m.Abort(cmd_id):
                if cmd_id in self.lanes.values():
                    self._cut(Fault.HELD, m.EventCode.HELD)
                self._answer(frame, self._status())
            case m.ConfigGet():
                self._answer(frame, m.ConfigReport(0, self.config))
            case m.ConfigSet(wanted):
                refused = self._set_config(wanted)
                self._answer(frame, m.ConfigReport(refused or 0, self.config))
            case _:
                pass

    def _hello(self, frame: Frame, hello: m.Hello, now: float) -> None:
        common = hello.proto_min <= m.PROTOCOL <= hello.proto_max
        self._session = frame.session if common else 0
        self._heard_at = now
        last = self._table.get(self._last_seen)
        unacked = [no for no, _, _ in self._ring if no > self._acked]
        welcome = m.Welcome(
            proto=m.PROTOCOL if common else 0,
            nonce=hello.nonce,
            uid=self.uid,
            boot_id=self.boot_id,
            reset_cause=self.cause,
            profile=self.config.profile,
            config_crc=m.config_crc(self.config),
            caps=(
                m.Caps.RAISES_WALLS
                | m.Caps.DEALS
                | m.Caps.DICE
                | m.Caps.INDICATOR
                | m.Caps.LAMPS
                | m.Caps.SEES_TAKEN
                | m.Caps.SERVICE
                | m.Caps.COUNTS
            ),
            uptime_ms=self._ms(now),
            last_cmd=self._last_seen,
            last_result=last.result if last else m.Result.NEVER_SEEN,
            event_first=unacked[0] if unacked else self._next_no,
            event_last=self._next_no - 1,
            firmware=(0, 1, 0),
            schema=m.SCHEMA,
        )
        self._send(welcome, frame.seq, frame.session)
        self._repeat_at = now

    # -- commands ---------------------------------------------------------------------------------

    def _command(self, frame: Frame, command: m.Command, now: float) -> None:
        record = self._table.get(command.cmd_id)
        if record is not None and record.result is not m.Result.NEVER_SEEN:
            self._ack(frame, command.cmd_id, m.Verdict.DUPLICATE, record)
        elif record is not None or command.cmd_id <= self._last_seen:
            stale = Record(m.Result.REJECTED, Reason.STALE_ID)
            self._ack(frame, command.cmd_id, m.Verdict.REJECTED, stale)
        else:
            self._new_command(frame, command, now)

    def _new_command(self, frame: Frame, command: m.Command, now: float) -> None:
        self._last_seen = command.cmd_id
        asked = self._examine(command)
        if isinstance(asked, Reason):
            record = Record(m.Result.REJECTED, asked)
            self._remember(command.cmd_id, record)
            self._ack(frame, command.cmd_id, m.Verdict.REJECTED, record)
            return
        op, args = asked
        record = Record(m.Result.RUNNING, began=now, op=op)
        self._remember(command.cmd_id, record)
        self.memory.last_id = command.cmd_id
        self.memory.running = self._running()
        if self._on_execute is not None:
            self._on_execute(command.cmd_id, op, self.boot_id)
        self._ack(frame, command.cmd_id, m.Verdict.ACCEPTED, record)
        self._execute(command.cmd_id, op, args)

    def _examine(self, command: m.Command) -> Reason | tuple[Op, Args]:
        """The operation and its arguments, or why it is refused."""
        try:
            op = Op(command.op)
            args = unpack_args(op, command.args)
        except ValueError:
            return Reason.UNSUPPORTED
        except MessageError:
            return Reason.BAD_ARGUMENTS
        if args.get("mode", 0) != 0:
            return Reason.BAD_ARGUMENTS
        self._revise()
        # A stop changes the revision, so a CLEAR from before it, which names an older one, never ends it.
        any_rev = command.rev == m.ANY_REV and not RULES[op].names_rev
        if command.rev != self._state_rev and not any_rev:
            return Reason.STALE_STATE
        decision = may_move(self.state(), op, args)
        return decision.reason if isinstance(decision, Refused) else (op, args)

    def _execute(self, cmd_id: int, op: Op, args: Args) -> None:
        match op:
            case Op.ADOPT | Op.START | Op.RELEASE_INTAKE:
                self._latch(op, args, self.plant.sensors.surface)
            case Op.LAMP:
                self.latches.lamps[_number(args["place"])] = _number(args["pattern"])
            case Op.CLEAR:
                self.latches.estop = False
                self.latches.faults.clear()
                self.plant.mend()
            case Op.LEAVE:
                self._leave()
            case _:
                self._begin(cmd_id, op, args)
                return
        self._finish(cmd_id, m.Result.DONE)

    def _begin(self, cmd_id: int, op: Op, args: Args) -> None:
        self._end_hold()
        if op is Op.RESUME:
            self.plant.resume()
        else:
            if effect_of(op, surface=self.plant.sensors.surface).lock_first:
                self.latches.locked = True
            self.plant.begin(op, args)
        for lane in self.plant.motions:
            self.lanes.setdefault(lane, cmd_id)

    def _end_hold(self) -> None:
        ended = (Fault.LEASE_EXPIRED, Fault.HELD, Fault.ESTOPPED)
        self.latches.faults = [report for report in self.latches.faults if report.fault not in ended]

    def _leave(self) -> None:
        """What was being raised or dealt counts as dealt: somebody may play it."""
        for motion in self.plant.cut.values():
            if motion.op in (Op.RAISE_WALLS, Op.DEAL):
                self._latch(motion.op, motion.args, motion.from_surface)
        self.plant.leave()
        self._end_hold()

    def _latch(self, op: Op, args: Args, surface: Surface) -> None:
        change = effect_of(op, surface=surface)
        if change.locked is not None:
            self.latches.locked = change.locked
        match change.hand:
            case HandEffect.ZERO:
                self.latches.hand_no = 0
            case HandEffect.GIVEN:
                self.latches.hand_no = _number(args["hand"])
            case HandEffect.NEXT:
                self.latches.hand_no = (self.latches.hand_no or 0) + 1
            case HandEffect.KEEP:
                pass

    def _finish(
        self, cmd_id: int, result: m.Result, code: int = 0, values: dict[str, Value] | None = None
    ) -> None:
        record = self._table[cmd_id]
        record.result, record.code = result, code
        record.duration_ms = round((self._now - record.began) * 1000)
        if record.op is not None and values:
            record.values = pack_result(record.op, values)
        self.memory.running = self._running()
        self._revise()
        self._push(self._status())
        done = m.CommandDone(
            self._next_no, cmd_id, result, code, record.duration_ms, self._state_rev, record.values
        )
        self._queue(done)

    def _remember(self, cmd_id: int, record: Record) -> None:
        self._table[cmd_id] = record
        while len(self._table) > REMEMBERED:
            oldest = next(i for i, r in self._table.items() if r.result is not m.Result.RUNNING)
            del self._table[oldest]
            self._forgotten = max(self._forgotten, oldest)

    def _running(self) -> tuple[int, ...]:
        return tuple(cmd_id for cmd_id, r in self._table.items() if r.result is m.Result.RUNNING)

    def _query(self, frame: Frame, query: m.Query) -> None:
        record = self._table.get(query.cmd_id)
        if record is None:
            record = Record(self._without_record(query.cmd_id))
            if query.close and record.result is m.Result.NEVER_SEEN:
                self._remember(query.cmd_id, record)
        outcome = m.CommandOutcome(
            query.cmd_id, record.result, record.code, record.duration_ms, self._state_rev, record.values
        )
        self._answer(frame, outcome)

    def _without_record(self, cmd_id: int) -> m.Result:
        if cmd_id in self._interrupted:
            return m.Result.INTERRUPTED
        return m.Result.EXPIRED if cmd_id <= self._forgotten else m.Result.NEVER_SEEN

    # -- motion -----------------------------------------------------------------------------------

    def tick(self, now: float) -> None:
        """Advance to `now`: motions, lease, repetitions."""
        running = bool(self.plant.motions)
        for ended in self.plant.tick(min(now, self.lease_until) if running else now):
            self._now = min(now, self.lease_until)
            self._ended(ended)
        self._now = now
        if self.plant.motions and now >= self.lease_until:
            self._cut(Fault.LEASE_EXPIRED, m.EventCode.LEASE_EXPIRED)
        self.plant.tick(now)
        self._revise()
        self._repeat(now)

    def _ended(self, ended: Ended) -> None:
        cmd_id = self.lanes.pop(ended.lane)
        record = self._table[cmd_id]
        if ended.fault is None:
            self._latch(ended.op, {}, ended.from_surface)
        else:
            record.code = ended.fault.fault
            self._fault(ended.fault)
        if cmd_id not in self.lanes.values():
            result = m.Result.FAILED if record.code else m.Result.DONE
            values = ended.result if record.op is ended.op else {}
            self._finish(cmd_id, result, record.code, values)

    def _fault(self, report: FaultReport) -> None:
        self.latches.faults.append(report)
        place = 255 if report.place is None else report.place
        self._event(m.EventCode.FAULT, bytes([report.fault, place, report.count]))

    def _cut(self, fault: Fault, code: m.EventCode) -> None:
        """Outputs off. What moved is cut until a person chooses."""
        if not self.plant.motions:
            return
        self.plant.stop()
        cut, self.lanes = sorted(set(self.lanes.values())), {}
        if all(report.fault is not fault for report in self.latches.faults):
            self.latches.faults.append(FaultReport(fault))
        self._event(code)
        for cmd_id in cut:
            self._finish(cmd_id, m.Result.ABORTED, fault)

    def _estop(self) -> None:
        if not self.latches.estop:
            self.latches.estop = True
            self._event(m.EventCode.ESTOP)
        self._cut(Fault.ESTOPPED, m.EventCode.HELD)
        self._revise()
        # Also where one is latched already: a CLEAR that was sent for the earlier must not end the later.
        self._state_rev += 1
        self._detail_rev += 1
        self._push(self._status())

    def press_stop(self) -> None:
        """A person pressed the emergency stop: what moves is cut, and the stop is latched until CLEAR."""
        self._estop()

    def button(self) -> None:
        """A player pressed the maker's own open button: nothing moves while locked, an event tells."""
        self._event(m.EventCode.INTAKE_OPENED_EARLY)

    # -- out --------------------------------------------------------------------------------------

    def take(self) -> list[bytes]:
        """Frames to send, as wire bytes, in order."""
        out, self._out = self._out, []
        return out

    def _send(self, message: m.DeviceMessage, seq: int, session: int) -> None:
        self._out.append(encode(Frame(message.KIND, seq, session, message.to_bytes())))

    def _answer(self, frame: Frame, message: m.DeviceMessage) -> None:
        self._send(message, frame.seq, frame.session)

    def _ack(self, frame: Frame, cmd_id: int, verdict: m.Verdict, record: Record) -> None:
        self._answer(frame, m.CommandAck(cmd_id, verdict, record.result, record.code, self._state_rev))

    def _listening(self) -> bool:
        return self._session != 0 and self._now - self._heard_at < SESSION_SILENCE

    def _push(self, message: m.DeviceMessage) -> None:
        """Send unasked (seq 0), if somebody listens."""
        if self._listening():
            self._send(message, 0, self._session)

    def _event(self, code: m.EventCode, args: bytes = b"") -> None:
        self._queue(m.Event(self._next_no, self._ms(self._now), code, args))

    def _queue(self, message: m.Event | m.CommandDone) -> None:
        self._ring.append((self._next_no, message.to_bytes(), message.KIND))
        self._next_no += 1
        self._push(message)

    def _repeat(self, now: float) -> None:
        if now < self._repeat_at or not self._listening():
            return
        self._repeat_at = now + EVENT_REPEAT
        waiting = [entry for entry in self._ring if entry[0] > self._acked]
        for _, payload, kind in waiting[:EVENT_BURST]:
            self._out.append(encode(Frame(kind, 0, self._session, payload)))

    def _ms(self, now: float) -> int:
        return round((now - self.booted_at) * 1000) & 0xFFFFFFFF


def _number(value: Value) -> int:
    return value if isinstance(value, int) else value[0]

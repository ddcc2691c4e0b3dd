"""The controller of the simulated machine: the device's half of the protocol over a `Plant`.

Bytes in, frames out, time passed in (seconds). Its results, its latches and its lease are what the C
firmware does too; its storage that outlives a reset is `Memory`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

from firmware_bridge import messages as m
from firmware_bridge.codec import FROM_DEVICE, Frame, FrameDecoder, StopWatch
from firmware_bridge.errors import MessageError
from firmware_bridge.interlock import (
    RULES,
    Fault,
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
from firmware_bridge.sim.latches import Latches
from firmware_bridge.sim.plant import Ended, Plant
from firmware_bridge.sim.records import CommandTable, Memory, Record
from firmware_bridge.sim.session import DeviceSession
from firmware_bridge.wire.enums import MAX_LEASE_MS, MAX_STACKS

OnExecute = Callable[[int, Op, int], None]
"""Called with (cmd_id, op, boot_id) just before a command takes effect."""


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
        self._session = DeviceSession(now)
        self._commands = CommandTable(self.memory)
        self.plant.tick(now)
        self._known = (self._state(now), copy.copy(self.plant.sensors))
        self._event(m.EventCode.BOOTED, bytes([cause]))

    def reset(self, boot_id: int, cause: m.ResetCause, now: float) -> None:
        """The board restarts: motors off, everything but `memory` forgotten, the plant stays as it is."""
        self.plant.tick(min(now, self.lease_until))
        self.plant.power_cut()
        self._start(boot_id, cause, now)

    # -- configuration ----------------------------------------------------------------------------

    @property
    def config(self) -> m.BoardConfig:
        """The configuration in force."""
        return self.memory.config or self.plant.profile.config()

    def _configure(self, config: m.BoardConfig) -> None:
        profile = self.plant.profile
        tiles = 2 * sum(config.walls) + config.dealt
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
        elif self._session.hears(frame, now):
            self._request(frame, message, now)

    def _request(self, frame: Frame, message: m.Message, now: float) -> None:
        match message:
            case m.Ping(t_host, lease_ms):
                self.lease_until = now + min(lease_ms, MAX_LEASE_MS) / 1000
                self._revise()
                self._session.answer(frame, m.Pong(t_host, self._ms(now), self._state_rev, self._detail_rev))
            case m.StatusRequest():
                self._revise()
                self._session.answer(frame, self._status())
            case m.Command():
                self._command(frame, message, now)
            case m.Query():
                self._query(frame, message)
            case m.EventAck(no):
                self._session.acknowledge(no)
            case m.Hold():
                self._cut(Fault.HELD, m.EventCode.HELD)
                self._session.answer(frame, self._status())
            case m.Abort(cmd_id):
                if cmd_id in self.lanes.values():
                    self._cut(Fault.HELD, m.EventCode.HELD)
                self._session.answer(frame, self._status())
            case m.ConfigGet():
                self._session.answer(frame, m.ConfigReport(0, self.config))
            case m.ConfigSet(wanted):
                refused = self._set_config(wanted)
                self._session.answer(frame, m.ConfigReport(refused or 0, self.config))
            case _:
                pass

    def _hello(self, frame: Frame, hello: m.Hello, now: float) -> None:
        common = hello.proto_min <= m.PROTOCOL <= hello.proto_max
        self._session.begin(frame.session if common else 0, now)
        last = self._commands.get(self._commands.last_seen)
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
            last_cmd=self._commands.last_seen,
            last_result=last.result if last else m.Result.NEVER_SEEN,
            event_first=self._session.first_waiting,
            event_last=self._session.next_no - 1,
            firmware=(0, 1, 0),
            schema=m.SCHEMA,
        )
        self._session.answer(frame, welcome)

    # -- commands ---------------------------------------------------------------------------------

    def _command(self, frame: Frame, command: m.Command, now: float) -> None:
        record = self._commands.get(command.cmd_id)
        if record is not None and record.result is not m.Result.NEVER_SEEN:
            self._ack(frame, command.cmd_id, m.Verdict.DUPLICATE, record)
        elif self._commands.is_old(command.cmd_id):
            stale = Record(m.Result.REJECTED, Reason.STALE_ID)
            self._ack(frame, command.cmd_id, m.Verdict.REJECTED, stale)
        else:
            self._new_command(frame, command, now)

    def _new_command(self, frame: Frame, command: m.Command, now: float) -> None:
        self._commands.last_seen = command.cmd_id
        asked = self._examine(command)
        if isinstance(asked, Reason):
            record = Record(m.Result.REJECTED, asked)
            self._commands.remember(command.cmd_id, record)
            self._ack(frame, command.cmd_id, m.Verdict.REJECTED, record)
            return
        op, args = asked
        record = Record(m.Result.RUNNING, began=now, op=op)
        self._commands.begin(command.cmd_id, record)
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
                self.latches.apply(op, args, self.plant.sensors.surface)
            case Op.LAMP:
                self.latches.light(args)
            case Op.CLEAR:
                self.latches.clear()
                self.plant.mend()
            case Op.LEAVE:
                self._leave()
            case _:
                self._begin(cmd_id, op, args)
                return
        self._finish(cmd_id, m.Result.DONE)

    def _begin(self, cmd_id: int, op: Op, args: Args) -> None:
        self.latches.end_hold()
        if op is Op.RESUME:
            self.plant.resume()
        else:
            if effect_of(op, surface=self.plant.sensors.surface).lock_first:
                self.latches.locked = True
            self.plant.begin(op, args)
        for lane in self.plant.motions:
            self.lanes.setdefault(lane, cmd_id)

    def _leave(self) -> None:
        """What was being raised or dealt counts as dealt: somebody may play it."""
        for motion in self.plant.cut.values():
            if motion.op in (Op.RAISE_WALLS, Op.DEAL):
                self.latches.apply(motion.op, motion.args, motion.from_surface)
        self.plant.leave()
        self.latches.end_hold()

    def _finish(
        self, cmd_id: int, result: m.Result, code: int = 0, values: dict[str, Value] | None = None
    ) -> None:
        record = self._commands[cmd_id]
        record.result, record.code = result, code
        record.duration_ms = round((self._now - record.began) * 1000)
        if record.op is not None and values:
            record.values = pack_result(record.op, values)
        self._commands.write_running()
        self._revise()
        self._session.push(self._status(), self._now)
        done = m.CommandDone(
            self._session.next_no, cmd_id, result, code, record.duration_ms, self._state_rev, record.values
        )
        self._session.queue(done, self._now)

    def _query(self, frame: Frame, query: m.Query) -> None:
        record = self._commands.asked(query)
        outcome = m.CommandOutcome(
            query.cmd_id, record.result, record.code, record.duration_ms, self._state_rev, record.values
        )
        self._session.answer(frame, outcome)

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
        serviced = any(RULES[motion.op].service for motion in self.plant.motions.values())
        if serviced and not self.plant.service_key:  # whoever lets it go wants it to end
            self._cut(Fault.HELD, m.EventCode.HELD)
        self.plant.tick(now)
        self._revise()
        self._session.repeat(now)

    def _ended(self, ended: Ended) -> None:
        cmd_id = self.lanes.pop(ended.lane)
        record = self._commands[cmd_id]
        if ended.fault is None:
            self.latches.apply(ended.op, {}, ended.from_surface)
        else:
            record.code = ended.fault.fault
            self._fault(ended.fault)
        if cmd_id not in self.lanes.values():
            result = m.Result.FAILED if record.code else m.Result.DONE
            values = ended.result if record.op is ended.op else {}
            self._finish(cmd_id, result, record.code, values)

    def _fault(self, report: FaultReport) -> None:
        self.latches.report(report)
        place = 255 if report.place is None else report.place
        self._event(m.EventCode.FAULT, bytes([report.fault, place, report.count]))

    def _cut(self, fault: Fault, code: m.EventCode) -> None:
        """Outputs off. What moved is cut until a person chooses."""
        if not self.plant.motions:
            return
        self.plant.stop()
        cut, self.lanes = sorted(set(self.lanes.values())), {}
        self.latches.hold(fault)
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
        self._session.push(self._status(), self._now)

    def press_stop(self) -> None:
        """A person pressed the emergency stop: what moves is cut, and the stop is latched until CLEAR."""
        self._estop()

    def button(self) -> None:
        """A player pressed the maker's own open button: nothing moves while locked, an event tells."""
        self._event(m.EventCode.INTAKE_OPENED_EARLY)

    # -- out --------------------------------------------------------------------------------------

    def take(self) -> list[bytes]:
        """Frames to send, as wire bytes, in order."""
        out, self._session.out = self._session.out, []
        return out

    def _ack(self, frame: Frame, cmd_id: int, verdict: m.Verdict, record: Record) -> None:
        self._session.answer(
            frame, m.CommandAck(cmd_id, verdict, record.result, record.code, self._state_rev)
        )

    def _event(self, code: m.EventCode, args: bytes = b"") -> None:
        event = m.Event(self._session.next_no, self._ms(self._now), code, args)
        self._session.queue(event, self._now)

    def _ms(self, now: float) -> int:
        return round((now - self.booted_at) * 1000) & 0xFFFFFFFF

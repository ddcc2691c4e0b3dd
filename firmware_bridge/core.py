"""The host's whole logic without port or clock: link, commands and the view of the machine in one object.

Owners pass bytes and the time (seconds) in and take bytes and notices out; `bridge.Bridge` does it with
asyncio, the tests with a virtual clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from firmware_bridge import messages as m
from firmware_bridge.commands import Book, CommandDesk, Ended, OpenCommand
from firmware_bridge.errors import UsageError
from firmware_bridge.interlock import RULES, Surface
from firmware_bridge.link import (
    Answered,
    Connected,
    HostLink,
    LinkEvent,
    Phase,
    Pushed,
    Quality,
    Timing,
    Unanswered,
)
from firmware_bridge.machine import (
    NATIVE,
    Capability,
    LinkState,
    MachineEvent,
    MachineView,
    Outcome,
    Status,
    sentence_code,
)
from firmware_bridge.ops import TIMEOUT_OPS, Op
from firmware_bridge.recorder import Recorder

EVENTS_KEPT: Final = 256

INSTANT: Final = 2.0
"""Seconds within which an operation without motion has ended."""

LONGEST: Final = 120.0
"""Seconds for a motion of which no time is known: single-port machines take two minutes for a set."""

SLACK: Final = 5.0
"""Seconds beyond its time after which a command is overdue; a board that works gives up earlier."""

ASK_AGAIN: Final = 5.0
"""Seconds between two questions for a command that is overdue."""

GAP: Final = 1.0
"""Seconds for which an event may be missing while later ones come. A device repeats the oldest it keeps every
quarter of a second, so after that it keeps it no longer, and only a new session tells what it does keep."""

UNKNOWN_AFTER: Final = 10.0
"""Seconds without a session after which who waits for a command is told UNKNOWN (`link_down`)."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A command ended. `final` False: only the waiting did; the outcome is still asked for."""

    outcome: Outcome
    final: bool = True


@dataclass(frozen=True, slots=True)
class Reported:
    """A new numbered event of the machine."""

    event: MachineEvent


Notice: TypeAlias = Finished | Reported


class HostCore:
    """One machine as its host sees it.

    Args:
        book: the command ledger.
        numbers: fresh random 32-bit numbers.
        uid: the board that is expected (16 hex digits), or None for any.
        config: what the board must keep about its machine, or None for whatever it keeps. A board that keeps
            something else is told so once per session, as soon as it rests.
        timing: constants of the link.
        recorder: takes down all that comes in and goes out.
    """

    def __init__(
        self,
        book: Book,
        numbers: Callable[[], int],
        *,
        uid: str | None = None,
        config: m.BoardConfig | None = None,
        timing: Timing | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self._recorder = recorder
        self._now = 0.0
        self._numbers = numbers
        self.desk = CommandDesk(book)
        if recorder is not None:
            wanted = config.to_bytes().hex() if config is not None else None
            recorder.header.update(side="host", uid=uid, config=wanted, **self.desk.memory())
        self.link = HostLink(self._number, timing)
        self.events: deque[MachineEvent] = deque(maxlen=EVENTS_KEPT)
        self.leftovers: frozenset[int] = frozenset(self.desk.open)
        """Ids a former process left open."""
        self._expected_uid = uid.lower() if uid else None
        self._config = config
        self._config_fits = True
        self._config_sent = False
        self._view = MachineView()
        self._port = LinkState.CLOSED
        self._wrong: LinkState | None = None
        self._informed = False
        self._detail_rev = 0
        self._asked_status = False
        self._expect_event = 0
        self._gap_since: float | None = None
        self._awaiting_view: list[Ended] = []
        self._waiting: set[int] = set()
        self._disconnected_at: float | None = None
        self._notices: list[Notice] = []

    def _number(self) -> int:
        number = self._numbers()
        self._note("number", number)
        return number

    def _note(self, kind: str, value: object = True) -> None:
        if self._recorder is not None:
            self._recorder.note(self._now, kind, value)

    # -- the port ---------------------------------------------------------------------------------------

    def port_opened(self, now: float, port: str = "") -> None:
        """Begin a conversation at this address."""
        self._now = now
        self._note("port", "opened")
        self._wrong = None
        self._informed = False
        self.link.open(now)
        self._update(port=port)

    def port_failed(self, state: LinkState, detail: str, now: float) -> None:
        """The port could not be opened, or was lost."""
        self._now = now
        self._note("port", ["failed", state.value, detail])
        self.link.close()
        self._port = state
        self._digest(now)
        self._update(attempt=self._view.attempt + 1, detail=detail, lease=False)

    def port_closed(self, now: float) -> None:
        """The owner let the port go."""
        self._now = now
        self._note("port", "closed")
        self.link.close()
        self._port = LinkState.CLOSED
        self._digest(now)
        self._update(lease=False)

    def feed(self, data: bytes, now: float) -> None:
        """Bytes from the port."""
        self._now = now
        if self._recorder is not None:
            self._recorder.wire("device", data, now)
        self.link.feed(data, now)
        self._digest(now)

    def poll(self, now: float) -> None:
        """Whatever is due."""
        self._now = now
        before = self._mark()
        self.link.poll(now)
        self._digest(now)
        self._give_up_waiting(now)
        self._report_overdue(now)
        self._close_gap(now)
        self.link.poll(now)
        if self._mark() != before:  # most looks find nothing to do, and are not worth a line
            self._note("poll")

    def _mark(self) -> tuple[object, ...]:
        return (*self.link.mark(), len(self._waiting), len(self._notices))

    def deadline(self) -> float | None:
        """When `poll` is due next."""
        times = [] if (due := self.link.deadline()) is None else [due]
        if self._waiting and self._disconnected_at is not None:
            times.append(self._disconnected_at + UNKNOWN_AFTER)
        if self.link.phase is Phase.UP:
            times += [
                end for command in self.desk.open.values() if (end := self._end_of(command)) is not None
            ]
        if self._gap_since is not None:
            times.append(self._gap_since + GAP)
        return min(times, default=None)

    def take(self) -> bytes:
        """Bytes for the port."""
        out = self.link.take()
        if self._recorder is not None:
            self._recorder.wire("host", out, self._now)
        return out

    def notices(self) -> list[Notice]:
        """What to tell, in order, since the last call."""
        notices, self._notices = self._notices, []
        return notices

    @property
    def view(self) -> MachineView:
        """The last known state."""
        return self._view

    # -- the caller -------------------------------------------------------------------------------------

    def submit(self, op: Op, args: Mapping[str, object], now: float, rev: int | None = None) -> int | Outcome:
        """Send a command: its id, or the outcome if it is refused at once. Never queued for later.

        Raises:
            UsageError: impossible arguments.
            LedgerError: it could not be written down; nothing is sent.
        """
        if self._view.link is LinkState.CONFIG_MISMATCH:
            if RULES[op].motion:
                return Outcome(Status.REJECTED, "config_mismatch", 0, op)
        elif not self._view.ready:
            return Outcome(Status.REJECTED, "link_down", 0, op)
        if rev is not None and rev < 0:
            raise UsageError("A revision is never negative; pass the view's `rev`, or None for any.")
        self._now = now
        if RULES[op].names_rev and rev is None:
            rev = self._view.rev  # what the person sees; a stop in between makes the device refuse
        cmd_id, command = self.desk.submit(op, dict(args), rev, now)
        self._note("submit", {"op": op.name, "args": dict(args), "rev": rev})
        self._waiting.add(cmd_id)
        self.link.request(command)
        self.link.poll(now)
        return cmd_id

    def hold(self, now: float) -> None:
        """Stop what moves, softly; a wrong machine is not talked to."""
        self._now = now
        self._note("hold")
        if self._wrong is None:
            self.link.request(m.Hold())
            self.link.poll(now)

    def estop(self) -> None:
        """Ask for a latched stop. A CLEAR under way is given up: it was not meant for this stop."""
        self._note("estop")
        self.link.shout_stop()
        for query in self.desk.withdraw(Op.CLEAR):
            self.link.request(query)

    # -- what happened ----------------------------------------------------------------------------------

    def _digest(self, now: float) -> None:
        while events := self.link.events():
            for event in events:
                self._link_event(event, now)
        connected = self.link.phase is Phase.UP
        if connected:
            self._disconnected_at = None
        else:
            self._informed = False
            self._asked_status = False
            if self._disconnected_at is None:
                self._disconnected_at = now
        self._release_finished()
        self._update()

    def _link_event(self, event: LinkEvent, now: float) -> None:
        match event:
            case Connected(welcome):
                self._connected(welcome, now)
            case Answered(request, reply):
                self._answered(request, reply, now)
            case Pushed(message):
                self._pushed(message, now)
            case Quality(noisy, disturbed):
                self._report(0, "link_noisy" if noisy else "link_calm", (round(1000 * disturbed),), 0.0)
                self._update(noisy=noisy)
            case Unanswered(request):
                # A command's fate is asked for when the next session begins.
                if isinstance(request, m.StatusRequest):
                    self._asked_status = False

    def _connected(self, welcome: m.Welcome, now: float) -> None:
        uid = f"{welcome.uid:016x}"
        if welcome.proto != m.PROTOCOL or welcome.schema != m.SCHEMA:
            self._wrong = LinkState.VERSION_MISMATCH
        elif self._expected_uid not in (None, uid):
            self._wrong = LinkState.UID_MISMATCH
        else:
            self._wrong = None
        self.link.observing = self._wrong is not None
        self._config_fits = self._config is None or m.config_crc(self._config) == welcome.config_crc
        self._config_sent = False
        if self._wrong is not None:
            self._update(uid=uid, profile=welcome.profile, attempt=0, detail="")
            return
        self._gap_since = None
        new_run = (uid, welcome.boot_id) != (self._view.uid, self._view.boot_id)
        if new_run or welcome.event_first > self._expect_event:
            lost = not new_run and self._expect_event
            self._expect_event = welcome.event_first
            if lost:
                self._report(0, "events_lost", (), 0.0)
        self._update(
            uid=uid,
            boot_id=welcome.boot_id,
            profile=welcome.profile,
            capabilities=abilities(welcome.caps),
            reset_cause=welcome.reset_cause.name.lower(),
            attempt=0,
            detail="",
        )
        for query in self.desk.connected(welcome, now):
            self.link.request(query)
        self._ask_status()

    def _answered(self, request: m.HostMessage, reply: m.DeviceMessage, now: float) -> None:
        follow: list[m.Command | m.Query] = []
        match request, reply:
            case _, m.Pong():
                self._pong(reply)
            case _, m.StatusReport():
                self._asked_status = False
                self._status(reply)
            case _, m.CommandAck():
                self._ask_status()  # what moves now is pinged more often
                follow.extend(self.desk.acknowledged(reply, now))
            case m.ConfigSet(wanted), m.ConfigReport():
                self._config_answered(wanted, reply)
            case m.Query(), m.CommandOutcome():
                follow.extend(self.desk.answered(request, reply, now))
            case _:
                pass
        for message in follow:
            self.link.request(message)

    def _pushed(self, message: m.DeviceMessage, now: float) -> None:
        if self._wrong is not None:
            return
        match message:
            case m.StatusReport():
                self._status(message)
            case m.CommandDone():
                self.desk.done(message)
                self._numbered(message.no, now)
            case m.Event(no, t_dev, code, args):
                if self._numbered(no, now):
                    self._report(no, event_name(code), tuple(args), t_dev / 1000)
            case _:
                pass

    def _numbered(self, no: int, now: float) -> bool:
        """Whether `no` is the next one; acknowledges what has arrived without a gap."""
        fresh = no == self._expect_event
        if fresh:
            self._expect_event += 1
            self._gap_since = None
        elif no > self._expect_event and self._gap_since is None:
            self._gap_since = now
        self.link.post(m.EventAck(self._expect_event - 1))
        return fresh

    def _report(self, no: int, code: str, args: tuple[int, ...], t_dev: float) -> None:
        event = MachineEvent(no, self._view.boot_id, code, args, t_dev)
        self.events.append(event)
        self._notices.append(Reported(event))

    # -- the view ---------------------------------------------------------------------------------------

    def _ask_status(self) -> None:
        if not self._asked_status and self.link.phase is Phase.UP and self._wrong is None:
            self._asked_status = True
            self.link.request(m.StatusRequest())

    def _pong(self, pong: m.Pong) -> None:
        if (pong.state_rev, pong.detail_rev) != (self._view.rev, self._detail_rev) or not self._view.lease:
            self._ask_status()

    def _status(self, status: m.StatusReport) -> None:
        if self._wrong is not None:
            return
        self._informed = True
        self._detail_rev = status.detail_rev
        self.link.moving = bool(status.active)
        self._update(
            rev=status.state_rev,
            surface=status.surface,
            magazine=status.magazine,
            lid=status.lid,
            locked=status.locked,
            hand_no=status.hand_no,
            lease=status.lease,
            hold=status.hold,
            estop=status.estop,
            faults=status.faults,
            cut=status.cut,
            active=status.active,
            progress=status.stacks,
            walls=status.walls,
            dealt=status.dealt,
            plan=status.plan,
            drum=status.drum,
            taken=status.taken,
            service=status.service,
            lift=status.lift,
            dice=status.dice,
            indicator_up=status.indicator_up,
        )

        self._set_config(status)

    def _set_config(self, status: m.StatusReport) -> None:
        """Once per session, when the board looks as if it would take it."""
        rests = not (status.active or status.cut or status.estop) and status.surface is Surface.CLEAR
        if self._config is not None and not self._config_fits and not self._config_sent and rests:
            self._config_sent = True
            self._report(0, "config_sent", (), 0.0)
            self.link.request(m.ConfigSet(self._config))

    def _config_answered(self, wanted: m.BoardConfig, report: m.ConfigReport) -> None:
        if report.reason or report.config != wanted:
            self._report(0, "config_refused", (report.reason,), 0.0)
            return
        self._config_fits = True
        self._informed = False  # what is known of its walls is old
        self._report(0, "config_set", (), 0.0)
        self._update(profile=report.config.profile)
        self._ask_status()

    def _update(self, **changes: object) -> None:
        changes["overdue"] = tuple(c.intent.op for c in self.desk.open.values() if c.overdue)
        changes["link"] = self._link_state(changes.get("hand_no", self._view.hand_no) is not None)
        if self.link.phase is not Phase.UP:
            changes["lease"] = False
        view = replace(self._view, **changes)  # type: ignore[arg-type]
        code = sentence_code(view)
        self._view = view if view.code == code else replace(view, code=code)

    def _link_state(self, has_hand: bool) -> LinkState:
        match self.link.phase:
            case Phase.CLOSED:
                return self._port
            case Phase.CONNECTING:
                return LinkState.CONNECTING
            case Phase.SUSPECT:
                return LinkState.SUSPECT
            case Phase.DOWN:
                return LinkState.DOWN
            case Phase.UP:
                pass
        if self._wrong is not None:
            return self._wrong
        if not self._informed:
            return LinkState.CONNECTING
        if not self._config_fits:
            return LinkState.CONFIG_MISMATCH
        return LinkState.UP if has_hand else LinkState.RECOVER

    # -- outcomes ---------------------------------------------------------------------------------------

    def _release_finished(self) -> None:
        """Tell outcomes, but not before the view shows what they changed (as long as a session lives)."""
        ended_now, self._awaiting_view = self._awaiting_view + self.desk.finished, []
        self.desk.finished = []
        for ended in ended_now:
            behind = ended.rev is not None and (not self._informed or self._view.rev < ended.rev)
            if behind and self.link.phase is Phase.UP and self._wrong is None:
                self._awaiting_view.append(ended)
            else:
                self.desk.told(ended.outcome)
                self._waiting.discard(ended.outcome.cmd_id)
                self._notices.append(Finished(ended.outcome))
        if self._awaiting_view:
            self._ask_status()

    def _time_for(self, op: Op) -> float:
        """Seconds that an operation may take, at most. A resumed one is any of them."""
        if not RULES[op].motion:
            return INSTANT
        if self._config is None or op not in TIMEOUT_OPS:
            return LONGEST
        steps = self._config.timeouts[TIMEOUT_OPS.index(op)]
        return steps * m.TIMEOUT_UNIT_MS / 1000 if steps else LONGEST

    def _end_of(self, command: OpenCommand) -> float | None:
        """When it becomes overdue, or is asked for again; None while that can not be said."""
        if command.since is None:
            return None
        return command.ask_at or command.since + self._time_for(command.intent.op) + SLACK

    def _report_overdue(self, now: float) -> None:
        if self.link.phase is not Phase.UP:
            return  # silence has a state of its own
        for cmd_id, command in self.desk.open.items():
            end = self._end_of(command)
            if end is None or now < end:
                continue
            command.ask_at = now + ASK_AGAIN
            self.link.request(m.Query(cmd_id))
            if not command.overdue:
                command.overdue = True
                self._report(0, "overdue", (cmd_id, command.intent.op), 0.0)
                self._update()

    def _close_gap(self, now: float) -> None:
        if self._gap_since is not None and now >= self._gap_since + GAP:
            self._gap_since = None
            self.link.start_over(now)
            self._digest(now)

    def _give_up_waiting(self, now: float) -> None:
        if self._disconnected_at is None or now - self._disconnected_at < UNKNOWN_AFTER:
            return
        for cmd_id in sorted(self._waiting):
            command = self.desk.open.get(cmd_id)
            if command is not None:
                outcome = Outcome(Status.UNKNOWN, "link_down", cmd_id, command.intent.op)
                self._notices.append(Finished(outcome, final=False))
        self._waiting.clear()


OPTIONAL: Final[Mapping[m.Caps, Capability]] = {
    m.Caps.DEALS: Capability.DEALS,
    m.Caps.DICE: Capability.DICE | Capability.PIPS,
    m.Caps.INDICATOR: Capability.INDICATOR,
    m.Caps.LAMPS: Capability.LAMPS,
    m.Caps.SERVICE: Capability.SERVICE,
    m.Caps.COUNTS: Capability.COUNTS,
}
"""What a board of ours may lack, by its flag on the wire."""


def abilities(caps: m.Caps) -> Capability:
    """What a board of ours can do: the protocol's own, and what it says of itself."""
    able = NATIVE
    for flag, capability in OPTIONAL.items():
        if flag not in caps:
            able &= ~capability
    return able


def event_name(code: int) -> str:
    """Stable identifier of an event number."""
    try:
        return m.EventCode(code).name.lower()
    except ValueError:
        return f"event_{code}"

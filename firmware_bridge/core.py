"""The host's whole logic without port or clock: link, commands and the view of the machine in one object.

Owners pass bytes and the time (seconds) in and take bytes and notices out; `bridge.Bridge` does it with
asyncio, the tests with a virtual clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from firmware_bridge import messages as m
from firmware_bridge.board_config import ConfigKeeper
from firmware_bridge.commands import Book, CommandDesk
from firmware_bridge.errors import UnwrittenError, UsageError
from firmware_bridge.event_log import EventLog, event_name
from firmware_bridge.interlock import RULES
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
from firmware_bridge.machine import LinkState, MachineEvent, MachineView, Outcome, Status
from firmware_bridge.ops import Op
from firmware_bridge.outcomes import Outcomes
from firmware_bridge.recorder import Recorder
from firmware_bridge.view_keeper import ViewKeeper, abilities


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
        self.leftovers: frozenset[int] = frozenset(self.desk.open)
        """Ids a former process left open."""
        self._expected_uid = uid.lower() if uid else None
        self._keeper = ViewKeeper()
        self._config = ConfigKeeper(config)
        self._log = EventLog()
        self._outcomes = Outcomes(self.desk, self._config.time_for)
        self._asked_status = False
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
        self._keeper.wrong = None
        self._keeper.informed = False
        self.link.open(now)
        self._update(port=port)

    def port_failed(self, state: LinkState, detail: str, now: float) -> None:
        """The port could not be opened, or was lost."""
        self._now = now
        self._note("port", ["failed", state.value, detail])
        self.link.close()
        self._keeper.port = state
        self._digest(now)
        self._update(attempt=self.view.attempt + 1, detail=detail, lease=False)

    def port_closed(self, now: float) -> None:
        """The owner let the port go."""
        self._now = now
        self._note("port", "closed")
        self.link.close()
        self._keeper.port = LinkState.CLOSED
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
        self.desk.mend(now)
        before = self._mark()
        self.link.poll(now)
        self._digest(now)
        self._notices += [Finished(outcome, final=False) for outcome in self._outcomes.give_up(now)]
        self._report_overdue(now)
        if self._log.close_gap(now):
            self.link.start_over(now)
            self._digest(now)
        self.link.poll(now)
        if self._mark() != before:  # most looks find nothing to do, and are not worth a line
            self._note("poll")

    def _mark(self) -> tuple[object, ...]:
        return (*self.link.mark(), self._outcomes.waiting, len(self._notices))

    def deadline(self) -> float | None:
        """When `poll` is due next."""
        up = self.link.phase is Phase.UP
        times = (
            self.link.deadline(),
            self._outcomes.deadline(up),
            self._log.deadline(),
            self.desk.deadline(),
        )
        return min((due for due in times if due is not None), default=None)

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
        return self._keeper.view

    @property
    def events(self) -> Sequence[MachineEvent]:
        """The newest events, oldest first."""
        return self._log.kept

    # -- the caller -------------------------------------------------------------------------------------

    def submit(self, op: Op, args: Mapping[str, object], now: float, rev: int | None = None) -> int | Outcome:
        """Send a command: its id, or the outcome if it is refused at once. Never queued for later.

        Raises:
            UsageError: impossible arguments.
            LedgerError: no number is left; nothing is sent.
        """
        if self.view.link is LinkState.CONFIG_MISMATCH:
            if RULES[op].motion:
                return Outcome(Status.REJECTED, "config_mismatch", 0, op)
        elif not self.view.ready:
            return Outcome(Status.REJECTED, "link_down", 0, op)
        if rev is not None and rev < 0:
            raise UsageError("A revision is never negative; pass the view's `rev`, or None for any.")
        self._now = now
        if RULES[op].names_rev and rev is None:
            rev = self.view.rev  # what the person sees; a stop in between makes the device refuse
        try:
            cmd_id, command = self.desk.submit(op, dict(args), rev, now)
        except UnwrittenError:
            self._update()
            return Outcome(Status.REJECTED, "unwritten", 0, op)
        self._note("submit", {"op": op.name, "args": dict(args), "rev": rev})
        self._outcomes.wait_for(cmd_id)
        self.link.request(command)
        self.link.poll(now)
        return cmd_id

    def hold(self, now: float) -> None:
        """Stop what moves, softly; a wrong machine is not talked to. Commands under way are given up."""
        self._now = now
        self._note("hold")
        self.link.withdraw()
        if self._keeper.wrong is None:
            self.link.request(m.Hold())
            self._close_withdrawn()
            self.link.poll(now)

    def estop(self) -> None:
        """Ask for a latched stop. Commands under way are given up: should the stop be lost on the line, what
        was asked for before it must not move anything after it."""
        self._note("estop")
        self.link.shout_stop()
        self._close_withdrawn()

    def _close_withdrawn(self) -> None:
        for query in self.desk.withdraw():
            self.link.request(query)

    # -- what happened ----------------------------------------------------------------------------------

    def _digest(self, now: float) -> None:
        while events := self.link.events():
            for event in events:
                self._link_event(event, now)
        up = self.link.phase is Phase.UP
        self._outcomes.line(up, now)
        if not up:
            self._keeper.informed = False
            self._asked_status = False
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
            self._keeper.wrong = LinkState.VERSION_MISMATCH
        elif self._expected_uid not in (None, uid):
            self._keeper.wrong = LinkState.UID_MISMATCH
        else:
            self._keeper.wrong = None
        self.link.observing = self._keeper.wrong is not None
        self._config.connected(welcome.config_crc)
        if self._keeper.wrong is not None:
            self._update(uid=uid, profile=welcome.profile, attempt=0, detail="")
            return
        new_run = (uid, welcome.boot_id) != (self.view.uid, self.view.boot_id)
        if self._log.begin(welcome.event_first, new_run=new_run):
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
        apart = self._number() & 0xFFFF if welcome.last_cmd > self.desk.last_id else 0
        for query in self.desk.connected(welcome, now, apart):
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
        if self._keeper.wrong is not None:
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
        fresh = self._log.number(no, now)
        self.link.post(m.EventAck(self._log.arrived))
        return fresh

    def _report(self, no: int, code: str, args: tuple[int, ...], t_dev: float) -> None:
        event = MachineEvent(no, self.view.boot_id, code, args, t_dev)
        self._log.kept.append(event)
        self._notices.append(Reported(event))

    # -- the view ---------------------------------------------------------------------------------------

    def _ask_status(self) -> None:
        if not self._asked_status and self.link.phase is Phase.UP and self._keeper.wrong is None:
            self._asked_status = True
            self.link.request(m.StatusRequest())

    def _pong(self, pong: m.Pong) -> None:
        if self._keeper.is_behind(pong):
            self._ask_status()

    def _status(self, status: m.StatusReport) -> None:
        if self._keeper.wrong is not None:
            return
        self.link.moving = bool(status.active)
        self._update(**self._keeper.take(status))
        if (wish := self._config.due(status)) is not None:
            self._report(0, "config_sent", (), 0.0)
            self.link.request(wish)

    def _config_answered(self, wanted: m.BoardConfig, report: m.ConfigReport) -> None:
        if not self._config.answered(wanted, report):
            self._report(0, "config_refused", (report.reason,), 0.0)
            return
        self._keeper.informed = False  # what is known of its walls is old
        self._report(0, "config_set", (), 0.0)
        self._update(profile=report.config.profile)
        self._ask_status()

    def _update(self, **changes: object) -> None:
        changes["unwritten"] = not self.desk.sound
        self._keeper.update(changes, self.link.phase, self._config.fits, self._outcomes.overdue())

    # -- outcomes ---------------------------------------------------------------------------------------

    def _release_finished(self) -> None:
        """Tell outcomes, but not before the view shows what they changed (as long as a session lives)."""
        shown = None  # no session whose view could follow
        if self.link.phase is Phase.UP and self._keeper.wrong is None:
            shown = self.view.rev if self._keeper.informed else -1
        self._notices.extend(Finished(outcome) for outcome in self._outcomes.release(shown))
        if self._outcomes.behind:
            self._ask_status()

    def _report_overdue(self, now: float) -> None:
        if self.link.phase is not Phase.UP:
            return  # silence has a state of its own
        for cmd_id, command in self._outcomes.late(now):
            self.link.request(m.Query(cmd_id))
            if not command.overdue:
                command.overdue = True
                self._report(0, "overdue", (cmd_id, command.intent.op), 0.0)
                self._update()

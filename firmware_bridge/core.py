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
from firmware_bridge.commands import Book, CommandDesk, Ended
from firmware_bridge.errors import UsageError
from firmware_bridge.link import Answered, Connected, HostLink, LinkEvent, Phase, Pushed, Timing, Unanswered
from firmware_bridge.machine import LinkState, MachineEvent, MachineView, Outcome, Status, sentence_code
from firmware_bridge.ops import Op

EVENTS_KEPT: Final = 256

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
        timing: constants of the link.
    """

    def __init__(
        self, book: Book, numbers: Callable[[], int], *, uid: str | None = None, timing: Timing | None = None
    ) -> None:
        self.link = HostLink(numbers, timing)
        self.desk = CommandDesk(book)
        self.events: deque[MachineEvent] = deque(maxlen=EVENTS_KEPT)
        self.leftovers: frozenset[int] = frozenset(self.desk.open)
        """Ids a former process left open."""
        self._expected_uid = uid.lower() if uid else None
        self._view = MachineView()
        self._port = LinkState.CLOSED
        self._wrong: LinkState | None = None
        self._informed = False
        self._detail_rev = 0
        self._asked_status = False
        self._expect_event = 0
        self._awaiting_view: list[Ended] = []
        self._waiting: set[int] = set()
        self._disconnected_at: float | None = None
        self._notices: list[Notice] = []

    # -- the port ---------------------------------------------------------------------------------------

    def port_opened(self, now: float) -> None:
        """Begin a conversation."""
        self._wrong = None
        self._informed = False
        self.link.open(now)
        self._update()

    def port_failed(self, state: LinkState, detail: str, now: float) -> None:
        """The port could not be opened, or was lost."""
        self.link.close()
        self._port = state
        self._digest(now)
        self._update(attempt=self._view.attempt + 1, detail=detail, lease=False)

    def port_closed(self, now: float) -> None:
        """The owner let the port go."""
        self.link.close()
        self._port = LinkState.CLOSED
        self._digest(now)
        self._update(lease=False)

    def feed(self, data: bytes, now: float) -> None:
        """Bytes from the port."""
        self.link.feed(data, now)
        self._digest(now)

    def poll(self, now: float) -> None:
        """Whatever is due."""
        self.link.poll(now)
        self._digest(now)
        self._give_up_waiting(now)
        self.link.poll(now)

    def deadline(self) -> float | None:
        """When `poll` is due next."""
        due = self.link.deadline()
        if self._waiting and self._disconnected_at is not None:
            give_up = self._disconnected_at + UNKNOWN_AFTER
            return give_up if due is None else min(due, give_up)
        return due

    def take(self) -> bytes:
        """Bytes for the port."""
        return self.link.take()

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
        if not self._view.ready:
            return Outcome(Status.REJECTED, "link_down", 0, op)
        if rev is not None and rev < 0:
            raise UsageError("A revision is never negative; pass the view's `rev`, or None for any.")
        cmd_id, command = self.desk.submit(op, dict(args), rev, now)
        self._waiting.add(cmd_id)
        self.link.request(command)
        self.link.poll(now)
        return cmd_id

    def hold(self, now: float) -> None:
        """Stop what moves, softly."""
        self.link.request(m.Hold())
        self.link.poll(now)

    def estop(self) -> None:
        """Ask for a latched stop."""
        self.link.shout_stop()

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
                self._pushed(message)
            case Unanswered(request):
                # A command's fate is asked for when the next session begins.
                if isinstance(request, m.StatusRequest):
                    self._asked_status = False

    def _connected(self, welcome: m.Welcome, now: float) -> None:
        uid = f"{welcome.uid:016x}"
        if welcome.proto != m.PROTOCOL:
            self._wrong = LinkState.VERSION_MISMATCH
        elif self._expected_uid not in (None, uid):
            self._wrong = LinkState.UID_MISMATCH
        else:
            self._wrong = None
        if self._wrong is not None:
            self._update(uid=uid, profile=welcome.profile, attempt=0, detail="")
            return
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
            case m.Query(), m.CommandOutcome():
                follow.extend(self.desk.answered(request, reply, now))
            case _:
                pass
        for message in follow:
            self.link.request(message)

    def _pushed(self, message: m.DeviceMessage) -> None:
        if self._wrong is not None:
            return
        match message:
            case m.StatusReport():
                self._status(message)
            case m.CommandDone():
                self.desk.done(message)
                self._numbered(message.no)
            case m.Event(no, t_dev, code, args):
                if self._numbered(no):
                    self._report(no, event_name(code), tuple(args), t_dev / 1000)
            case _:
                pass

    def _numbered(self, no: int) -> bool:
        """Whether `no` is the next one; acknowledges what has arrived without a gap."""
        fresh = no == self._expect_event
        if fresh:
            self._expect_event += 1
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

    def _update(self, **changes: object) -> None:
        view = replace(self._view, link=self._link_state(), **changes)  # type: ignore[arg-type]
        if self.link.phase is not Phase.UP:
            view = replace(view, lease=False)
        view = replace(view, link=self._link_state(view))
        self._view = replace(view, code=sentence_code(view))

    def _link_state(self, view: MachineView | None = None) -> LinkState:
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
        known = view or self._view
        return LinkState.RECOVER if known.hand_no is None else LinkState.UP

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

    def _give_up_waiting(self, now: float) -> None:
        if self._disconnected_at is None or now - self._disconnected_at < UNKNOWN_AFTER:
            return
        for cmd_id in sorted(self._waiting):
            command = self.desk.open.get(cmd_id)
            if command is not None:
                outcome = Outcome(Status.UNKNOWN, "link_down", cmd_id, command.intent.op)
                self._notices.append(Finished(outcome, final=False))
        self._waiting.clear()


def event_name(code: int) -> str:
    """Stable identifier of an event number."""
    try:
        return m.EventCode(code).name.lower()
    except ValueError:
        return f"event_{code}"

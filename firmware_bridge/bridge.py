"""The one owner of a machine's port: asyncio around `core.HostCore`.

Use it like this::

    bridge = Bridge("/dev/serial/by-path/...", home / "commands.sqlite", on_change=show)
    task = asyncio.create_task(bridge.run())
    await bridge.wait_ready()
    outcome = await bridge.execute("START")
    ...
    await bridge.close()

`run` opens the port, and opens it again whenever it is lost. It never resumes a motion by itself.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

from firmware_bridge.abstract import Choice, Machine
from firmware_bridge.commands import code_name
from firmware_bridge.core import Finished, HostCore, Reported
from firmware_bridge.discovery import Targets
from firmware_bridge.errors import BridgeError, PortError, UsageError
from firmware_bridge.ledger import Ledger
from firmware_bridge.link import Phase, Timing
from firmware_bridge.machine import (
    Capability,
    LinkState,
    LinkStats,
    MachineEvent,
    MachineView,
    Outcome,
    Status,
)
from firmware_bridge.messages import BoardConfig
from firmware_bridge.ops import Op, Value
from firmware_bridge.port_round import PortRound
from firmware_bridge.recorder import FaultDumps, Recorder, SessionFile
from firmware_bridge.transport import Transport
from firmware_bridge.waiters import Waiters

BACKOFF_FIRST: Final = 0.25
BACKOFF_MAX: Final = 5.0
"""Seconds between tries to open the port: doubling from the first to the last. Without jitter, since a port
has one owner and no crowd to disperse."""

TELLING: Final = frozenset({"fault", "estop", "lease_expired", "events_lost"})
"""Events after which the newest raw frames are kept in a file."""

CHOICES: Final[dict[str, Op]] = {"finish": Op.RESUME, "lower": Op.LOWER, "leave": Op.LEAVE}


class Bridge(Machine):
    """A machine behind our own protocol.

    Args:
        url: `/dev/...`, `pty:PATH` or `socket://HOST:PORT`.
        ledger_path: command ledger, created if absent; one process at a time.
        clock: monotonic seconds.
        on_change: called with the new view, in the loop, whenever it differs.
        on_event: called with each numbered event of the machine, in order.
        uid: the board that is expected (16 hex digits); another one gives `uid_mismatch` and no command.
        config: walls and times that the board must keep; see `core.HostCore`.
        targets: where the machine may be now; left out: at `url` only.
        timing: constants of the link.
        dumps: folder for the newest raw frames, written there when the machine reports a fault or the line is
            lost in mid-command.
        record: file for everything that goes over the line, from the start.
        on_record_lost: called once, with the reason, when the disk refuses the recording; all else goes on.

    Raises:
        LedgerError: the ledger can not be opened or belongs to another process.
        OSError: the file for the recording can not be made.
    """

    def __init__(
        self,
        url: str,
        ledger_path: Path | str,
        *,
        clock: Callable[[], float] = time.monotonic,
        on_change: Callable[[MachineView], None] | None = None,
        on_event: Callable[[MachineEvent], None] | None = None,
        uid: str | None = None,
        config: BoardConfig | None = None,
        targets: Callable[[], Targets] | None = None,
        timing: Timing | None = None,
        dumps: Path | None = None,
        record: Path | None = None,
        on_record_lost: Callable[[str], None] | None = None,
    ) -> None:
        self.url = url
        self._dumps = FaultDumps(dumps) if dumps is not None else None
        self._session = SessionFile(record, on_record_lost) if record is not None else None
        self._recorder = Recorder({"wall": time.time()}, sink=self._session)
        self._clock = clock
        self._on_change = on_change
        self._on_event = on_event
        self._ledger = Ledger(ledger_path)
        self._core = HostCore(
            self._ledger, _number, uid=uid, config=config, timing=timing, recorder=self._recorder
        )
        self._told = self._core.view
        self._transport: Transport | None = None
        self._ports = PortRound(targets or (lambda: Targets((url,))), clock)
        self._lost: str | None = None
        self._wake = asyncio.Event()
        self._closing = False
        self._task: asyncio.Task[None] | None = None
        self._waiters = Waiters(self._core.leftovers)
        self._failure: BridgeError | None = None

    # -- what is known ------------------------------------------------------------------------------------

    @property
    def capabilities(self) -> Capability:
        """What the board says that it has; everything until it has said so."""
        return self._core.view.capabilities

    @property
    def view(self) -> MachineView:
        """The last known state."""
        return self._core.view

    @property
    def events(self) -> tuple[MachineEvent, ...]:
        """The newest events of the machine, oldest first."""
        return tuple(self._core.events)

    @property
    def stats(self) -> LinkStats:
        """Counters of the line."""
        return self._core.link.stats

    # -- life ---------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self.run())
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def run(self) -> None:
        """Own the port until `close`. A port that is lost or missing shows in `view`, never as an exception.

        Raises:
            UsageError: the address is no port.
        """
        self._task = self._task or asyncio.current_task()
        wait = BACKOFF_FIRST
        try:
            while not self._closing:
                if await self._connect():
                    connected = await self._converse()
                    wait = BACKOFF_FIRST if connected else wait
                if not self._closing:
                    await self._pause(wait)
                    wait = min(BACKOFF_MAX, 2 * wait)
        finally:
            self._shut()

    async def close(self) -> None:
        """Let the port and the ledger go. A motion in progress is cut by its lease."""
        self._closing = True
        self._wake.set()
        task = self._task
        if task is not None and task is not asyncio.current_task():
            await asyncio.gather(task, return_exceptions=True)
        self._shut()

    def _shut(self) -> None:
        self._closing = True
        self._drop_transport()
        try:
            self._core.port_closed(self._clock())
            self._tell()
        finally:
            self._waiters.release()
            self._ledger.close()
            if self._session is not None:
                self._session.close()

    def _drop_transport(self) -> None:
        if self._transport is not None:
            self._transport.close()
            self._transport = None

    async def _connect(self) -> bool:
        try:
            self.url, port = await self._ports.open_first()
        except PortError as error:
            state = _PORT_STATES.get(error.code, LinkState.PORT_ERROR)
            self._core.port_failed(state, str(error), self._clock())
            self._tell()
            return False
        self._lost = None
        self._transport = Transport(port, self._received, self._port_lost)
        self._core.port_opened(self._clock(), self.url)
        self._tell()
        return True

    async def _converse(self) -> bool:
        """Talk until the port is lost or the machine stays silent; whether it ever answered."""
        sessions = self.stats.sessions
        while not self._closing and self._lost is None:
            if self._failure is not None:
                raise self._failure
            self._turn()
            if self._core.link.phase is Phase.DOWN:
                self._lost = "the machine does not answer"
                break
            wrong = self.view.link is LinkState.UID_MISMATCH
            if wrong and self._ports.elsewhere(self.url):
                self._lost = "another machine answers there"
                break
            await self._sleep(self._core.deadline())
        self._drop_transport()
        if not self._closing:
            detail = f"The line to the machine is lost: {self._lost}; check cable and power."
            self._core.port_failed(LinkState.DOWN, detail, self._clock())
            self._tell()
        return self.stats.sessions > sessions

    async def _pause(self, seconds: float) -> None:
        end = self._clock() + seconds
        while not self._closing and (now := self._clock()) < end:
            self._core.poll(now)
            self._tell()
            await self._sleep(end)

    async def _sleep(self, until: float | None) -> None:
        """Until that moment, or until something is to do."""
        delay = None if until is None else max(0.0, until - self._clock())
        try:
            async with asyncio.timeout(delay):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()

    def _turn(self) -> None:
        """Do what is due, send what is to send, tell what is new."""
        self._core.poll(self._clock())
        if self._transport is not None:
            self._transport.write(self._core.take())
        self._tell()

    def _received(self, data: bytes) -> None:
        try:
            self._core.feed(data, self._clock())
            self._turn()
        except BridgeError as error:  # `run` raises it
            self._failure = error
        self._wake.set()

    def _port_lost(self, why: str) -> None:
        self._lost = why
        self._wake.set()

    # -- telling --------------------------------------------------------------------------------------------

    def _tell(self) -> None:
        for notice in self._core.notices():
            match notice:
                case Reported(event):
                    if event.code in TELLING:
                        self._dump(_word_of(event))
                    if self._on_event is not None:
                        self._on_event(event)
                case Finished(outcome, final):
                    self._finished(outcome, final)
        if self._core.view != self._told:
            self._told = self._core.view
            if self._on_change is not None:
                self._on_change(self._told)
        self._waiters.look()

    def _dump(self, why: str) -> None:
        """Keep the newest raw frames: what led to a fault is asked for days later."""
        if self._dumps is not None:
            self._dumps.write(self._recorder, why)

    def _finished(self, outcome: Outcome, final: bool) -> None:
        if outcome.status is Status.UNKNOWN:
            self._dump(outcome.code)
        self._waiters.finished(outcome, final)

    async def _until(self, reached: Callable[[], bool]) -> None:
        if reached():
            return
        if self._closing:
            raise BridgeError("The bridge is closed; make a new one.")
        await self._waiters.moment(reached)

    # -- asking ------------------------------------------------------------------------------------------

    async def execute(self, op: Op | str, *, rev: int | None = None, **args: Value) -> Outcome:
        """Carry out `op` at most once and say how it ended; see `abstract.Machine.execute`.

        Several commands may run at once where the machine can (a build beneath a hand in play). If the
        waiting is cancelled, the command is not: `resolve_open` tells its end.
        """
        wanted = Op.of(op)
        asked = self._core.submit(wanted, args, self._clock(), rev)
        if isinstance(asked, Outcome):
            return asked
        waiter = self._waiters.expect(asked, wanted)
        self._turn()
        self._wake.set()
        return await self._waiters.outcome(asked, waiter)

    async def recover(self, choice: Choice) -> Outcome:
        """A person's choice after a cut motion: `finish` it, `lower` the lift, or `leave` it to hands.

        Raises:
            UsageError: another choice.
        """
        if choice not in CHOICES:
            raise UsageError(f"{choice!r} is no choice; use one of {', '.join(CHOICES)}.")
        return await self.execute(CHOICES[choice])

    async def resolve_open(self) -> tuple[Outcome, ...]:
        """Ends of commands that nobody waited for: a former process's, and those given up since.

        Waits until the machine has told all of them; each is returned once, oldest first.

        Raises:
            BridgeError: the bridge was closed meanwhile.
        """
        await self._until(lambda: self._waiters.all_known)
        return self._waiters.take_settled()

    async def wait_ready(self) -> MachineView:
        """Wait until commands are taken.

        Raises:
            BridgeError: the bridge was closed meanwhile.
        """
        return await self.wait_for(lambda view: view.ready)

    async def wait_for(self, reached: Callable[[MachineView], bool]) -> MachineView:
        """Wait until the view is so.

        Raises:
            BridgeError: the bridge was closed meanwhile.
        """
        await self._until(lambda: reached(self.view))
        return self.view

    def hold(self) -> None:
        """Stop what moves, softly; it counts as cut."""
        self._core.hold(self._clock())
        self._turn()

    def estop(self) -> None:
        """Ask for a latched stop. A convenience: the hardware loop is the safety function."""
        self._core.estop()
        if self._transport is not None:
            self._transport.overtake()
        self._turn()


def _number() -> int:
    return secrets.randbits(32)


def _word_of(event: MachineEvent) -> str:
    """For the name of a file: a fault's own name, else the event's."""
    return code_name(event.args[0]) if event.code == "fault" and event.args else event.code


_PORT_STATES: Final = {
    "port_ambiguous": LinkState.PORT_AMBIGUOUS,
    "port_missing": LinkState.PORT_MISSING,
    "port_busy": LinkState.PORT_BUSY,
    "port_denied": LinkState.PORT_DENIED,
}

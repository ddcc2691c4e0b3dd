"""Host and simulated machine in one process, joined by two faulty lines, under a virtual clock.

No port, no process, no waiting: an hour of a table passes in seconds. For tests of anything that drives a
machine.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Final

from firmware_bridge import profiles
from firmware_bridge.commands import Book
from firmware_bridge.core import Finished, HostCore
from firmware_bridge.ledger import Ledger
from firmware_bridge.link import Phase
from firmware_bridge.machine import LinkState, MachineView, Outcome
from firmware_bridge.messages import BoardConfig, ResetCause
from firmware_bridge.ops import Op, Value
from firmware_bridge.recorder import Recorder
from firmware_bridge.sim.device import Device
from firmware_bridge.sim.faulty import FaultyLine
from firmware_bridge.sim.mishaps import Mishaps
from firmware_bridge.sim.plant import FRESH, Plant
from firmware_bridge.sim.replay import board_header

STEP: Final = 0.02
"""Seconds of virtual time between two looks at everything."""

REOPEN: Final = 0.25
"""Seconds after which a lost port is opened again."""


class Rig:
    """One host, one line, one machine.

    Args:
        seed: of dice, faults and session numbers.
        profile: machine profile.
        fresh: tiles at power-up, a key of `plant.FRESH`.
        speed: of motions.
        book: ledger to continue; a new one in memory otherwise.
        config: what the host wants the board to keep.
        record: takes both sides down from the start, in `host_side` and `device_side`.
    """

    def __init__(
        self,
        seed: int = 0,
        *,
        profile: str = "136",
        fresh: str = "loaded",
        speed: float = 1.0,
        book: Book | None = None,
        config: BoardConfig | None = None,
        record: bool = False,
    ) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - reproducible faults, no secrets
        self.now = 100.0
        self.book: Book = book if book is not None else Ledger(":memory:")
        self.config = config
        self.executed: Counter[int] = Counter()
        """How often each command id took effect, counted at the mechanism."""
        self.log: list[tuple[int, Op, int]] = []
        self.outcomes: dict[int, list[Outcome]] = {}
        """Everything the hosts said about each id, in order; the last is final unless still open."""
        self.plugged = True
        self.to_device = FaultyLine(self.rng)
        self.to_host = FaultyLine(self.rng)
        self.to_device.back, self.to_host.back = self.to_host, self.to_device
        data = profiles.load(profile)
        plant = Plant(data, random.Random(seed), speed, FRESH[fresh](data))  # noqa: S311 - dice of a simulation
        boot_id = self._number()
        self.device = Device(plant, uid=0x51, boot_id=boot_id, now=self.now, on_execute=self._count)
        self.host_side = Recorder(keep=None) if record else None
        self.device_side: Recorder | None = None
        if record:
            board = board_header(profile, fresh, speed, seed, 0x51, boot_id, self.now, STEP)
            self.device_side = Recorder(board, keep=None)
        self.mishaps = Mishaps(self.device, self.to_device, self.to_host, self._board_number)
        self._reopen_at: float | None = None
        self.host = self._new_host()

    def _number(self) -> int:
        return self.rng.getrandbits(32)

    def _board_number(self) -> int:
        number = self._number()
        self._note("number", number)
        return number

    def _note(self, kind: str, value: object) -> None:
        """An entry of the device's side."""
        if self.device_side is not None:
            self.device_side.note(self.now, kind, value)

    def _count(self, cmd_id: int, op: Op, boot_id: int) -> None:
        self.executed[cmd_id] += 1
        self.log.append((cmd_id, op, boot_id))

    def _new_host(self) -> HostCore:
        host = HostCore(self.book, self._number, config=self.config, recorder=self.host_side)
        if self.plugged:
            self._open(host)
        else:
            self._fail(host)
        return host

    def _open(self, host: HostCore) -> None:
        for line in (self.to_device, self.to_host):
            line.opened(self.now)
        host.port_opened(self.now)

    # -- time -------------------------------------------------------------------------------------------

    def step(self, seconds: float = STEP) -> None:
        """Let this much time pass, and everything happen that is due then."""
        self.now += seconds
        if self.device_side is not None:  # recorded moments are round ones, and come again so
            self.now = round(self.now, 6)
        self.exchange()

    def exchange(self) -> None:
        """Carry bytes both ways until nothing moves, at the present moment."""
        self._reopen()
        for _ in range(8):
            self.host.poll(self.now)
            out = self.host.take()
            if out and self.plugged:
                self.to_device.push(out, self.now)
            for chunk in self.to_device.pull(self.now):
                if self.device_side is not None:
                    self.device_side.wire("host", chunk, self.now)
                self.device.feed(chunk, self.now)
            self.device.tick(self.now)
            self.mishaps.look(self.now)
            frames = self.device.take()
            if self.device_side is not None:
                self.device_side.wire("device", b"".join(frames), self.now)
            for frame in frames if self.plugged else ():
                self.to_host.push(frame, self.now)
            for chunk in self.to_host.pull(self.now):
                if self.host.link.phase is not Phase.CLOSED:
                    self.host.feed(chunk, self.now)
            self._hang_up()
            self._collect()
            if not out and not frames:
                break

    def _hang_up(self) -> None:
        """A line broke in the middle of a frame: the port is gone for the host, not for the board."""
        if (self.to_device.hung or self.to_host.hung) and self.host.link.phase is not Phase.CLOSED:
            self._fail(self.host)

    def _collect(self) -> None:
        for notice in self.host.notices():
            if isinstance(notice, Finished):
                self.outcomes.setdefault(notice.outcome.cmd_id, []).append(notice.outcome)

    def _reopen(self) -> None:
        if self.host.link.phase is Phase.DOWN:
            self._fail(self.host)
        if self._reopen_at is not None and self.now >= self._reopen_at and self.plugged:
            self._reopen_at = None
            self._open(self.host)

    def _fail(self, host: HostCore) -> None:
        host.port_failed(LinkState.PORT_MISSING, "The cable is out; plug it in.", self.now)
        self._reopen_at = self.now + REOPEN

    def run(self, seconds: float) -> None:
        """Let time pass in small steps."""
        end = self.now + seconds
        while self.now < end:
            self.step()

    def run_until(self, reached: Callable[[], bool], limit: float = 60.0) -> None:
        """Let time pass until `reached`.

        Raises:
            TimeoutError: not within `limit` virtual seconds.
        """
        end = self.now + limit
        self.exchange()
        while not reached():
            if self.now >= end:
                raise TimeoutError(f"Not reached within {limit} virtual seconds; view: {self.view}.")
            self.step()

    # -- the caller ---------------------------------------------------------------------------------------

    @property
    def view(self) -> MachineView:
        """What the host knows."""
        return self.host.view

    def ready(self, limit: float = 60.0) -> None:
        """Wait until commands are taken."""
        self.run_until(lambda: self.view.ready, limit)

    def submit(self, op: Op, *, rev: int | None = None, **args: Value) -> int | Outcome:
        """Ask; do not wait."""
        return self.host.submit(op, args, self.now, rev)

    def execute(self, op: Op, *, limit: float = 120.0, rev: int | None = None, **args: Value) -> Outcome:
        """Ask and wait for the end."""
        asked = self.submit(op, rev=rev, **args)
        if isinstance(asked, Outcome):
            return asked
        self.run_until(lambda: bool(self.outcomes.get(asked)), limit)
        return self.outcomes[asked][-1]

    # -- accidents ----------------------------------------------------------------------------------------

    def restart_host(self) -> None:
        """The host process dies without a word, and another starts with the same ledger."""
        self.to_host.cut()
        self.host = self._new_host()

    def reset_device(self, cause: ResetCause = ResetCause.BROWN_OUT) -> None:
        """The board resets."""
        boot_id = self._number()
        self._note("reset", [boot_id, cause])
        self.device.reset(boot_id, cause, self.now)

    def order(self, words: str) -> None:
        """Items of the fault menu, or `none`; see `faults`.

        Raises:
            UsageError: not on the menu.
        """
        self._note("faults", words)
        self.mishaps.order(words, self.now)

    def unplug(self) -> None:
        """Pull the cable."""
        self.plugged = False
        self.to_host.cut()
        self.to_device.cut()
        self._fail(self.host)

    def plug(self) -> None:
        """Put the cable back."""
        self.plugged = True
        self._reopen_at = self.now + REOPEN

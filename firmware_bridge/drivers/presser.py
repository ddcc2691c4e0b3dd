"""Carries out on a relay board what `press_core` asks for: presses, contact, looks at inputs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from firmware_bridge.drivers.line import BoardError, Line, silent
from firmware_bridge.drivers.press_core import (
    LIFT,
    Ended,
    Gate,
    Pause,
    Press,
    ReadInputs,
    ReadRelays,
    Step,
    Write,
    button_held,
    contact_fault,
    hold,
)
from firmware_bridge.drivers.watch_core import Bits
from firmware_bridge.drivers.wiring import PressSettings
from firmware_bridge.errors import PortError, UsageError
from firmware_bridge.machine import Capability, Outcome, Status
from firmware_bridge.ops import Op
from firmware_bridge.profiles import Profile

HELD_AFTER: Final = 1.0
"""Seconds after the end of a pulse from which a closed relay is one that stuck."""


def _held() -> BoardError:
    return BoardError("button_held", "A button's relay is closed; look at the relay board.")


class Presser:
    """Presses the maker's buttons through a relay board. One press at a time; a second is told `busy`.

    `profile` says how long a motion may take to show: its `timeouts`, else its `seconds`.
    `clock`: monotonic seconds.
    """

    def __init__(
        self,
        settings: PressSettings,
        profile: Profile,
        board: Line,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._settings = settings
        self._profile = profile
        self._clock = clock
        self._sleep = sleep
        self._gate = Gate()
        self._board = board
        self._line = asyncio.Lock()
        self._pressing = False
        self._released_at = clock()
        """When the board has opened every button again by itself."""

    @property
    def capabilities(self) -> Capability:
        """What this wiring can do; without INHIBIT the lock is advice to the people at the table."""
        return self._settings.capabilities

    @property
    def locked(self) -> bool:
        """The lift button must not be pressed. True at the start."""
        return self._gate.locked

    @property
    def pressing(self) -> bool:
        """A press is under way, which looks at the inputs by itself."""
        return self._pressing

    async def open(self) -> None:
        """Open the port, set the series contact to the lock's state and read all relays back.

        Raises:
            PortError: the port can not be opened, or the board is not as it must be (`BoardError`).
        """
        async with self._line:
            await self._reopen()
            if button_held(self._settings, await self._board.read(ReadRelays())):
                self._board.drop()
                raise _held()

    async def close(self) -> None:
        """Lock, so that the maker's button does not live on without us, and let the port go. Never raises."""
        self._gate.locked = True
        async with self._line:
            if self._board.is_open and self._settings.inhibit_relay is not None:
                await self._board.ask(hold(self._settings.inhibit_relay, closed=False))
            self._board.drop()

    async def lock(self) -> None:
        """Refuse the lift from now on, and open the series contact; also while a press is watched.

        Raises:
            PortError: the contact is not proven open; the driver refuses all the same.
        """
        self._gate.locked = True
        async with self._line:
            self._gate.locked = True  # a release that was under way came first
            await self._ready()
            await self._set_contact(locked=True)

    async def release(self) -> None:
        """Allow the lift, once the series contact is proven closed.

        Raises:
            PortError: it is not; the lock stays.
        """
        async with self._line:
            await self._ready()
            await self._set_contact(locked=False)
            self._gate.locked = False

    async def inputs(self) -> Bits:
        """The board's eight inputs now: lamps and switches.

        Raises:
            PortError: the board does not answer.
        """
        async with self._line:
            await self._ready()
            return await self._board.read(ReadInputs())

    async def confirm(self) -> None:
        """Read the relays back, and set the series contact again if the board lost it with its power.

        Raises:
            PortError: the board does not answer, the contact does not obey, or a button stays pressed.
        """
        async with self._line:
            await self._ready()
            locked = self._gate.locked
            relays = await self._board.read(ReadRelays())
            if contact_fault(self._settings, relays, locked=locked):
                await self._set_contact(locked=locked)
            if button_held(self._settings, relays) and self._clock() > self._released_at:
                self._board.drop()
                raise _held()

    async def inputs_anyway(self) -> Bits:
        """The inputs of a board whose contact does not obey: what people do is to be seen all the same.

        Raises:
            PortError: the board does not answer.
        """
        async with self._line:
            if not self._board.is_open:
                await self._board.open()
            return await self._board.read(ReadInputs())

    def doubt(self) -> None:
        """A press ended unknown, perhaps a former process's: none until a person has looked."""
        self._gate.doubt()

    def looked(self) -> None:
        """A person looked at the machine after an UNKNOWN: the next press may come, with an id of its own."""
        self._gate.looked()

    async def press(self, op: Op | str, cmd_id: int) -> Outcome:
        """Press the button of `op` at most once and say what is proven.

        `cmd_id` is above all former ones; the same twice is REJECTED (`stale_id`). Never queued.
        After an UNKNOWN everything is REJECTED (`look_first`) until `looked`.

        Raises:
            UsageError: no button is wired for this operation.
        """
        op = Op.of(op)
        if op not in LIFT and not (op is Op.ROLL_DICE and Capability.DICE in self.capabilities):
            raise UsageError(f"No button of this machine is wired for {op.name}.")
        if self._pressing:
            return Outcome(Status.REJECTED, "busy", cmd_id, op)
        refused = self._gate.refusal(op, cmd_id)
        if refused is not None:
            return Outcome(Status.REJECTED, refused, cmd_id, op)
        self._pressing = True
        try:
            ended = await self._carry_out(op)
        finally:
            self._pressing = False
        return Outcome(ended.status, ended.code, cmd_id, op, seconds=ended.seconds)

    async def _carry_out(self, op: Op) -> Ended:
        try:
            async with self._line:
                await self._ready()
        except PortError as error:
            return Ended(Status.REJECTED, error.code)
        limit = self._profile.timeouts.get(op, self._profile.seconds[op])
        press = Press(self._settings, op, limit)
        try:
            ended = await self._follow(press, op)
        except BaseException:
            if press.pressed:
                self._gate.doubt()
            self._board.drop()
            raise
        if ended.status is Status.UNKNOWN:
            self._gate.doubt()
        return ended

    async def _follow(self, press: Press, op: Op) -> Ended:
        step: Step = press.start()
        while not isinstance(step, Ended):
            if isinstance(step, Pause):
                await self._sleep(step.seconds)
                step = press.next(self._clock())
                continue
            async with self._line:
                if isinstance(step, Write) and op in LIFT and self._gate.locked:
                    # Locked while we looked: the last moment at which nothing has been pressed.
                    return Ended(Status.REJECTED, "interlock")
                if isinstance(step, Write):
                    self._released_at = self._clock() + self._settings.pulse_ms / 1000 + HELD_AFTER
                reply = await self._board.ask(step)
            step = press.next(self._clock(), reply)
        return step

    async def _ready(self) -> None:
        if not self._board.is_open:
            await self._reopen()

    async def _reopen(self) -> None:
        await self._board.open()
        await self._set_contact(locked=self._gate.locked)

    async def _set_contact(self, *, locked: bool) -> None:
        """Set the series contact, and read it back with all relays; the line is dropped when that fails."""
        contact = self._settings.inhibit_relay
        if contact is not None and await self._board.ask(hold(contact, closed=not locked)) != ():
            self._board.drop()
            raise silent()
        fault = contact_fault(self._settings, await self._board.read(ReadRelays()), locked=locked)
        if fault is not None:
            self._board.drop()
            raise BoardError(fault, f"The series contact does not obey ({fault}); look at the relay board.")

"""The relay board on its serial line: carries out what `press_core` asks for. Needs the extra `modbus`."""

from __future__ import annotations

import asyncio
import errno
import os
import struct
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from firmware_bridge.drivers.press_core import (
    CHANNELS,
    LIFT,
    Bits,
    Capability,
    Ended,
    Gate,
    Missing,
    Pause,
    Press,
    PressSettings,
    ReadInputs,
    ReadRelays,
    Reply,
    Request,
    Step,
    Write,
    button_held,
    contact_fault,
    hold,
)
from firmware_bridge.errors import PortError, UsageError
from firmware_bridge.machine import Outcome, Status
from firmware_bridge.ops import Op
from firmware_bridge.profiles import Profile
from firmware_bridge.transport import explain, holders

try:
    from pymodbus.client import AsyncModbusSerialClient
    from pymodbus.exceptions import ModbusException
    from pymodbus.pdu import ModbusPDU
except ImportError as error:
    raise ImportError("The relay board needs the extra `modbus`: pip install -e '.[modbus]'.") from error

__all__ = ["BoardError", "Capability", "ModbusPress", "PressSettings"]

_NOT_DONE = (1, 2, 3)
"""Modbus exceptions that are raised before anything is carried out: function, address, value."""


class BoardError(PortError):
    """The board does not answer, or its relays are not as they must be; `code` says which."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class _WriteCoil(ModbusPDU):  # type: ignore[misc]
    """Function 05 with any value: the library's own knows on and off only. The reply is the same bytes."""

    function_code = 5
    rtu_frame_size = 8

    def __init__(self, address: int = 0, value: int = 0, dev_id: int = 0) -> None:
        super().__init__(dev_id=dev_id, address=address)
        self.value = value

    def encode(self) -> bytes:
        """Address and value, big-endian."""
        return struct.pack(">HH", self.address, self.value)

    def decode(self, data: bytes) -> None:
        """The reverse of `encode`."""
        self.address, self.value = struct.unpack(">HH", data[:4])


class ModbusPress:
    """Presses the maker's buttons through a relay board. One press at a time; a second is told `busy`.

    `profile` says how long a motion may take to show, in `seconds`. `clock`: monotonic seconds.
    """

    def __init__(
        self,
        settings: PressSettings,
        profile: Profile,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._settings = settings
        self._profile = profile
        self._clock = clock
        self._sleep = sleep
        self._gate = Gate()
        self._client: AsyncModbusSerialClient | None = None
        self._line = asyncio.Lock()
        self._pressing = False

    @property
    def capabilities(self) -> Capability:
        """What this wiring can do; without INHIBIT the lock is advice to the people at the table."""
        return self._settings.capabilities

    @property
    def locked(self) -> bool:
        """The lift button must not be pressed. True at the start."""
        return self._gate.locked

    async def open(self) -> None:
        """Open the port, set the series contact to the lock's state and read all relays back.

        Raises:
            PortError: the port can not be opened, or the board is not as it must be (`BoardError`).
        """
        async with self._line:
            await self._reopen()
            if button_held(self._settings, await self._read(ReadRelays())):
                self._drop()
                raise BoardError("button_held", "A button's relay is closed; look at the relay board.")

    async def close(self) -> None:
        """Lock, so that the maker's button does not live on without us, and let the port go. Never raises."""
        self._gate.locked = True
        async with self._line:
            if self._client is not None and self._settings.inhibit_relay is not None:
                await self._ask(hold(self._settings.inhibit_relay, closed=False))
            self._drop()

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
            return await self._read(ReadInputs())

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
        press = Press(self._settings, op, self._profile.seconds[op])
        try:
            ended = await self._follow(press, op)
        except BaseException:
            if press.pressed:
                self._gate.doubt()
            self._drop()
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
                reply = await self._ask(step)
            step = press.next(self._clock(), reply)
        return step

    async def _ready(self) -> None:
        if self._client is None or not self._client.connected:
            await self._reopen()

    async def _reopen(self) -> None:
        self._drop()
        # No retries: the library repeats writes too, and a repeated pulse is a second press. No reconnection
        # behind our back either: a reopened line has to be read back first.
        client = AsyncModbusSerialClient(
            self._settings.port,
            baudrate=self._settings.baud,
            timeout=self._settings.reply_s,
            retries=0,
            reconnect_delay=0,
        )
        client.register(_WriteCoil)
        if not await client.connect():
            client.close()
            raise _refused(self._settings.port)
        self._client = client
        await self._set_contact(locked=self._gate.locked)

    async def _set_contact(self, *, locked: bool) -> None:
        """Set the series contact, and read it back with all relays; the line is dropped when that fails."""
        contact = self._settings.inhibit_relay
        if contact is not None and await self._ask(hold(contact, closed=not locked)) != ():
            self._drop()
            raise _silent()
        fault = contact_fault(self._settings, await self._read(ReadRelays()), locked=locked)
        if fault is not None:
            self._drop()
            raise BoardError(fault, f"The series contact does not obey ({fault}); look at the relay board.")

    async def _read(self, request: ReadRelays | ReadInputs) -> Bits:
        reply = await self._ask(request)
        if isinstance(reply, Missing):
            self._drop()
            raise _silent()
        return reply

    async def _ask(self, request: Request) -> Reply:
        """One request, once. After a lost reply the line is dropped: a late one must answer nothing else."""
        reply = await self._exchange(request)
        if reply is Missing.LOST:
            self._drop()
        return reply

    async def _exchange(self, request: Request) -> Reply:
        client, unit = self._client, self._settings.address
        if client is None:
            return Missing.LOST
        try:
            if isinstance(request, Write):
                sent = _WriteCoil(request.address, request.value, unit)
                return _written(request, await client.execute(False, sent))
            if isinstance(request, ReadRelays):
                return _bits(1, await client.read_coils(0, count=CHANNELS, device_id=unit))
            return _bits(2, await client.read_discrete_inputs(0, count=CHANNELS, device_id=unit))
        except (ModbusException, OSError):
            return Missing.LOST

    def _drop(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()


def _written(request: Write, got: ModbusPDU) -> Reply:
    if got.isError():
        return Missing.REFUSED if got.exception_code in _NOT_DONE else Missing.LOST
    same = isinstance(got, _WriteCoil) and (got.address, got.value) == (request.address, request.value)
    return () if same else Missing.LOST


def _bits(function: int, got: ModbusPDU) -> Reply:
    if got.function_code != function or len(got.bits) < CHANNELS:
        return Missing.LOST
    return tuple(bool(bit) for bit in got.bits[:CHANNELS])


def _silent() -> BoardError:
    return BoardError("link_down", "The relay board does not answer; check its cable and power.")


def _refused(port: str) -> PortError:
    """Why the port did not open; the library only logs it."""
    if not Path(port).exists():
        return explain(port, OSError(errno.ENOENT, "missing"))
    if not os.access(port, os.R_OK | os.W_OK):
        return explain(port, OSError(errno.EACCES, "denied"))
    return explain(port, OSError(errno.EBUSY, "busy") if holders(port) else OSError("unknown reason"))

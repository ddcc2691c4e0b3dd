"""The relay board on its serial line: one request at a time, each sent once. Needs the extra `modbus`."""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path

from firmware_bridge.discovery import UNSTABLE
from firmware_bridge.drivers.line import silent
from firmware_bridge.drivers.press_core import Missing, ReadInputs, ReadRelays, Reply, Request, Write
from firmware_bridge.drivers.watch_core import Bits
from firmware_bridge.drivers.wiring import CHANNELS
from firmware_bridge.errors import PortAmbiguousError, PortError
from firmware_bridge.transport import explain, holders

try:
    from pymodbus.client import AsyncModbusSerialClient
    from pymodbus.exceptions import ModbusException
    from pymodbus.pdu import ModbusPDU
except ImportError as error:
    raise ImportError("The relay board needs the extra `modbus`: pip install -e '.[modbus]'.") from error

_NOT_DONE = (1, 2, 3)
"""Modbus exceptions that are raised before anything is carried out: function, address, value."""


class _WriteCoil(ModbusPDU):  # type: ignore[misc]  # mypy skips pymodbus, so its base is Any
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


class RelayBoard:
    """The line to one board. Its owner asks one thing after the other.

    Args:
        port: device path.
        address: Modbus address, 1 to 247.
        baud: bits per second.
        reply_s: how long the board may take to answer, in seconds.
    """

    def __init__(self, port: str, address: int, baud: int, reply_s: float) -> None:
        self._port = port
        self._address = address
        self._baud = baud
        self._reply_s = reply_s
        self._client: AsyncModbusSerialClient | None = None

    @property
    def is_open(self) -> bool:
        """The line was opened and not lost since."""
        return self._client is not None and bool(self._client.connected)

    async def open(self) -> None:
        """Open the line anew.

        Raises:
            PortError: it can not be opened.
        """
        self.drop()
        if UNSTABLE.fullmatch(self._port):
            raise PortAmbiguousError(
                f"{self._port} is whichever adapter came first, so nothing is moved through it; "
                "use its name in /dev/serial/by-path."
            )
        # No retries: the library repeats writes too, and a repeated pulse is a second press. No reconnection
        # behind our back either: a reopened line has to be read back first.
        client = AsyncModbusSerialClient(
            self._port, baudrate=self._baud, timeout=self._reply_s, retries=0, reconnect_delay=0
        )
        client.register(_WriteCoil)
        if not await client.connect():
            client.close()
            raise _refused(self._port)
        self._client = client

    def drop(self) -> None:
        """Let the line go."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    async def read(self, request: ReadRelays | ReadInputs) -> Bits:
        """All relays, or all inputs, now.

        Raises:
            BoardError: the board does not answer; the line is dropped.
        """
        reply = await self.ask(request)
        if isinstance(reply, Missing):
            self.drop()
            raise silent()
        return reply

    async def ask(self, request: Request) -> Reply:
        """One request, once. After a lost reply the line is dropped: a late one must answer nothing else."""
        reply = await self._exchange(request)
        if reply is Missing.LOST:
            self.drop()
        return reply

    async def _exchange(self, request: Request) -> Reply:
        client, unit = self._client, self._address
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


def _written(request: Write, got: ModbusPDU) -> Reply:
    if got.isError():
        return Missing.REFUSED if got.exception_code in _NOT_DONE else Missing.LOST
    same = isinstance(got, _WriteCoil) and (got.address, got.value) == (request.address, request.value)
    return () if same else Missing.LOST


def _bits(function: int, got: ModbusPDU) -> Reply:
    if got.function_code != function or len(got.bits) < CHANNELS:
        return Missing.LOST
    return tuple(bool(bit) for bit in got.bits[:CHANNELS])


def _refused(port: str) -> PortError:
    """Why the port did not open; the library only logs it."""
    if not Path(port).exists():
        return explain(port, OSError(errno.ENOENT, "missing"))
    if not os.access(port, os.R_OK | os.W_OK):
        return explain(port, OSError(errno.EACCES, "denied"))
    return explain(port, OSError(errno.EBUSY, "busy") if holders(port) else OSError("unknown reason"))

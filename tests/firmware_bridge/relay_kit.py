"""A relay board with a machine behind it: what a press does, and Modbus RTU over a pseudo-terminal."""

import asyncio
import contextlib
import importlib.util
import os
import pty
import struct
import time
import tty
from importlib import resources

from firmware_bridge.drivers.line import silent
from firmware_bridge.drivers.press_core import Missing, ReadRelays, Write
from tests.required import go_without

LIFT, DICE, CONTACT = 0, 1, 2
READY, LID, THROWN = 0, 1, 2
TOGGLE = 0x5500
REQUEST_S = 0.01
WIRING = {"dice_relay": DICE, "inhibit_relay": CONTACT, "dice_input": THROWN, "lid_input": LID}


def need_modbus():
    """Leave the test, or fail it, where the library of the relay board is missing."""
    if importlib.util.find_spec("pymodbus") is None:
        go_without("modbus", "needs the extra modbus: pip install -e '.[modbus]'")


def crc(data):
    """CRC-16 of Modbus, apart from the library under test."""
    value = 0xFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0xA001 if value & 1 else 0)
    return struct.pack("<H", value)


def bits(*on):
    return tuple(number in on for number in range(8))


class _Welded(set):
    """Relays that stuck closed, from the moment on at which they are added."""

    def __init__(self, kit):
        super().__init__()
        self._kit = kit

    def add(self, relay):
        super().add(relay)
        self._kit.relays[relay] = True


class Kit:
    """Relays, inputs, and the machine whose buttons are pressed. Counts pulses; relay and length of each."""

    def __init__(self):
        self.relays = [False] * 8
        self.inputs = [True] + [False] * 7
        self.pulses = []
        self.obeys = True
        """The machine starts at a pulse of the lift, if its button is alive."""
        self.wired_in_series = True
        self.lid_moves = False
        self.welded = _Welded(self)
        """Relays that stay closed."""
        self.holds = False
        """The lift's relay stays closed as long as its pulse lasts: 2 s here, by the loop's time."""

    def write(self, address, value):
        """Function 05."""
        if address < 8:
            self.relays[address] = value == 0xFF00 or address in self.welded
            return
        relay = address - 0x0200
        self.pulses.append((relay, value))
        if self.holds:
            self.relays[relay] = True
            asyncio.get_running_loop().call_later(value / 10, self.relays.__setitem__, relay, False)
        if self.obeys and relay == LIFT:
            self.push()
        if self.obeys and relay == DICE:
            self.inputs[THROWN] = not self.inputs[THROWN]

    def push(self):
        """Somebody, or a relay, pushes the lift button."""
        if self.wired_in_series and not self.relays[CONTACT]:
            return
        self.inputs[READY] = False
        if self.lid_moves:
            self.inputs[LID] = not self.inputs[LID]

    def build(self):
        """The set beneath is built."""
        self.inputs[READY] = True


class KitLine:
    """The line to a kit that is here, without a library and without a terminal: `drivers.line.Line`."""

    def __init__(self, kit):
        self.kit = kit
        self.is_open = False
        self.away = False
        self.loses = lambda request: False
        self.refuses = lambda request: False

    async def open(self):
        if self.away:
            raise silent()
        self.is_open = True

    def drop(self):
        self.is_open = False

    async def read(self, request):
        reply = await self.ask(request)
        if isinstance(reply, Missing):
            raise silent()
        return reply

    async def ask(self, request):
        await asyncio.sleep(REQUEST_S)
        if not self.is_open:
            return Missing.LOST
        if self.refuses(request):
            return Missing.REFUSED
        if isinstance(request, Write) and not self.away:
            self.kit.write(request.address, request.value)
        if self.away or self.loses(request):
            self.is_open = False
            return Missing.LOST
        if isinstance(request, Write):
            return ()
        return tuple(self.kit.relays if isinstance(request, ReadRelays) else self.kit.inputs)


class Board(Kit):
    """A board on a line of its own. Every request is eight bytes."""

    def __init__(self):
        super().__init__()
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.path = os.ttyname(self.slave)
        self.requests = []
        self.loses = lambda function, address: False
        self.answers = None
        self.at_request = lambda function, address: None
        self._heard = b""

    def start(self):
        asyncio.get_running_loop().add_reader(self.master, self._readable)

    def stop(self):
        asyncio.get_running_loop().remove_reader(self.master)

    def close(self):
        for fd in (self.master, self.slave):
            with contextlib.suppress(OSError):
                os.close(fd)

    def _readable(self):
        self._heard += os.read(self.master, 256)
        while len(self._heard) >= 8:
            frame, self._heard = self._heard[:8], self._heard[8:]
            assert crc(frame[:6]) == frame[6:]
            self._serve(*struct.unpack(">BBHH", frame[:6]))

    def _serve(self, unit, function, address, value):
        self.requests.append((function, address, value))
        self.at_request(function, address)
        if function == 5:
            self.write(address, value)
            reply = struct.pack(">BBHH", unit, function, address, value)
        else:
            states = self.relays if function == 1 else self.inputs
            reply = struct.pack(">BBBB", unit, function, 1, sum(1 << n for n, on in enumerate(states) if on))
        if self.answers is not None:
            reply = self.answers(unit, function, reply)
        if not self.loses(function, address):
            os.write(self.master, reply + crc(reply))


SPEED = 20


def profile_file(folder, lamps=""):
    """A profile that waits long for a press to show, since terminals do not hurry; lamp rules as text."""
    text = (resources.files("firmware_bridge") / "profiles" / "136.toml").read_text()
    timeouts = "[timeouts]\nopen_lid = 100\nclose_lid = 100\nroll_dice = 100\n"
    path = folder / f"patient{len(lamps)}.toml"
    path.write_text(text.replace("[seconds]", lamps + timeouts + "[seconds]"))
    return str(path)


def hurried():
    """A clock that runs faster than ours, and a sleep by it; the terminals stay as slow as they are."""
    return {
        "clock": lambda: SPEED * time.monotonic(),
        "sleep": lambda seconds: asyncio.sleep(seconds / SPEED),
    }


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        self.now += seconds
        await asyncio.sleep(0)

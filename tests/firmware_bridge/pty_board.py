"""A simulated board behind a pseudo-terminal of this process, which can be plugged in and pulled out."""

import asyncio
import contextlib
import os
import random
import time
import tty

from firmware_bridge import profiles
from firmware_bridge.codec import FrameDecoder
from firmware_bridge.sim.device import Device
from firmware_bridge.sim.plant import FRESH, Plant


class PtyBoard:
    """Can also be muted, and made to hang up at a chosen message. It works whenever bytes come."""

    def __init__(self, uid=0x51, speed=20.0):
        profile = profiles.load("136")
        plant = Plant(profile, random.Random(1), speed, FRESH["ready"](profile))
        self.executed = []
        """Commands that took effect: id and operation."""
        self.device = Device(
            plant,
            uid=uid,
            boot_id=7,
            now=time.monotonic(),
            on_execute=lambda cmd_id, op, _: self.executed.append((cmd_id, op)),
        )
        self.master = None
        self.mute = False
        self.hang_up_before = None
        """Kind of the device's message at which the line breaks, once."""
        self.heard = set()
        """Kinds of the messages that came."""

    @property
    def tty(self):
        """The port's present name."""
        return os.ttyname(self.slave)

    def plug(self):
        """Make the port, and listen in the running loop."""
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        asyncio.get_running_loop().add_reader(self.master, self._turn)

    def unplug(self):
        """Take the port away; the board runs on."""
        if self.master is None:
            return
        asyncio.get_running_loop().remove_reader(self.master)
        os.close(self.master)
        os.close(self.slave)
        self.master = None

    def _turn(self):
        now = time.monotonic()
        with contextlib.suppress(BlockingIOError):
            data = os.read(self.master, 4096)
            if not self.mute:
                self.heard |= {frame.kind for frame in FrameDecoder().feed(data)}
                self.device.feed(data, now)
        self.device.tick(now)
        for wire in self.device.take():
            if self.mute:
                continue
            if FrameDecoder().feed(wire)[0].kind == self.hang_up_before:
                self.hang_up_before = None
                self.unplug()
                return
            os.write(self.master, wire)


def point(name, port):
    """Let a name, as those in /dev/serial/by-path, lead to this port from now on."""
    fresh = name.with_name(name.name + "~")
    fresh.symlink_to(port)
    fresh.replace(name)

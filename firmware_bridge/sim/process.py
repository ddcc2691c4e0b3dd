"""A simulated machine as its own process, behind a pseudo-terminal that it makes.

It keeps its own handle on the far end, so it goes on when a host closes the port or dies, as a machine
does whose cable is pulled; motions then end by their lease.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import secrets
import select
import signal
import time
import tty
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final, TextIO

from firmware_bridge import profiles
from firmware_bridge.errors import UsageError
from firmware_bridge.messages import ResetCause
from firmware_bridge.sim.device import Device, Memory
from firmware_bridge.sim.faults import Accident, FaultPlan
from firmware_bridge.sim.faulty import FaultyLine
from firmware_bridge.sim.files import Pulses, read_json, write_json
from firmware_bridge.sim.plant import FRESH, Plant

FASTEST: Final = 1e6

TICK_MOVING: Final = 0.02
TICK_IDLE: Final = 0.1
"""Seconds between two looks at the mechanism while nothing comes in."""


@dataclass(frozen=True, slots=True)
class SimOptions:
    """Settings of one simulated machine. `speed` divides all motion times; `seed` None: by chance."""

    profile: str = "136"
    fresh: str = "loaded"
    speed: float = 1.0
    seed: int | None = None
    pulses: Path | None = None
    state: Path | None = None
    link: Path | None = None
    uid: int | None = None
    service_key: bool = False
    faults: FaultPlan = field(default_factory=FaultPlan)


class Simulator:
    """Plant, device, faulty lines and pseudo-terminal of one machine."""

    def __init__(self, options: SimOptions) -> None:
        if options.fresh not in FRESH:
            raise UsageError(f"{options.fresh!r} is no set-up of tiles; use one of {', '.join(FRESH)}.")
        if not 0 < options.speed <= FASTEST:
            raise UsageError(f"The speed must be above 0 and at most {FASTEST:g}.")
        if options.uid is not None and not 0 <= options.uid < 1 << 64:
            raise UsageError("A board number has at most 16 hex digits.")
        self._options = options
        self._plan = options.faults
        self._accidents = list(options.faults.accidents)
        seed = secrets.randbits(64) if options.seed is None else options.seed
        rng = random.Random(f"faults {seed}")  # noqa: S311 - reproducible faults, no secrets
        self._to_device = FaultyLine(rng, self._plan.to_device)
        self._to_host = FaultyLine(rng, self._plan.to_host)
        self._to_device.delay = self._to_host.delay = self._plan.delay
        self._to_device.coalesce = self._to_host.coalesce = self._plan.coalesce
        self._to_device.back, self._to_host.back = self._to_host, self._to_device
        self._device = self._power_up(random.Random(f"dice {seed}"))  # noqa: S311 - dice of a simulation
        self._saved: dict[str, Any] | None = None
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.pty = os.ttyname(self._slave)
        self._link(options.link)

    def _power_up(self, dice: random.Random) -> Device:
        options = self._options
        profile = profiles.load(options.profile)
        plant = Plant(profile, dice, options.speed, FRESH[options.fresh](profile))
        plant.trouble = list(self._plan.trouble)
        plant.service_key = options.service_key
        memory, uid = Memory(), options.uid
        known = read_json(options.state) if options.state is not None else None
        if known is not None:
            try:
                plant.restore(known["plant"])
                memory = Memory(int(known["last_id"]), tuple(known["running"]))
                uid = uid if uid is not None else int(known["uid"], 16)
            except (KeyError, TypeError, ValueError):
                raise UsageError(f"{options.state} is no state of a simulated machine; delete it.") from None
        return Device(
            plant,
            uid=secrets.randbits(64) if uid is None else uid,
            boot_id=secrets.randbits(32),
            now=time.monotonic(),
            on_execute=Pulses(options.pulses) if options.pulses is not None else None,
            memory=memory,
        )

    def _link(self, link: Path | None) -> None:
        """Point a stable name at the pseudo-terminal, replacing an older one in one step."""
        if link is None:
            return
        if link.exists() and not link.is_symlink():
            raise UsageError(f"The path {link} exists and is no link; name another one.")
        fresh = link.with_name(f".{link.name}.{os.getpid()}")
        with contextlib.suppress(FileNotFoundError):
            fresh.unlink()
        fresh.symlink_to(self.pty)
        fresh.replace(link)

    def fileno(self) -> int:
        """Our end of the pseudo-terminal."""
        return self._master

    def timeout(self) -> float:
        """Seconds until `turn` is due."""
        return TICK_MOVING if self._device.plant.motions or self._slow() else TICK_IDLE

    def _slow(self) -> bool:
        """Whether bytes may wait on a line, so that looks must come often."""
        plan = self._plan
        return bool(plan.delay or plan.coalesce or plan.to_device.reorder)

    def turn(self) -> None:
        """Take what came in, advance to now, send what is to send."""
        now = time.monotonic()
        with contextlib.suppress(BlockingIOError):
            self._to_device.push(os.read(self._master, 4096), now)
        for chunk in self._to_device.pull(now):
            self._device.feed(chunk, now)
        self._device.tick(now)
        self._have_accidents(now)
        for frame in self._device.take():
            self._to_host.push(frame, now)
        for chunk in self._to_host.pull(now):
            # Nobody reads: the bytes are lost, as on a wire.
            with contextlib.suppress(BlockingIOError):
                os.write(self._master, chunk)
        self.save()

    def _have_accidents(self, now: float) -> None:
        halfway = {motion.op for motion in self._device.plant.motions.values() if motion.share >= 0.5}
        for accident in list(self._accidents):
            if halfway and (accident.op is None or accident.op in halfway):
                self._accidents.remove(accident)
                self._happen(accident, now)

    def _happen(self, accident: Accident, now: float) -> None:
        match accident.what:
            case "mute":
                self._to_device.mute(now + accident.seconds)
                self._to_host.mute(now + accident.seconds)
            case "stall":
                self._to_device.stall(now + accident.seconds)
                self._to_host.stall(now + accident.seconds)
            case "reboot":
                self._device.reset(secrets.randbits(32), ResetCause.BROWN_OUT, now)
            case _:
                self._device.button()

    def save(self) -> None:
        """Write the tiles down, if they moved."""
        if self._options.state is None:
            return
        memory = self._device.memory
        state = {
            "plant": self._device.plant.to_json(),
            "last_id": memory.last_id,
            "running": list(memory.running),
            "uid": f"{self._device.uid:016x}",
        }
        if state != self._saved:
            self._saved = state
            write_json(self._options.state, state, durable=False)

    def close(self) -> None:
        """Switch off: motors stop, the name goes away."""
        link = self._options.link
        if link is not None and link.is_symlink() and os.readlink(link) == self.pty:  # noqa: PTH115
            link.unlink()
        os.close(self._master)
        os.close(self._slave)


def run(options: SimOptions, out: TextIO) -> int:
    """Run until SIGTERM or SIGINT; exit status 0. The first line on `out` says where the machine is.

    Raises:
        BridgeError: the options can not be met.
    """
    simulator = Simulator(options)
    stop_read, stop_write = os.pipe()
    os.set_blocking(stop_write, False)

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        with contextlib.suppress(BlockingIOError):
            os.write(stop_write, b"x")

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        out.write(json.dumps({"ready": True, "pty": simulator.pty, "pid": os.getpid()}) + "\n")
        out.flush()
        while True:
            simulator.turn()
            ready, _, _ = select.select([simulator.fileno(), stop_read], [], [], simulator.timeout())
            if stop_read in ready:
                return 0
    finally:
        simulator.close()
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(stop_read)
        os.close(stop_write)

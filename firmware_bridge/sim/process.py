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
from firmware_bridge.errors import BridgeError, UsageError
from firmware_bridge.recorder import Recorder, SessionFile
from firmware_bridge.sim.device import Device
from firmware_bridge.sim.faults import FaultPlan
from firmware_bridge.sim.faulty import FaultyLine
from firmware_bridge.sim.files import Pulses, read_json, write_json
from firmware_bridge.sim.mishaps import Mishaps
from firmware_bridge.sim.plant import FRESH, Plant
from firmware_bridge.sim.practice import Practice
from firmware_bridge.sim.records import Memory
from firmware_bridge.sim.replay import board_header
from firmware_bridge.sim.saved import restored, saved

FASTEST: Final = 1e6

TICK_MOVING: Final = 0.02
TICK_IDLE: Final = 0.1
"""Seconds between two looks at the mechanism while nothing comes in."""

OUTSIDE: Final = 3.0
"""Seconds after the last byte through the port for which a table counts as driving the machine."""

CONTROL_LINE: Final = 4096
"""Characters of a control line, at most."""


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
    record: Path | None = None
    control: bool = False
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
        self.practice: Practice | None = None
        """A host of our own, for as long as no table drives the machine; see `practise`."""
        self._outside_at = float("-inf")
        self._recorder: Recorder | None = None
        self._session: SessionFile | None = None
        seed = secrets.randbits(64) if options.seed is None else options.seed
        rng = random.Random(f"faults {seed}")  # noqa: S311 - reproducible faults, no secrets
        self._to_device = FaultyLine(rng)
        self._to_host = FaultyLine(rng)
        self._to_device.back, self._to_host.back = self._to_host, self._to_device
        self.device = self._power_up(f"dice {seed}")
        self._mishaps = Mishaps(self.device, self._to_device, self._to_host, self._number)
        self._saved: dict[str, Any] | None = None
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.pty = os.ttyname(self._slave)
        self._link(options.link)
        self._mishaps.add(options.faults, time.monotonic())
        if options.faults.spec:
            self._note("faults", options.faults.spec)

    def _power_up(self, seed: str) -> Device:
        options, now = self._options, time.monotonic()
        profile = profiles.load(options.profile)
        dice = random.Random(seed)  # noqa: S311 - dice of a simulation
        plant = Plant(profile, dice, options.speed, FRESH[options.fresh](profile))
        plant.service_key = options.service_key
        memory, uid = Memory(), options.uid
        known = read_json(options.state) if options.state is not None else None
        if known is not None:
            try:
                memory, number = restored(known, plant)
            except UsageError:
                raise UsageError(f"{options.state} is no state of a simulated machine; delete it.") from None
            uid = number if uid is None else uid
        uid = secrets.randbits(64) if uid is None else uid
        boot_id = secrets.randbits(32)
        if options.record is not None:
            header = board_header(
                options.profile, options.fresh, options.speed, seed, uid, boot_id, now, None
            )
            self._record(options.record, {**header, "state": known, "service": options.service_key})
        return Device(
            plant,
            uid=uid,
            boot_id=boot_id,
            now=now,
            on_execute=Pulses(options.pulses) if options.pulses is not None else None,
            memory=memory,
        )

    def _record(self, path: Path, header: dict[str, Any]) -> None:
        self._session = SessionFile(path)
        self._recorder = Recorder(header, keep=None, sink=self._session)

    def _number(self) -> int:
        number = secrets.randbits(32)
        self._note("number", number)
        return number

    def _note(self, kind: str, value: object) -> None:
        if self._recorder is not None:
            self._recorder.note(time.monotonic(), kind, value)

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
        busy = self.device.plant.motions or self.practice is not None or self._slow()
        return TICK_MOVING if busy else TICK_IDLE

    def _slow(self) -> bool:
        """Whether bytes may wait on a line, so that looks must come often."""
        return any(line.delay or line.coalesce or line.rates.reorder for line in self._lines)

    @property
    def _lines(self) -> tuple[FaultyLine, FaultyLine]:
        return self._to_device, self._to_host

    @property
    def waiting(self) -> Mishaps:
        """The faults that will come."""
        return self._mishaps

    @property
    def driven(self) -> bool:
        """Whether a table speaks through the port."""
        return time.monotonic() - self._outside_at < OUTSIDE

    def practise(self) -> Practice:
        """Let a host of our own drive the machine while no table does."""
        self.practice = Practice(lambda: secrets.randbits(32))
        return self.practice

    def order(self, words: str) -> None:
        """Let items of the fault menu happen too, or `none`: take all faults back.

        Raises:
            UsageError: not on the menu.
        """
        self._mishaps.order(words, time.monotonic())
        self._note("faults", words)

    def turn(self) -> None:
        """Take what came in, advance to now, send what is to send."""
        now = time.monotonic()
        with contextlib.suppress(BlockingIOError):
            data = os.read(self._master, 4096)
            self._outside_at = now
            self._to_device.push(data, now)
        practice = self.practice
        if practice is not None:
            self._to_device.push(practice.turn(now, away=self.driven), now)
        for chunk in self._to_device.pull(now):
            self._recorded("host", chunk, now)
            self.device.feed(chunk, now)
        self.device.tick(now)
        self._mishaps.look(now)
        frames = self.device.take()
        self._recorded("device", b"".join(frames), now)
        for frame in frames:
            self._to_host.push(frame, now)
        for chunk in self._to_host.pull(now):
            if practice is not None and not self.driven:
                practice.core.feed(chunk, now)
                continue
            # Nobody reads: the bytes are lost, as on a wire.
            with contextlib.suppress(BlockingIOError):
                os.write(self._master, chunk)
        self.save()

    def _recorded(self, sender: str, data: bytes, now: float) -> None:
        if self._recorder is not None:
            self._recorder.wire(sender, data, now)

    def save(self) -> None:
        """Write the tiles down, if they moved."""
        if self._options.state is None:
            return
        state = saved(self.device)
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
        if self._session is not None:
            self._session.close()
        if self.practice is not None:
            self.practice.close()


class ControlLine:
    """Orders for a running machine, one a line: items of the fault menu, or `none`."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._partial = b""

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Obey the lines completed by `data`; one answer to each, as on standard output."""
        *lines, self._partial = (self._partial + data).split(b"\n")
        self._partial = self._partial[-CONTROL_LINE:]
        return [self._answer(line.decode("utf-8", "replace").strip()) for line in lines if line.strip()]

    def _answer(self, words: str) -> dict[str, Any]:
        try:
            self._simulator.order(words)
        except BridgeError as error:
            return {"error": {"code": "usage", "message": str(error), "fix": ""}}
        return {"ok": True, "faults": words}


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
    control = ControlLine(simulator)
    watched = [simulator.fileno(), stop_read, *([0] if options.control else [])]
    try:
        _say(out, {"ready": True, "pty": simulator.pty, "pid": os.getpid()})
        while True:
            simulator.turn()
            ready, _, _ = select.select(watched, [], [], simulator.timeout())
            if stop_read in ready:
                return 0
            if 0 in ready:
                data = os.read(0, 4096)
                if not data:  # the other end closed it; the machine goes on
                    watched.remove(0)
                for answer in control.feed(data):
                    _say(out, answer)
    finally:
        simulator.close()
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(stop_read)
        os.close(stop_write)


def _say(out: TextIO, line: dict[str, Any]) -> None:
    out.write(json.dumps(line) + "\n")
    out.flush()

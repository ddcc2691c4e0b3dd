"""Plays a recording again: a host's into a new `HostCore`, a board's into a new simulated board.

Everything is decided by what came in and when, so the same must go out. `differs` names the first entry where
it does not: another version of the product, or a mistake in it.

    python -m firmware_bridge.sim.replay FILE

prints what came of it, as one JSON object; status 1 when the answers differ.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from firmware_bridge import profiles
from firmware_bridge.commands import Book
from firmware_bridge.core import Finished, HostCore, Reported
from firmware_bridge.errors import MessageError, ProfileError, UsageError
from firmware_bridge.ledger import Intent
from firmware_bridge.machine import LinkState, MachineEvent, MachineView, Outcome
from firmware_bridge.messages import ResetCause
from firmware_bridge.ops import Op
from firmware_bridge.recorder import Recording, parse
from firmware_bridge.sim.device import Device
from firmware_bridge.sim.faulty import FaultyLine
from firmware_bridge.sim.mishaps import Mishaps
from firmware_bridge.sim.plant import FRESH, Plant
from firmware_bridge.sim.records import Memory
from firmware_bridge.sim.saved import config_of, restored

UNPLAYABLE: Final = (LookupError, TypeError, ValueError, MessageError, ProfileError)
"""What entries raise that no host or board has written."""

STEP: Final = 0.02
"""Seconds between two looks at a replayed board whose recording names no step."""


@dataclass(slots=True)
class HostReplay:
    """What a host came to know and to decide. `differs`: index of the first entry it answered otherwise."""

    view: MachineView = field(default_factory=MachineView)
    outcomes: list[Outcome] = field(default_factory=list)
    events: list[MachineEvent] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    """Sentence codes of the view, one after the other."""
    differs: int | None = None


@dataclass(slots=True)
class BoardReplay:
    """What a board did. `executed`: (cmd_id, op) in order; `differs` as in `HostReplay`."""

    executed: list[tuple[int, Op]] = field(default_factory=list)
    differs: int | None = None


class _Numbers:
    """The random numbers of the recording, in order."""

    def __init__(self, recording: Recording) -> None:
        self._numbers: Iterator[int] = iter(
            [entry["number"] for entry in recording.entries if "number" in entry]
        )

    def __call__(self) -> int:
        return next(self._numbers, 0)


class _KnownBook(Book):
    """A ledger that knew what the recorded one knew."""

    def __init__(self, header: dict[str, Any]) -> None:
        self._last_id = int(header["last_id"])
        self._open = tuple(
            Intent(cmd_id, Op[op], bytes.fromhex(args), uid, boot_id)
            for cmd_id, op, args, uid, boot_id in header["open"]
        )

    def last_id(self) -> int:
        """The highest id ever used."""
        return self._last_id

    def intend(self, intent: Intent) -> None:
        """Nothing is kept."""

    def conclude(self, outcome: Outcome) -> None:
        """Nothing is kept."""

    def open_intents(self) -> tuple[Intent, ...]:
        """Commands without a known end at the start."""
        return self._open

    @property
    def sound(self) -> bool:
        """It never refuses."""
        return True

    def settle(self) -> bool:
        """Nothing is owed."""
        return True


def replay_host(recording: Recording) -> HostReplay:
    """Feed what the device sent into a new host, with the same wishes at the same moments.

    Raises:
        UsageError: it was not recorded at the host's side, or can not be read.
    """
    _expect(recording, "host")
    try:
        return _host(recording)
    except UNPLAYABLE as error:
        raise UsageError(f"The recording can not be played: {error!r}.") from None


def _host(recording: Recording) -> HostReplay:
    header, told = recording.header, HostReplay()
    core = HostCore(
        _KnownBook(header), _Numbers(recording), uid=header["uid"], config=config_of(header["config"])
    )
    for number, entry in enumerate(recording.entries):
        now = entry["t"]
        match entry:
            case {"port": "opened"}:
                core.port_opened(now)
            case {"port": "closed"}:
                core.port_closed(now)
            case {"port": ["failed", state, detail]}:
                core.port_failed(LinkState(state), detail, now)
            case {"device": data}:
                core.feed(bytes.fromhex(data), now)
            case {"poll": _}:
                core.poll(now)
            case {"submit": wish}:
                core.submit(Op[wish["op"]], wish["args"], now, wish["rev"])
            case {"hold": _}:
                core.hold(now)
            case {"estop": _}:
                core.estop()
            case {"host": data} if core.take() != bytes.fromhex(data) and told.differs is None:
                told.differs = number
            case _:
                pass
        _note(told, core)
    return told


def _note(told: HostReplay, core: HostCore) -> None:
    for notice in core.notices():
        match notice:
            case Finished(outcome):
                told.outcomes.append(outcome)
            case Reported(event):
                told.events.append(event)
    told.view = core.view
    if not told.codes or told.codes[-1] != core.view.code:
        told.codes.append(core.view.code)


def board_header(
    profile: str,
    fresh: str,
    speed: float,
    seed: int | str,
    uid: int,
    boot_id: int,
    now: float,
    step: float | None,
) -> dict[str, Any]:
    """What a board's recording has to say so that the board can be made again."""
    return {
        "side": "device",
        "profile": profile,
        "fresh": fresh,
        "speed": speed,
        "seed": seed,
        "uid": uid,
        "boot_id": boot_id,
        "t": now,
        "step": step,
    }


def replay_device(recording: Recording) -> BoardReplay:
    """Feed what the host sent into a new board.

    A recording of a process has no fixed step, so a board replayed from it may be some milliseconds off:
    look at `executed` then, not at `differs`.

    Raises:
        UsageError: it was not recorded at the device's side, or can not be read.
    """
    _expect(recording, "device")
    try:
        return _Board(recording).play()
    except UNPLAYABLE as error:
        raise UsageError(f"The recording can not be played: {error!r}.") from None


class _Board:
    def __init__(self, recording: Recording) -> None:
        header = recording.header
        self._recording = recording
        self._now: float = header["t"]
        self._step: float = header["step"] or STEP
        self._told = BoardReplay()
        profile = profiles.load(header["profile"])
        dice = random.Random(header["seed"])  # noqa: S311 - dice of a simulation
        plant = Plant(profile, dice, header["speed"], FRESH[header["fresh"]](profile))
        plant.service_key = header.get("service", False)
        memory = Memory()
        if header.get("state") is not None:
            memory, _ = restored(header["state"], plant)
        self._device = Device(
            plant,
            uid=header["uid"],
            boot_id=header["boot_id"],
            now=self._now,
            on_execute=lambda cmd_id, op, _: self._told.executed.append((cmd_id, op)),
            memory=memory,
        )
        numbers, quiet = _Numbers(recording), random.Random(0)  # noqa: S311 - lines that carry nothing
        self._mishaps = Mishaps(self._device, FaultyLine(quiet), FaultyLine(quiet), numbers)

    def play(self) -> BoardReplay:
        for number, entry in enumerate(self._recording.entries):
            self._advance(entry["t"])
            match entry:
                case {"host": data}:
                    self._device.feed(bytes.fromhex(data), self._now)
                case {"faults": words}:
                    self._mishaps.order(words, self._now)
                case {"reset": [boot_id, cause]}:
                    self._device.reset(boot_id, ResetCause(cause), self._now)
                case {"device": data}:
                    self._look()
                    sent = b"".join(self._device.take())
                    if sent != bytes.fromhex(data) and self._told.differs is None:
                        self._told.differs = number
                case _:
                    pass
        return self._told

    def _advance(self, until: float) -> None:
        """Let time pass in the recorded steps, to the recorded moment."""
        if until <= self._now:
            return
        self._look()
        while (later := round(self._now + self._step, 6)) < until:
            self._now = later
            self._look()
        self._now = until

    def _look(self) -> None:
        self._device.tick(self._now)
        self._mishaps.look(self._now)


def _expect(recording: Recording, side: str) -> None:
    if recording.header.get("side") != side:
        raise UsageError(f"This recording was not made at the {side}'s side.")


def summary(recording: Recording) -> dict[str, Any]:
    """What came of a recording of either side, ready for JSON.

    Raises:
        UsageError: it can not be played.
    """
    if recording.header.get("side") == "device":
        board = replay_device(recording)
        return {
            "side": "device",
            "differs": board.differs,
            "executed": [[cmd_id, op.name] for cmd_id, op in board.executed],
        }
    host = replay_host(recording)
    return {
        "side": "host",
        "differs": host.differs,
        "codes": host.codes,
        "outcomes": [[o.cmd_id, o.op.name, o.status.value, o.code] for o in host.outcomes],
        "events": [[event.code, *event.args] for event in host.events],
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Play a file; 0 when all answers are the recorded ones, 1 when not, 2 when it can not be played."""
    parser = argparse.ArgumentParser(prog="python -m firmware_bridge.sim.replay", description=__doc__)
    parser.add_argument("file", type=Path, metavar="FILE")
    path = parser.parse_args(argv).file
    try:
        told = summary(parse(path.read_text("utf-8")))
    except (OSError, UnicodeDecodeError, UsageError) as error:
        print(json.dumps({"error": {"code": "usage", "message": str(error), "fix": ""}}))  # noqa: T201
        return 2
    print(json.dumps(told))  # noqa: T201 - what the command is for
    return 0 if told["differs"] is None else 1


if __name__ == "__main__":
    sys.exit(main())

"""How a relay board is wired, as settings that are checked before a contact moves. Pure.

Keys are those of the sections `[modbus_press]` and `[observe]` of a table's configuration, and every refusal
begins with the key that is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from firmware_bridge.drivers.watch_core import Wired
from firmware_bridge.errors import UsageError
from firmware_bridge.machine import Capability

CHANNELS: Final = 8
"""Relays, and inputs, of a board."""
FLASH_UNIT_MS: Final = 100
"""A timed pulse lasts a multiple of it."""
SLOWEST_REPLY_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class PressSettings:
    """A board that presses. Relays and inputs count from 0; None: not wired.

    `ready_input` is lit while the machine waits, `lid_input` changes when the lid moves (its level is
    `lid_open` while it is open); one of them is a must. `fault_input`: another lamp that the profile's lamp
    rules name. `inhibit_relay` is a normally open contact in series with the lift button, held only while
    released; it needs the lid switch, which tells when to let go. `pulse_ms` is a multiple of 100.
    `reply_s`: how long the board may take to answer, in seconds. `profile`: times and lamps of the machine.

    Raises:
        UsageError: a value is out of range, or two functions share a relay or an input.
    """

    port: str
    address: int = 1
    baud: int = 9600
    lift_relay: int = 0
    dice_relay: int | None = None
    inhibit_relay: int | None = None
    ready_input: int | None = 0
    lid_input: int | None = None
    dice_input: int | None = None
    fault_input: int | None = None
    lid_open: bool = True
    pulse_ms: int = 300
    reply_s: float = 0.5
    profile: str = "136"

    def __post_init__(self) -> None:
        """Check everything at once."""
        if not self.port:
            raise UsageError("port: the relay board needs one, such as /dev/serial/by-path/...")
        _check_line(self.address, self.baud, self.reply_s)
        if not 100 <= self.pulse_ms <= 2000 or self.pulse_ms % FLASH_UNIT_MS:
            raise UsageError(f"pulse_ms: a pulse lasts 100 to 2000 ms in steps of 100, not {self.pulse_ms}.")
        _distinct(
            {
                "lift_relay": self.lift_relay,
                "dice_relay": self.dice_relay,
                "inhibit_relay": self.inhibit_relay,
            }
        )
        _distinct(
            {
                "ready_input": self.ready_input,
                "lid_input": self.lid_input,
                "dice_input": self.dice_input,
                "fault_input": self.fault_input,
            }
        )
        if self.ready_input is None and self.lid_input is None:
            raise UsageError(
                "ready_input: wire the ready lamp or the lid switch, which alone proves a press."
            )
        if self.dice_relay is not None and self.dice_input is None:
            raise UsageError(
                "dice_input: wire something that changes with the dice, or leave dice_relay out."
            )
        if self.inhibit_relay is not None and self.lid_input is None:
            raise UsageError("lid_input: inhibit_relay needs the lid switch, which tells when to lock.")

    @property
    def capabilities(self) -> Capability:
        """What this wiring can do. A press never knows counts."""
        able = Capability.MOVES
        if self.dice_relay is not None:
            able |= Capability.DICE
        if self.inhibit_relay is not None:
            able |= Capability.INHIBIT
        if self.lid_input is not None:
            able |= Capability.LID
        return able

    @property
    def buttons(self) -> frozenset[int]:
        """Relays that press a button."""
        return frozenset(relay for relay in (self.lift_relay, self.dice_relay) if relay is not None)

    @property
    def wired(self) -> Wired:
        """Its inputs, for watching."""
        return Wired(self.ready_input, self.fault_input, self.lid_input, self.lid_open)


@dataclass(frozen=True, slots=True)
class ObserveSettings:
    """A machine that is watched. Without `port` nothing is wired, and nothing is known of it.

    The keys mean the same as those of `PressSettings`.

    Raises:
        UsageError: a value is out of range, or two functions share an input.
    """

    port: str = ""
    address: int = 1
    baud: int = 9600
    ready_input: int | None = None
    lid_input: int | None = None
    fault_input: int | None = None
    lid_open: bool = True
    reply_s: float = 0.5
    profile: str = "136"

    def __post_init__(self) -> None:
        """Check everything at once."""
        _check_line(self.address, self.baud, self.reply_s)
        inputs = {
            "ready_input": self.ready_input,
            "lid_input": self.lid_input,
            "fault_input": self.fault_input,
        }
        _distinct(inputs)
        wired = any(number is not None for number in inputs.values())
        if wired and not self.port:
            raise UsageError("port: the board whose inputs are wired needs one.")
        if self.port and not wired:
            raise UsageError("lid_input: wire at least one input of the board, or leave its port out.")

    @property
    def capabilities(self) -> Capability:
        """What it can tell; it moves nothing."""
        return Capability.NONE if self.lid_input is None else Capability.LID

    @property
    def wired(self) -> Wired:
        """Its inputs, for watching."""
        return Wired(self.ready_input, self.fault_input, self.lid_input, self.lid_open)


def _check_line(address: int, baud: int, reply_s: float) -> None:
    if not 1 <= address <= 247:
        raise UsageError(f"address: that of a relay board is 1 to 247, not {address}.")
    if baud <= 0:
        raise UsageError(f"baud: a rate above 0 is needed, not {baud}.")
    if not 0 < reply_s <= SLOWEST_REPLY_S:
        raise UsageError(f"reply_s: a board answers within 0 to {SLOWEST_REPLY_S:g} seconds.")


def _distinct(numbers: Mapping[str, int | None]) -> None:
    used: dict[int, str] = {}
    for key, number in numbers.items():
        if number is None:
            continue
        if not 0 <= number < CHANNELS:
            raise UsageError(f"{key}: the numbers are 0 to {CHANNELS - 1}, not {number}.")
        if number in used:
            raise UsageError(f"{key}: has the number of {used[number]}; give each its own.")
        used[number] = key

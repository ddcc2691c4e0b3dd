"""Pressing the maker's own buttons through a relay board: what to ask the board next, and what it proves.

Pure: replies and monotonic seconds go in, requests and ends come out. `presser` carries them out.

A relay board knows no command ids, so a repeated request is a second press. Hence a press is one pulse that
the board times by itself (the contact opens again even if this computer dies), it is asked for once, and
only an input that changes afterwards proves it. Everything else ends UNKNOWN, and then a person looks.

Register map: Waveshare "Modbus RTU Relay (D)": relays are coils 0..7, inputs are discrete inputs 0..7, and
function 05 to 0x0200 + relay with n closes the relay for n times 100 ms.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, TypeAlias

from firmware_bridge.drivers.watch_core import STEADY, Bits
from firmware_bridge.drivers.wiring import FLASH_UNIT_MS, PressSettings
from firmware_bridge.machine import Status
from firmware_bridge.ops import Op

FLASH: Final = 0x0200
"""Address of the timed pulse of relay 0."""
LOOK_EVERY: Final = 0.05
"""Seconds between two looks at the inputs."""

LID_AFTER: Final = 10.0
"""Seconds more for the lid switch to change once the ready lamp has told that the press was taken."""

LIFT: Final = frozenset({Op.OPEN_LID, Op.CLOSE_LID, Op.RAISE_WALLS})
"""The lift button walks through these; which comes next is the machine's affair, so all obey the lock."""

GOALS: Final = {Op.OPEN_LID: True, Op.CLOSE_LID: False}
"""Whether the lid is open at the goal of an operation."""


@dataclass(frozen=True, slots=True)
class ReadRelays:
    """Ask for the state of all relays."""


@dataclass(frozen=True, slots=True)
class ReadInputs:
    """Ask for the state of all inputs."""


@dataclass(frozen=True, slots=True)
class Write:
    """Function 05: `value` to `address`. Made by `hold` and `pulse` only."""

    address: int
    value: int


Request: TypeAlias = "ReadRelays | ReadInputs | Write"


def hold(relay: int, *, closed: bool) -> Write:
    """Hold a relay closed, or open it. A goal, so asking twice is harmless; never used on a button."""
    return Write(relay, 0xFF00 if closed else 0x0000)


def pulse(relay: int, pulse_ms: int) -> Write:
    """Close a relay for `pulse_ms`; the board opens it again by itself."""
    return Write(FLASH + relay, pulse_ms // FLASH_UNIT_MS)


class Missing(Enum):
    """Why there is no reply."""

    LOST = auto()
    """Nothing came, or nothing that fits: the request was carried out or not."""
    REFUSED = auto()
    """The board says that it did not do it."""


Reply: TypeAlias = "Bits | Missing"
"""Bits of what was read, none of what was written."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait these seconds, then go on with `next(now)`."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended; `code` as in `machine.Outcome`."""

    status: Status
    code: str
    seconds: float = 0.0


Step: TypeAlias = "Request | Pause | Ended"


class _Phase(Enum):
    RELAYS = auto()
    INPUTS = auto()
    PULSE = auto()
    WATCH = auto()


class Press:
    """One press: look, pulse once, watch. Call `next` with the reply to the step before."""

    def __init__(self, settings: PressSettings, op: Op, feedback_s: float) -> None:
        self._settings = settings
        self._op = op
        self._feedback_s = feedback_s
        self._phase = _Phase.RELAYS
        self._before: Bits = ()
        self._sent_at = 0.0
        self._changed = 0
        self._took = False

    def start(self) -> Request:
        """The first request."""
        return ReadRelays()

    def next(self, now: float, reply: Reply | None = None) -> Step:
        """What to do after `reply` (None: after a pause), at `now` in monotonic seconds."""
        if reply is None:
            return ReadInputs()
        if self._phase is _Phase.PULSE:
            return self._pulsed(now, reply)
        if isinstance(reply, Missing):
            return self._blind(now)
        if self._phase is _Phase.RELAYS:
            return self._relays(reply)
        return self._aim(now, reply) if self._phase is _Phase.INPUTS else self._watch(now, reply)

    @property
    def pressed(self) -> bool:
        """The pulse may have been sent."""
        return self._phase in (_Phase.PULSE, _Phase.WATCH)

    def _blind(self, now: float) -> Ended:
        if self._phase is _Phase.WATCH:
            return Ended(Status.UNKNOWN, "no_reply", now - self._sent_at)
        return Ended(Status.REJECTED, "link_down")

    def _relays(self, relays: Bits) -> Step:
        if button_held(self._settings, relays):
            return Ended(Status.REJECTED, "button_held")
        code = contact_fault(self._settings, relays, locked=False) if self._op in LIFT else None
        if code is not None:
            # The board was powered up since the release: the button is dead, a press would prove nothing.
            return Ended(Status.REJECTED, code)
        self._phase = _Phase.INPUTS
        return ReadInputs()

    def _aim(self, now: float, inputs: Bits) -> Step:
        ready, lid = self._settings.ready_input, self._settings.lid_input
        if self._op in GOALS and lid is not None:
            is_open = inputs[lid] is self._settings.lid_open
            if is_open is GOALS[self._op]:
                # The button is a toggle: pressed at its goal, it would undo it.
                return Ended(Status.DONE, "ok")
        if self._op in LIFT and ready is not None and not inputs[ready]:
            # A lamp that is off already could not prove anything by going off.
            return Ended(Status.REJECTED, "not_ready")
        self._before = inputs
        self._sent_at = now
        self._phase = _Phase.PULSE
        relay = self._settings.lift_relay if self._op in LIFT else self._settings.dice_relay
        assert relay is not None
        return pulse(relay, self._settings.pulse_ms)

    def _pulsed(self, now: float, reply: Reply) -> Step:
        if reply is Missing.REFUSED:
            return Ended(Status.REJECTED, "board_refused")
        if reply is Missing.LOST:
            return Ended(Status.UNKNOWN, "no_reply", now - self._sent_at)
        self._phase = _Phase.WATCH
        return ReadInputs()

    def _watch(self, now: float, inputs: Bits) -> Step:
        self._changed = self._changed + 1 if self._answered(inputs) else 0
        waited = now - self._sent_at
        if self._changed >= STEADY:
            return Ended(Status.DONE, "ok", waited)
        limit = self._feedback_s + (LID_AFTER if self._took else 0.0)
        if waited >= limit:
            return Ended(Status.UNKNOWN, "no_feedback", waited)
        return Pause(min(LOOK_EVERY, limit - waited))

    def _answered(self, inputs: Bits) -> bool:
        wired = self._settings
        if self._op not in LIFT:
            return _differs(wired.dice_input, self._before, inputs)
        dark = wired.ready_input is not None and not inputs[wired.ready_input]
        if self._op in GOALS and wired.lid_input is not None:
            # The lamp alone would let a lid that is never seen open count as opened, and be pressed again.
            self._took = self._took or dark
            return _differs(wired.lid_input, self._before, inputs)
        return dark or _differs(wired.lid_input, self._before, inputs)


def _differs(number: int | None, before: Bits, after: Bits) -> bool:
    return number is not None and before[number] is not after[number]


def button_held(settings: PressSettings, relays: Bits) -> bool:
    """Whether a relay that presses a button is closed: a pulse that still runs, or a contact that stuck."""
    return any(relays[relay] for relay in settings.buttons)


def contact_fault(settings: PressSettings, relays: Bits, *, locked: bool) -> str | None:
    """Whether the series contact contradicts the lock, as a stable identifier; None: no, or not wired."""
    contact = settings.inhibit_relay
    if contact is None or relays[contact] is not locked:
        return None
    return "contact_closed" if locked else "contact_open"


class Gate:
    """Which presses are allowed at all: the lock, rising ids, and a person's look after an UNKNOWN."""

    def __init__(self) -> None:
        self.locked = True
        """As at power-up of every machine."""
        self._last_id = 0
        self._look = False

    def refusal(self, op: Op, cmd_id: int) -> str | None:
        """Why not, as a stable identifier; None: go, and the id is used up."""
        if cmd_id <= self._last_id:
            return "stale_id"
        self._last_id = cmd_id
        if self._look:
            return "look_first"
        if self.locked and op in LIFT:
            return "interlock"
        return None

    def doubt(self) -> None:
        """A press ended UNKNOWN: none until a person has looked."""
        self._look = True

    def looked(self) -> None:
        """A person looked at the machine."""
        self._look = False

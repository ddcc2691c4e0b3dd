"""The conversation: one frozen dataclass per message, each the exact inverse of its bytes.

All numbers are little-endian. `KIND` is the frame's kind; bit 7 marks the device's side. A message with a
variable part has it last. docs/protocol.md tells the same in prose.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Any, ClassVar, Final, Self, TypeAlias

from firmware_bridge.codec import Frame
from firmware_bridge.errors import MessageError
from firmware_bridge.interlock import Fault, Lid, Magazine, Surface
from firmware_bridge.machine import ActiveOp, FaultReport
from firmware_bridge.ops import PLACES, Op, Quad

PROTOCOL: Final = 1
"""Version of these messages. A device answers the highest version both sides know."""

ANY_REV: Final = 0xFFFFFFFF
"""Expected revision of a command that may run whatever has changed since."""

_NO_PLACE: Final = 0xFF


class Result(IntEnum):
    """What a device knows of a command id."""

    RUNNING = 1
    DONE = 2
    FAILED = 3
    ABORTED = 4
    """Cut in mid-motion by the lease, a hold or a stop."""
    REJECTED = 5
    NEVER_SEEN = 6
    INTERRUPTED = 7
    """It ran when the board was reset."""
    EXPIRED = 8
    """So old that the device no longer remembers it."""


class Verdict(IntEnum):
    """The first word of an acknowledgement."""

    ACCEPTED = 1
    DUPLICATE = 2
    REJECTED = 3


class ResetCause(IntEnum):
    """Why the board began its present run."""

    POWER_ON = 1
    WATCHDOG = 2
    BROWN_OUT = 3
    EXTERNAL = 4


class Caps(IntFlag):
    """What a machine has."""

    RAISES_WALLS = 1
    DEALS = 2
    DICE = 4
    INDICATOR = 8
    LAMPS = 16


class EventCode(IntEnum):
    """What a machine reports by itself."""

    BOOTED = 1
    LEASE_EXPIRED = 2
    FAULT = 3
    """Arguments: fault code, place (255: none), count."""
    ESTOP = 4
    INTAKE_OPENED_EARLY = 5
    HELD = 6


@dataclass(frozen=True, slots=True)
class Hello:
    """Opens a session; the frame's header names it. Always answered, even in a fault."""

    KIND: ClassVar[int] = 0x01
    _LAYOUT: ClassVar[struct.Struct] = struct.Struct("<BBI")
    proto_min: int
    proto_max: int
    nonce: int

    def to_bytes(self) -> bytes:
        """Payload."""
        return self._LAYOUT.pack(self.proto_min, self.proto_max, self.nonce)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Inverse of `to_bytes`."""
        return cls(*_unpack(cls._LAYOUT, data))


@dataclass(frozen=True, slots=True)
class Welcome:
    """Who answers: `proto` 0 when no common version exists. `boot_id` is new after every reset.

    `event_first`..`event_last`: the numbers still in the ring (first > last: none).
    """

    KIND: ClassVar[int] = 0x81
    _LAYOUT: ClassVar[struct.Struct] = struct.Struct("<BIQIB12sHHIIBII3B")
    proto: int
    nonce: int
    uid: int
    boot_id: int
    reset_cause: ResetCause
    profile: str
    config_crc: int
    caps: Caps
    uptime_ms: int
    last_cmd: int
    last_result: Result
    event_first: int
    event_last: int
    firmware: tuple[int, int, int]

    def to_bytes(self) -> bytes:
        """Payload."""
        return self._LAYOUT.pack(
            self.proto,
            self.nonce,
            self.uid,
            self.boot_id,
            self.reset_cause,
            self.profile.encode("ascii"),
            self.config_crc,
            self.caps,
            self.uptime_ms,
            self.last_cmd,
            self.last_result,
            self.event_first,
            self.event_last,
            *self.firmware,
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Inverse of `to_bytes`."""
        proto, nonce, uid, boot, cause, name, crc, caps, up, cmd, res, first, last, *fw = _unpack(
            cls._LAYOUT, data
        )
        return cls(
            proto,
            nonce,
            uid,
            boot,
            ResetCause(cause),
            name.rstrip(b"\x00").decode("ascii"),
            crc,
            Caps(caps),
            up,
            cmd,
            Result(res),
            first,
            last,
            (fw[0], fw[1], fw[2]),
        )


@dataclass(frozen=True, slots=True)
class Ping:
    """Renews the lease by `lease_ms` from its arrival. `t_host` comes back unchanged."""

    KIND: ClassVar[int] = 0x02
    _LAYOUT: ClassVar[struct.Struct] = struct.Struct("<IH")
    t_host: int
    lease_ms: int

    def to_bytes(self) -> bytes:
        """Payload."""
        return self._LAYOUT.pack(self.t_host, self.lease_ms)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Inverse of `to_bytes`."""
        return cls(*_unpack(cls._LAYOUT, data))


@dataclass(frozen=True, slots=True)
class Pong:
    """`state_rev` counts changes that permission depends on, `detail_rev` all, progress included."""

    KIND: ClassVar[int] = 0x82
    _LAYOUT: ClassVar[struct.Struct] = struct.Struct("<IIII")
    t_host: int
    t_dev: int
    state_rev: int
    detail_rev: int

    def to_bytes(self) -> bytes:
        """Payload."""
        return self._LAYOUT.pack(self.t_host, self.t_dev, self.state_rev, self.detail_rev)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Inverse of `to_bytes`."""
        return cls(*_unpack(cls._LAYOUT, data))


@dataclass(frozen=True, slots=True)
class _Empty:
    """A message that is only its kind."""

    def to_bytes(self) -> bytes:
        """No payload."""
        return b""

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Inverse of `to_bytes`."""
        _unpack(struct.Struct(""), data)
        return cls()


@dataclass(frozen=True, slots=True)
class StatusRequest(_Empty):
    """Asks for STATUS."""

    KIND: ClassVar[int] = 0x03


class _Flag(IntFlag):
    LOCKED = 1
    HAND = 2
    ESTOP = 4
    HOLD = 8
    LEASE = 16
    DRUM = 32
    TAKEN = 64
    SERVICE = 128
    INDICATOR = 256


@dataclass(frozen=True, slots=True)
class StatusReport:
    """The full state, never a difference: losing one does no harm. Fields as in `MachineView`."""

    KIND: ClassVar[int] = 0x83
    _LAYOUT: ClassVar[struct.Struct] = struct.Struct("<II3BHI4B4B4B4B2BBBBB")
    _ACTIVE: ClassVar[struct.Struct] = struct.Struct("<IB")
    _FAULT: ClassVar[struct.Struct] = struct.Struct("<BBB")
    state_rev: int
    detail_rev: int
    surface: Surface
    magazine: Magazine
    lid: Lid
    locked: bool
    hand_no: int | None
    estop: bool
    hold: bool
    lease: bool
    drum: bool
    taken: bool
    service: bool
    indicator_up: bool
    stacks: Quad
    walls: Quad
    dealt: Quad
    plan: Quad
    dice: tuple[int, int] | None
    lift: int
    active: tuple[ActiveOp, ...] = ()
    cut: tuple[Op, ...] = ()
    faults: tuple[FaultReport, ...] = ()

    def _flags(self) -> _Flag:
        pairs = (
            (_Flag.LOCKED, self.locked),
            (_Flag.HAND, self.hand_no is not None),
            (_Flag.ESTOP, self.estop),
            (_Flag.HOLD, self.hold),
            (_Flag.LEASE, self.lease),
            (_Flag.DRUM, self.drum),
            (_Flag.TAKEN, self.taken),
            (_Flag.SERVICE, self.service),
            (_Flag.INDICATOR, self.indicator_up),
        )
        return _Flag(sum(flag for flag, on in pairs if on))

    def to_bytes(self) -> bytes:
        """Payload."""
        head = self._LAYOUT.pack(
            self.state_rev,
            self.detail_rev,
            self.surface,
            self.magazine,
            self.lid,
            self._flags(),
            self.hand_no or 0,
            *self.stacks,
            *self.walls,
            *self.dealt,
            *self.plan,
            *(self.dice or (0, 0)),
            self.lift,
            len(self.active),
            len(self.cut),
            len(self.faults),
        )
        active = b"".join(self._ACTIVE.pack(item.cmd_id, item.op) for item in self.active)
        faults = b"".join(
            self._FAULT.pack(f.fault, _NO_PLACE if f.place is None else f.place, f.count) for f in self.faults
        )
        return head + active + bytes(self.cut) + faults

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Inverse of `to_bytes`."""
        head = _unpack(cls._LAYOUT, data[: cls._LAYOUT.size])
        rev, detail, surface, magazine, lid, bits, hand = head[:7]
        quads = [_quad(head[7 + 4 * n : 11 + 4 * n]) for n in range(4)]
        dice_a, dice_b, lift, n_active, n_cut, n_faults = head[23:]
        tail = data[cls._LAYOUT.size :]
        at_cut = n_active * cls._ACTIVE.size
        at_faults = at_cut + n_cut
        if len(tail) != at_faults + n_faults * cls._FAULT.size:
            raise MessageError("A STATUS has not the length its counts ask for.")
        flags = _Flag(bits)
        return cls(
            state_rev=rev,
            detail_rev=detail,
            surface=Surface(surface),
            magazine=Magazine(magazine),
            lid=Lid(lid),
            locked=_Flag.LOCKED in flags,
            hand_no=hand if _Flag.HAND in flags else None,
            estop=_Flag.ESTOP in flags,
            hold=_Flag.HOLD in flags,
            lease=_Flag.LEASE in flags,
            drum=_Flag.DRUM in flags,
            taken=_Flag.TAKEN in flags,
            service=_Flag.SERVICE in flags,
            indicator_up=_Flag.INDICATOR in flags,
            stacks=quads[0],
            walls=quads[1],
            dealt=quads[2],
            plan=quads[3],
            dice=(dice_a, dice_b) if dice_a or dice_b else None,
            lift=lift,
            active=tuple(ActiveOp(c, Op(o)) for c, o in cls._ACTIVE.iter_unpack(tail[:at_cut])),
            cut=tuple(Op(number) for number in tail[at_cut:at_faults]),
            faults=tuple(
                FaultReport(Fault(code), None if place == _NO_PLACE else place, count)
                for code, place, count in cls._FAULT.iter_unpack(tail[at_faults:])
            ),
        )


@dataclass(frozen=True, slots=True)
class Command:
    """Do `op`, at most once for this `cmd_id`. `args` as packed by `ops.pack_args`."""

    KIND: ClassVar[int] = 0x04
    _LAYOUT: ClassVar[struct.Struct] = struct.Struct("<IBI")
    cmd_id: int
    op: int
    rev: int = ANY_REV
    args: bytes = b""

    def to_bytes(self) -> bytes:
        """Payload."""
        return self._LAYOUT.pack(self.cmd_id, self.op, self.rev) + self.args

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Inverse of `to_bytes`. `op` stays a number: a device may not know it."""
        (cmd_id, op, rev), tail = _split(cls._LAYOUT, data)
        return cls(cmd_id, op, rev, tail)


@dataclass(frozen=True, slots=True)
class CommandAck:
    """Comes before any motion. `code`: the reason of a refusal, or a duplicate's stored code, else 0."""

    KIND: ClassVar[int] = 0x84
    _LAYOUT: ClassVar[struct.Struct] = struct.Struct("<IBBBI")
    cmd_id: int
    verdict: Verdict
    result: Result
    code: int
    state_rev: int

    def to_bytes(self) -> bytes:
        """Payload."""
        return self._LAYOUT.pack(self.cmd_id, self.verdict, self.result, self.code, self.state_rev)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Inverse of `to_bytes`."""
        cmd_id, verdict, result, code, rev = _unpack(cls._LAYOUT, data)
        return cls(cmd_id, Verdict(verdict), Result(result), code, rev)


@dataclass(frozen=True, slots=True)
class CommandDone:
    """The end of a command; numbered among the events and repeated until EVENT_ACK.

    `duration_ms` of motion; `values` as packed by `ops.pack_result`.
    """

    KIND: ClassVar[int] = 0x85
    _LAYOUT: ClassVar[struct.Struct] = struct.Struct("<IIBBII")
    no: int
    cmd_id: int
    result: Result
    code: int
    duration_ms: int
    state_rev: int
    values: bytes = b""

    def to_bytes(self) -> bytes:
        """Payload."""
        head = self._LAYOUT.pack(
            self.no, self.cmd_id, self.result, self.code, self.duration_ms, self.state_rev
        )
        return head + self.values

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Inverse of `to_bytes`."""
        (no, cmd_id, result, code, duration, rev), tail = _split(cls._LAYOUT, data)
        return cls(no, cmd_id, Result(result), code, duration, rev, tail)


@dataclass(frozen=True, slots=True)
class Query:
    """What became of `cmd_id`? With `close`, an id never seen is refused from now on."""

    KIND: ClassVar[int] = 0x05
    _LAYOUT: ClassVar[struct.Struct] = struct.Struct("<IB")
    cmd_id: int
    close: bool = False

    def to_bytes(self) -> bytes:
        """Payload."""
        return self._LAYOUT.pack(self.cmd_id, self.close)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Inverse of `to_bytes`."""
        cmd_id, close = _unpack(cls._LAYOUT, data)
        return cls(cmd_id, bool(close))


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """Answer to QUERY; the only cure for a lost acknowledgement."""

    KIND: ClassVar[int] = 0x86
    _LAYOUT: ClassVar[struct.Struct] = struct.Struct("<IBBII")
    cmd_id: int
    result: Result
    code: int
    duration_ms: int
    state_rev: int
    values: bytes = b""

    def to_bytes(self) -> bytes:
        """Payload."""
        head = self._LAYOUT.pack(self.cmd_id, self.result, self.code, self.duration_ms, self.state_rev)
        return head + self.values

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Inverse of `to_bytes`."""
        (cmd_id, result, code, duration, rev), tail = _split(cls._LAYOUT, data)
        return cls(cmd_id, Result(result), code, duration, rev, tail)


@dataclass(frozen=True, slots=True)
class Event:
    """Numbered report of the device, repeated until EVENT_ACK. `t_dev` in ms since boot."""

    KIND: ClassVar[int] = 0x87
    _LAYOUT: ClassVar[struct.Struct] = struct.Struct("<IIB")
    no: int
    t_dev: int
    code: int
    args: bytes = b""

    def to_bytes(self) -> bytes:
        """Payload."""
        return self._LAYOUT.pack(self.no, self.t_dev, self.code) + self.args

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Inverse of `to_bytes`. `code` stays a number: a host may not know it."""
        (no, t_dev, code), tail = _split(cls._LAYOUT, data)
        return cls(no, t_dev, code, tail)


@dataclass(frozen=True, slots=True)
class EventAck:
    """All events up to `no` have arrived."""

    KIND: ClassVar[int] = 0x06
    _LAYOUT: ClassVar[struct.Struct] = struct.Struct("<I")
    no: int

    def to_bytes(self) -> bytes:
        """Payload."""
        return self._LAYOUT.pack(self.no)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Inverse of `to_bytes`."""
        return cls(*_unpack(cls._LAYOUT, data))


@dataclass(frozen=True, slots=True)
class Hold(_Empty):
    """Stop what moves; it counts as cut. Answered by STATUS."""

    KIND: ClassVar[int] = 0x07


@dataclass(frozen=True, slots=True)
class Abort:
    """Like HOLD, if `cmd_id` is what moves. Answered by STATUS."""

    KIND: ClassVar[int] = 0x08
    _LAYOUT: ClassVar[struct.Struct] = struct.Struct("<I")
    cmd_id: int

    def to_bytes(self) -> bytes:
        """Payload."""
        return self._LAYOUT.pack(self.cmd_id)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Inverse of `to_bytes`."""
        return cls(*_unpack(cls._LAYOUT, data))


HostMessage: TypeAlias = Hello | Ping | StatusRequest | Command | Query | EventAck | Hold | Abort
DeviceMessage: TypeAlias = Welcome | Pong | StatusReport | CommandAck | CommandDone | CommandOutcome | Event
Message: TypeAlias = HostMessage | DeviceMessage

MESSAGES: Final[Mapping[int, type[Message]]] = {
    cls.KIND: cls
    for cls in (
        Hello,
        Welcome,
        Ping,
        Pong,
        StatusRequest,
        StatusReport,
        Command,
        CommandAck,
        CommandDone,
        Query,
        CommandOutcome,
        Event,
        EventAck,
        Hold,
        Abort,
    )
}

REPLIES: Final[Mapping[int, int]] = {
    Hello.KIND: Welcome.KIND,
    Ping.KIND: Pong.KIND,
    StatusRequest.KIND: StatusReport.KIND,
    Command.KIND: CommandAck.KIND,
    Query.KIND: CommandOutcome.KIND,
    Hold.KIND: StatusReport.KIND,
    Abort.KIND: StatusReport.KIND,
}
"""The kind that answers a request, with the request's `seq`. Other host messages are not answered."""


def parse(frame: Frame) -> Message:
    """The message in a frame.

    Raises:
        MessageError: an unknown kind, a wrong length or a value outside its range.
    """
    cls = MESSAGES.get(frame.kind)
    if cls is None:
        raise MessageError(f"A frame has the unknown kind {frame.kind:#04x}.")
    try:
        return cls.from_bytes(frame.payload)
    except (ValueError, struct.error) as error:
        raise MessageError(f"A {cls.__name__} can not be read: {error}.") from None


def _unpack(layout: struct.Struct, data: bytes) -> tuple[Any, ...]:
    if len(data) != layout.size:
        raise MessageError(f"Expected {layout.size} bytes of payload, got {len(data)}.")
    return layout.unpack(data)


def _split(layout: struct.Struct, data: bytes) -> tuple[tuple[Any, ...], bytes]:
    return _unpack(layout, data[: layout.size]), data[layout.size :]


def _quad(numbers: tuple[int, ...]) -> Quad:
    if len(numbers) != PLACES:
        raise MessageError(f"Expected {PLACES} numbers, got {len(numbers)}.")
    return (numbers[0], numbers[1], numbers[2], numbers[3])

"""Frames on a serial line: COBS for the borders, CRC-16 for the content, in both directions.

    frame   = kind u8 | seq u8 | session u16 little-endian | payload | crc16 big-endian over all before
    on wire = 00 | COBS(frame) | 00

The leading 00 flushes whatever noise stands in the receiver's buffer, so that one good frame after any
garbage is always found. COBS: Cheshire and Baker, "Consistent Overhead Byte Stuffing", 1999.
CRC: polynomial 0x1021, initial value 0xFFFF, inverted at the end (CRC-16/GENIBUS, check value 0xD64E).

The emergency stop is no frame but a byte string, `STOP`, which no stream of frames contains.
"""

from __future__ import annotations

import binascii
import struct
from dataclasses import dataclass, field
from typing import Final

from firmware_bridge.errors import UsageError
from firmware_bridge.wire.enums import FROM_DEVICE, MAX_FRAME, STOP

__all__ = [
    "FROM_DEVICE",
    "MAX_ENCODED",
    "MAX_FRAME",
    "MAX_PAYLOAD",
    "STOP",
    "DecodeErrors",
    "Frame",
    "FrameDecoder",
    "StopWatch",
    "crc16",
    "encode",
    "stuff",
    "unstuff",
]

MAX_ENCODED: Final = MAX_FRAME + 1
"""COBS adds one byte to anything shorter than 254."""

_HEAD: Final = struct.Struct("<BBH")
_CRC: Final = struct.Struct(">H")
MAX_PAYLOAD: Final = MAX_FRAME - _HEAD.size - _CRC.size


@dataclass(frozen=True, slots=True)
class Frame:
    """One checked frame: `kind` and `seq` 0..255, `session` 0..65535 (0: none yet)."""

    kind: int
    seq: int
    session: int
    payload: bytes = b""


@dataclass(slots=True)
class DecodeErrors:
    """Pieces between two 00 that were no frame, by cause."""

    stuffing: int = 0
    length: int = 0
    checksum: int = 0
    overflow: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.stuffing + self.length + self.checksum + self.overflow


def crc16(data: bytes) -> int:
    """CRC-16/GENIBUS of `data`.

    Inverted at the end: without that a zero byte behind a frame, such as a last border flipped into 01 makes,
    leaves the check sum right.
    """
    return binascii.crc_hqx(data, 0xFFFF) ^ 0xFFFF


def stuff(data: bytes) -> bytes:
    """COBS: the same content without any 00 byte (border bytes not included)."""
    out = bytearray()
    blocks = data.split(b"\x00")
    for number, block in enumerate(blocks):
        rest = block
        while len(rest) >= 254:
            out.append(0xFF)
            out += rest[:254]
            rest = rest[254:]
            if not rest and number == len(blocks) - 1:
                return bytes(out)
        out.append(len(rest) + 1)
        out += rest
    return bytes(out)


def unstuff(data: bytes) -> bytes | None:
    """The inverse of `stuff`, or None when `data` is no COBS."""
    out = bytearray()
    at = 0
    while at < len(data):
        code = data[at]
        end = at + code
        if code == 0 or end > len(data):
            return None
        block = data[at + 1 : end]
        if 0 in block:
            return None
        out += block
        if code != 0xFF and end < len(data):
            out.append(0)
        at = end
    return bytes(out)


def encode(frame: Frame) -> bytes:
    """A frame as it goes on the wire.

    Raises:
        UsageError: the payload is longer than `MAX_PAYLOAD`.
    """
    if len(frame.payload) > MAX_PAYLOAD:
        raise UsageError(f"A payload has {len(frame.payload)} bytes; at most {MAX_PAYLOAD} fit a frame.")
    body = _HEAD.pack(frame.kind, frame.seq, frame.session) + frame.payload
    return b"\x00" + stuff(body + _CRC.pack(crc16(body))) + b"\x00"


@dataclass(slots=True)
class StopWatch:
    """Finds `STOP` in a stream, whatever surrounds it and however it is cut.

    Written as a receive interrupt does it: one byte at a time, one variable. It needs no frame, no buffer and
    no check sum, so it works while the decoder is busy, flooded or in the middle of a broken frame.
    """

    _matched: int = 0

    def byte(self, value: int) -> bool:
        """Whether this byte ends a stop."""
        if value == STOP[self._matched]:
            self._matched += 1
            if self._matched < len(STOP):
                return False
            self._matched = 1  # the last 00 may begin the next one
            return True
        # Of all that was matched only a 00 can begin anew, since STOP has none inside.
        self._matched = 1 if value == 0 else 0
        return False

    def feed(self, data: bytes) -> int | None:
        """Where the last stop in `data` ends: an index just behind it; None: no stop ends here."""
        end = None
        for at, value in enumerate(data):
            if self.byte(value):
                end = at + 1
        return end


@dataclass(slots=True)
class FrameDecoder:
    """Bytes in, checked frames out. Never raises; counts what it drops; holds at most `MAX_ENCODED` bytes."""

    errors: DecodeErrors = field(default_factory=DecodeErrors)
    _buffer: bytearray = field(default_factory=bytearray)
    _flooded: bool = False

    def feed(self, data: bytes) -> list[Frame]:
        """The frames completed by `data`, in order."""
        frames: list[Frame] = []
        *ended, rest = data.split(b"\x00")
        for piece in ended:
            self._append(piece)
            frame = self._take()
            if frame is not None:
                frames.append(frame)
        self._append(rest)
        return frames

    def forget(self) -> None:
        """Drop what has been received of an unfinished frame."""
        self._buffer.clear()
        self._flooded = False

    def _append(self, piece: bytes) -> None:
        if self._flooded or len(self._buffer) + len(piece) > MAX_ENCODED:
            self._flooded = True
            self._buffer.clear()
        else:
            self._buffer += piece

    def _take(self) -> Frame | None:
        piece = bytes(self._buffer)
        self._buffer.clear()
        if self._flooded:
            self._flooded = False
            self.errors.overflow += 1
            return None
        if not piece:
            return None
        body = unstuff(piece)
        if body is None:
            self.errors.stuffing += 1
            return None
        if not _HEAD.size + _CRC.size <= len(body) <= MAX_FRAME:
            self.errors.length += 1
            return None
        content, check = body[: -_CRC.size], body[-_CRC.size :]
        if _CRC.unpack(check)[0] != crc16(content):
            self.errors.checksum += 1
            return None
        kind, seq, session = _HEAD.unpack_from(content)
        return Frame(kind, seq, session, content[_HEAD.size :])

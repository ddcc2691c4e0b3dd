"""The conversation: one frozen dataclass per message, each the exact inverse of its bytes.

All numbers are little-endian. `KIND` is the frame's kind; bit 7 marks the device's side. A message with a
variable part has it last. The classes are generated from protocol/protocol.toml; docs/protocol.md tells the
same in prose.
"""

from __future__ import annotations

import struct

from firmware_bridge.codec import Frame, crc16
from firmware_bridge.errors import MessageError
from firmware_bridge.wire.enums import (
    ANY_REV,
    PROTOCOL,
    SCHEMA,
    TIMEOUT_UNIT_MS,
    Caps,
    EventCode,
    ResetCause,
    Result,
    Verdict,
)
from firmware_bridge.wire.messages import (
    MESSAGES,
    REPLIES,
    Abort,
    BoardConfig,
    Command,
    CommandAck,
    CommandDone,
    CommandOutcome,
    ConfigGet,
    ConfigReport,
    ConfigSet,
    DeviceMessage,
    Event,
    EventAck,
    Hello,
    Hold,
    HostMessage,
    Message,
    Ping,
    Pong,
    Query,
    StatusReport,
    StatusRequest,
    Welcome,
)

__all__ = [
    "ANY_REV",
    "MESSAGES",
    "PROTOCOL",
    "REPLIES",
    "SCHEMA",
    "TIMEOUT_UNIT_MS",
    "Abort",
    "BoardConfig",
    "Caps",
    "Command",
    "CommandAck",
    "CommandDone",
    "CommandOutcome",
    "ConfigGet",
    "ConfigReport",
    "ConfigSet",
    "DeviceMessage",
    "Event",
    "EventAck",
    "EventCode",
    "Hello",
    "Hold",
    "HostMessage",
    "Message",
    "Ping",
    "Pong",
    "Query",
    "ResetCause",
    "Result",
    "StatusReport",
    "StatusRequest",
    "Verdict",
    "Welcome",
    "config_crc",
    "parse",
]


def config_crc(config: BoardConfig) -> int:
    """What WELCOME tells of a configuration."""
    return crc16(config.to_bytes())


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

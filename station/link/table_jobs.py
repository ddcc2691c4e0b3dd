"""What the loop asks of the thread that owns a table's log and link."""

from __future__ import annotations

import asyncio
from typing import TypeAlias

import msgspec

from station.log.chain import Entry

__all__ = ["Append", "Follow", "Job", "Say"]


class Append(msgspec.Struct, frozen=True):
    """A request to the thread: store events."""

    events: list[tuple[str, bytes]]
    at_ms: int
    checkpoint: str | None
    future: asyncio.Future[list[Entry]]


class Follow(msgspec.Struct, frozen=True):
    """A request to the thread: hand over commands from here on."""

    applied: dict[bytes, int]


class Say(msgspec.Struct, frozen=True):
    """A request to the thread: say a value."""

    key: str
    body: bytes
    at_ms: int


Job: TypeAlias = Append | Follow | Say

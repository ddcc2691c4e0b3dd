"""What the drivers of a relay board ask of its line, whoever carries it out."""

from __future__ import annotations

from typing import Protocol

from firmware_bridge.drivers.press_core import ReadInputs, ReadRelays, Reply, Request
from firmware_bridge.drivers.watch_core import Bits
from firmware_bridge.errors import PortError


class BoardError(PortError):
    """The board does not answer, or its relays are not as they must be; `code` says which."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Line(Protocol):
    """One board; its owner asks one thing after the other. `relay_board.RelayBoard` speaks Modbus."""

    @property
    def is_open(self) -> bool:
        """The line was opened and not lost since."""

    async def open(self) -> None:
        """Open the line anew. Raises PortError: it can not be opened."""

    def drop(self) -> None:
        """Let the line go."""

    async def read(self, request: ReadRelays | ReadInputs) -> Bits:
        """All relays, or all inputs, now. Raises BoardError: no answer; the line is dropped."""

    async def ask(self, request: Request) -> Reply:
        """One request, once. After a lost reply the line is dropped: a late one must answer nothing else."""


def silent() -> BoardError:
    """What is told of a board without an answer."""
    return BoardError("link_down", "The relay board does not answer; check its cable and power.")

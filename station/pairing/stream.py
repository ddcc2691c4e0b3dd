"""Messages of the pairing over a TCP stream."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, TypeVar

from station.errors import PairingError
from station.pairing.protocol import forged, refused
from station.pairing.wire import LENGTH_BYTES, Message, Refused, decode, encode, length_of

__all__ = ["STEP_S", "Conversation"]

STEP_S: Final = 10.0
"""How long the other side may take for a message that no person has to think about."""

Kind = TypeVar("Kind", bound=Message)


@dataclass(frozen=True)
class Conversation:
    """One connection between table and station."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, message: Message) -> None:
        """Send a message.

        Raises:
            PairingError: the other side has gone.
        """
        try:
            self.writer.write(encode(message))
            async with asyncio.timeout(STEP_S):
                await self.writer.drain()
        except (OSError, TimeoutError):
            raise _gone() from None

    async def any(self, timeout_s: float = STEP_S) -> Message:
        """Take the next message.

        Raises:
            PairingError: it is none, or does not come.
        """
        try:
            async with asyncio.timeout(timeout_s):
                head = await self.reader.readexactly(LENGTH_BYTES)
                return decode(await self.reader.readexactly(length_of(head)))
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            raise _gone() from None

    async def next(self, kind: type[Kind], timeout_s: float = STEP_S) -> Kind:
        """Take the next message, which has to be of this kind.

        Raises:
            PairingError: it is a refusal or another one, or it does not come.
        """
        message = await self.any(timeout_s)
        if isinstance(message, kind):
            return message
        raise refused(message.reason) if isinstance(message, Refused) else forged()

    async def broken_off(self) -> None:
        """Return when the other side goes, or sends something while it is to wait."""
        try:
            await self.reader.read(1)
        except OSError:
            return

    async def close(self) -> None:
        """End the connection."""
        self.writer.close()
        try:
            async with asyncio.timeout(1):
                await self.writer.wait_closed()
        except (OSError, TimeoutError):
            return


def _gone() -> PairingError:
    return PairingError(
        "The other side has gone or does not answer.", fix="Pair again.", code="pairing.no_answer"
    )

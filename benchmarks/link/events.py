"""The event that all contestants carry, and the chains of the simulated tables."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from station.log import Entry, Head, chain
from station.log.chain import ZERO_HEAD
from station.log.reception import Receipt

__all__ = ["BODY", "KIND", "Chain", "log_id_of", "pack", "unpack"]

KIND = "hand.rejected"
BODY = msgspec.json.encode({"v": 1, "hand": 7, "claim": 1, "reason": "x" * 411, "line": None})
"""460 bytes that the fold of the central station reads as an event of its own."""

pack = msgspec.msgpack.Encoder().encode
unpack = msgspec.msgpack.Decoder(Entry).decode
"""The whole entry as one message of HTTP or MQTT: MessagePack costs both sides least."""


def log_id_of(table: int) -> bytes:
    """Give the id of a simulated table's log (16 bytes)."""
    return table.to_bytes(16, "big")


class Chain:
    """The log of one simulated table, in memory.

    On a table's own disk one commit a second costs nothing that could be seen; a thousand of them on the one
    disk of this machine would measure the client.
    """

    def __init__(self, table: int) -> None:
        self.log_id = log_id_of(table)
        self.list: list[Entry] = []
        self.head = ZERO_HEAD

    def grow(self, count: int) -> None:
        """Append so many events."""
        now_ms = int(1000 * time.time())
        fresh = chain.link(self.log_id, self.head, [(KIND, BODY)] * count, now_ms)
        self.list += fresh
        self.head = fresh[-1].head

    def head_of(self, _: bytes) -> Head:
        """Give how far the chain goes."""
        return self.head

    def entries_of(self, _: bytes, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Give entries with a greater seq, at most `limit`."""
        return self.list[after : len(self.list) if limit is None else after + limit]

    def hash_at(self, _: bytes, seq: int) -> bytes | None:
        """Give the hash of one entry; that of the empty log for 0."""
        if seq == 0:
            return ZERO_HEAD.hash
        return self.list[seq - 1].hash if seq <= len(self.list) else None

    # What comes down is nothing, as nobody commands these tables.

    def accept(self, batch: Sequence[tuple[str, Entry]], received_ms: int) -> list[Receipt]:
        """Store entries of the central station: there are none."""
        raise NotImplementedError

    def quarantine(self, source: str, log_id: bytes, reason: str, claimed: Head, received_ms: int) -> None:
        """Take nothing more of a chain."""
        raise NotImplementedError

    def release(self, log_id: bytes, by: str, why: str, at_ms: int) -> bool:
        """End the quarantine of a chain."""
        raise NotImplementedError

    def quarantined(self, _: bytes) -> str:
        """Give why a chain is in quarantine: none is."""
        return ""

    def owner_of(self, log_id: bytes) -> str | None:
        """Give whose a chain is: of all chains only its own is here."""
        return "" if log_id == self.log_id else None

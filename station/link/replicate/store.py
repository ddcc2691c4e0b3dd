"""What replication needs of a log; `station.log.Log` has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from station.log.chain import Entry, Head
from station.log.reception import Receipt

__all__ = ["Authoring", "Copies"]


class Copies(Protocol):
    """A log that keeps copies of chains of others."""

    def accept(self, batch: Sequence[tuple[str, Entry]], received_ms: int) -> list[Receipt]:
        """Judge and store entries, given as (source, entry), in one transaction. Raises LogError."""

    def quarantine(self, source: str, log_id: bytes, reason: str, claimed: Head, received_ms: int) -> None:
        """Take nothing more of a chain. Raises LogError."""

    def release(self, log_id: bytes, by: str, why: str, at_ms: int) -> bool:
        """End the quarantine of a chain. Raises LogError."""

    def quarantined(self, log_id: bytes) -> str:
        """Give why a chain is in quarantine: ``fork`` or ``rollback``; empty: it is not."""

    def owner_of(self, log_id: bytes) -> str | None:
        """Give the source a chain came from; empty for an own chain, None for one that is not known."""

    def head_of(self, log_id: bytes) -> Head:
        """Give how far a chain is stored."""

    def hash_at(self, log_id: bytes, seq: int) -> bytes | None:
        """Give the hash of one stored entry; of seq 0 that of nothing; None when it is not there."""


class Authoring(Protocol):
    """A log that authors chains."""

    def head_of(self, log_id: bytes) -> Head:
        """Give how far a chain goes."""

    def hash_at(self, log_id: bytes, seq: int) -> bytes | None:
        """Give the hash of one entry; of seq 0 that of nothing; None when it is not there."""

    def entries_of(self, log_id: bytes, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Give the entries of a chain with a seq greater than `after`, at most `limit`."""

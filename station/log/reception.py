"""Judging an entry that somebody sent: pure, the store is asked through a function."""

from __future__ import annotations

import enum
from collections.abc import Callable

import msgspec

from station.log.chain import ZERO_HEAD, Entry, Head

__all__ = ["FORKED", "ROLLED_BACK", "Known", "Receipt", "Reception", "judge"]

FORKED = "fork"
"""Reason of a quarantine: two different histories."""
ROLLED_BACK = "rollback"
"""Reason of a quarantine: the author holds less than was copied of it. It ends when it holds all again."""


class Reception(enum.Enum):
    """What became of an entry that somebody sent."""

    STORED = "stored"
    DUPLICATE = "duplicate"
    """Already there, byte for byte."""
    GAP = "gap"
    """Entries before it are missing; not stored."""
    BROKEN = "broken"
    """Its hash is not that of its content; not stored."""
    FOREIGN = "foreign"
    """The chain belongs to somebody else; not stored."""
    FORK = "fork"
    """It contradicts what is stored: the whole chain goes into quarantine, nothing is overwritten."""
    QUARANTINED = "quarantined"
    """Its chain is in quarantine since earlier; not stored."""


class Receipt(msgspec.Struct, frozen=True):
    """The answer to one entry: what became of it, and the head of its chain here afterwards."""

    reception: Reception
    head: Head


class Known(msgspec.Struct, frozen=True):
    """What is known of one chain: whose it is, how far it is stored, and why it is in quarantine, if so."""

    source: str
    head: Head = ZERO_HEAD
    quarantined: str = ""


def judge(known: Known, source: str, entry: Entry, hash_at: Callable[[int], bytes | None]) -> Reception:
    """Say what is to become of an entry.

    Of a chain that was rolled back the entry behind what is stored is still taken: its previous hash proves
    that its author holds all of it again.

    Args:
        known: what is stored of its chain.
        source: who sent it.
        entry: the entry.
        hash_at: gives the stored hash of a seq of the same chain.
    """
    if known.source != source:
        return Reception.FOREIGN
    if known.quarantined and known.quarantined != ROLLED_BACK:
        return Reception.QUARANTINED
    if not entry.intact:
        return Reception.BROKEN
    if entry.seq <= known.head.seq:
        if hash_at(entry.seq) != entry.hash:
            return Reception.FORK
        return Reception.QUARANTINED if known.quarantined else Reception.DUPLICATE
    if entry.seq > known.head.seq + 1:
        return Reception.GAP
    return Reception.STORED if entry.prev == known.head.hash else Reception.FORK

"""Identifiers that both ends of the link use: why one refuses the other, and keys of values."""

from __future__ import annotations

__all__ = ["NackCode", "ValueKey"]


class NackCode:
    """Codes of a refusal."""

    HELLO = "hello"
    """Not an error: greet first."""
    VERSION = "version"
    """The two ends speak different protocols."""
    WRONG_TABLE = "wrong_table"
    """The key belongs to another table than the one named, or the chain is addressed to another one."""
    FOREIGN_LOG = "foreign_log"
    """The chain belongs to somebody else."""
    FORK = "fork"
    """The chain contradicts what is stored, or is older than it; it is in quarantine."""
    ROLLBACK = "rollback"
    """Never sent as a refusal: the author's own finding that its chain is older than what is stored of it."""
    BROKEN = "broken"
    """An entry's hash is not that of its content."""
    EXPIRED = "expired"
    """The time for which the key was enrolled is over."""
    REVOKED = "revoked"
    """The key was revoked."""


class ValueKey:
    """Keys of values, of which only the newest counts."""

    HEALTH = "health"
    """Table → central station: how the table is, besides its events."""
    EVIDENCE = "evidence"
    """Central station → tables: where it takes photographs, see `station.evidence.address`."""

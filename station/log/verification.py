"""Walking a chain and saying up to where it holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import msgspec

from station.errors import ConfigError
from station.log.chain import GENESIS, HASH_SIZE

__all__ = ["Verification", "anchor_hash", "walk"]


class Verification(msgspec.Struct, frozen=True):
    """The result of walking a chain.

    Args:
        ok: the chain holds, and contains the expected hash when one was given.
        entries: how many entries hold, counted from the first.
        head: hash of the last entry that holds, in hex.
        anchored_to: seq (table) or position (central) of the entry with the expected hash. A chain alone
            cannot see that its tail was cut off: only up to this entry is it bound to something outside.
        first_bad: the first seq or position that does not fit; None when all fit.
    """

    ok: bool
    entries: int
    head: str
    anchored_to: int | None
    first_bad: int | None


def anchor_hash(expect: bytes | str | None) -> bytes | None:
    """Read an expected hash, given as 32 bytes or 64 hex digits.

    Raises:
        ConfigError: it is neither.
    """
    if expect is None:
        return None
    try:
        anchor = bytes.fromhex(expect) if isinstance(expect, str) else expect
    except ValueError:
        anchor = b""
    if len(anchor) != HASH_SIZE:
        raise ConfigError(
            f"The expected hash has to be {2 * HASH_SIZE} hexadecimal digits.",
            fix="Copy it from the result sheet.",
        )
    return anchor


def walk(rows: Iterable[tuple[int, bytes, int | None]], anchor: bytes | None) -> Verification:
    """Go through (number, hash, first bad number or None) of each entry until one is bad.

    A file that SQLite cannot read any further counts as bad from there on.
    """
    count, head, anchored, bad = 0, GENESIS, None, None
    try:
        for number, digest, broken in rows:
            if broken is not None:
                bad = broken
                break
            count, head = number, digest
            if anchor == digest:
                anchored = number
    except (sqlite3.DatabaseError, TypeError, ValueError, UnicodeError):
        bad = count + 1
    ok = bad is None and (anchor is None or anchored is not None)
    return Verification(ok, count, head.hex(), anchored, bad)

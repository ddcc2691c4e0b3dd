"""Whether the tables of quarantines and releases are what the entries say of them."""

from __future__ import annotations

import sqlite3
import struct
from typing import Any

import msgspec

from station.log.chain import FORK, entry_hash

__all__ = ["Said", "misfits"]

_QUARANTINE = (
    "SELECT id, source, received_ms, log_id, reason, seq, hash, kind, at_ms, body, prev"
    " FROM quarantine ORDER BY id"
)
_RELEASE = "SELECT id, quarantine, received_ms, released_by, why, seq, hash FROM release ORDER BY id"
_OF_RELEASE = ("table", "log_id", "reason")
_ROW = (int, str, int, bytes, str, int, bytes)
"""Types of the first columns of a quarantine: a table that was made anew may hold others."""
_EVIDENCE = (str, int, bytes, bytes)
_RELEASE_ROW = (int, int, int, str, str, int, bytes)


class Said(msgspec.Struct, frozen=True):
    """An own entry about a quarantine: its kind, when it was stored, and its body."""

    kind: str
    received_ms: int
    body: dict[str, Any]


def misfits(db: sqlite3.Connection, said: list[Said]) -> list[str]:
    """Give which of the tables ``quarantine`` and ``release`` do not fit.

    Args:
        db: the file.
        said: what its entries say, in their order.
    """
    forks = [item for item in said if item.kind == FORK]
    releases = [item for item in said if item.kind != FORK]
    rows = db.execute(_QUARANTINE).fetchall()
    held = len(rows) == len(forks) and all(
        number == row[0] and _quarantine_holds(row, item)
        for number, (row, item) in enumerate(zip(rows, forks, strict=True), 1)
    )
    rows = db.execute(_RELEASE).fetchall()
    released = len(rows) == len(releases) and all(
        number == row[0] and _release_holds(row, item)
        for number, (row, item) in enumerate(zip(rows, releases, strict=True), 1)
    )
    found = [] if held else ["quarantine"]
    return found if released and _in_turn(said) else [*found, "release"]


def _in_turn(said: list[Said]) -> bool:
    """Tell whether each release ends a quarantine that is open, and none begins before the last has ended."""
    still: dict[str, tuple[int, Said]] = {}
    number = 0
    for item in said:
        chain = str(item.body.get("log_id"))
        if item.kind == FORK:
            number += 1
            if chain in still:
                return False
            still[chain] = (number, item)
            continue
        begun, fork = still.pop(chain, (0, item))
        if item.body.get("quarantine") != begun:
            return False
        if any(item.body.get(name) != fork.body.get(name) for name in _OF_RELEASE):
            return False
    return True


def _release_holds(row: tuple[Any, ...], item: Said) -> bool:
    if tuple(map(type, row)) != _RELEASE_ROW:
        return False
    _, quarantine, received_ms, by, why, seq, digest = row
    found = {"quarantine": quarantine, "by": by, "why": why, "seq": seq, "hash": digest.hex()}
    return received_ms == item.received_ms and found.items() <= item.body.items()


def _quarantine_holds(row: tuple[Any, ...], item: Said) -> bool:
    """Tell whether a row of the quarantine is what its entry says, and its evidence what it was."""
    _, source, received_ms, log_id, reason, seq, digest, *evidence = row
    if tuple(map(type, row[: len(_ROW)])) != _ROW:
        return False
    found = {"table": source, "log_id": log_id.hex(), "reason": reason, "seq": seq, "hash": digest.hex()}
    if received_ms != item.received_ms or not found.items() <= item.body.items():
        return False
    kept = evidence.count(None) == 0
    if item.body.get("kept", kept) != kept or (not kept and evidence.count(None) != len(evidence)):
        return False
    if not kept:
        return True
    if tuple(map(type, evidence)) != _EVIDENCE:
        return False
    kind, at_ms, body, prev = evidence
    try:
        return bool(entry_hash(prev, log_id, seq, kind, at_ms, body) == digest)
    except (ValueError, OverflowError, struct.error):  # numbers and sizes that no entry has
        return False

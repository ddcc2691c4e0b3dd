"""What an object that opens a log reads of it first: heads, names, and what is known of each chain."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from station.log.chain import ZERO_HEAD, Head
from station.log.reception import Known
from station.log.schema import QUARANTINES

__all__ = ["head", "head_of", "known", "names"]

# The ids of all chains without reading all entries: from each to the next greater one, along the index.
_CHAINS = """
WITH RECURSIVE chain(log_id) AS (
    SELECT min(log_id) FROM entry
    UNION ALL
    SELECT (SELECT min(log_id) FROM entry WHERE log_id > chain.log_id) FROM chain WHERE log_id IS NOT NULL
)
SELECT log_id FROM chain WHERE log_id IS NOT NULL
"""


def head(db: sqlite3.Connection) -> Head:
    """Read position and store hash of the last entry of the file."""
    row = db.execute("SELECT pos, store_hash FROM entry ORDER BY pos DESC LIMIT 1").fetchone()
    return ZERO_HEAD if row is None else Head(*row)


def head_of(db: sqlite3.Connection, log_id: bytes) -> Head:
    """Read seq and hash of the last entry of a chain."""
    row = db.execute(
        "SELECT seq, hash FROM entry WHERE log_id = ? ORDER BY seq DESC LIMIT 1", (log_id,)
    ).fetchone()
    return ZERO_HEAD if row is None else Head(*row)


def names(db: sqlite3.Connection) -> dict[bytes, str]:
    """Read the own chains besides the main one, in the order in which they began: whom each addresses."""
    return dict(db.execute("SELECT log_id, name FROM author ORDER BY id").fetchall())


def known(db: sqlite3.Connection, own: Iterable[bytes]) -> dict[bytes, Known]:
    """Read what is known of each chain.

    Args:
        db: the file.
        own: ids of the owner's chains, which may have no entry yet.
    """
    found = {log_id: Known("") for log_id in own}
    for (log_id,) in db.execute(_CHAINS).fetchall():
        source, seq, digest = db.execute(
            "SELECT source, seq, hash FROM entry WHERE log_id = ? ORDER BY seq DESC LIMIT 1", (log_id,)
        ).fetchone()
        found[log_id] = Known(source, Head(seq, digest))
    for log_id, source, reason in db.execute(QUARANTINES):
        stored = found[log_id].head if log_id in found else ZERO_HEAD
        found[log_id] = Known(source, stored, reason)
    return found

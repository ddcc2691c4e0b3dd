"""What the logs of a drill have to show: the one place where the drills read logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from station.link.replicate import CENTRAL
from station.log import Entry, Log

OWN = ""
"""Source of what the owner of a log wrote."""


def by_source(path: Path) -> dict[str, list[Entry]]:
    """Read a log by who sent the entries; its chains have to hold."""
    with Log.open(path, read_only=True) as log:
        assert log.verify().ok
        found: dict[str, list[Entry]] = {}
        for item in log.entries():
            found.setdefault(item.source, []).append(item.entry)
        return found


def of_table(path: Path) -> list[Entry]:
    """Read what a table wrote in its log."""
    return by_source(path).get(OWN, [])


def of_central(path: Path) -> dict[str, list[Entry]]:
    """Read the central log by table."""
    return by_source(path)


def commands(path: Path) -> dict[str, list[Entry]]:
    """Read the commands that a central station has given, by table."""
    with Log.open(path, read_only=True) as log:
        return {name: log.entries_of(log_id) for log_id, name in log.authored.items()}


def check(
    central: Path,
    tables: Mapping[str, Path],
    said: Mapping[str, Iterable[tuple[int, str]]],
    *,
    cut: bool = False,
) -> int:
    """Assert that both sides hold the same bytes in the same order, each once, with all that was confirmed.

    Args:
        central: the central log.
        tables: log of each table.
        cut: whether handshakes were cut off by the dozen, which the station takes for strangers.
        said: (seq, body) of each event that its table confirmed after the commit; bodies count from 1.

    Returns:
        how many events there are in all, commands among them.
    """
    stored, given = by_source(central), commands(central)
    assert {e.kind for name in tables for e in stored[name]} == {"e"}
    for entry in stored.get(OWN, ()):
        # A table that starts time and again is told to wait; all else is wrong.
        known = entry.kind == "link.denied" and (
            b'"flood"' in entry.body or (cut and b'"no_handshake"' in entry.body)
        )
        assert known or entry.kind in ("c", "log.authored"), entry
    count = 0
    for name, path in tables.items():
        here = by_source(path)
        assert stored[name] == here[OWN]
        assert here.get(CENTRAL, []) == given.get(name, [])
        assert [int(e.body) for e in here[OWN]] == list(range(1, len(here[OWN]) + 1))
        assert dict(said[name]).items() <= {e.seq: e.body.decode() for e in here[OWN]}.items()
        count += sum(map(len, here.values()))
    return count


def rows(log: Log) -> list[Any]:
    """Everything in an open log, with the columns of its own chain."""
    return list(log.entries())


def as_sent(stored: Iterable[Any], log_id: bytes) -> list[Entry]:
    """The entries of one chain among rows of a log, as their author wrote them."""
    return [item.entry for item in stored if item.entry.log_id == log_id]


def receive(log: Log, batch: Iterable[tuple[str, Entry]]) -> list[str]:
    """Store what tables send, given as (table, entry); what became of each."""
    return [receipt.reception.value for receipt in log.accept(list(batch), 1_000)]

"""Applies the policy to a folder of photos: first the log says that a photo goes, then it goes."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import msgspec

from station.evidence.index import Index
from station.evidence.policy import Photo, Removal, Rules, to_remove

__all__ = ["AT_ONCE", "Folder", "Keeper", "Stored", "free_at", "stored_below"]

AT_ONCE = 50
"""Most removals that are booked in one step."""
LONGEST_GAP_S = 12 * 3600.0
"""More than this is not believed of a wall clock that says how long the process was away: a night."""


class Stored(msgspec.Struct, frozen=True):
    """A photo's file: bytes, and when it was written (Unix seconds)."""

    size: int
    at: float


class Folder(Protocol):
    """Where photos lie."""

    def stored(self) -> dict[str, Stored]:
        """Return the photos that are there, by name."""

    def remove(self, name: str) -> None:
        """Delete a photo; nothing happens when it is not there."""

    def free(self) -> int:
        """Return the bytes that the disk has free."""


def stored_below(folder: Path, pattern: str) -> dict[str, Stored]:
    """Return the files below a folder that fit a pattern, by name."""
    found = {}
    for path in folder.glob(pattern):
        stat = path.stat()
        found[path.name] = Stored(stat.st_size, stat.st_mtime)
    return found


def free_at(folder: Path) -> int:
    """Return the bytes that the disk of a folder has free; the folder need not be there yet."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    return shutil.disk_usage(there).free


class Keeper:
    """Says what is to be removed, and deletes what the log says is removed.

    Args:
        station: the central station (`Index.station`) that has to have a photo before it goes; None: none.
        clock, wall: monotonic seconds, and Unix seconds.
    """

    def __init__(
        self,
        index: Index,
        folder: Folder,
        rules: Rules,
        station: str | None,
        clock: Callable[[], float],
        wall: Callable[[], float],
    ) -> None:
        self._index = index
        self._folder = folder
        self._rules = rules
        self._station = station
        self._clock = clock
        self._wall = wall
        self._counted_at: float | None = None
        self._first_seen: dict[str, float] = {}
        """When photos that no event names were first seen."""

    def sweep(self) -> list[Removal]:
        """Delete what is removed by the log; return what is to be booked as removed next."""
        self._count()
        stored = self._folder.stored()
        for name in [name for name in stored if self._index.removed(name) is not None]:
            self._folder.remove(name)
            del stored[name]
        known = self._index.photos({name: file.size for name, file in stored.items()}, self._station)
        named = {photo.name for photo in known}
        unnamed = self._unnamed({name: file for name, file in stored.items() if name not in named})
        due = to_remove([*known, *unnamed], self._wall(), self._folder.free(), self._rules)
        return due[:AT_ONCE]

    def _count(self) -> None:
        """Count the time since the last sweep; how long the process was away, only the wall clock can say."""
        now, wall = self._clock(), self._wall()
        if self._counted_at is None:
            last = self._index.counted()[1]
            passed = 0.0 if last is None else min(max(0.0, wall - last), LONGEST_GAP_S)
        else:
            passed = now - self._counted_at
        with suppress(sqlite3.Error):  # a full disk is what is swept for: it is counted next time
            self._index.count(passed, wall)
            self._counted_at = now

    def _unnamed(self, files: dict[str, Stored]) -> list[Photo]:
        """Photos whose hand went on before the event that would name them was booked."""
        now = self._clock()
        self._first_seen = {name: self._first_seen.get(name, now) for name in files}
        return [
            Photo(
                name=name,
                size=file.size,
                standings=frozenset({"unnamed"}),
                at=file.at,
                ended_at=file.at,
                counted_s=now - self._first_seen[name],
            )
            for name, file in files.items()
        ]

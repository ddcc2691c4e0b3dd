"""Follows the central log and tells the listeners of the pages."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from station.central.fold import Hall
from station.central.view import Surroundings, state_object
from station.fold_cache import FOLDING, FoldCache, code_version
from station.log import Entry, Log
from station.watch import Broadcast

__all__ = ["HALL_CODE", "Feed", "hall_cache"]

_PIECE = 100
"""Entries that are read at once."""
_TURN_S = 0.02
"""How long the loop folds before it turns to something else: at most this, and one entry."""
_REST_S = 0.05
_REST = 3.0
"""How long it rests at least before it folds again, in seconds and in times of what the last turn took: the
link shares the processor with the fold, and storing what comes goes first."""
_KEEP_EVERY = 5000
_KEEP_S = 30.0
"""After how many entries the folded state is kept, and how long after the last time at the earliest."""
HALL_CODE = (
    *FOLDING,
    "station.central.fold",
    "station.central.hands",
    "station.errors",
    "station.log.chain",
    "station.log.reception",
    "station.timing",
    "engine",
)
"""The modules that decide what the central log amounts to."""


def hall_cache(log: Log, secret: bytes = b"") -> FoldCache[Hall]:
    """Give the cache beside the central log."""
    return FoldCache(log.path.with_name(log.path.name + ".fold"), Hall, code_version(HALL_CODE), secret)


class Feed(Broadcast):
    """The hall as it is now, and who is to be told when it changes. Belongs to the loop's thread.

    Args:
        log: a reader of the central log.
        around: gives what the state shows besides the log.
        cache: where the folded state is kept between starts; None: nowhere.
        now: seconds of a clock that never steps, by which a turn ends.
    """

    def __init__(
        self,
        log: Log,
        around: Callable[[], Surroundings],
        cache: FoldCache[Hall] | None = None,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._log = log
        self._around = around
        self._cache = cache
        self._now = now
        self._settling: Iterator[None] = iter(())
        kept = None if cache is None else cache.load(log.log_id, log.store_hash_at)
        self._hall = kept or Hall()
        self._kept_pos = self._hall.pos
        self._kept_at = -math.inf
        self._rests_until = -math.inf
        self._turn: asyncio.TimerHandle | None = None

    def follow(self) -> None:
        """Fold what the log has more: at once after a rest, else when the rest is over.

        Raises:
            LogError: the log cannot be read.
        """
        if self._turn is not None or self.stopping:
            return
        loop = asyncio.get_running_loop()
        if loop.time() >= self._rests_until:
            self._take_turn()
        else:
            self._turn = loop.call_at(self._rests_until, self._take_turn)

    def stop(self) -> None:
        """End all streams, and follow the log no more."""
        if self._turn is not None:
            self._turn.cancel()
            self._turn = None
        super().stop()

    def catch_up(self) -> None:
        """Fold what the log has more, and tell the listeners.

        Raises:
            LogError: the log cannot be read.
        """
        self._fold(until=math.inf)

    @property
    def hall(self) -> Hall:
        """The hall after what was folded so far."""
        return self._hall

    async def entries_of(self, table: str) -> list[Entry] | None:
        """Read the entries of a table's newest log; None for a table that has sent none.

        It is read in a thread: a long log would keep all pages waiting.

        Raises:
            LogError: the log cannot be read.
        """
        fold = self._hall.tables.get(table)
        return None if fold is None else await asyncio.to_thread(_read, self._log.path, fold.log_id)

    def keep(self) -> None:
        """Keep the folded state for the next start."""
        hall = self._hall
        if self._cache is not None and hall.pos != self._kept_pos:
            self._cache.save(self._log.log_id, hall.pos, hall.hash, hall)
            self._kept_pos, self._kept_at = hall.pos, self._now()

    def state(self) -> dict[str, Any]:
        """Give the central state, ready for JSON."""
        return state_object(self._hall, self._around())

    def _take_turn(self) -> None:
        self._turn = None
        began = self._now()
        more = self._fold(until=began + _TURN_S)
        rest = max(_REST_S, _REST * (self._now() - began))
        self._rests_until = asyncio.get_running_loop().time() + rest
        if more:
            self.follow()

    def _fold(self, until: float) -> bool:
        """Fold what the log has more, until then (seconds of the clock); tell whether there is yet more.

        Where something was corrected, half of the time goes into folding those logs anew: a hall that is far
        behind comes forward all the same.
        """
        began = self._now()
        more = self._apply(until if until == math.inf or not self._corrected() else (began + until) / 2)
        unsettled = self._settle(until)
        if self._hall.pos - self._kept_pos >= _KEEP_EVERY and self._now() - self._kept_at >= _KEEP_S:
            self.keep()
        self.changed()
        return more or unsettled

    def _apply(self, until: float) -> bool:
        """Apply what the log has more; tell whether time ended first."""
        while entries := self._log.entries(after_pos=self._hall.pos, limit=_PIECE):
            for entry in entries:
                self._hall.apply(entry)
                if self._now() >= until:
                    return True
            if len(entries) < _PIECE:
                break
        return False

    def _settle(self, until: float) -> bool:
        """Fold logs anew in which something was corrected; tell whether time ended first."""
        while True:
            for _ in self._settling:
                if self._now() >= until:
                    return True
            if not self._corrected():
                return False
            self._settling = self._hall.settling(self._chain)

    def _corrected(self) -> bool:
        return any(fold.stale for fold in self._hall.tables.values())

    def _chain(self, log_id: bytes) -> Iterator[Entry]:
        """Read a table's log in pieces: no more than one is ever in memory."""
        after = 0
        while entries := self._log.entries_of(log_id, after, _PIECE):
            yield from entries
            after = entries[-1].seq


def _read(path: Path, log_id: bytes) -> list[Entry]:
    with Log.open(path, read_only=True) as log:
        return log.entries_of(log_id)

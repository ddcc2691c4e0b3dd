"""What both threads of the evidence channel share: index, log, policy, and troubles that pass."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Generic, TypeVar

import structlog

from station.errors import StationError
from station.evidence.index import Index
from station.evidence.keeping import AT_ONCE, Folder, Keeper
from station.evidence.policy import Removal, Rules
from station.evidence.reading import LogTail
from station.link.loop_thread import LoopThread

__all__ = ["PASSING", "EvidenceThread"]

PASSING = (sqlite3.Error, StationError, OSError)
"""What a full or slow disk raises: it is told once, and tried again."""
LOOK_S = 1.0
SWEEP_S = 60.0
SWEEP_AGAIN_S = 1.0
TROUBLE_S = 10.0
_REST = 4.0
"""How long it rests after a piece of a log that has more, in times of what the piece took."""
_NICENESS = 10

Ready = TypeVar("Ready")
_log = structlog.get_logger()


class EvidenceThread(LoopThread[Ready], Generic[Ready]):
    """Base: follows the log, and asks for removals by rule.

    Args:
        name: of the thread.
        log_path: the process's log; it exists.
        index_path: the index beside the photos.
        folder: where photos lie.
        rules: window and reserve.
        on_due: called in the loop's thread with removals that are to be booked; once they stand in the log,
            the photos go.
        clock, wall: monotonic time and Unix time in seconds.
    """

    def __init__(
        self,
        name: str,
        log_path: Path,
        index_path: Path,
        folder: Folder,
        rules: Rules,
        on_due: Callable[[list[Removal]], None],
        clock: Callable[[], float],
        wall: Callable[[], float],
    ) -> None:
        super().__init__(name)
        self._log_path = log_path
        self._index_path = index_path
        self._folder = folder
        self._rules = rules
        self._on_due = on_due
        self._clock = clock
        self._wall = wall
        self._look_at = self._sweep_at = float("-inf")
        self._poked = threading.Event()
        self._behind = True
        """Whether the log has more than was taken in, as far as is known."""
        self._trouble = ""

    def poke(self) -> None:
        """Say that the log has more, so that nobody waits for the next look."""
        self._poked.set()
        self._waker.wake()

    # From here on: the worker thread.

    @contextmanager
    def _opened(self) -> Iterator[tuple[Index, LogTail] | None]:
        """Open index and log, as soon as the disk allows it; None: the thread is stopped before."""
        with suppress(OSError):  # of lower rank than the thread of the events, where the system allows it
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
        with ExitStack() as stack:
            while not self._stop.is_set():
                try:
                    index = stack.enter_context(Index.open(self._index_path))
                    tail = stack.enter_context(closing(LogTail(self._log_path, index)))
                except PASSING as error:
                    stack.close()
                    self._told(error)
                    self._stop.wait(TROUBLE_S)
                    continue
                yield index, tail
                return
            yield None

    def _keeper(self, index: Index, station: str | None) -> Keeper:
        return Keeper(index, self._folder, self._rules, station, self._clock, self._wall)

    def _follow(self, tail: LogTail, keeper: Keeper) -> None:
        """Take in what the log has more, and apply the policy, each in its time."""
        now = self._clock()
        if now < self._look_at and not self._poked.is_set():
            return
        self._poked.clear()  # before the look: what comes during it is for the next
        try:
            self._behind = more = tail.catch_up()
            # A log that grows fast is followed for a part of the time: the link needs the rest.
            self._look_at = now + (_REST * (self._clock() - now) if more else LOOK_S)
            if not more and now >= self._sweep_at:
                self._sweep(keeper, now)
            self._passed()
        except PASSING as error:
            self._look_at = now + TROUBLE_S
            self._told(error)

    def _sweep(self, keeper: Keeper, now: float) -> None:
        due = keeper.sweep()
        self._sweep_at = now + (SWEEP_AGAIN_S if len(due) == AT_ONCE else SWEEP_S)
        if due:
            self._sweep_at = min(self._sweep_at, now + 2 * SWEEP_AGAIN_S)
            self._post(lambda: self._on_due(due))

    def _told(self, error: Exception) -> None:
        """Tell a trouble once, until it has passed."""
        if self._trouble != str(error):
            self._trouble = str(error)
            _log.warning("photos have to wait", reason=str(error))

    def _passed(self) -> None:
        if self._trouble:
            self._trouble = ""
            _log.info("photos go on")

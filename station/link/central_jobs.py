"""What other threads ask of the central station's thread: done in its turn, or refused in plain words."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from contextlib import suppress

from station.errors import LogError
from station.link.replicate import CentralEnd
from station.log.chain import Entry

__all__ = ["CentralJobs", "closed"]


class CentralJobs:
    """A queue of jobs. Any thread may call `put` and `store`; the rest is for the one that does the jobs."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Callable[[CentralEnd | None], object]] = queue.SimpleQueue()

    def put(self, job: Callable[[CentralEnd], object]) -> None:
        """Queue what needs no answer; there is none when the thread ends before it."""
        self._waiting.put(lambda end: None if end is None else job(end))

    def store(
        self, store: Callable[[CentralEnd], Entry], answer: Callable[[Entry | Exception], object]
    ) -> None:
        """Queue what stores an entry; `answer` gets it, or why there is none."""

        def job(end: CentralEnd | None) -> None:
            result: Entry | Exception
            try:
                if end is None:
                    raise closed()
                result = store(end)
            except (LogError, ValueError) as error:
                result = error
            except BaseException:  # the thread ends with it; see `LoopThread.finished`
                answer(closed())
                raise
            answer(result)

        self._waiting.put(job)

    def __bool__(self) -> bool:
        """Tell whether something waits."""
        return not self._waiting.empty()

    def do(self, end: CentralEnd, most_s: float) -> None:
        """Do jobs until there is none or the time is over, but at least one: each may be a commit."""
        until = time.monotonic() + most_s
        with suppress(queue.Empty):
            while True:
                self._waiting.get_nowait()(end)
                if time.monotonic() >= until:
                    break

    def refuse(self) -> None:
        """Let the jobs fail for which there is no time any more."""
        with suppress(queue.Empty):
            while True:
                self._waiting.get_nowait()(None)


def closed() -> LogError:
    """Give the error of whoever comes too late."""
    return LogError("The log is closed.", fix="Start the central station again.")

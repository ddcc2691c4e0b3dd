"""Follows the central log and tells the listeners of the pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from station.central.fold import Hall
from station.central.view import Surroundings, state_object
from station.log.central_log import CentralLog
from station.watch import Watch

__all__ = ["Feed"]

_CHUNK = 1000


class Feed:
    """The hall as it is now, and who is to be told when it changes. Belongs to the loop's thread.

    Args:
        log: a reader of the central log.
        around: gives what the state shows besides the log.
    """

    def __init__(self, log: CentralLog, around: Callable[[], Surroundings]) -> None:
        self.stopping = False
        self._log = log
        self._around = around
        self._hall = Hall()
        self._watches: set[Watch] = set()

    def catch_up(self) -> None:
        """Fold what the log has more, and tell the listeners.

        Raises:
            LogError: the log cannot be read.
        """
        while entries := self._log.entries(after=self._hall.pos, limit=_CHUNK):
            for entry in entries:
                self._hall.apply(entry)
        self.changed()

    def state(self) -> dict[str, Any]:
        """Give the central state, ready for JSON."""
        return state_object(self._hall, self._around())

    @contextmanager
    def watch(self) -> Iterator[Watch]:
        """Give a listener that is told of every change while the block runs."""
        watch = Watch()
        self._watches.add(watch)
        try:
            yield watch
        finally:
            self._watches.discard(watch)

    def changed(self) -> None:
        """Tell all listeners."""
        for watch in self._watches:
            watch.poke()

    def stop(self) -> None:
        """End all streams."""
        self.stopping = True
        self.changed()

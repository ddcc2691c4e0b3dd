"""Follows the central log and tells the listeners of the pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from station.central.fold import Hall
from station.central.view import Surroundings, state_object
from station.log.central_log import CentralLog
from station.watch import Broadcast

__all__ = ["Feed"]

_CHUNK = 1000


class Feed(Broadcast):
    """The hall as it is now, and who is to be told when it changes. Belongs to the loop's thread.

    Args:
        log: a reader of the central log.
        around: gives what the state shows besides the log.
    """

    def __init__(self, log: CentralLog, around: Callable[[], Surroundings]) -> None:
        super().__init__()
        self._log = log
        self._around = around
        self._hall = Hall()

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

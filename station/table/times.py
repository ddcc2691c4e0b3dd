"""The times of a table: how long its session goes on, and the hall's clock where there is one."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import structlog

from station.clock import Clock
from station.files import replace_file
from station.timing.elapsed import Anchor, anchored, decode, encode
from station.timing.table_clock import TableClock

__all__ = ["TableTimes"]

_log = structlog.get_logger()
_SLACK_S = 2.0
"""What is stored and what is asked are two reads of a clock that may be set between them."""


class TableTimes:
    """Counts by the clock that never steps. Belongs to the loop's thread.

    Args:
        clock: sources of time.
        file: where the opening of the session is kept for the next start; None: nowhere.
    """

    def __init__(self, clock: Clock, file: Path | None = None) -> None:
        self._clock = clock
        self._file = file
        self._anchor = _read(file)
        self._sure = False
        self._hall = TableClock()
        self._seen: dict[str, tuple[float, float]] = {}
        """By kind: when the log says it was, and the steady clock then."""

    def elapsed_s(self, opened_at: float | None) -> float:
        """Give how long ago a session was opened that the log says was at `opened_at` (Unix seconds)."""
        if opened_at is None:
            return 0.0
        steady = self._clock.monotonic()
        known = self._anchor
        if known is None or not self._sure or known.opened_at != opened_at:
            anchor = anchored(
                known, opened_at, steady=steady, wall=self._clock.wall(), boot=self._clock.boot()
            )
            if anchor != known:
                self._keep(anchor)
            self._anchor, self._sure = anchor, True
            return anchor.elapsed(steady)
        return known.elapsed(steady)

    def since(self, what: str, at: float) -> float:
        """Give how long ago the newest event of a kind was, that the log says was at `at` (Unix seconds).

        The wall clock is asked when the event is first seen, which for an event of this process is at once;
        from then on it is counted. An event that lies in the future by then was long ago, for all we know.
        """
        steady = self._clock.monotonic()
        seen = self._seen.get(what)
        if seen is None or seen[0] != at:
            gone = self._clock.wall() - at
            seen = self._seen[what] = (at, steady - gone if gone >= -_SLACK_S else -math.inf)
        return max(0.0, steady - seen[1])

    def on_station(self, *, standby: bool) -> None:
        """Tell which of two stations is connected, or tried, from now on."""
        self._hall.on_station(standby=standby)

    def on_value(self, key: str, body: bytes) -> None:
        """Take a value of the station."""
        self._hall.remaining_s(self._clock.monotonic())  # what is known goes on from here
        self._hall.on_value(key, body)

    def on_time(self, t1: float, t2: float, t3: float, t4: float) -> None:
        """Take an exchange of timestamps with the station, seconds."""
        self._hall.on_time(t1, t2, t3, t4)

    def hall(self) -> dict[str, Any] | None:
        """Give the hall's clock; None where there is none."""
        return self._hall.to_json(self._clock.monotonic())

    def _keep(self, anchor: Anchor) -> None:
        """Write the anchor in one step; without it the next start asks the wall clock."""
        if self._file is None:
            return
        try:
            replace_file(self._file, encode(anchor), durable=False)
        except OSError as error:
            _log.warning("the session's opening is not kept", file=str(self._file), reason=error.strerror)


def _read(file: Path | None) -> Anchor | None:
    try:
        return None if file is None else decode(file.read_bytes())
    except OSError:
        return None

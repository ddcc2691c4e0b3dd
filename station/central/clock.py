"""The hall's clock in the running station: booked, written down each second, told to the tables."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import structlog

from station.central.fold import Hall
from station.clock import Clock
from station.errors import LogError
from station.files import replace_file
from station.timing import hall_clock, persistence
from station.timing.hall_clock import Change, ClockRefused, Countdown

__all__ = ["ClockKeeper"]

_log = structlog.get_logger()
_TICK_S = 1.0
_AWAY_S = 300.0
"""After so long without any table a stand-by station lets go of the clock that it kept."""


class ClockKeeper:
    """Keeps the hall's clock. Belongs to the loop's thread.

    Args:
        file: what is written each second, for the next start.
        clock: sources of time.
        duration_s: length with which the clock starts by itself when the first session is opened; None: it is
            started by hand.
        hall: gives the hall as far as it is folded; all of it when `begin` is called.
        book: stores an event. Raises `LogError`.
        tell: says the clock to the tables.
        standby: whether this is the second station: it never starts the clock by itself, sets it only while
            tables are connected, and lets go of it when they have gone back.
        here: whether any table is connected.
    """

    def __init__(
        self,
        file: Path,
        clock: Clock,
        duration_s: int | None,
        *,
        hall: Callable[[], Hall],
        book: Callable[[str, bytes], Awaitable[None]],
        tell: Callable[[bytes], None],
        standby: bool = False,
        here: Callable[[], bool] = lambda: True,
    ) -> None:
        self._file = file
        self._clock = clock
        self._duration_s = duration_s
        self._hall = hall
        self._book = book
        self._tell = tell
        self._standby = standby
        self._here = here
        self._here_at = clock.monotonic()
        self._booked = Countdown()
        self._one = asyncio.Lock()
        self._silent = False
        self._last = _read(file)

    async def begin(self) -> None:
        """Say what a restart makes of the clock; where the disk refuses, that is tried again each second."""
        try:
            await self._doubt()
        except LogError as error:
            _log.error("the clock is not stored", reason=str(error))
        self._write()
        self._tell_tables()

    async def run(self) -> None:
        """Write down the time each second; start and end the clock when it is time, until cancelled."""
        while True:
            await asyncio.sleep(_TICK_S)
            await self.look()

    async def look(self) -> None:
        """Look at the time once."""
        self._write()
        try:
            async with self._one:
                await self._by_itself()
        except LogError as error:  # shown by the station already; tried again in a second
            _log.error("the clock is not stored", reason=str(error))

    async def act(self, action: str, seconds: int | None, reason: str, key: str) -> None:
        """Do what a person asks; a request that was taken before does nothing.

        Raises:
            ClockRefused: it is not possible now. LogError: it could not be stored; nothing has changed.
        """
        if self._standby and not self._here():
            raise ClockRefused(
                "The tables are with the main station, whose clock counts.", code="clock.elsewhere"
            )
        async with self._one:
            await self._doubt()
            decided = hall_clock.decide(
                self.now,
                action,
                steady=self._clock.monotonic(),
                boot=self._clock.boot(),
                seconds=seconds,
                reason=reason,
                key=key,
            )
            if decided is not None:
                await self._store(*decided)

    async def _doubt(self) -> None:
        """Book that the clock of an earlier run of the machine waits for the head referee, once."""
        said = persistence.after_restart(self.now, self._last, self._moment())
        if said is not None:
            left_s, why = said[1].left_ms // 1000, said[1].reason
            _log.warning("the clock waits for the head referee", left_s=left_s, why=why)
            await self._store(*said)

    async def _by_itself(self) -> None:
        await self._doubt()
        steady, clock = self._clock.monotonic(), self.now
        if clock.state == hall_clock.RUNNING and clock.remaining_s(steady) <= 0:
            ended = Change(1, 0, running=False, at_ms=round(1000 * steady), boot=self._clock.boot())
            await self._store("clock.ended", ended)
        elif self._standby:
            await self._let_go(steady)
        elif clock.events == 0 and self._duration_s is not None and _opened(self._hall()):
            await self._store(
                "clock.started",
                Change(
                    1,
                    1000 * self._duration_s,
                    True,
                    round(1000 * steady),
                    self._clock.boot(),
                    "first_session",
                ),
            )

    async def _let_go(self, steady: float) -> None:
        """Book that a clock is not known any more whose tables are with the main station again."""
        if self._here():
            self._here_at = steady
        elif self.now.state != hall_clock.IDLE and steady - self._here_at >= _AWAY_S:
            gone = Change(1, 0, running=False, at_ms=round(1000 * steady), boot=self._clock.boot())
            await self._store("clock.released", gone)

    async def _store(self, kind: str, change: Change) -> None:
        before = self.now  # afterwards the hall may know of it, or not yet
        await self._book(kind, msgspec.json.encode(change))
        self._booked = hall_clock.apply(before, kind, change)
        self._tell_tables()

    @property
    def now(self) -> Countdown:
        """The clock after everything booked, also while the fold of the hall is behind."""
        folded = self._hall().clock
        return self._booked if self._booked.events > folded.events else folded

    def _tell_tables(self) -> None:
        self._tell(msgspec.json.encode(self.now.to_json(self._clock.boot())))

    def _moment(self) -> persistence.Moment:
        return persistence.Moment(self._clock.monotonic(), self._clock.wall(), self._clock.boot())

    def _write(self) -> None:
        """Write the moment in one step. Not forced to the disk: it serves after a crash of this program as it
        is, and after a power cut some seconds more or less are what the head referee is asked about.
        """
        if self.now.running and self.now.boot != self._clock.boot():
            return  # what the last run wrote is still needed
        try:
            replace_file(self._file, persistence.encode(self._moment()), durable=False)
        except OSError as error:
            if not self._silent:
                _log.warning("the time is not written down", file=str(self._file), reason=error.strerror)
            self._silent = True
        else:
            self._silent = False


def _opened(hall: Hall) -> bool:
    return any(fold.session.opened_at is not None for fold in hall.tables.values())


def _read(file: Path) -> persistence.Moment | None:
    try:
        return persistence.decode(file.read_bytes())
    except OSError:
        return None

"""The running central station: log, link, photos and pages, and what each of them tells the others."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import structlog

from station import health
from station import messages as m
from station.central.clock import ClockKeeper
from station.central.config import CentralConfig
from station.central.feed import Feed
from station.central.view import ONLINE_S, Surroundings
from station.clock import Clock
from station.errors import LogError
from station.evidence.address import VALUE_KEY, announcement
from station.evidence.central_thread import EvidenceTaker
from station.evidence.policy import Removal, Rules
from station.evidence.shelf import Shelf
from station.guarding import Traffic
from station.link.central_thread import CentralThread
from station.link.codes import ValueKey
from station.link.keys import AllowList, load_pair
from station.log import Entry

__all__ = ["CentralStation"]

_log = structlog.get_logger()
_PRESENCE_S = 1.0


class CentralStation:
    """The parts of the running process. They are made here, and started and stopped by `run_central`.

    ``feed`` is the hall as the pages show it, while there are pages.

    Raises:
        StationError: the keys or the list of tables cannot be used.
    """

    def __init__(self, config: CentralConfig, clock: Clock) -> None:
        self.config = config
        self._clock = clock
        self._allow_list = AllowList(Path(config.allow_list))
        self.keys = load_pair(Path(config.secret_key))
        self.trouble: LogError | None = None
        self.traffic = Traffic()
        self.traffic.on_refused = self._refused
        self._health: dict[str, health.TableHealth] = {}
        self.secret = self.keys.signer or b""
        self.path = Path(config.home) / "central.db"
        self.feed: Feed | None = None
        self._keeper: ClockKeeper | None = None
        self._photos = self._photo_shelf = ""
        self.shelf = Shelf(Path(config.home) / "evidence")
        self.link = CentralThread(
            self.path,
            config.link,
            self.keys,
            self._allow_list,
            on_commit=self._committed,
            on_trouble=self._troubled,
            on_value=self._valued,
            clock=clock.monotonic,
            wall=clock.wall,
            signer=self.keys.signer,
        )
        self.evidence = EvidenceTaker(
            self.path,
            self.shelf,
            config.evidence,
            self.keys,
            self._allow_list,
            Rules.of(config.appeal_window_h, config.photo_reserve_mb),
            on_due=self._photos_due,
            on_open=self._photos_opened,
            clock=clock.monotonic,
            wall=clock.wall,
        )

    @property
    def enrolled(self) -> frozenset[str]:
        """The tables that may connect."""
        return self._allow_list.tables

    def around(self) -> Surroundings:
        """Give what the state shows besides the log."""
        return Surroundings(
            now=self._clock.wall(),
            silence_s=self.link.silence_s(),
            enrolled=self.enrolled,
            event=self.config.event,
            format=self.config.format,
            duration_s=self.config.duration_s,
            trouble="central.disk_full" if self.trouble else None,
            refused_requests=self.traffic.alarm(),
            steady=self._clock.monotonic(),
            boot=self._clock.boot(),
            clock=None if self._keeper is None else self._keeper.now,
            standby=self.config.standby,
            photos_full=self.evidence.full,
            health=self._health,
            list_damaged=self._allow_list.trouble is not None,
        )

    def keeper(self, feed: Feed) -> ClockKeeper:
        """Make the keeper of the hall's clock."""

        async def book(kind: str, body: bytes) -> None:
            await self.link.book(kind, body)
            feed.changed()

        self._keeper = ClockKeeper(
            self.path.with_name("clock.json"),
            self._clock,
            self.config.duration_s,
            hall=lambda: feed.hall,
            book=book,
            tell=lambda body: self.link.set_value(None, "clock", body),
            standby=self.config.standby,
            here=lambda: any(s < ONLINE_S for s in self.link.silence_s().values()),
        )
        return self._keeper

    def takes_photos_at(self, endpoint: str) -> None:
        """Tell all tables where to bring their photos."""
        self._photos = endpoint
        self._announce_photos()

    def _photos_opened(self, shelf: str) -> None:
        self._photo_shelf = shelf
        self._announce_photos()

    def _announce_photos(self) -> None:
        if self._photos:
            body = announcement(self._photos, self.keys.public, self._photo_shelf)
            self.link.set_value(None, VALUE_KEY, body)

    def _photos_due(self, removals: list[Removal]) -> None:
        """Book photos that go by rule; once that stands in the log, they are deleted."""
        for removal in removals:
            body = m.PhotoRemoved(photo=removal.name, why=removal.why)
            self.link.book(*m.encode(body)).add_done_callback(_say_if_not_booked)

    def _committed(self, _: int) -> None:
        if self.feed is not None:
            self.feed.follow()

    def _troubled(self, error: LogError | None) -> None:
        self.trouble = error
        if error is None:
            _log.info("storing works again")
        else:
            _log.error("not stored; the tables will send again", code=error.code, reason=str(error))
        if self.feed is not None:
            self.feed.changed()

    def _valued(self, table: str, key: str, body: bytes) -> None:
        if key != ValueKey.HEALTH:
            return  # of a newer version
        try:
            self._health[table] = health.decode(body)
        except msgspec.DecodeError:
            _log.warning("health of a table can't be read", table=table)
            return
        if self.feed is not None:
            self.feed.changed()

    def _refused(self) -> None:
        if self.feed is not None:
            self.feed.changed()

    def end_feed(self) -> None:
        """Fold and show nothing any more: the log's reader is closed next."""
        if self.feed is not None:
            self.feed.stop()
            self.feed = None

    async def watch_presence(self) -> None:
        """Tell the pages when a table comes or goes, and when the space for photos ends."""
        online: frozenset[str] = frozenset()
        full = False
        while True:
            await asyncio.sleep(_PRESENCE_S)
            now = frozenset(table for table, s in self.link.silence_s().items() if s < ONLINE_S)
            if now != online:
                _log.info("tables online", tables=sorted(now))
            if (now, self.evidence.full) != (online, full) and self.feed is not None:
                self.feed.changed()
            online, full = now, self.evidence.full


def _say_if_not_booked(booked: asyncio.Future[Entry]) -> None:
    """Say that a removal could not be stored; the photo stays, and is due again in a minute."""
    if not booked.cancelled() and (error := booked.exception()) is not None:
        _log.warning("removal of a photo not booked", reason=str(error))

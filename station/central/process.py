"""The central process: wires log, link and HTTP together and runs until it is told to stop."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import structlog
from starlette.applications import Starlette

from station.central.api import routes
from station.central.config import CentralConfig, load_config
from station.central.feed import Feed
from station.central.view import ONLINE_S, Surroundings
from station.clock import Clock
from station.errors import CentralError, LogError
from station.link.central_thread import CentralThread
from station.link.keys import AllowList, load_pair
from station.log.central_log import CentralLog
from station.serving import HttpServer

__all__ = ["load_config", "run_central"]

_log = structlog.get_logger()
_PRESENCE_S = 1.0


class _Station:
    """The parts of the running process."""

    def __init__(self, config: CentralConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._allow_list = AllowList(Path(config.allow_list))
        self._trouble: LogError | None = None
        self.path = Path(config.home) / "central.db"
        self.feed: Feed | None = None
        self.link = CentralThread(
            self.path,
            config.link,
            load_pair(Path(config.secret_key)),
            self._allow_list,
            on_commit=self._committed,
            on_trouble=self._troubled,
            clock=clock.monotonic,
            wall=clock.wall,
        )

    def around(self) -> Surroundings:
        """Give what the state shows besides the log."""
        return Surroundings(
            now=self._clock.wall(),
            silence_s=self.link.silence_s(),
            enrolled=self._allow_list.tables,
            event=self._config.event,
            format=self._config.format,
            duration_s=self._config.duration_s,
            trouble="central.disk_full" if self._trouble else None,
        )

    def _committed(self, _: int) -> None:
        if self.feed is not None:
            self.feed.catch_up()

    def _troubled(self, error: LogError | None) -> None:
        self._trouble = error
        if error is None:
            _log.info("storing works again")
        else:
            _log.error("not stored; the tables will send again", code=error.code, reason=str(error))
        if self.feed is not None:
            self.feed.changed()

    async def watch_presence(self) -> None:
        """Tell the pages when a table comes or goes."""
        online: frozenset[str] = frozenset()
        while True:
            await asyncio.sleep(_PRESENCE_S)
            now = frozenset(table for table, s in self.link.silence_s().items() if s < ONLINE_S)
            if now != online and self.feed is not None:
                _log.info("tables online", tables=sorted(now))
                self.feed.changed()
            online = now


async def run_central(
    config: CentralConfig,
    ready: Callable[[dict[str, object]], None],
    clock: Clock = Clock(),  # noqa: B008 - frozen
) -> None:
    """Run the central station until SIGTERM or SIGINT.

    Args:
        config: as loaded, with absolute paths.
        ready: called once with the ready line.
        clock: sources of time.

    Raises:
        StationError: the log, the keys or an address cannot be used.
    """
    _make_home(Path(config.home))
    station = _Station(config, clock)
    endpoint = await station.link.start()
    try:
        with CentralLog.open(station.path, read_only=True) as reader:
            feed = station.feed = Feed(reader, station.around)
            feed.catch_up()
            server = HttpServer.bind(Starlette(routes=routes(feed)), config.http_host, config.http_port)
            stop = _stop_signal()
            ready({"ready": True, "http": server.address, "link": endpoint, "pid": os.getpid()})
            await _run_until(stop, feed, server, [station.link.finished(), station.watch_presence()])
    finally:
        station.feed = None
        await station.link.stop()


def _make_home(home: Path) -> None:
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CentralError(
            f"The folder {home} cannot be made: {error.strerror}.", fix="Set another home."
        ) from None


def _stop_signal() -> asyncio.Event:
    """Give an event that SIGTERM or SIGINT sets."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop


async def _run_until(
    stop: asyncio.Event, feed: Feed, server: HttpServer, works: Sequence[Coroutine[Any, Any, None]]
) -> None:
    """Serve until `stop` is set or one of the works ends, which is a failure: it is raised."""
    serving = asyncio.create_task(server.serve())
    others = [asyncio.create_task(work) for work in works]
    stopping = asyncio.create_task(stop.wait())
    done, _ = await asyncio.wait([serving, stopping, *others], return_when=asyncio.FIRST_COMPLETED)
    feed.stop()
    server.stop()
    for task in (stopping, *others):
        task.cancel()
    await asyncio.gather(serving, stopping, *others, return_exceptions=True)
    for task in done:
        task.result()

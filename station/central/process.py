"""The central process: wires log, link and HTTP together and runs until it is told to stop."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from starlette.applications import Starlette

from station.central.announcing import announce
from station.central.api import routes
from station.central.config import CentralConfig, load_config
from station.central.feed import Feed, hall_cache
from station.central.operation import of_central
from station.central.station import CentralStation
from station.clock import Clock
from station.errors import CentralError
from station.log import Log
from station.running import run_until, stop_in_the_end
from station.serving import HttpServer
from station.stopping import Stop

__all__ = ["load_config", "run_central"]


async def run_central(
    config: CentralConfig,
    ready: Callable[[dict[str, object]], None],
    clock: Clock = Clock(),  # noqa: B008 - frozen
    stop: Stop | None = None,
) -> None:
    """Run the central station until SIGTERM or SIGINT.

    Args:
        config: as loaded, with absolute paths.
        ready: called once with the ready line.
        clock: sources of time.
        stop: ends it besides; signals reach it once the process is ready.

    Raises:
        StationError: the log, the keys or an address cannot be used.
    """
    _make_home(Path(config.home))
    station = CentralStation(config, clock)
    async with AsyncExitStack() as stack:
        stop_in_the_end(stack, station.link, station.evidence)
        endpoint = await station.link.start()
        photos = await station.evidence.start()
        station.takes_photos_at(photos)
        reader = stack.enter_context(Log.open(station.path, read_only=True))
        feed = station.feed = Feed(reader, station.around, hall_cache(reader, station.secret))
        stack.callback(station.end_feed)
        feed.catch_up()
        keeper = station.keeper(feed)
        await keeper.begin()
        server = HttpServer.bind(
            Starlette(routes=[*of_central(station, feed), *routes(feed, station.shelf, keeper)]),
            config.http_host,
            config.http_port,
            names=config.http_names,
            traffic=station.traffic,
        )
        stack.callback(server.close)
        stop = stop or Stop()
        stop.listen()
        ready(
            {"ready": True, "http": server.address, "link": endpoint, "evidence": photos, "pid": os.getpid()}
        )
        works = [station.link.finished(), station.evidence.finished(), station.watch_presence(), keeper.run()]
        if config.announce:
            works.append(announce(endpoint, station.keys.public))
        await run_until(stop, server, works, end_streams=feed.stop)
        feed.keep()


def _make_home(home: Path) -> None:
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CentralError(
            f"The folder {home} cannot be made: {error.strerror}.", fix="Set another home."
        ) from None

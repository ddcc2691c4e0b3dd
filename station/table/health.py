"""What a table tells the central station about itself besides its events: the newest counts, none is kept."""

from __future__ import annotations

import asyncio
from typing import Any

import structlog

from station.errors import StationError
from station.health import TableHealth, encode
from station.link.codes import ValueKey
from station.table.runtime import Table
from station.table.writer import LogWriter

__all__ = ["health_of", "tell_health"]

log = structlog.get_logger()

_PAUSE_S = 0.5
"""Between two tellings: what changes meanwhile goes into the next."""
_AT_LEAST_S = 30.0
"""It is looked at this often even if nothing tells of a change."""


def health_of(state: dict[str, Any]) -> TableHealth:
    """Give the part of a table's state that the hall wants to know at once."""
    return TableHealth(
        phase=state["phase"],
        machine=None if state["machine"] is None else state["machine"]["code"],
        camera=state["camera"]["code"],
        log_pos=state["log_pos"],
        standby=state["central"]["code"] == "central.standby",
    )


async def tell_health(table: Table, writer: LogWriter) -> None:
    """Tell it after every change, for ever."""
    told: TableHealth | None = None
    with table.watch() as changes:
        while True:
            health = health_of(table.state())
            if health != told:
                try:
                    writer.say(ValueKey.HEALTH, encode(health))
                    told = health
                except StationError as error:  # the next change tells it
                    log.warning("health not told", error=str(error))
            await asyncio.sleep(_PAUSE_S)
            await changes.changed(_AT_LEAST_S)

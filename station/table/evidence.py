"""The table's photos: on their way to the central station, and removed by rule once they are there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import structlog

from station import messages as m
from station.clock import Clock
from station.errors import StationError
from station.evidence.address import VALUE_KEY, Target, where
from station.evidence.policy import Removal, Rules
from station.evidence.sockets import EvidenceLink
from station.evidence.table_thread import EvidenceSender
from station.link.keys import load_pair, load_public
from station.link.sockets import LinkSettings
from station.ops.restore import TABLE_INDEX
from station.table.config import TableConfig
from station.table.photos import PhotoStore
from station.table.runtime import Table

__all__ = ["INDEX", "Removals", "listen_to", "sender_of"]

INDEX = TABLE_INDEX
_log = structlog.get_logger()


def sender_of(
    config: TableConfig,
    home: Path,
    photos: PhotoStore,
    clock: Clock,
    on_due: Callable[[list[Removal]], None],
    on_unsent: Callable[[int], None],
) -> EvidenceSender:
    """Return the thread that brings photos to the central station, as configured."""
    central, link = config.central, None
    if central is not None and config.secret_key is not None:
        keys = load_pair(Path(config.secret_key))
        link = EvidenceLink(load_public(Path(central.public_key)), keys, central.evidence_endpoint or None)
    return EvidenceSender(
        home / "table.db",
        home / INDEX,
        photos,
        photos.read,
        link,
        Rules.of(config.appeal_window_h, config.photo_reserve_mb),
        on_due=on_due,
        clock=clock.monotonic,
        wall=clock.wall,
        on_unsent=on_unsent,
    )


def listen_to(
    sender: EvidenceSender, config: TableConfig, link: LinkSettings | None, key: str, body: bytes
) -> None:
    """Take a value that the central station said: where it takes photos, unless the settings know better."""
    target = None if key != VALUE_KEY or link is None else where(body, link.endpoints)
    if target is None or link is None or config.central is None:
        return
    if not config.central.evidence_endpoint:
        sender.use(target)
    elif target.key == link.server_key:
        sender.use(Target(config.central.evidence_endpoint, target.key, target.shelf))


class Removals:
    """Books what is to be removed; once it stands in the log, the thread deletes it."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def due(self, table: Table, removals: list[Removal]) -> None:
        """Take what is due; belongs to the loop's thread."""
        task = asyncio.create_task(self._book(table, removals))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _book(self, table: Table, removals: list[Removal]) -> None:
        try:
            await table.book(*(m.PhotoRemoved(photo=r.name, why=r.why) for r in removals))
        except StationError as error:  # it is due again in a minute
            _log.warning("removal of photos not booked", reason=str(error))

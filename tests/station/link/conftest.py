"""A central station and a table with real sockets in one process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from station.errors import LogError
from station.link.central_thread import CentralThread
from station.link.connection import LinkStatus
from station.link.keys import AllowList, KeyPair, generate, write_allow_list
from station.link.sockets import LinkSettings
from station.link.table_thread import LinkThread
from station.log import Log, Stored

DEADLINE_S = 60.0


class Place:
    """Folder with keys of the central station, T1 and T2 (both enrolled) and a stranger."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.central = generate(folder / "keys", "central")
        self.keys = {name: generate(folder / "keys", name) for name in ("T1", "T2", "stranger")}
        self.allow_list = folder / "tables.toml"
        self.enrol("T1", "T2")
        self.central_log = folder / "central.log"
        self.positions = 0
        self.troubles: list[LogError | None] = []
        self._changed: asyncio.Event | None = None

    def enrol(self, *names: str) -> None:
        write_allow_list(self.allow_list, {name: self.keys[name].public for name in names})

    def settings(
        self, endpoint: str, name: str = "T1", keys: KeyPair | None = None, server_key: str | None = None
    ) -> LinkSettings:
        return LinkSettings(name, endpoint, server_key or self.central.public, keys or self.keys[name])

    def central_thread(self, endpoint: str = "tcp://127.0.0.1:0") -> CentralThread:
        return CentralThread(
            self.central_log,
            endpoint,
            self.central,
            AllowList(self.allow_list),
            on_commit=self._committed,
            on_trouble=self._troubled,
        )

    def table_thread(self, link: LinkSettings | None, name: str = "T1") -> LinkThread:
        return LinkThread(self.folder / f"{name}.log", link, on_status=self._told)

    def stored(self) -> list[Stored]:
        with Log.open(self.central_log, read_only=True) as log:
            return log.entries()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition that changes with a report of one of the threads."""
        self._changed = self._changed or asyncio.Event()
        async with asyncio.timeout(DEADLINE_S):
            while not condition():
                await self._changed.wait()
                self._changed.clear()

    def _committed(self, pos: int) -> None:
        self.positions = pos
        self._tell()

    def _troubled(self, error: LogError | None) -> None:
        self.troubles.append(error)
        self._tell()

    def _told(self, _: LinkStatus) -> None:
        self._tell()

    def _tell(self) -> None:
        self._changed = self._changed or asyncio.Event()
        self._changed.set()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)

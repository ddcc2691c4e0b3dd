"""One table and one central station in this process, on the loopback: several measurements begin with it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from station.link.central_thread import CentralThread
from station.link.keys import AllowList, KeyPair, generate, write_allow_list
from station.link.sockets import LinkSettings
from station.link.table_thread import LinkThread

__all__ = ["OneTable", "one_table", "percentiles"]


def percentiles(values: list[float]) -> dict[str, float]:
    """Give the middle one and the 99th of a hundred, rounded."""
    ordered = sorted(values)
    return {f"p{p}": round(ordered[min(len(ordered) - 1, len(ordered) * p // 100)], 2) for p in (50, 99)}


@dataclass(frozen=True)
class OneTable:
    """Both threads of the link, the keys of both ends, and the log files."""

    central: CentralThread
    table: LinkThread
    keys: KeyPair
    table_keys: KeyPair
    enrolled: AllowList
    central_log: Path
    table_log: Path
    acked: asyncio.Event

    async def book(self, kind: str, body: bytes) -> tuple[float, float]:
        """Book one event; give the milliseconds until its commit, and until the central station has it."""
        self.acked.clear()
        begin = time.perf_counter()
        await self.table.append([(kind, body)], int(time.time() * 1000))
        committed = time.perf_counter()
        await asyncio.wait_for(self.acked.wait(), 10)
        return 1000 * (committed - begin), 1000 * (time.perf_counter() - begin)


@asynccontextmanager
async def one_table(folder: Path) -> AsyncIterator[OneTable]:
    """Start both, with keys of their own, in a folder."""
    keys, table_keys = generate(folder, "central"), generate(folder, "T1")
    write_allow_list(folder / "tables.toml", {"T1": table_keys.public})
    enrolled, central_log, table_log = (
        AllowList(folder / "tables.toml"),
        folder / "central.db",
        folder / "table.db",
    )
    central = CentralThread(central_log, "tcp://127.0.0.1:0", keys, enrolled)
    endpoint = await central.start()
    acked = asyncio.Event()
    table = LinkThread(
        table_log,
        LinkSettings("T1", endpoint, keys.public, table_keys),
        on_status=lambda status: acked.set() if status.unsent == 0 else None,
    )
    await table.start()
    try:
        yield OneTable(central, table, keys, table_keys, enrolled, central_log, table_log, acked)
    finally:
        await table.stop()
        await central.stop()

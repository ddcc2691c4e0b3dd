"""What photos cost events: append until the central station has it, without and with an upload beside.

    python -m benchmarks.evidence [--events 200]

Prints one JSON object, milliseconds. One table and one central station in this process, loopback: both
ends of both channels share its interpreter, so this is worse than a hall, where each has its own computer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from pathlib import Path

from station import messages as m
from station.evidence.central_thread import EvidenceTaker
from station.evidence.keeping import Stored
from station.evidence.policy import Rules
from station.evidence.sending import SendTimes
from station.evidence.shelf import Shelf
from station.evidence.sockets import EvidenceLink
from station.evidence.table_thread import EvidenceSender
from station.evidence.wire import name_of
from station.link.central_thread import CentralThread
from station.link.keys import AllowList, generate, write_allow_list
from station.link.sockets import LinkSettings
from station.link.table_thread import LinkThread

PAUSE_S = 0.02
PHOTO_BYTES = 2_000_000
KEEP_ALL = Rules(reserve=0)
UNLIMITED = 1e12


class Photos:
    """More photos than can be sent meanwhile, in memory."""

    def __init__(self, number: int) -> None:
        data = [os.urandom(PHOTO_BYTES) for _ in range(number)]
        self.by_name = {name_of(photo): photo for photo in data}

    def stored(self) -> dict[str, Stored]:
        """No file: nothing is to be removed."""
        return {}

    def remove(self, name: str) -> None:
        """Forget a photo."""
        del self.by_name[name]

    def free(self) -> int:
        """Room enough."""
        return 1 << 40


def _percentiles(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {f"p{p}": round(ordered[min(len(ordered) - 1, len(ordered) * p // 100)], 2) for p in (50, 99)}


async def measure(
    folder: Path, events: int, photos: int, table_rate: float, rate: float
) -> dict[str, object]:
    """Append one event after the other, each awaited, while photos travel at a pace (bytes a second)."""
    keys, table_keys = generate(folder, "central"), generate(folder, "T1")
    write_allow_list(folder / "tables.toml", {"T1": table_keys.public})
    enrolled, log = AllowList(folder / "tables.toml"), folder / "central.db"
    central = CentralThread(log, "tcp://127.0.0.1:0", keys, enrolled)
    endpoint = await central.start()
    shelf = Shelf(folder / "evidence")
    taker = EvidenceTaker(
        log,
        shelf,
        "tcp://127.0.0.1:0",
        keys,
        enrolled,
        KEEP_ALL,
        on_due=lambda _: None,
        bytes_per_s=rate,
    )
    evidence = await taker.start()
    acked = asyncio.Event()
    table = LinkThread(
        folder / "table.db",
        LinkSettings("T1", endpoint, keys.public, table_keys),
        on_status=lambda status: acked.set() if status.unsent == 0 else None,
    )
    await table.start()
    source = Photos(photos)
    sender = EvidenceSender(
        folder / "table.db",
        folder / "evidence.db",
        source,
        source.by_name.get,
        EvidenceLink(keys.public, table_keys, evidence),
        KEEP_ALL,
        on_due=lambda _: None,
        times=SendTimes(bytes_per_s=table_rate),
    )
    await sender.start()
    named = [
        m.HandRead(hand=1, claim=1, photo=name, size=(9, 9), tiles=[], why=[]) for name in source.by_name
    ]
    await table.append([m.encode(body) for body in [*named, m.RefereeCalled(place=0)]], 1)
    await asyncio.sleep(2)
    began, before, waits = time.perf_counter(), len(shelf.stored()), []
    for _ in range(events):
        acked.clear()
        begin = time.perf_counter()
        await table.append([m.encode(m.RefereeCalled(place=0))], int(time.time() * 1000))
        await asyncio.wait_for(acked.wait(), 10)
        waits.append(1000 * (time.perf_counter() - begin))
        await asyncio.sleep(PAUSE_S)
    took, brought = time.perf_counter() - began, len(shelf.stored()) - before
    for thread in (sender, table, taker, central):
        await thread.stop()
    return {**_percentiles(waits), "photo_mb_per_s": round(brought * PHOTO_BYTES / 1e6 / took, 1)}


def main() -> None:
    """Measure without photos, at the usual pace and as fast as the line takes them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=200)
    events = parser.parse_args().events
    usual = SendTimes().bytes_per_s
    found = {}
    for name, photos, table_rate, rate in (
        ("no photos", 0, usual, UNLIMITED),
        ("usual pace", 20, usual, 8 * usual),
        ("no pace", 200, UNLIMITED, UNLIMITED),
    ):
        with tempfile.TemporaryDirectory() as folder:
            found[name] = asyncio.run(measure(Path(folder), events, photos, table_rate, rate))
    print(json.dumps({"event_to_central_ms": found, "events": events}))


if __name__ == "__main__":
    main()

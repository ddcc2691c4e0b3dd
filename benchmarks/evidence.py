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

from benchmarks.one_table import one_table, percentiles
from station import messages as m
from station.evidence.central_thread import EvidenceTaker
from station.evidence.keeping import Stored
from station.evidence.policy import Rules
from station.evidence.sending import SendTimes
from station.evidence.shelf import Shelf
from station.evidence.sockets import EvidenceLink
from station.evidence.table_thread import EvidenceSender
from station.evidence.wire import name_of

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


async def measure(
    folder: Path, events: int, photos: int, table_rate: float, rate: float
) -> dict[str, object]:
    """Append one event after the other, each awaited, while photos travel at a pace (bytes a second)."""
    async with one_table(folder) as hall:
        shelf = Shelf(folder / "evidence")
        taker = EvidenceTaker(
            hall.central_log,
            shelf,
            "tcp://127.0.0.1:0",
            hall.keys,
            hall.enrolled,
            KEEP_ALL,
            on_due=lambda _: None,
            bytes_per_s=rate,
        )
        evidence = await taker.start()
        source = Photos(photos)
        sender = EvidenceSender(
            hall.table_log,
            folder / "evidence.db",
            source,
            source.by_name.get,
            EvidenceLink(hall.keys.public, hall.table_keys, evidence),
            KEEP_ALL,
            on_due=lambda _: None,
            times=SendTimes(bytes_per_s=table_rate),
        )
        await sender.start()
        named = [
            m.HandRead(hand=1, claim=1, photo=name, size=(9, 9), tiles=[], why=[]) for name in source.by_name
        ]
        await hall.table.append([m.encode(body) for body in [*named, m.RefereeCalled(place=0)]], 1)
        await asyncio.sleep(2)
        began, before, waits = time.perf_counter(), len(shelf.stored()), []
        for _ in range(events):
            _commit, acknowledged = await hall.book(*m.encode(m.RefereeCalled(place=0)))
            waits.append(acknowledged)
            await asyncio.sleep(PAUSE_S)
        took, brought = time.perf_counter() - began, len(shelf.stored()) - before
        await sender.stop()
        await taker.stop()
    return {**percentiles(waits), "photo_mb_per_s": round(brought * PHOTO_BYTES / 1e6 / took, 1)}


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

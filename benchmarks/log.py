"""How long a booking takes: one table's append until the commit, and until the central station has it.

    python -m benchmarks.log [--events 500]

Prints one JSON object, milliseconds. One table, one central station, both in this process, loopback.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path

from station.link.central_thread import CentralThread
from station.link.keys import AllowList, generate, write_allow_list
from station.link.sockets import LinkSettings
from station.link.table_thread import LinkThread

BODY = json.dumps({"v": 1, "note": "x" * 380}).encode()


def _percentiles(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {f"p{p}": round(ordered[min(len(ordered) - 1, len(ordered) * p // 100)], 2) for p in (50, 99)}


async def measure(folder: Path, events: int) -> dict[str, object]:
    """Append one event after the other, each awaited."""
    central_keys, table_keys = generate(folder, "central"), generate(folder, "T1")
    write_allow_list(folder / "tables.toml", {"T1": table_keys.public})
    stored = asyncio.Event()
    central = CentralThread(
        folder / "central.db",
        "tcp://127.0.0.1:0",
        central_keys,
        AllowList(folder / "tables.toml"),
        on_commit=lambda _: stored.set(),
    )
    endpoint = await central.start()
    acked = asyncio.Event()
    table = LinkThread(
        folder / "table.db",
        LinkSettings("T1", endpoint, central_keys.public, table_keys),
        on_status=lambda status: acked.set() if status.unsent == 0 else None,
    )
    await table.start()
    commits, acknowledgements = [], []
    for _ in range(events):
        acked.clear()
        begin = time.perf_counter()
        await table.append([("referee.called", BODY)], int(time.time() * 1000))
        commits.append(1000 * (time.perf_counter() - begin))
        await asyncio.wait_for(acked.wait(), 10)
        acknowledgements.append(1000 * (time.perf_counter() - begin))
    await table.stop()
    await central.stop()
    return {
        "events": events,
        "commit_ms": _percentiles(commits[5:]),
        "acknowledged_ms": _percentiles(acknowledgements[5:]),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=500)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asyncio.run(measure(Path(folder), arguments.events))))


if __name__ == "__main__":
    main()

"""How long a booking takes: one table's append until the commit, and until the central station has it.

    python -m benchmarks.log [--events 500]

Prints one JSON object, milliseconds. One table, one central station, both in this process, loopback.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from pathlib import Path

from benchmarks.one_table import one_table, percentiles

BODY = json.dumps({"v": 1, "note": "x" * 380}).encode()


async def measure(folder: Path, events: int) -> dict[str, object]:
    """Append one event after the other, each awaited."""
    async with one_table(folder) as hall:
        booked = [await hall.book("referee.called", BODY) for _ in range(events)][5:]
    return {
        "events": events,
        "commit_ms": percentiles([commit for commit, _ in booked]),
        "acknowledged_ms": percentiles([acknowledged for _, acknowledged in booked]),
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

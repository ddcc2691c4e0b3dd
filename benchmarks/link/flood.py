"""One table that sends ten times what it may, and how long the others wait beside it.

    python -m benchmarks.link.flood [--turns 5] [--seconds 20] [--tables 20]

The others make one event a second each. Calm and flood take turns; the middle one of all turns counts. The
flood comes from a process of its own: a valid chain, without regard to windows, acknowledgements or refusals.
Prints one JSON object.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import zmq

from benchmarks.link.contestant import PATIENCE_S, prepare, serving
from benchmarks.link.events import Chain
from benchmarks.link.ours import OurClient, load_keys
from station.link.replicate import Limits
from station.link.said import Event, Hello
from station.link.sockets import new_context, table_socket
from station.link.wire import encode
from station.log.chain import ZERO_HEAD

TIMES = 10
SESSION = b"flooding"


def flood(address: str, folder: Path, table: int) -> None:
    """Send as one table until the end of this process."""
    endpoint, server_key = address.split(" ")
    chain = Chain(table)
    chain.grow(20_000)
    messages = [encode(Event(SESSION, (entry,))) for entry in chain.list]
    rate, sent = TIMES * Limits().events_per_s, 0
    with table_socket(new_context(), load_keys(folder / "keys")[table], server_key) as socket:
        socket.connect(endpoint)
        socket.poll(10_000, zmq.POLLOUT)
        socket.send_multipart(encode(Hello(SESSION, chain.log_id, ZERO_HEAD, f"T{table}")))
        began = time.perf_counter()
        while True:
            while sent < rate * (time.perf_counter() - began):
                with contextlib.suppress(zmq.Again):
                    socket.send_multipart(messages[sent % len(messages)], zmq.NOBLOCK)
                sent += 1
            while socket.poll(0):
                socket.recv_multipart()
            time.sleep(0.005)


def measure(turns: int, seconds: float, tables: int) -> dict[str, Any]:
    """Let calm and flood take turns; milliseconds, p99 of the others."""
    calm: list[float] = []
    flooded: list[float] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        prepare(folder, tables + 1)
        with serving("station", folder) as (address, _):
            client = OurClient(tables, address, load_keys(folder / "keys"))
            client.connect_all(PATIENCE_S)
            for _ in range(turns):
                calm.append(client.pace(seconds, 1.0)["p99_ms"])
                words = [sys.executable, "-m", "benchmarks.link.flood", "--as", str(tables)]
                words += ["--address", address, "--folder", str(folder)]
                with subprocess.Popen(words) as process:
                    try:
                        time.sleep(1.0)  # building the chain
                        flooded.append(client.pace(seconds, 1.0)["p99_ms"])
                    finally:
                        process.kill()
            client.close()
    before, beside = statistics.median(calm), statistics.median(flooded)
    return {
        "tables": tables,
        "calm_p99_ms": calm,
        "flooded_p99_ms": flooded,
        "median_calm_ms": before,
        "median_flooded_ms": beside,
        "allowed_ms": round(max(2 * before, before + 20), 2),
        "ok": beside <= max(2 * before, before + 20),
    }


def main() -> None:
    """Measure and print, or be the one that floods."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--as", dest="table", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--address", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.table is not None:
        flood(a.address, a.folder, a.table)
    print(json.dumps(measure(a.turns, a.seconds, a.tables)))


if __name__ == "__main__":
    main()

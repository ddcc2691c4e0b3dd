"""One contestant with one number of tables, measured in a process of its own.

python -m benchmarks.link.contestant ours --tables 100
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.link.client import Client
from benchmarks.link.http_client import HttpClient
from benchmarks.link.mqtt_client import MqttClient
from benchmarks.link.ours import OurClient, draw_keys, load_keys

__all__ = ["NAMES", "measure"]

NAMES = ("station", "ours", "http", "mqtt")
PATIENCE_S = 120.0
_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_s(pids: list[int]) -> float:
    """Give the processor time that processes have used so far, seconds."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / _TICKS


def rss_mb(pids: list[int]) -> float:
    """Give the resident memory of processes, MB."""
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)


@contextlib.contextmanager
def serving(name: str, folder: Path) -> Iterator[tuple[str, list[int]]]:
    """Run a contestant's server; give its address and its process ids."""
    words = [sys.executable, "-m", "benchmarks.link.servers", name, str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            ready = json.loads(process.stdout.readline())
            yield ready["address"], [process.pid, *ready["pids"]]
        finally:
            process.terminate()
            process.wait(10)


def prepare(folder: Path, tables: int) -> None:
    """Write the keys and the allow-list of our link."""
    from station.link.keys import generate, write_allow_list

    generate(folder, "central")
    write_allow_list(folder / "tables.toml", draw_keys(folder / "keys", tables))


def client_of(name: str, tables: int, address: str, folder: Path) -> Client:
    """Give the client of a contestant."""
    if name in ("ours", "station"):
        return OurClient(tables, address, load_keys(folder / "keys"))
    return (HttpClient if name == "http" else MqttClient)(tables, address)


def measure(
    name: str, tables: int, *, pace_s: float, settle_s: float, full_s: float, catch_up: int = 0
) -> dict[str, Any]:
    """Measure: connecting, one event a second, window full; or with `catch_up` only that."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        prepare(folder, tables)
        with serving(name, folder) as (address, pids):
            client = client_of(name, tables, address, folder)
            figures: dict[str, Any] = {"contestant": name, "tables": tables}
            if catch_up:
                figures["catch_up"] = {
                    "events": catch_up * tables,
                    "seconds": round(client.catch_up(catch_up, PATIENCE_S), 2),
                }
            else:
                figures |= _phases(client, pids, pace_s=pace_s, settle_s=settle_s, full_s=full_s)
            figures["server_rss_mb"] = rss_mb(pids)
            client.close()
    return figures


def _phases(
    client: Client, pids: list[int], *, pace_s: float, settle_s: float, full_s: float
) -> dict[str, Any]:
    figures: dict[str, Any] = {"connected_s": round(client.connect_all(PATIENCE_S), 2)}
    for name, work in (
        ("paced", lambda: client.pace(pace_s, settle_s)),
        ("saturated", lambda: client.saturate(full_s, min(2.0, full_s / 2))),
    ):
        before, mine, began = cpu_s(pids), time.process_time(), time.perf_counter()
        figures[name] = work()
        took = time.perf_counter() - began
        figures[name]["server_cpu"] = round((cpu_s(pids) - before) / took, 2)
        figures[name]["client_cpu"] = round((time.process_time() - mine) / took, 2)
    return figures


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--pace", type=float, default=5.0, help="seconds with one event a second")
    parser.add_argument("--settle", type=float, default=2.0, help="seconds before they count")
    parser.add_argument("--full", type=float, default=4.0, help="seconds with full windows")
    parser.add_argument("--catch-up", type=int, default=0, help="only this: events of each table")
    a = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print(
        json.dumps(
            measure(a.name, a.tables, pace_s=a.pace, settle_s=a.settle, full_s=a.full, catch_up=a.catch_up)
        )
    )


if __name__ == "__main__":
    main()

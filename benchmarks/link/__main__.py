"""The link beside HTTP and MQTT: contestants take turns on this machine, every one in processes of its own.

    python -m benchmarks.link [--quick] [--tables 1,10,100,1000] [--json FILE]

station  the central station as it runs in a hall: link with CURVE, log, fold and pages
ours     its link and log alone, as the others have no fold and no pages either
http     HTTP POST for each event into FastAPI with uvicorn (one worker), one commit for each event
mqtt     QoS 1 through mosquitto, a consumer in Python commits what has come in and acknowledges it

All of them store the same chained event of 460 bytes and check its chain; SQLite with write-ahead log and
synchronous=FULL. An event counts as durable when its acknowledgement is back at the client. Our tables are
the real sender and connection over logs in memory: a thousand disks do not fit into one machine. The two
baselines have no encryption. One event a second: time counts from the moment the event was due. First turn:
connecting, one event a second for a minute beginning 10 s after the last connection, then full windows; two
more turns with full windows, of which the middle one counts. At last a cold start: every table brings 500
events that nobody has seen.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.link.contestant import NAMES

ROOT = Path(__file__).parents[2]
Figures = dict[str, Any]


def run(name: str, tables: int, *words: str) -> Figures:
    """Measure one contestant in a process of its own; give its figures, or what went wrong."""
    command = [sys.executable, "-m", "benchmarks.link.contestant", name, "--tables", str(tables), *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"contestant": name, "tables": tables, "failed": done.stderr.strip().splitlines()[-1]}
    figures: Figures = json.loads(done.stdout)
    return figures


def measure(tables: int, *, quick: bool) -> list[Figures]:
    """Let the contestants take turns with one number of tables."""
    first = ["--pace", "5", "--settle", "2", "--full", "3"] if quick else ["--pace", "60", "--settle", "10"]
    again = ["--pace", "0", "--settle", "0", *(["--full", "3"] if quick else [])]
    rows = {name: run(name, tables, *first, *([] if quick else ["--full", "8"])) for name in NAMES}
    others = [{name: run(name, tables, *again) for name in reversed(NAMES)} for _ in range(0 if quick else 2)]
    for name, row in rows.items():
        full = [turn["saturated"] for turn in (row, *(o[name] for o in others)) if "saturated" in turn]
        if full:
            row["saturated"]["turns"] = [turn["events_per_s"] for turn in full]
            row["saturated"]["events_per_s"] = round(
                statistics.median_low([turn["events_per_s"] for turn in full])
            )
    return list(rows.values())


def catch_ups(tables: int, events: int) -> list[Figures]:
    """Let our two contestants take in what was never seen."""
    return [run(name, tables, "--catch-up", str(events)) for name in NAMES[:2]]


def table_of(rows: list[Figures]) -> str:
    """Give the figures as a table of Markdown."""
    lines = [
        "| tables | contestant | durable events/s, windows full | 1 event/s: p50 / p99, ms | slowest, ms |"
        " connected, s | server: processors, full | server MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        if "failed" in row:
            lines.append(f"| {row['tables']} | {row['contestant']} | failed: {row['failed']} | | | | | |")
        elif "paced" in row:
            paced, full = row["paced"], row["saturated"]
            behind = f" ({paced['behind']} not yet)" if paced["behind"] > row["tables"] / 4 else ""
            lines.append(
                f"| {row['tables']} | {row['contestant']} | {full['events_per_s']:,} |"
                f" {paced['p50_ms']} / {paced['p99_ms']}{behind} | {paced['max_ms']} | {row['connected_s']} |"
                f" {full['server_cpu']} | {row['server_rss_mb']} |"
            )
    return "\n".join(lines)


def judge(rows: list[Figures]) -> str:
    """Give the aims beside what was reached."""
    by = {(row["contestant"], row["tables"]): row for row in rows if "paced" in row}
    late = {(row["contestant"], row["tables"]): row for row in rows if "catch_up" in row}
    lines = ["| aim | reached: station / link alone |", "|---|---|"]

    def line(aim: str, tables: int, figure: Any) -> None:
        pair = [figure(by[name, tables]) if (name, tables) in by else "–" for name in NAMES[:2]]
        lines.append(f"| {aim} | {' / '.join(str(value) for value in pair)} |")

    line("100 tables, 1 event/s: p99 ≤ 50 ms", 100, lambda row: row["paced"]["p99_ms"])
    line("1000 tables, 1 event/s: p99 ≤ 250 ms", 1000, lambda row: row["paced"]["p99_ms"])
    line("1000 tables connected: ≤ 15 s", 1000, lambda row: row["connected_s"])
    for tables in sorted({tables for _, tables in by}):
        slow = by.get(("http", tables))
        if slow:
            rate = slow["saturated"]["events_per_s"]
            line(
                f"{tables} tables, windows full: ≥ 20 times HTTP",
                tables,
                lambda row, rate=rate: round(row["saturated"]["events_per_s"] / rate, 1),
            )
    for (name, tables), row in late.items():
        caught = row["catch_up"]
        lines.append(
            f"| {tables} tables, {caught['events']:,} events never seen ({name}): ≤ 60 s |"
            f" {caught['seconds']} s |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, print the tables, and the figures as JSON last."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.link", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="short windows, one turn: for a look")
    parser.add_argument("--tables", default="1,10,100,1000")
    parser.add_argument("--json", type=Path, help="write the figures there instead of printing them")
    arguments = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    load = [os.getloadavg()[0]]
    rows: list[Figures] = []
    numbers = [int(number) for number in arguments.tables.split(",")]
    for tables in numbers:
        rows += measure(tables, quick=arguments.quick)
    rows += catch_ups(max(numbers), 100 if arguments.quick else 500)
    load.append(os.getloadavg()[0])
    print(table_of(rows), judge(rows), sep="\n\n")
    report = json.dumps({"quick": arguments.quick, "load": load, "rows": rows})
    if arguments.json:
        arguments.json.write_text(report)
    else:
        print(report)


if __name__ == "__main__":
    main()

"""JSON lines that a broken-off measurement goes on from, and a progress bar."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Record = dict[str, Any]


@dataclass
class Journal:
    """A file of JSON lines; its first line names what was measured, so that two runs never mix."""

    path: Path
    header: Record
    records: list[Record] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = self.path.read_text("utf-8").splitlines() if self.path.exists() else []
        if not lines:
            self.path.write_text(json.dumps(self.header) + "\n", "utf-8")
            return
        if json.loads(lines[0]) != json.loads(json.dumps(self.header)):
            raise SystemExit(
                f"{self.path} holds another measurement: name another --out, or remove the file."
            )
        whole = [line for line in lines[1:] if line.endswith("}")]
        if len(whole) < len(lines) - 1:  # the last line was cut off by a break
            self.path.write_text("\n".join([lines[0], *whole]) + "\n", "utf-8")
        self.records = [json.loads(line) for line in whole]

    def add(self, record: Record) -> None:
        """Append a record; it is on disk when this returns."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, separators=(",", ":")) + "\n")
        self.records.append(record)


def fill(
    journal: Journal,
    count: int,
    work: Callable[[int], Record],
    enough: Callable[[list[Record]], bool] | None = None,
) -> list[Record]:
    """Do the pieces of work that the journal lacks, in order; stop at ``count`` or when it is ``enough``."""
    for n in _progress(len(journal.records), count, journal.path.stem):
        if enough is not None and enough(journal.records):
            break
        journal.add({"n": n, **work(n)})
    return journal.records


def _progress(done: int, count: int, name: str) -> Iterator[int]:
    """Count from ``done`` to ``count`` and show how far it is, on stderr."""
    live = sys.stderr.isatty()
    began, last, every = time.monotonic(), 0.0, 1.0 if live else 60.0
    for n in range(done, count):
        yield n
        now = time.monotonic()
        if now - last > every or n + 1 == count:
            left = (now - began) / (n + 1 - done) * (count - n - 1)
            bar = "#" * round(24 * (n + 1) / count)
            text = f"{name} [{bar:24}] {n + 1}/{count}, {left / 60:.1f} min left"
            sys.stderr.write(f"\r{text} " if live and n + 1 < count else f"{text}\n")
            sys.stderr.flush()
            last = now

"""Times one contestant in a process of its own and prints one JSON object; standard library only."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

WARM_UP = 3


def contest(
    load: Callable[[], Callable[[Any], Sequence[str]]],
    open_picture: Callable[[Path], Any],
    folder: Path,
    passes: int,
) -> None:
    """Load a reader, then read every picture of ``folder`` ``passes`` times; truth is in ``truth.json``."""
    started = time.perf_counter()
    read = load()
    loaded = time.perf_counter() - started
    truth = json.loads((folder / "truth.json").read_text("utf-8"))
    pictures = [(open_picture(folder / name), kinds) for name, kinds in truth.items()]
    for picture, _ in pictures[:WARM_UP]:
        read(picture)
    times, exact = [], 0
    for turn in range(passes):
        for picture, kinds in pictures:
            began = time.perf_counter()
            seen = read(picture)
            times.append((time.perf_counter() - began) * 1000)
            exact += turn == 0 and sorted(seen) == sorted(kinds)
    times.sort()
    found = {
        "load_ms": round(loaded * 1000), "p50_ms": round(times[len(times) // 2], 1),
        "p99_ms": round(times[len(times) * 99 // 100], 1), "peak_mib": peak_mib(),
        "exact": exact, "of": len(pictures),
    }  # fmt: skip
    sys.stdout.write(json.dumps(found) + "\n")


def peak_mib() -> int:
    """Most memory this process held at once; what its parent held before it began does not count."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return round(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024)

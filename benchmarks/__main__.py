"""Runs every benchmark as a process of its own, one after the other, and prints what each one prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALL = {
    "win check beside the mahjong library": ["benchmarks/wincheck/bench.py"],
    "reading of rendered hands": ["-m", "benchmarks.reading", "--hands", "40", "--threads", "1"],
    "whole pipeline beside other detectors": ["-m", "benchmarks.pipeline"],
    "log and link": ["-m", "benchmarks.log"],
}


def main() -> int:
    """Run all; the status is 1 when one of them failed."""
    failed = 0
    for name, words in ALL.items():
        print(f"== {name}", flush=True)
        failed += subprocess.run([sys.executable, *words], cwd=ROOT, check=False).returncode != 0
    return int(failed > 0)


sys.exit(main())

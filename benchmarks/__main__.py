"""Runs every benchmark as a process of its own, one after the other, and prints what each one prints.

    python -m benchmarks [NAME ...]

Without names all of them, as `make bench` does. Most have options: `python -m benchmarks.log --help`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALL = {
    "wincheck": ("win check beside the mahjong library", ["benchmarks/wincheck/bench.py"]),
    "reading": (
        "reading of rendered hands",
        ["-m", "benchmarks.reading", "--hands", "40", "--threads", "1"],
    ),
    "fitness": ("frames refused and let through", ["-m", "benchmarks.fitness", "--scenes", "1"]),
    "pipeline": ("whole pipeline beside other detectors", ["-m", "benchmarks.pipeline"]),
    "log": ("log and link", ["-m", "benchmarks.log"]),
    "link": ("link beside HTTP and MQTT", ["-m", "benchmarks.link", "--quick"]),
    "evidence": ("events beside photos", ["-m", "benchmarks.evidence"]),
    "bridge": ("serial link beside Modbus RTU and bare lines", ["-m", "benchmarks.bridge"]),
}


def main() -> int:
    """Run those that are named; the status is 1 when one of them failed."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    what = "\n".join(f"{name}: {title}" for name, (title, _) in ALL.items())
    parser.add_argument("names", nargs="*", metavar="NAME", help=what)
    names = parser.parse_args().names
    if unknown := [name for name in names if name not in ALL]:
        parser.error(f"there is no benchmark {unknown[0]!r}: choose from {', '.join(ALL)}")
    failed = 0
    for name in names or ALL:
        title, words = ALL[name]
        print(f"== {title}", flush=True)
        failed += subprocess.run([sys.executable, *words], cwd=ROOT, check=False).returncode != 0
    return int(failed > 0)


sys.exit(main())

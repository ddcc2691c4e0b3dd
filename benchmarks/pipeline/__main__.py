"""The whole pipeline beside mahjong-detector and a nano-size graph, in one run, on the same pictures.

    python -m benchmarks.pipeline [--hands 20] [--rounds 3] [--float32 FOLDER]

Every contestant runs in a process of its own, rounds take turns, the middle round counts. Pictures: rendered
hands of 14 as the zone of a table, decoded beforehand. mahjong-detector holds code under the AGPL: it lives
in .bench/, a virtual environment of its own, and is no dependency of anything. Prints a markdown table.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnx

from benchmarks.pipeline import nano
from benchmarks.reading import random_hand
from vision.geometry import default_calibration
from vision.render import Scene, render

ROOT = Path(__file__).parents[2]
PEER = "mahjong-detector==0.0.6"
PEER_VENV = ROOT / ".bench" / "mahjong-detector"
THREADS = (1, 2)
FLOOR, TARGET = 2.0, 4.0
"""How many times faster than mahjong-detector the whole pipeline is to be."""
MODELS_FLOOR = 4_000_000
"""Bytes of the shipped networks."""


@dataclass(frozen=True)
class Contestant:
    """A name, the command that measures it, and why it cannot take part, if so."""

    name: str
    command: tuple[str, ...] = ()
    absent: str = ""


def draw_pictures(folder: Path, hands: int) -> None:
    """Write pictures of hands and ``truth.json``."""
    calibration, truth = default_calibration(), {}
    for n in range(hands):
        hand = random_hand(np.random.default_rng(n))
        frame = render(Scene(None, {n % 4: hand}, (17, 12, 9, 4), n), calibration, seed=n)
        name = f"{n:03}.png"
        cv2.imwrite(str(folder / name), calibration.rectify(frame, n % 4).image)
        truth[name] = list(hand.kinds)
    (folder / "truth.json").write_text(json.dumps(truth), "utf-8")


def peer() -> Contestant:
    """Install mahjong-detector into its own environment, unless it is there."""
    python = PEER_VENV / "bin" / "python"
    if not (PEER_VENV / ".installed").exists():
        steps = (
            [sys.executable, "-m", "venv", str(PEER_VENV)],
            [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PEER],
        )
        for step in steps:
            done = subprocess.run(step, capture_output=True, text=True, check=False)
            if done.returncode:
                reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
                return Contestant(PEER, absent=f"it could not be installed: {reason}")
        (PEER_VENV / ".installed").touch()
    return Contestant(PEER, (str(python), str(Path(__file__).with_name("peer.py"))))


def ours(name: str, models: Path, way: str) -> Contestant:
    """Our pipeline with the models of a folder, if they are there."""
    missing = [f for f in ("detector.onnx", "classifier.onnx") if not (models / f).exists()]
    if missing:
        return Contestant(name, absent=f"{models} has no {missing[0]}")
    return Contestant(
        name, (sys.executable, "-m", "benchmarks.pipeline.ours", "--models", str(models), "--way", way)
    )


def nano_graphs(folder: Path) -> list[Contestant]:
    """Build the graph and its quantised form."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    model, _ = nano.build()
    full, small = folder / "nano.onnx", folder / "nano-int8.onnx"
    onnx.save(model, str(full))

    class Random(CalibrationDataReader):  # type: ignore[misc]
        """Two pictures of noise: the weights mean nothing either."""

        def __init__(self) -> None:
            rng = np.random.default_rng(0)
            self.left = [{"image": rng.random((1, 3, nano.SIDE, nano.SIDE), np.float32)} for _ in range(2)]

        def get_next(self) -> dict[str, Any] | None:
            return self.left.pop() if self.left else None

    quantize_static(
        str(full), str(small), Random(), quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8, per_channel=True,
    )  # fmt: skip
    command = (sys.executable, "-m", "benchmarks.pipeline.nano", "--graph")
    return [
        Contestant("nano-size graph, fp32, network only", (*command, str(full))),
        Contestant("nano-size graph, int8, network only", (*command, str(small))),
    ]


def measure(one: Contestant, folder: Path, threads: int) -> dict[str, Any]:
    """Run a contestant once; raises SystemExit with its last words when it fails."""
    command = [*one.command, str(folder), "--threads", str(threads)]
    limits = {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | limits, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{one.name} failed: {(done.stderr.strip().splitlines() or ['no word'])[-1]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def middle(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the round whose median time lies in the middle; memory and load time likewise."""
    chosen = dict(sorted(rounds, key=lambda r: r["p50_ms"])[len(rounds) // 2])
    for key in ("load_ms", "peak_mib"):
        chosen[key] = sorted(r[key] for r in rounds)[len(rounds) // 2]
    return chosen


def table(contestants: list[Contestant], found: dict[tuple[str, int], dict[str, Any]]) -> str:
    """Return the figures as markdown, each beside mahjong-detector with as many threads."""
    lines = [
        "| what | threads | p50 / p99, ms | times as fast as the peer | load, ms | peak MiB | hands right |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in contestants:
        if one.absent:
            lines.append(f"| {one.name} | – | left out: {one.absent} | | | | |")
        for threads in THREADS:
            r, other = found.get((one.name, threads)), found.get((PEER, threads))
            if r is None:
                continue
            times = f"{other['p50_ms'] / r['p50_ms']:.1f}" if other else "–"
            right = "–" if "graph" in one.name else f"{r['exact']} of {r['of']}"
            lines.append(
                f"| {one.name} | {threads} | {r['p50_ms']} / {r['p99_ms']} | {times} | {r['load_ms']}"
                f" | {r['peak_mib']} | {right} |"
            )
    return "\n".join(lines)


def verdicts(found: dict[tuple[str, int], dict[str, Any]], shipped: str) -> list[str]:
    """Say whether the floors are met."""
    size = sum(file.stat().st_size for file in (ROOT / "vision" / "models").glob("*.onnx"))
    lines = [
        f"* shipped networks: {size / 1e6:.2f} MB, floor 4 MB: {'met' if size < MODELS_FLOOR else 'missed'}"
    ]
    for threads in THREADS:
        mine, other = found.get((shipped, threads)), found.get((PEER, threads))
        if mine and other:
            times = other["p50_ms"] / mine["p50_ms"]
            word = "missed" if times < FLOOR else "met" if times < TARGET else "met, and the target of 4 too"
            lines.append(f"* {shipped}, {threads} thread(s): {times:.1f} times as fast, floor 2: {word}")
    return lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hands", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--models", type=Path, default=ROOT / "vision" / "models")
    parser.add_argument("--float32", type=Path, default=ROOT / ".train" / "float32")
    a = parser.parse_args()
    shipped = "our pipeline, int8, as a table reads"
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        draw_pictures(folder, a.hands)
        contestants = [
            ours(shipped, a.models.resolve(), "table"),
            ours("our pipeline, fp32, as a table reads", a.float32.resolve(), "table"),
            ours("our pipeline, int8, at the peer's 640 pixels", a.models.resolve(), "plain"),
            ours("our pipeline, fp32, at the peer's 640 pixels", a.float32.resolve(), "plain"),
            peer(),
            *nano_graphs(folder),
        ]
        rounds: dict[tuple[str, int], list[dict[str, Any]]] = {}
        for _ in range(a.rounds):
            for threads in THREADS:
                for one in contestants:
                    if not one.absent:
                        rounds.setdefault((one.name, threads), []).append(measure(one, folder, threads))
    found = {key: middle(runs) for key, runs in rounds.items()}
    print(table(contestants, found))
    print()
    print("\n".join(verdicts(found, shipped)))


if __name__ == "__main__":
    main()

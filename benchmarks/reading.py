"""How long the reading of a hand takes, and how much of rendered hands is read right.

    python -m benchmarks.reading [--hands 40] [--threads 1] [--card FILE]

Prints one JSON object. Times are per hand of 14 tiles or more, from the frame to the reading: looking
at the zone straight on, detector, crops, classifier from two sides (four where unclear), arranging.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from vision.geometry import default_calibration
from vision.reading_service import read_zone
from vision.recognizer import Recognizer
from vision.render import LaidHand, Scene, render
from vision.render.atlas import KINDS

SUITED = KINDS[:34]


def random_hand(rng: np.random.Generator) -> LaidHand:
    """Fourteen concealed tiles without a fifth copy, the last one apart."""
    deck = [kind for kind in SUITED for _ in range(4)]
    rng.shuffle(deck)
    return LaidHand(concealed=tuple(deck[:13]), win=deck[13])


def measure(recognizer: Recognizer, hands: int, seed: int = 1) -> dict[str, Any]:
    """Render and read hands; returns figures ready for JSON."""
    rng = np.random.default_rng(seed)
    calibration = default_calibration()
    total, inner, rendering = [], [], []
    right = exact = accepted = wrong = 0
    for n in range(hands):
        hand, place = random_hand(rng), n % 4
        started = time.perf_counter()
        frame = render(Scene(None, {place: hand}, (17, 12, 9, 4), n), calibration, seed=n)
        rendered = time.perf_counter()
        reading = read_zone(recognizer, frame, calibration, place, expect=14)
        total.append((time.perf_counter() - rendered) * 1000)
        rendering.append((rendered - started) * 1000)
        inner.append(reading.ms)
        right += sum(a == b for a, b in zip(hand.kinds, reading.kinds, strict=False))
        exact += reading.kinds == hand.kinds
        accepted += reading.accept
        wrong += reading.accept and reading.kinds != hand.kinds
    return {
        "hands": hands,
        "hands_exact": exact,
        "tiles": 14 * hands,
        "tiles_right": right,
        "accepted": accepted,
        "accepted_wrong": wrong,
        "frame_to_reading_ms": _spread(total),
        "read_ms": _spread(inner),
        "render_ms": _spread(rendering),
    }


def _spread(values: list[float]) -> dict[str, float]:
    return {"p50": round(float(np.median(values)), 1), "p99": round(float(np.percentile(values, 99)), 1)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hands", type=int, default=40)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--card", type=Path)
    arguments = parser.parse_args()
    cv2.setNumThreads(arguments.threads)
    print(json.dumps(measure(Recognizer.load(arguments.card, arguments.threads), arguments.hands)))


if __name__ == "__main__":
    main()

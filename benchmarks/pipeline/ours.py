"""Our pipeline as a contestant: the whole reading, or the networks of another size where one is asked for."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import cv2

from benchmarks.pipeline.clock import contest
from vision.hand import HandShape
from vision.hand_reading import read_claimed
from vision.readings import Image
from vision.training.measure.models import load


def open_picture(path: Path) -> Image:
    """Decode a picture beforehand: decoding is nobody's pipeline."""
    image = cv2.imread(str(path))
    assert image is not None
    return image


def main() -> None:
    """Load and read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--passes", type=int, default=1)
    parser.add_argument("--way", choices=("table", "plain"), default="table")
    arguments = parser.parse_args()
    cv2.setNumThreads(arguments.threads)

    def prepared() -> Callable[[Image], Sequence[str]]:
        recognizer, shape = load(arguments.models, arguments.threads), HandShape(13, "CPKA")
        if arguments.way == "plain":
            return lambda image: recognizer.read(image).kinds
        return lambda image: read_claimed(recognizer, image, shape).reading.kinds

    contest(prepared, open_picture, arguments.folder, arguments.passes)


if __name__ == "__main__":
    main()

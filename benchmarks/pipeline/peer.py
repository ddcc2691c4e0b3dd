"""The package mahjong-detector as a contestant; runs in a virtual environment of its own.

PYTHON_OF_ITS_VENV benchmarks/pipeline/peer.py FOLDER --threads 1 --passes 1
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import mahjong_detector
import onnxruntime
from clock import contest
from PIL import Image

NAMES = {"tou": "1z", "nan": "2z", "sha": "3z", "pe": "4z", "haku": "5z", "hatsu": "6z", "chun": "7z"}


def main() -> None:
    """Load and read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--passes", type=int, default=1)
    arguments = parser.parse_args()

    inner = import_module("mahjong_detector.predict")  # the package hides it behind a function of that name

    def prepared() -> Callable[[Image.Image], Sequence[str]]:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = arguments.threads
        inner.threadlocal.session = onnxruntime.InferenceSession(str(inner.model_path), options)
        return lambda picture: [NAMES.get(name, name) for name in mahjong_detector.detect_tiles(picture)]

    contest(prepared, lambda path: Image.open(path).convert("RGB"), arguments.folder, arguments.passes)


if __name__ == "__main__":
    main()

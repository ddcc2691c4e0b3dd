"""Loads the recognizer of a folder: a card with its files, or float files under the shipped card."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from vision.model_card import DEFAULT_CARD
from vision.readings import Image
from vision.recognizer import Recognizer

T = TypeVar("T")
CARD = "recognizer.json"


def load(folder: Path, threads: int = 1, card: Path | None = None) -> Recognizer:
    """Load the models of a folder; where it has no card, ``card`` (the shipped one) names files and settings.

    Raises ModelError when files and card do not belong together, FileNotFoundError for a missing file.
    """
    if (folder / CARD).exists():
        return Recognizer.load(folder / CARD, threads)
    described = json.loads((card or DEFAULT_CARD).read_text("utf-8"))
    with tempfile.TemporaryDirectory() as made:
        for part in ("detector", "classifier"):
            file = folder / described[part]["file"]
            described[part]["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
            (Path(made) / file.name).symlink_to(file.resolve())
        described_at = Path(made) / CARD
        described_at.write_text(json.dumps(described), "utf-8")
        return Recognizer.load(described_at, threads)


def bytes_of(folder: Path) -> int:
    """Size of the ONNX files of a folder."""
    return sum(file.stat().st_size for file in folder.glob("*.onnx"))


@dataclass
class _Memo:
    """Remembers the last answers of a network: the same hand is read several times in different ways."""

    ask: Callable[[Image], Any]
    keep: int = 6
    seen: list[tuple[Image, Any]] = field(default_factory=list)

    def __call__(self, image: Image) -> Any:
        for asked, answer in self.seen:
            if asked.shape == image.shape and np.array_equal(asked, image):
                return answer
        answer = self.ask(image)
        self.seen = [(image.copy(), answer), *self.seen[: self.keep - 1]]
        return answer


def remembering(recognizer: Recognizer) -> Recognizer:
    """Return the same recognizer, which does not compute again what it was asked a moment ago."""
    return replace(recognizer, detect=_Memo(recognizer.detect), classify=_Memo(recognizer.classify))


def header(what: str, recognizer: Recognizer, whole: frozenset[str], **more: Any) -> dict[str, Any]:
    """First line of a journal: what was measured with which model."""
    model = dict(recognizer.card.sha256) if recognizer.card else {}
    return {"what": what, "model": model, "never seen": sorted(whole), **more}

"""Stand-ins for the networks: tiles are coloured rectangles, the colour says the kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from vision.decode import STRIDE
from vision.model_card import LABELS
from vision.readings import EMBEDDING, Floats, Image, Looks
from vision.recognizer import Recognizer

GROUND = 90


def colour_of(kind: str) -> tuple[int, int, int]:
    return 20 + 5 * LABELS.index(kind), 255, 0


def plain_looks(logits: Floats) -> Looks:
    """Wrap logits where embeddings do not matter."""
    return Looks(logits, np.zeros((len(logits), EMBEDDING), np.float32))


@dataclass
class Painting:
    """A picture with rectangles of known kinds, and the two networks that understand it."""

    size: tuple[int, int] = (640, 320)
    boxes: list[tuple[float, float, float, float]] = field(default_factory=list)
    heats: list[float] = field(default_factory=list)
    image: Image = field(init=False)
    crops_seen: int = 0
    unclear: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.image = np.full((self.size[1], self.size[0], 3), GROUND, np.uint8)

    def tile(self, kind: str, x: float, y: float, w: float = 30, h: float = 40, heat: float = 0.9) -> None:
        self.boxes.append((x, y, x + w, y + h))
        self.heats.append(heat)
        self.image[int(y) : int(y + h), int(x) : int(x + w)] = colour_of(kind)

    def row(self, kinds: Sequence[str], x: float, y: float, w: float = 30, h: float = 40) -> float:
        for kind in kinds:
            self.tile(kind, x, y, w, h)
            x += w
        return x

    def detect(self, canvas: Image) -> Floats:
        """Find the rectangles by their colours: works in any crop, scaled or not."""
        h, w = canvas.shape[0] // STRIDE, canvas.shape[1] // STRIDE
        maps = np.full((5, h, w), -6.0, np.float32)
        for (x0, y0, x1, y1), heat in self._visible(canvas):
            j, i = int((x0 + x1) / 2 // STRIDE), int((y0 + y1) / 2 // STRIDE)
            cx, cy = (j + 0.5) * STRIDE, (i + 0.5) * STRIDE
            if maps[0, i, j] > -5:
                continue
            maps[0, i, j] = np.log(heat / (1 - heat))
            reach = np.asarray([cx - x0, cy - y0, x1 - cx, y1 - cy]) / STRIDE
            maps[1:, i, j] = np.log(np.maximum(reach, 1e-3))
        return maps

    def _visible(self, canvas: Image) -> list[tuple[tuple[float, float, float, float], float]]:
        """Boxes in canvas pixels: the painting is found in the canvas by its scale (top left aligned)."""
        scale = self.scale or min(640 / max(self.size), 2.0)
        out = []
        for (x0, y0, x1, y1), heat in zip(self.boxes, self.heats, strict=True):
            box = (
                (x0 - self.origin[0]) * scale,
                (y0 - self.origin[1]) * scale,
                (x1 - self.origin[0]) * scale,
                (y1 - self.origin[1]) * scale,
            )
            middle = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
            if 0 <= middle[0] < canvas.shape[1] and 0 <= middle[1] < canvas.shape[0]:
                out.append((box, heat))
        return out

    scale: float | None = None
    origin: tuple[float, float] = (0.0, 0.0)

    def classify(self, crops: Image) -> Looks:
        self.crops_seen += len(crops)
        logits = np.zeros((len(crops), len(LABELS)), np.float32)
        for row, crop in zip(logits, crops, strict=True):
            middle = crop[24:40, 18:30].reshape(-1, 3).mean(axis=0)
            if middle[1] < 200:
                row[-1] = 20
            else:
                kind = round((float(middle[0]) - 20) / 5)
                row[kind] = 2.0 + np.log(len(LABELS)) if LABELS[kind] in self.unclear else 20
        return plain_looks(logits)

    def recognizer(self) -> Recognizer:
        return Recognizer(self.detect, self.classify)


@pytest.fixture
def paint() -> Callable[..., Painting]:
    return Painting

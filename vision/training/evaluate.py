"""Measures exported models on the held-out photographs: tiles right, photographs exact, by group.

The decoding here is plain and separate from the product's; the product's own reading is measured
by ``measure_product`` where ``vision.recognizer`` is at hand.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from vision.training.crops import plain_crop
from vision.training.dataset import LABELS, Boxes, Image, Photo, holdout_photos, photo_meta
from vision.training.split import session_of

LONG_SIDE, MULTIPLE, PAD, STRIDE = 640, 32, 114, 8
THRESHOLD, IOU, CENTRE = 0.35, 0.6, 0.4
MATCH_IOU = 0.4

Read = tuple[Boxes, NDArray[np.int64], NDArray[np.float32]]


def session(path: Path, threads: int = 2) -> ort.InferenceSession:
    """Open an ONNX model on the CPU without spinning threads."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def letterbox(image: Image) -> tuple[Image, float]:
    """Scale the long side to 640 and pad right and below to a multiple of 32; return the scale too."""
    h, w = image.shape[:2]
    scale = LONG_SIDE / max(h, w)
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    small = cv2.resize(image, (max(1, round(w * scale)), max(1, round(h * scale))), interpolation=how)
    height, width = (-(-n // MULTIPLE) * MULTIPLE for n in small.shape[:2])
    canvas = np.full((height, width, 3), PAD, np.uint8)
    canvas[: small.shape[0], : small.shape[1]] = small
    return canvas, scale


def _peaks(maps: NDArray[np.float32]) -> tuple[Boxes, NDArray[np.float32]]:
    heat = maps[0]
    grown = cv2.dilate(heat, np.ones((3, 3), np.uint8))
    rows, cols = np.nonzero((heat >= grown) & (heat > np.log(THRESHOLD / (1 - THRESHOLD))))
    left, top, right, bottom = np.exp(np.clip(maps[1:, rows, cols], -6, 6))
    x, y = cols + 0.5, rows + 0.5
    boxes = np.stack([x - left, y - top, x + right, y + bottom], 1) * STRIDE
    return boxes.astype(np.float32), (1 / (1 + np.exp(-heat[rows, cols]))).astype(np.float32)


def iou(a: Boxes, b: Boxes) -> NDArray[np.float32]:
    """Intersection over union of every box of ``a`` with every box of ``b``."""
    lo = np.maximum(a[:, None, :2], b[None, :, :2])
    hi = np.minimum(a[:, None, 2:], b[None, :, 2:])
    inter = np.prod(np.clip(hi - lo, 0, None), 2)
    area_a, area_b = (np.prod(k[:, 2:] - k[:, :2], 1) for k in (a, b))
    return np.asarray(inter / (area_a[:, None] + area_b[None] - inter), np.float32)


def detect(net: ort.InferenceSession, image: Image) -> tuple[Boxes, NDArray[np.float32]]:
    """Return boxes (n, 4) in pixels of the image and their scores."""
    canvas, scale = letterbox(image)
    boxes, scores = _peaks(net.run(["maps"], {"image": canvas[None]})[0][0])
    kept: list[int] = []
    for i in np.argsort(-scores):
        if not any(_same(boxes[i], boxes[j]) for j in kept):
            kept.append(int(i))
    return boxes[kept] / scale, scores[kept]


def _same(a: NDArray[np.float32], b: NDArray[np.float32]) -> bool:
    apart = np.hypot(*((a[:2] + a[2:] - b[:2] - b[2:]) / 2))
    least = min(*(a[2:] - a[:2]), *(b[2:] - b[:2]))
    return bool(apart < CENTRE * least or iou(a[None], b[None])[0, 0] > IOU)


def softmax(logits: NDArray[np.float32], temperature: float) -> NDArray[np.float32]:
    """Return probabilities of logits at a temperature."""
    z = logits / temperature
    e = np.exp(z - z.max(-1, keepdims=True))
    return np.asarray(e / e.sum(-1, keepdims=True), np.float32)


def classify(
    net: ort.InferenceSession, image: Image, boxes: Boxes, temperature: float, turns: Sequence[int] = (0, 2)
) -> NDArray[np.float32]:
    """Return probabilities (n, 44), averaged over quarter turns of every crop."""
    crops = [plain_crop(image, box, turn) for turn in turns for box in boxes]
    logits = net.run(["logits"], {"crops": np.stack(crops)})[0]
    return np.asarray(softmax(logits, temperature).reshape(len(turns), len(boxes), -1).mean(0), np.float32)


def region_of(photo: Photo, image: Image) -> tuple[int, int, int, int]:
    """Labels' bounding box grown by half a tile, within the image."""
    half = np.median(photo.boxes[:, 2:] - photo.boxes[:, :2], 0) / 2
    lo = np.floor(photo.boxes[:, :2].min(0) - half).astype(int)
    hi = np.ceil(photo.boxes[:, 2:].max(0) + half).astype(int)
    h, w = image.shape[:2]
    return max(0, int(lo[0])), max(0, int(lo[1])), min(w, int(hi[0])), min(h, int(hi[1]))


@dataclass
class Tally:
    """Counts over photographs: tiles right of all, photographs exact, false boxes, confusions."""

    photos: int = 0
    exact: int = 0
    tiles: int = 0
    right: int = 0
    found: int = 0
    extra: int = 0
    confusions: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, photo: Photo, boxes: Boxes, kinds: Sequence[str]) -> None:
        """Match read tiles to labels by overlap, each at most once."""
        pairs = iou(photo.boxes, boxes) if len(boxes) else np.zeros((len(photo.boxes), 0), np.float32)
        used: set[int] = set()
        right = found = 0
        for i, row in enumerate(pairs):
            j = int(row.argmax()) if row.size else -1
            if j < 0 or row[j] < MATCH_IOU or j in used:
                continue
            used.add(j)
            found += 1
            true = LABELS[photo.kinds[i]]
            right += kinds[j] == true
            if kinds[j] != true:
                self.confusions[f"{true} read as {kinds[j]}"] += 1
        n = len(photo.boxes)
        self.photos += 1
        self.tiles += n
        self.right += right
        self.found += found
        self.extra += len(boxes) - len(used)
        exact = right == n and len(boxes) == n
        self.exact += exact
        if not exact:
            self.wrong.append(f"{photo.name}: {right}/{n} right, {len(boxes)} read")

    def summary(self) -> dict[str, Any]:
        """Return figures for the card."""
        return {
            "photos": self.photos,
            "photos_exact": self.exact,
            "tiles": self.tiles,
            "tiles_right": self.right,
            "tiles_found": self.found,
            "false_boxes": self.extra,
        }


def _groups(photo: Photo) -> list[str]:
    names = ["all", photo.source]
    own = session_of(photo)
    names += [own.name] if own else []
    if photo_meta(photo)["single_row"] and len(photo.kinds) >= 13:
        names.append("rows of 13 and more")
    return names


def tally(
    photos: Sequence[Photo], read: Callable[[Photo, Image], tuple[Boxes, Sequence[str]]]
) -> dict[str, Tally]:
    """Read every photograph and count, by group."""
    tallies: dict[str, Tally] = {}
    for photo in photos:
        boxes, kinds = read(photo, photo.read())
        for name in _groups(photo):
            tallies.setdefault(name, Tally()).add(photo, boxes, kinds)
    return tallies


def model_reader(
    detector: Path, classifier: Path, temperature: float, turns: Sequence[int] = (0, 2)
) -> Callable[[Photo, Image], tuple[Boxes, Sequence[str]]]:
    """Return a reader that gives the region and knows nothing else."""
    eye, judge = session(detector), session(classifier)

    def read(photo: Photo, image: Image) -> tuple[Boxes, Sequence[str]]:
        x0, y0, x1, y1 = region_of(photo, image)
        piece = image[y0:y1, x0:x1]
        boxes, _ = detect(eye, piece)
        if not len(boxes):
            return boxes, []
        best = classify(judge, piece, boxes, temperature, turns).argmax(1)
        keep = best != LABELS.index("other")
        moved = boxes[keep] + np.array([x0, y0, x0, y0], np.float32)
        return moved, [LABELS[k] for k in best[keep]]

    return read


def product_reader(card: Path) -> Callable[[Photo, Image], tuple[Boxes, Sequence[str]]]:
    """Return a reader that asks ``vision.recognizer``, given the region."""
    from vision.recognizer import Recognizer

    recognizer = Recognizer.load(card)

    def read(photo: Photo, image: Image) -> tuple[Boxes, Sequence[str]]:
        reading = recognizer.read(image, region_of(photo, image))
        boxes = np.array([t.box for t in reading.tiles], np.float32).reshape(-1, 4)
        return boxes, [t.kind for t in reading.tiles]

    return read


def report(tallies: dict[str, Tally]) -> str:
    """Return a table of the figures, then the photographs that were not exact."""
    lines = [f"{'group':24} photos exact   tiles right        found  false"]
    for name, t in tallies.items():
        lines.append(
            f"{name:24} {t.exact:3d} of {t.photos:3d}   {t.right:4d} of {t.tiles:4d} {t.right / t.tiles:6.1%}"
            f"   {t.found:4d}   {t.extra:3d}"
        )
    lines += ["", *tallies["all"].wrong]
    lines += [f"{what} x {n}" for what, n in tallies["all"].confusions.most_common()]
    return "\n".join(lines)


def main(models: Path, float32: Path | None, disagreements: bool) -> None:
    """Print the figures of the shipped models, of float models where named, and of the product."""
    card = json.loads((models / "recognizer.json").read_text())
    photos = holdout_photos()
    folder = float32 or models
    names = [card["detector"]["file"], card["classifier"]["file"]]
    reader = model_reader(folder / names[0], folder / names[1], card["temperature"])
    print(report(tally(photos, reader)))  # noqa: T201
    if float32 is None:
        try:
            reader = product_reader(models / "recognizer.json")
        except ImportError as error:
            print(f"\nThe product's reading is not at hand: {error}")  # noqa: T201
        else:
            print("\nThe product's own reading:\n" + report(tally(photos, reader)))  # noqa: T201
    if disagreements:
        from vision.training.doubts import list_doubts

        print("\n".join(list_doubts(folder / names[1], card["temperature"])))  # noqa: T201

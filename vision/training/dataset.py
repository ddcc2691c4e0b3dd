"""Reads the photograph sources: YOLO labels and their corrections, single-tile crops, and the split."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
Boxes = NDArray[np.float32]

PHOTO_SOURCES = ("rf_table", "rf_tray", "rf_train_aug")
CROP_SOURCES = ("crops_camerash", "crops_justinchan")
CORRECTIONS_FILE = Path(__file__).with_name("corrections.json")
HOLDOUT_FILE = Path(__file__).parents[2] / "tests" / "real" / "holdout.txt"

LABELS: tuple[str, ...] = (
    *(f"{n}{suit}" for suit in "mps" for n in range(1, 10)),
    *(f"{n}z" for n in range(1, 8)),
    *(f"{n}f" for n in range(1, 9)),
    "back",
    "other",
)
BACK = LABELS.index("back")
OTHER = LABELS.index("other")


def data_root() -> Path:
    """Folder that holds the photograph sources (``QUEZHUO_TILES``, else beside the checkout)."""
    named = os.environ.get("QUEZHUO_TILES")
    return Path(named) if named else Path(__file__).parents[3] / "shared" / "data" / "tiles"


@dataclass(frozen=True)
class Photo:
    """One labelled photograph.

    ``boxes`` (n, 4) are (x0, y0, x1, y1) in pixels, ``kinds`` (n,) label numbers; ``unclear`` (m, 4) are
    boxes that show a part of a tile only: neither a tile to find nor bare table.
    """

    source: str
    name: str
    path: Path
    boxes: Boxes
    kinds: NDArray[np.int64]
    unclear: Boxes = field(default_factory=lambda: np.zeros((0, 4), np.float32))

    @property
    def key(self) -> str:
        """``source/name``, as written in the hold-out list."""
        return f"{self.source}/{self.name}"

    @property
    def counts(self) -> Counter[str]:
        """How many tiles of each kind are labelled."""
        return Counter(LABELS[k] for k in self.kinds)

    def read(self) -> Image:
        """Decode the photograph, uint8 (H, W, 3) BGR."""
        return read_image(self.path)


def read_image(path: Path) -> Image:
    """Decode an image file as uint8 (H, W, 3) BGR; raise ``FileNotFoundError`` where it is missing."""
    image = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if image is None:
        raise FileNotFoundError(f"Cannot read the image {path}; check the data folder.")
    return np.asarray(image, np.uint8)


@cache
def _meta(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "meta.json").read_text())
    return loaded


def photo_meta(photo: Photo) -> dict[str, Any]:
    """Facts kept beside the labels: ``n``, ``single_row``, ``sequence``, ``size`` (w, h)."""
    found: dict[str, Any] = _meta(photo.path.parents[1])[photo.name]
    return found


@cache
def _corrections() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(CORRECTIONS_FILE.read_text("utf-8"))
    return loaded


def correct(key: str, boxes: Boxes, kinds: NDArray[np.int64]) -> tuple[Boxes, NDArray[np.int64], Boxes]:
    """Apply the listed corrections to the labels of a photograph; return boxes, kinds and unclear boxes.

    Raises ValueError where a correction does not meet its label: the data are others than it was made for.
    """
    kinds, clear = kinds.copy(), np.ones(len(kinds), bool)
    for entry in _corrections()["photos"].get(key, ()):
        near = np.abs(boxes - np.array(entry["box"], np.float32)).max(1) < 1
        hit = np.flatnonzero(near & (kinds == LABELS.index(entry["label"])))
        if len(hit) != 1:
            raise ValueError(
                f"{key} has no single {entry['label']} at {entry['box']}: check the data folder."
            )
        if entry["is"] is None:
            clear[hit] = False
        else:
            kinds[hit] = LABELS.index(entry["is"])
    return boxes[clear], kinds[clear], boxes[~clear]


def load_photos(source: str, root: Path | None = None) -> list[Photo]:
    """Load the corrected labels of every photograph of a source, sorted by name."""
    folder = (root or data_root()) / source
    meta = _meta(folder)
    photos = []
    for path in sorted((folder / "images").glob("*.jpg")):
        w, h = meta[path.name]["size"]
        rows = np.loadtxt(folder / "labels" / f"{path.stem}.txt", ndmin=2, dtype=np.float32).reshape(-1, 5)
        centre, half = rows[:, 1:3], rows[:, 3:5] / 2
        boxes = np.concatenate([centre - half, centre + half], 1) * np.array([w, h, w, h], np.float32)
        named = correct(f"{source}/{path.name}", boxes.astype(np.float32), rows[:, 0].astype(np.int64))
        photos.append(Photo(source, path.name, path, *named))
    return photos


def load_crops(source: str, root: Path | None = None) -> list[tuple[Path, int]]:
    """List the single-tile photographs of a source as (path, corrected label number), sorted."""
    folder = (root or data_root()) / source / "crops"
    other = _corrections()["crops"]
    listed = []
    for path in sorted(folder.glob("*/*.jpg")):
        label = path.parent.name
        listed.append((path, LABELS.index(other.get(f"{source}/{label}/{path.name}", label))))
    return listed


@dataclass(frozen=True)
class Holdout:
    """Names never fitted to.

    ``held`` are the final evaluation, ``validation`` choose temperature and thresholds, ``excluded`` copy or
    neighbour one of them. Photographs by ``source/name``, crops by ``source/kind/name``.
    """

    held: frozenset[str]
    validation: frozenset[str]
    excluded: frozenset[str]

    def allows(self, key: str) -> bool:
        """Whether a photograph or crop may be trained on."""
        return key not in self.held and key not in self.validation and key not in self.excluded


def load_holdout(path: Path = HOLDOUT_FILE) -> Holdout:
    """Read the split; lines that begin with ``#`` are comments, a word before a key says what it is for."""
    found: dict[str, set[str]] = {"hold": set(), "validate": set(), "exclude": set()}
    for line in path.read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            found[words[0] if len(words) > 1 else "hold"].add(words[-1])
    return Holdout(*(frozenset(found[use]) for use in ("hold", "validate", "exclude")))


def crop_key(path: Path) -> str:
    """``source/kind/name`` of a single-tile photograph, as written in the split."""
    return f"{path.parents[2].name}/{path.parent.name}/{path.name}"


def _photos(root: Path | None) -> list[Photo]:
    return [p for source in PHOTO_SOURCES for p in load_photos(source, root)]


def _crops(root: Path | None) -> list[tuple[Path, int]]:
    return [entry for source in CROP_SOURCES for entry in load_crops(source, root)]


def training_photos(root: Path | None = None, split: Path = HOLDOUT_FILE) -> list[Photo]:
    """Every photograph that may be trained on, from all three sources."""
    barred = load_holdout(split)
    return [p for p in _photos(root) if barred.allows(p.key)]


def training_crops(root: Path | None = None, split: Path = HOLDOUT_FILE) -> list[tuple[Path, int]]:
    """Every single-tile photograph that may be trained on."""
    barred = load_holdout(split)
    return [entry for entry in _crops(root) if barred.allows(crop_key(entry[0]))]


def validation_photos(root: Path | None = None, split: Path = HOLDOUT_FILE) -> list[Photo]:
    """Photographs that choose the temperature and thresholds, from all three sources."""
    chosen = load_holdout(split).validation
    return [p for p in _photos(root) if p.key in chosen]


def validation_crops(root: Path | None = None, split: Path = HOLDOUT_FILE) -> list[tuple[Path, int]]:
    """Single-tile photographs of the tile set kept for validation."""
    chosen = load_holdout(split).validation
    return [entry for entry in _crops(root) if crop_key(entry[0]) in chosen]


def holdout_photos(root: Path | None = None, split: Path = HOLDOUT_FILE) -> list[Photo]:
    """The held-out photographs of ``rf_table``, sorted by name."""
    held = load_holdout(split).held
    return [p for p in load_photos("rf_table", root) if p.key in held]

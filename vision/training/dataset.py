"""Reads the photograph sources: YOLO labels, single-tile crops, and the hold-out list."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass
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
    """One labelled photograph: ``boxes`` are (x0, y0, x1, y1) in pixels, ``kinds`` are label numbers."""

    source: str
    name: str
    path: Path
    boxes: Boxes
    kinds: NDArray[np.int64]

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


def load_photos(source: str, root: Path | None = None) -> list[Photo]:
    """Load the labels of every photograph of a source, sorted by name."""
    folder = (root or data_root()) / source
    meta = _meta(folder)
    photos = []
    for path in sorted((folder / "images").glob("*.jpg")):
        w, h = meta[path.name]["size"]
        rows = np.loadtxt(folder / "labels" / f"{path.stem}.txt", ndmin=2, dtype=np.float32).reshape(-1, 5)
        centre, half = rows[:, 1:3], rows[:, 3:5] / 2
        boxes = np.concatenate([centre - half, centre + half], 1) * np.array([w, h, w, h], np.float32)
        photos.append(Photo(source, path.name, path, boxes.astype(np.float32), rows[:, 0].astype(np.int64)))
    return photos


def load_crops(source: str, root: Path | None = None) -> list[tuple[Path, int]]:
    """List the single-tile photographs of a source as (path, label number), sorted."""
    folder = (root or data_root()) / source / "crops"
    return [(path, LABELS.index(path.parent.name)) for path in sorted(folder.glob("*/*.jpg"))]


@dataclass(frozen=True)
class Holdout:
    """Names never trained on: ``held`` are evaluated on, ``excluded`` copy or neighbour a held one."""

    held: frozenset[str]
    excluded: frozenset[str]

    def allows(self, photo: Photo) -> bool:
        """Whether the photograph may be trained on."""
        return photo.key not in self.held and photo.key not in self.excluded


def load_holdout(path: Path = HOLDOUT_FILE) -> Holdout:
    """Read the hold-out list; lines that begin with ``#`` are comments."""
    held, excluded = set(), set()
    for line in path.read_text().splitlines():
        text = line.split("#")[0].strip()
        if text.startswith("exclude "):
            excluded.add(text.removeprefix("exclude ").strip())
        elif text:
            held.add(text)
    return Holdout(frozenset(held), frozenset(excluded))


def training_photos(root: Path | None = None, holdout: Path = HOLDOUT_FILE) -> list[Photo]:
    """Every photograph that may be trained on, from all three sources."""
    barred = load_holdout(holdout)
    return [p for source in PHOTO_SOURCES for p in load_photos(source, root) if barred.allows(p)]


def holdout_photos(root: Path | None = None, holdout: Path = HOLDOUT_FILE) -> list[Photo]:
    """The held-out photographs of ``rf_table``, sorted by name."""
    held = load_holdout(holdout).held
    return [p for p in load_photos("rf_table", root) if p.key in held]

"""What a model never saw: held-out and validation photographs, and every source left out of its training."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vision.training.dataset import (
    CROP_SOURCES,
    PHOTO_SOURCES,
    Photo,
    crop_key,
    holdout_photos,
    load_crops,
    load_photos,
    validation_crops,
    validation_photos,
)

Crop = tuple[Path, int]


@dataclass(frozen=True)
class Unseen:
    """Photographs and single-tile crops (by source) that a model was not trained on.

    ``whole``: sources of which it saw nothing at all, as the model card says or the caller.
    """

    photos: Sequence[Photo]
    crops: Mapping[str, Sequence[Crop]]
    whole: frozenset[str] = frozenset()


def left_out(models: Path) -> frozenset[str]:
    """Sources that the model card in a folder says were left out of the training (``"without": [...]``).

    None for a folder without a card, as float files have: name them on the command line.
    """
    card = models / "recognizer.json"
    if not card.exists():
        return frozenset()
    return frozenset(json.loads(card.read_text("utf-8")).get("without", ()))


def find_unseen(whole: frozenset[str] = frozenset(), root: Path | None = None) -> Unseen:
    """Collect what a model never saw: held-out, validation, ``whole`` sources left out of its training."""
    photos = {p.key: p for p in (*holdout_photos(root), *validation_photos(root))}
    photos |= {p.key: p for source in PHOTO_SOURCES if source in whole for p in load_photos(source, root)}
    crops = {crop_key(c[0]): c for c in validation_crops(root)}
    crops |= {
        crop_key(c[0]): c for source in CROP_SOURCES if source in whole for c in load_crops(source, root)
    }
    by_source = {s: [c for key, c in sorted(crops.items()) if key.startswith(f"{s}/")] for s in CROP_SOURCES}
    return Unseen(
        [photos[key] for key in sorted(photos)], {s: found for s, found in by_source.items() if found}, whole
    )

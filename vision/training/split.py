"""Makes the hold-out list: whole shooting sessions, with every copy of a held-out photograph barred.

A session is named by file names (photographs of one sitting), looked up by eye once and written
down below. What a name does not show is found by two measures against every held-out photograph:
the DCT hash (64 bits, eight orientations) and the same multiset of tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import cv2
import numpy as np

from vision.training.dataset import PHOTO_SOURCES, Image, Photo, crop_key, load_crops, load_photos

NEAR_BITS = 8
SAME_HAND_TILES = 12


@dataclass(frozen=True)
class Session:
    """File-name patterns of one sitting: held out in ``rf_table``, left out of training elsewhere."""

    name: str
    why: str
    table: tuple[str, ...]
    elsewhere: tuple[str, ...] = ()


SESSIONS: tuple[Session, ...] = (
    Session(
        "desk",
        "rows and blocks on a wooden desk; hand-002 is a standard winning hand of 14 in one row",
        ("hand-001-*", "hand-002-*", "hand-013-*", "hand-014-*"),
        ("hand-023-*",),
    ),
    Session(
        "rail",
        "rows against the light wooden rail of one table, floor in view, camera at one place",
        ("379*", "381*", "382[0-5]*", "384*", "hand-01[5-9]-*", "hand-020-*"),
        (
            "hand-04[4-7]-*",
            "hand-09[2-9]-*",
            "hand-10[01]-*",
            "hand-11[0-7]-*",
            "hand-12[4-9]-*",
            "hand-13*",
            "hand-14[0-4]-*",
            "hand-169-*",
            "hand-17*",
        ),
    ),
    Session(
        "white-tray",
        "finished hands on a dark green table with a white tray and blue-backed tiles",
        ("385360810-*", "382645002-*", "387*"),
        ("387*", "hand-030-*", "hand-032-*", "hand-07[01]-*", "hand-14[5-9]-*", "hand-15*", "hand-16[0-8]-*"),
    ),
)

VALIDATION = {
    "rf_train_aug": ("421*", "396[0-2]*"),
    "rf_tray": ("IMG-20231224-*",),
}
"""Sessions kept for validation, by source and file name."""
VALIDATION_CROPS = range(504, 547)
"""Numbers of crops_camerash that show one whole set, which no other photograph shows."""


def dct_hash(image: Image) -> int:
    """Return a 64-bit perceptual hash: signs of the lowest 8x8 DCT terms around their median."""
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    small = cv2.resize(grey, (32, 32), interpolation=cv2.INTER_AREA).astype(np.float32)
    low = cv2.dct(small)[:8, :8].ravel()
    bits = low > np.median(low)
    return int("".join("1" if bit else "0" for bit in bits), 2)


def orientations(image: Image) -> list[Image]:
    """Return the eight quarter turns and mirrors of an image."""
    turns = [np.rot90(image, k) for k in range(4)]
    return [np.ascontiguousarray(t) for turn in turns for t in (turn, turn[:, ::-1])]


def distance(hashes: Iterable[int], others: Iterable[int]) -> int:
    """Return the least Hamming distance between two sets of hashes."""
    seen = list(others)
    return min((a ^ b).bit_count() for a in hashes for b in seen)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def session_of(photo: Photo) -> Session | None:
    """Return the held-out session that a photograph belongs to by its name, else None."""
    for session in SESSIONS:
        patterns = session.table if photo.source == "rf_table" else session.elsewhere
        if photo.source != "rf_tray" and _matches(photo.name, patterns):
            return session
    return None


def near_copies(photos: Sequence[Photo], held: Sequence[Photo]) -> dict[str, str]:
    """Map ``source/name`` of every photograph outside ``held`` that copies one in it to the reason."""
    held_keys = {p.key for p in held}
    hashes = {p.key: [dct_hash(i) for i in orientations(p.read())] for p in held}
    hands = {tuple(sorted(p.counts.items())): p.key for p in held if len(p.kinds) >= SAME_HAND_TILES}
    found: dict[str, str] = {}
    for photo in photos:
        if photo.key in held_keys:
            continue
        mine = [dct_hash(photo.read())]
        nearest = min(hashes, key=lambda key: distance(mine, hashes[key]))
        bits = distance(mine, hashes[nearest])
        hand = hands.get(tuple(sorted(photo.counts.items())))
        if bits <= NEAR_BITS:
            found[photo.key] = f"{bits} bits from {nearest}"
        elif hand is not None:
            found[photo.key] = f"same tiles as {hand}"
    return found


def is_validation(photo: Photo) -> bool:
    """Whether a photograph is kept for validation by its name (shooting sessions, looked up by eye)."""
    return any(photo.source == source and _matches(photo.name, names) for source, names in VALIDATION.items())


def is_validation_neighbour(photo: Photo) -> bool:
    """Whether a photograph belongs to a validation session but to another source: used by nobody."""
    return photo.source == "rf_train_aug" and _matches(photo.name, VALIDATION["rf_tray"])


def is_validation_crop(path: Path) -> bool:
    """Whether a single-tile photograph shows the tile set kept for validation."""
    return path.parents[2].name == "crops_camerash" and int(path.stem) in VALIDATION_CROPS


def make_split(root: Path | None = None) -> str:
    """Return the text of the split; the same photographs always give the same text."""
    photos = [p for source in PHOTO_SOURCES for p in load_photos(source, root)]
    held = [p for p in photos if p.source == "rf_table" and session_of(p)]
    copies = near_copies(photos, held)
    late = [p for p in photos if p.source == "rf_table" and p.key in copies]
    held += late
    copies |= near_copies(photos, held) if late else {}
    table = sum(p.source == "rf_table" for p in photos)
    lines = [
        "# Photographs never trained on, made by `python -m vision.training split`.",
        f"# {len(held)} of {table} photographs of rf_table are held out, by shooting session.",
        "# `validate` chooses temperature and thresholds.",
        "# `exclude` bars copies and neighbours in other sources: trained on by nobody, evaluated by nobody.",
    ]
    for session in SESSIONS:
        lines += ["", f"# session {session.name}: {session.why}"]
        lines += [p.key for p in held if session_of(p) is session]
        lines += [f"exclude {p.key}" for p in photos if p.source != "rf_table" and session_of(p) is session]
    lines += ["", "# found by hash or by the same tiles"]
    lines += [f"{p.key}  # {copies[p.key]}" for p in late]
    barred = {p.key for p in photos if p.source != "rf_table" and session_of(p)} | {p.key for p in held}
    lines += _excluded(copies, barred)
    barred |= set(copies)
    return "\n".join(lines + _validation(photos, barred, root)) + "\n"


def _excluded(copies: Mapping[str, str], barred: set[str]) -> list[str]:
    return [f"exclude {key}  # {why}" for key, why in sorted(copies.items()) if key not in barred]


def _validation(photos: Sequence[Photo], barred: set[str], root: Path | None) -> list[str]:
    """Lines of the validation photographs and crops, and of what copies or neighbours them."""
    chosen = [p for p in photos if is_validation(p) and p.key not in barred]
    barred = barred | {p.key for p in chosen}
    beside = [p for p in photos if is_validation_neighbour(p) and p.key not in barred]
    barred |= {p.key for p in beside}
    free = [p for p in photos if p.key not in barred]
    lines = ["", "# validation photographs: other sessions and sets"]
    lines += [f"validate {p.key}" for p in chosen]
    lines += [f"exclude {p.key}" for p in beside]
    lines += _excluded(near_copies(free, chosen), barred)
    crops = [path for path, _ in load_crops("crops_camerash", root) if is_validation_crop(path)]
    lines += ["", "# validation crops: one whole tile set, printed in pale blue"]
    return lines + [f"validate {crop_key(path)}" for path in crops]

"""Measures enrolment on photographs of real sets: the gain, the guard, wrong captures, two sets, strangers.

Labelled boxes are given, so that only the classifier is judged. Tiles of one sitting are of one physical set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

from vision.enroll.guard import enrol, judged, stacked
from vision.enroll.shots import Shot, look_of
from vision.enroll.tileset import Provenance, TileSet
from vision.enroll.which import Rivals
from vision.errors import TileSetError
from vision.imaging import tile_crops
from vision.model_card import LABELS
from vision.readings import Image
from vision.recognizer import Recognizer
from vision.training.augment import photometric_crop
from vision.training.dataset import Photo, load_photos
from vision.training.pen import Rng
from vision.training.split import session_of

__all__ = ["measure"]

PLAIN = (
    "370171060-*", "370216415-*", "370263729-*", "370280965-*", "394497921-*", "395465303-*", "395566136-*",
    "395575430-*", "395718530-*", "395794810-*", "395794817-*", "395886722-*", "395983550-*", "395988950-*",
    "396028670-*", "396115401-*", "396164581-*", "396392171-*", "396606550-*", "hand-00[3-9]-*",
    "hand-010-*", "lt-*",
)  # fmt: skip
"""Photographs of rf_table that show tiles without corner indices, by eye; all others there have them."""
SETS = ("rail", "white-tray", "desk", "plain", "tray")
PAIRS = (
    ("rail", "tray"), ("plain", "tray"), ("white-tray", "tray"), ("rail", "plain"),
    ("rail", "white-tray"), ("rail", "desk"),
)  # fmt: skip
"""Sets of different designs, then of one design."""
EVERY_TRAY = 4
HAND = 14

Sets = dict[str, list[Shot]]


def _set_of(photo: Photo) -> str:
    if photo.source == "rf_tray":
        return "tray"
    session = session_of(photo)
    plain = any(fnmatch(photo.name, pattern) for pattern in PLAIN)
    return session.name if session else "plain" if plain else "indexed"


def _shots(recognizer: Recognizer, photo: Photo, spoil: Rng | None) -> list[Shot]:
    crops = tile_crops(photo.read(), photo.boxes)
    if spoil is not None:
        crops = np.stack([photometric_crop(spoil, crop) for crop in crops])
    looks = recognizer.classify(_both(crops))
    n = len(crops)
    kinds = [LABELS[kind] for kind in photo.kinds]
    return [
        Shot(
            kind, photo.name, looks.logits[[i, n + i]], looks.embeddings[[i, n + i]], look_of(crops[i], kind)
        )
        for i, kind in enumerate(kinds)
    ]


def _both(crops: Image) -> Image:
    return np.ascontiguousarray(np.concatenate([crops, crops[:, ::-1, ::-1]]))


def load_sets(recognizer: Recognizer, *, spoil: bool, root: Path | None = None) -> Sets:
    """Shots of every labelled tile, by physical set; ``spoil``: in bad light, blurred, noisy."""
    rng = np.random.default_rng(5) if spoil else None
    photos = load_photos("rf_table", root) + load_photos("rf_tray", root)[::EVERY_TRAY]
    sets: Sets = {}
    for photo in photos:
        name = _set_of(photo)
        if name in SETS:
            sets.setdefault(name, []).extend(_shots(recognizer, photo, rng))
    return sets


def _halves(rng: Rng, shots: Sequence[Shot]) -> tuple[list[Shot], list[Shot]]:
    """Split by picture: half to enrol from, half to read."""
    names = sorted({shot.picture for shot in shots})
    chosen = {names[int(i)] for i in rng.permutation(len(names))[: len(names) // 2]}
    return [s for s in shots if s.picture in chosen], [s for s in shots if s.picture not in chosen]


def _shifted(shots: Sequence[Shot]) -> list[Shot]:
    """Label the tiles of every third picture as their neighbours: a row laid shifted by one."""
    names = sorted({shot.picture for shot in shots})[::3]
    out = list(shots)
    for name in names:
        places = [i for i, shot in enumerate(shots) if shot.picture == name]
        for here, there in zip(places, places[1:] + places[:1], strict=True):
            out[here] = replace(shots[here], kind=shots[there].kind)
    return out


@dataclass
class Gain:
    """Sums over repeats: tiles read, right and cost without and with enrolment, how the guard decided."""

    tiles: int = 0
    plain: int = 0
    right: int = 0
    plain_nll: float = 0.0
    nll: float = 0.0
    used: int = 0
    worse: int = 0
    runs: int = 0
    guard_worse: int = 0

    def add(self, learned: Sequence[Shot], asked: Sequence[Shot], temperature: float) -> None:
        """Enrol from some shots and judge on others."""
        blend, guard = enrol(learned, temperature)
        labels = np.asarray([LABELS.index(shot.kind) for shot in asked], np.intp)
        looks = stacked(asked)
        plain, own = judged(looks, None, temperature, labels), judged(looks, blend, temperature, labels)
        self.runs, self.tiles, self.used = self.runs + 1, self.tiles + len(asked), self.used + guard.used
        self.plain, self.right = self.plain + plain[0], self.right + own[0]
        self.plain_nll, self.nll = self.plain_nll + plain[1], self.nll + own[1]
        self.worse += own[0] < plain[0] or own[1] > plain[1] + 1e-9
        self.guard_worse += guard.right < guard.plain_right or guard.nll > guard.plain_nll

    def row(self, name: str) -> str:
        """A row of the table."""
        before, after = self.plain_nll / self.runs, self.nll / self.runs
        return (
            f"| {name} | {self.tiles} | {self.plain} | {self.right} | {before:.4f} | {after:.4f}"
            f" | {self.used} of {self.runs} | {self.guard_worse} | {self.worse} |"
        )


def gains(sets: Sets, temperature: float, repeats: int, *, shifted: bool) -> dict[str, Gain]:
    """Enrol each set from half of its pictures, read the other half, several times."""
    found: dict[str, Gain] = {}
    for name, shots in sets.items():
        rng = np.random.default_rng(7)
        for _ in range(repeats):
            learned, asked = _halves(rng, shots)
            found.setdefault(name, Gain()).add(_shifted(learned) if shifted else learned, asked, temperature)
    return found


def _origin(name: str, temperature: float) -> Provenance:
    return Provenance(name, "", "", "", "0" * 64, temperature)


def named_missing(shots: Sequence[Shot], temperature: float, repeats: int) -> tuple[int, int]:
    """Leave three kinds out of a capture: how often it is refused with just these named, of how often."""
    rng, named = np.random.default_rng(3), 0
    kinds = sorted({shot.kind for shot in shots})
    for _ in range(repeats):
        gone = {kinds[int(i)] for i in rng.permutation(len(kinds))[:3]}
        try:
            TileSet.build([s for s in shots if s.kind not in gone], kinds, _origin("", temperature))
        except TileSetError as error:
            listed = str(error).split(":")[1].split(".")[0].split()
            named += set(listed) == gone
    return named, repeats


@dataclass
class Told:
    """Hands of two sets: named right, wrong, left open; strangers named, and tiles wrongly called strange."""

    right: int = 0
    wrong: int = 0
    open: int = 0
    other: int = 0
    third: int = 0
    mixed: int = 0
    thirds: int = 0
    false: int = 0
    tiles: int = 0


def tell_apart(sets: Sets, pair: tuple[str, str], temperature: float, repeats: int) -> Told:
    """Enrol two sets from half of their pictures and ask about the other half, hand by hand.

    Then a tile of the other set, or of a third one, takes the place of the last tile of each hand.
    """
    rng, told = np.random.default_rng(11), Told()
    others = [name for name in ("tray", "plain") if name in sets and name not in pair]
    for _ in range(repeats):
        split = [_halves(rng, sets[name]) for name in pair]
        built = [
            TileSet.build(learned, {s.kind for s in learned}, _origin(name, temperature))
            for name, (learned, _) in zip(pair, split, strict=True)
        ]
        rivals = Rivals(built[0], built[1])
        for side in (0, 1):
            asked = split[side][1]
            for picture in sorted({shot.picture for shot in asked}):
                hand = [shot for shot in asked if shot.picture == picture][:HAND]
                answer = rivals.tell(hand)
                told.right += answer.index == side
                told.wrong += answer.index == 1 - side
                told.open += answer.index is None
                told.false += len(answer.strangers)
                told.tiles += len(hand)
                pool = split[1 - side][1]
                stranger = pool[int(rng.integers(len(pool)))]
                told.mixed += 1
                told.other += _last_is_strange(rivals, hand, stranger)
                if others:
                    pool = sets[others[0]]
                    told.thirds += 1
                    told.third += _last_is_strange(rivals, hand, pool[int(rng.integers(len(pool)))])
    return told


def _last_is_strange(rivals: Rivals, hand: Sequence[Shot], stranger: Shot) -> bool:
    found = rivals.tell([*hand[:-1], stranger]).strangers
    return any(odd.index == len(hand) - 1 for odd in found)


def measure(card: Path, repeats: int = 5) -> str:
    """Measure all of it and return tables in Markdown."""
    recognizer = Recognizer.load(card)
    temperature, lines = recognizer.temperature, []
    head = (
        "| set | tiles read | right, plain | right, enrolled | nll, plain | nll, enrolled | used"
        " | worse by the guard | worse on the other half |\n|---|---|---|---|---|---|---|---|---|"
    )
    for title, spoil, shifted in (
        ("as photographed", False, False),
        ("spoilt views (light, blur, noise)", True, False),
        ("every third picture captured with shifted labels", False, True),
    ):
        sets = load_sets(recognizer, spoil=spoil)
        lines += [f"Enrolled from half of the pictures, {title}:", "", head]
        lines += [gain.row(name) for name, gain in gains(sets, temperature, repeats, shifted=shifted).items()]
        lines.append("")
    sets = load_sets(recognizer, spoil=False)
    named, asked = named_missing(sets["rail"], temperature, 4 * repeats)
    lines += [f"Three kinds left out of a capture: refused with just these named in {named} of {asked}.", ""]
    lines += [
        "| two sets | hands | right | wrong | unsure | tile of the other set named"
        " | tile of a third set named | own tiles called strange |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for pair in PAIRS:
        told = tell_apart(sets, pair, temperature, repeats)
        hands = told.right + told.wrong + told.open
        third = f"{told.third} of {told.thirds}" if told.thirds else "-"
        lines.append(
            f"| {pair[0]}, {pair[1]} | {hands} | {told.right} | {told.wrong} | {told.open}"
            f" | {told.other} of {told.mixed} | {third} | {told.false} of {told.tiles} |"
        )
    return "\n".join(lines)

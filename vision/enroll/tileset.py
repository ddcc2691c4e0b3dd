"""A tile set as enrolled: its kinds, shots and prototypes, its origin, what the guard found. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vision.enroll.guard import Guard, enrol
from vision.enroll.plan import ordered
from vision.enroll.prototypes import Blend
from vision.enroll.shots import Shot
from vision.errors import TileSetError
from vision.model_card import ModelCard
from vision.readings import Floats, Looks

__all__ = ["Provenance", "TileSet", "missing_kinds"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a tile set file comes from.

    ``name`` of the set and of its ``table``; ``when``: ISO 8601 with offset; ``version`` of the program;
    ``model``: sha256 of the classifier whose embeddings it holds; ``temperature`` of that model's card;
    ``sources``: the pictures, in order.
    """

    name: str
    table: str
    when: str
    version: str
    model: str
    temperature: float
    sources: tuple[str, ...] = ()


def missing_kinds(shots: Iterable[Shot], wanted: Iterable[str], least: int = 1) -> dict[str, int]:
    """Kinds that have too few shots, with how many are still to be taken, in the order of the tile ids."""
    have = Counter(shot.kind for shot in shots)
    return {kind: least - have[kind] for kind in ordered(wanted) if have[kind] < least}


@dataclass(frozen=True, slots=True, eq=False)
class TileSet:
    """One physical set of tiles of a table.

    ``kinds``: all it has, in the order of the tile ids, ``back`` among them where tiles were captured face
    down.
    """

    kinds: tuple[str, ...]
    shots: tuple[Shot, ...]
    blend: Blend
    guard: Guard
    provenance: Provenance

    @classmethod
    def build(cls, shots: Sequence[Shot], wanted: Iterable[str], provenance: Provenance) -> TileSet:
        """Make a tile set of captured tiles, its prototypes weighed by the guard.

        Raises TileSetError when a wanted kind was not captured: prototypes of some kinds alone draw tiles of
        the others to themselves.
        """
        kinds = ordered(wanted)
        if missing := missing_kinds(shots, kinds):
            raise TileSetError(
                f"{len(missing)} of {len(kinds)} kinds were not captured: {' '.join(missing)}."
                " Lay them in a row and photograph it."
            )
        mine = tuple(shot for shot in shots if shot.kind in kinds)
        blend, guard = enrol(mine, provenance.temperature)
        return cls(kinds, mine, blend, guard, provenance)

    @classmethod
    def load(cls, path: Path, card: ModelCard | None = None) -> TileSet:
        """Read a tile set file; see `vision.enroll.files.load_tileset`."""
        from vision.enroll.files import load_tileset

        return load_tileset(path, card)

    def save(self, path: Path) -> None:
        """Write the tile set file; see `vision.enroll.files.save_tileset`."""
        from vision.enroll.files import save_tileset

        save_tileset(self, path)

    def adapt(self, looks: Looks) -> Floats:
        """Logits float32 ``(N, 44)`` after enrolment: `vision.recognizer.Recognizer.adapt`.

        The plain logits where the guard found no gain.
        """
        return self.blend.logits(looks) if self.guard.used else looks.logits

    def check_model(self, card: ModelCard) -> None:
        """Raise TileSetError when the prototypes are of another network than the card's."""
        if card.sha256["classifier"] != self.provenance.model:
            raise TileSetError(
                f"The tile set {self.provenance.name} was captured with another recognizer"
                f" ({self.provenance.model[:12]}… instead of {card.sha256['classifier'][:12]}…):"
                " renew it with `quezhuo enroll --renew FILE`."
            )

    def check_kinds(self, wanted: Iterable[str]) -> None:
        """Raise TileSetError when kinds that are played with are not in the set; tiles face down aside."""
        missing = [kind for kind in ordered(wanted) if kind != "back" and kind not in self.kinds]
        if missing:
            raise TileSetError(
                f"The tile set {self.provenance.name} lacks {' '.join(missing)}:"
                " capture them, or choose the rule set it was captured for."
            )

    @property
    def counts(self) -> Mapping[str, int]:
        """Shots of each kind."""
        return Counter(shot.kind for shot in self.shots)

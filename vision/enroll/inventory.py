"""Inventory of a whole set of tiles, laid out in blocks, picture by picture. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from vision.enroll.plan import ordered
from vision.enroll.shots import Shot
from vision.enroll.tileset import TileSet
from vision.enroll.which import Stranger, odd_ones, strangers
from vision.errors import TileSetError
from vision.readings import TileReading
from vision.shapes import BACK

__all__ = ["Counted", "Inventory"]

DOUBT = 0.7
"""Probability of the kind below which a tile is to be looked at again."""


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """One tile of a block: what was read, where, and its views for telling strangers."""

    picture: str
    place: int
    tile: TileReading
    shot: Shot


@dataclass(frozen=True, slots=True, eq=False)
class Inventory:
    """A count that is going on.

    ``expected``: copies of every kind; a kind that is not in it does not belong to the set. ``known``: the
    set as enrolled, where it is; without it a tile is strange that is unlike the other copies of its kind.
    """

    expected: Mapping[str, int]
    known: TileSet | None = None
    tiles: tuple[Counted, ...] = field(default=())

    def __post_init__(self) -> None:
        ordered(self.expected)
        if not self.total:
            raise TileSetError("The tile set has no tiles: name a rule set.")

    @property
    def total(self) -> int:
        """Tiles that the set has."""
        return sum(self.expected.values())

    def add(self, picture: str, tiles: Sequence[TileReading], shots: Sequence[Shot]) -> Inventory:
        """Count one block; a picture that was already counted is replaced, not counted twice."""
        block = tuple(
            Counted(picture, place, tile, shot)
            for place, (tile, shot) in enumerate(zip(tiles, shots, strict=True), 1)
        )
        others = tuple(counted for counted in self.tiles if counted.picture != picture)
        return replace(self, tiles=others + block)

    @property
    def counts(self) -> Counter[str]:
        """Tiles seen of each kind, tiles face down aside."""
        return Counter(counted.tile.kind for counted in self.tiles if counted.tile.kind != BACK)

    @property
    def missing(self) -> dict[str, int]:
        """Kinds with how many are not there."""
        counts = self.counts
        return {
            k: self.expected[k] - counts[k] for k in ordered(self.expected) if counts[k] < self.expected[k]
        }

    @property
    def surplus(self) -> dict[str, int]:
        """Kinds with how many are too many, those that the set does not have among them."""
        counts = self.counts
        return {
            k: counts[k] - self.expected.get(k, 0)
            for k in ordered(counts)
            if counts[k] > self.expected.get(k, 0)
        }

    @property
    def face_down(self) -> list[Counted]:
        """Tiles to turn over."""
        return [counted for counted in self.tiles if counted.tile.kind == BACK]

    @property
    def doubtful(self) -> list[Counted]:
        """Tiles whose kind is not certain."""
        return [c for c in self.tiles if c.tile.kind != BACK and c.tile.score < DOUBT]

    @property
    def strange(self) -> list[Counted]:
        """Tiles of another set."""
        seen = [counted for counted in self.tiles if counted.tile.kind != BACK]
        shots = [counted.shot for counted in seen]
        found: Sequence[Stranger] = odd_ones(shots) if self.known is None else strangers(self.known, shots)
        return [seen[stranger.index] for stranger in found]

    @property
    def complete(self) -> bool:
        """Whether the set is whole: nothing missing, too many, strange, doubtful or face down."""
        return not (self.missing or self.surplus or self.face_down or self.doubtful or self.strange)

    def to_json(self) -> dict[str, Any]:
        """Return the object that `quezhuo enroll --inventory --json` prints."""
        return {
            "expected": self.total,
            "seen": sum(self.counts.values()),
            "pictures": list(dict.fromkeys(counted.picture for counted in self.tiles)),
            "missing": self.missing,
            "surplus": self.surplus,
            "face_down": _places(self.face_down),
            "doubtful": _places(self.doubtful),
            "foreign": _places(self.strange),
            "complete": self.complete,
        }


def _places(tiles: Sequence[Counted]) -> list[dict[str, Any]]:
    return [
        {"picture": c.picture, "place": c.place, "kind": c.tile.kind, "box": list(c.tile.box)} for c in tiles
    ]

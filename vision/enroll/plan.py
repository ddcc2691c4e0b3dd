"""What to lay before the camera, row by row, so that every kind of a tile set is seen. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.tiles import TILE_IDS
from vision.errors import TileSetError
from vision.shapes import BACK

__all__ = ["BACKS", "SHOTS", "Row", "capture_plan", "ordered", "parse_rows"]

SHOTS: Final = 2
"""How often each row is photographed: without a second picture nothing can be checked against the first."""
BACKS: Final = 4
"""Face-down tiles of the last row."""
SHORT: Final = 3
"""A row of fewer kinds joins its neighbour: one tile alone is hard to find."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row to lay: ``kinds`` from left to right as their player reads them; ``take`` counts its pictures.

    From the second take on the row lies somewhere else in the zone and its tiles upside down, so that light
    and direction differ.
    """

    kinds: tuple[str, ...]
    take: int = 0

    @property
    def text(self) -> str:
        """The row for people: ``1m 2m … 9m`` where it counts up, otherwise tile by tile."""
        first, last = self.kinds[0], self.kinds[-1]
        if set(self.kinds) == {BACK}:
            return f"{len(self.kinds)} tiles face down"
        counts_up = [f"{int(first[0]) + i}{first[1]}" for i in range(len(self.kinds))] == list(self.kinds)
        return f"{first} to {last}" if counts_up and len(self.kinds) > 2 else " ".join(self.kinds)


def ordered(kinds: Iterable[str]) -> tuple[str, ...]:
    """Sort kinds in the order of the tile ids, each once; raises TileSetError for what is no tile.

    >>> ordered(["1z", "2m", "1m", "1m"])
    ('1m', '2m', '1z')
    """
    wanted = set(kinds)
    known = TILE_IDS[:43]
    if strange := sorted(wanted - set(known)):
        raise TileSetError(f"{strange[0]!r} is no kind of tile: write kinds like 1m, 5p, 7z, 8f or back.")
    return tuple(kind for kind in known if kind in wanted)


def capture_plan(kinds: Iterable[str], shots: int = SHOTS, backs: int = BACKS) -> tuple[Row, ...]:
    """Rows to lay for a tile set: suits, honours, flowers, tiles face down; each ``shots`` times in a row.

    A suit of one or two kinds lies in the row of the next. Raises TileSetError where there is no kind.

    >>> [row.text for row in capture_plan(["1m", "2m", "3m", "1s", "1z", "2z", "3z"], shots=1)]
    ['1m to 3m', '1s 1z 2z 3z', '4 tiles face down']
    """
    faces = [kind for kind in ordered(kinds) if kind != BACK]
    if not faces:
        raise TileSetError("The tile set has no kinds: name a rule set or kinds.")
    suits = [[kind for kind in faces if kind[-1] == suit] for suit in "mpszf"]
    lines: list[list[str]] = []
    for suit in filter(None, suits):
        if lines and len(lines[-1]) < SHORT:
            lines[-1] = lines[-1] + suit
        else:
            lines.append(suit)
    if len(lines) > 1 and len(lines[-1]) < SHORT:
        lines[-2:] = [lines[-2] + lines[-1]]
    if backs:
        lines.append([BACK] * backs)
    return tuple(Row(tuple(line), take) for line in lines for take in range(shots))


def parse_rows(lines: Sequence[str]) -> tuple[Row, ...]:
    """Read rows as people write them, ``1m 2m 3m`` each; raises TileSetError."""
    rows = [tuple(line.split()) for line in lines]
    for row in rows:
        ordered(row)
        if not row:
            raise TileSetError("A row of the plan is empty: write its kinds from left to right, 1m 2m 3m.")
    return tuple(Row(row) for row in rows)

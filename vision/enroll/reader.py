"""A table's reader that knows its tile sets: which is in play, what it looks like, who is a stranger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from vision.enroll.capture import look_at_tiles
from vision.enroll.shots import Shot
from vision.enroll.tileset import TileSet
from vision.enroll.which import Rivals, Stranger, strangers
from vision.errors import TileSetError
from vision.reading_service import Reader
from vision.readings import DOUBT_CODES, Box, Image, Reading
from vision.recognizer import Recognizer
from vision.shapes import HandShape

__all__ = ["TableReader", "with_tilesets"]


def with_tilesets(
    recognizer: Recognizer, files: Sequence[Path], kinds: Iterable[str] | None = None
) -> Reader:
    """Return what reads with the tile sets of these files: one or two; the recognizer itself without any.

    ``kinds``: those that are played with, which every set has to have. Raises TileSetError.
    """
    if not files:
        return recognizer
    sets = [TileSet.load(file, recognizer.card) for file in files]
    for tiles in sets if kinds is not None else ():
        tiles.check_kinds(kinds or ())
    return TableReader(recognizer, sets)


class TableReader:
    """Reads like the recognizer, with what was enrolled of one or two tile sets.

    The set in play is found from what lies open and kept until another is seen; before one is known the plain
    network reads. Tiles that do not belong to the set in play are in doubt. Not thread-safe: one worker owns
    it.

    Raises TileSetError for no set, more than two, or one of another recognizer.
    """

    def __init__(self, recognizer: Recognizer, sets: Sequence[TileSet]) -> None:
        if not 1 <= len(sets) <= 2:
            raise TileSetError(f"A table has one or two tile sets, not {len(sets)}: name one or two files.")
        if recognizer.card is not None:
            for tiles in sets:
                tiles.check_model(recognizer.card)
        self.sets = tuple(sets)
        self.in_play: int | None = 0 if len(sets) == 1 else None
        """Index of the set in play, None while unknown."""
        self._plain = replace(recognizer, adapt=None)
        self._enrolled = [replace(recognizer, adapt=tiles.adapt) for tiles in sets]
        self._rivals = Rivals(sets[0], sets[1]) if len(sets) == 2 else None

    def read(
        self,
        frame: Image,
        region: Box | None = None,
        expect: int | None = None,
        kinds: frozenset[str] | None = None,
        shape: HandShape | None = None,
        long_side: int | None = None,
    ) -> Reading:
        """Read the tiles of a frame, see `vision.recognizer.Recognizer.read`."""

        def once() -> Reading:
            return self._reader().read(frame, region, expect, kinds, shape, long_side)

        reading = once()
        shots = look_at_tiles(self._plain, frame, reading, "")
        before, (index, odd) = self.in_play, self._tell(shots)
        if index is not None and index != before:
            self.in_play = index
            reading = once()
            shots = look_at_tiles(self._plain, frame, reading, "")
            odd = self._tell(shots)[1]
        return doubted(reading, odd)

    def _reader(self) -> Recognizer:
        return self._plain if self.in_play is None else self._enrolled[self.in_play]

    def _tell(self, shots: Sequence[Shot]) -> tuple[int | None, tuple[Stranger, ...]]:
        if self._rivals is None:
            return 0, strangers(self.sets[0], shots)
        told = self._rivals.tell(shots)
        return told.index, told.strangers


def doubted(reading: Reading, odd: Sequence[Stranger]) -> Reading:
    """Return a reading with doubt on tiles that do not belong to the set in play."""
    if not odd:
        return reading
    code_of = {stranger.index: stranger.code for stranger in odd}
    tiles = tuple(
        replace(tile, doubts=(*tile.doubts, code_of[i])) if i in code_of else tile
        for i, tile in enumerate(reading.tiles)
    )
    codes = {*reading.why, *code_of.values()}
    why = tuple(code for code in DOUBT_CODES if code in codes)
    return replace(reading, tiles=tiles, accept=False, why=why)

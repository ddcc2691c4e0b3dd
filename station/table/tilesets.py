"""Which tile sets a table knows: those named in its configuration, else those its page `/enroll` saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from station.table.config import TableConfig
from vision.enroll.reader import TableReader
from vision.enroll.renew import is_stale, renewed
from vision.enroll.tileset import TileSet
from vision.errors import TileSetError
from vision.reading_service import Reader
from vision.recognizer import Recognizer

__all__ = ["MOST", "SetsInUse", "file_for", "renew_stale", "room_for", "sets_in_use", "tileset_files"]

MOST = 2
"""Sets of one table: one is built while the other is played."""


@dataclass(frozen=True, slots=True)
class SetsInUse:
    """The tile sets that a table reads with: ``names``, and the one ``in_play``, None while unknown."""

    names: tuple[str, ...]
    in_play: str | None

    def to_json(self) -> dict[str, Any]:
        """Return the object of the state."""
        return {"names": list(self.names), "in_play": self.in_play}


def sets_in_use(reader: Reader | None) -> SetsInUse | None:
    """What a reader knows of its sets; None where it reads every set alike."""
    if not isinstance(reader, TableReader):
        return None
    names = tuple(tiles.provenance.name for tiles in reader.sets)
    return SetsInUse(names, None if reader.in_play is None else names[reader.in_play])


def _own(home: Path) -> list[Path]:
    return sorted((home / "tilesets").glob("*.json"))


def tileset_files(config: TableConfig) -> list[Path]:
    """Files of the sets a table reads with.

    Raises TileSetError when its own page's folder holds more than a table can have: nobody can tell which
    are meant.
    """
    if config.tilesets:
        return [Path(name) for name in config.tilesets]
    files = _own(Path(config.home))
    if len(files) > MOST:
        names = ", ".join(file.name for file in files)
        raise TileSetError(
            f"{files[0].parent} holds {len(files)} tile sets ({names}), a table has one or two: take the"
            " others out of the folder, or name those in use as tilesets in the table's file."
        )
    return files


def file_for(config: TableConfig, name: str) -> Path:
    """Where the set of this name is saved: over the file in use of that name, else in the table's home."""
    known = {Path(file).stem: Path(file) for file in config.tilesets}
    return known.get(name, Path(config.home) / "tilesets" / f"{name}.json")


def room_for(config: TableConfig, name: str) -> tuple[str, ...]:
    """Names of the sets that stand in the way of a new one, none where it would be used once it is saved."""
    names = tuple(Path(file).stem for file in config.tilesets or _own(Path(config.home)))
    free = name in names or (not config.tilesets and len(names) < MOST)
    return () if free else names


def renew_stale(files: Sequence[Path], recognizer: Recognizer) -> list[Path]:
    """Learn sets of another recognizer anew, from the pictures in their files; returns the files written.

    After an update nobody has to lay tiles again. Raises TileSetError for a file without pictures.
    """
    written = []
    for file in files:
        tiles = TileSet.load(file)
        if is_stale(tiles, recognizer):
            renewed(tiles, recognizer, version("quezhuo")).save(file)
            written.append(file)
    return written

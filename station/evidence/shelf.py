"""Photos on the central station's disk: ``ab/<hash>.jpg``, and begun ones in ``parts``."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from station.evidence.keeping import Stored, free_at, stored_below
from station.evidence.taking import NoSpace
from station.evidence.wire import is_name, name_of
from station.files import move_into_place

__all__ = ["Shelf"]

_MODE = 0o600
ROOM_FOR_EVENTS = 64 * 1024 * 1024


class Shelf:
    """A folder of photos by hash. Used by the one thread that writes; `path` may be asked from any.

    Args:
        folder: made when missing.
        room: bytes of the disk that photos leave free for the log.
    """

    def __init__(self, folder: Path, room: int = ROOM_FOR_EVENTS) -> None:
        self.folder = folder
        self.index = folder / "index.db"
        """What is known of the photos, see `station.evidence.index`."""
        self._room = room

    def path(self, name: str) -> Path | None:
        """Return where a photo lies; None when it is not here or the name is none."""
        if not is_name(name):
            return None
        path = self._place(name)
        return path if path.is_file() else None

    def has(self, name: str) -> bool:
        """Tell whether the photo is there."""
        return self.path(name) is not None

    def part_size(self, table: str, name: str) -> int:
        """Return how many bytes of a begun photo are there; a table's other begun photo goes."""
        part = self._part(table, name)
        with _refused():
            for other in part.parent.glob(f"{_short(table)}-*"):
                if other != part:
                    other.unlink(missing_ok=True)
        return part.stat().st_size if part.is_file() else 0

    def append(self, table: str, name: str, data: bytes) -> None:
        """Store the next bytes.

        Raises:
            NoSpace: the disk refuses; what was there stays.
        """
        part = self._part(table, name)
        with _refused():
            part.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.free() < self._room + len(data):
                raise NoSpace("No space is left for photos.", fix="Free some space.")
            fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, _MODE)
            with os.fdopen(fd, "wb") as file:
                before = file.tell()
                try:
                    file.write(data)
                    file.flush()
                except OSError:
                    # What is left over is the photo's: the next offer goes on behind it.
                    with suppress(OSError):
                        os.ftruncate(fd, before)
                    raise

    def finish(self, table: str, name: str) -> bool:
        """Make a photo of what was begun; False: its bytes have another hash, and it is thrown away."""
        part, place = self._part(table, name), self._place(name)
        with _refused():
            if name_of(part.read_bytes()) != name:
                part.unlink()
                return False
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            move_into_place(part, place)
        return True

    def drop(self, table: str, name: str) -> None:
        """Throw away what was begun."""
        with _refused():
            self._part(table, name).unlink(missing_ok=True)

    def remove(self, name: str) -> None:
        """Delete a photo; nothing happens when it is not there."""
        if is_name(name):
            with suppress(OSError):  # it still lies there, so the next sweep tries again
                self._place(name).unlink(missing_ok=True)

    def stored(self) -> dict[str, Stored]:
        """Return the photos that are there, by name."""
        return stored_below(self.folder, "??/*.jpg")

    def free(self) -> int:
        """Return the bytes that the disk has free."""
        return free_at(self.folder)

    def _place(self, name: str) -> Path:
        return self.folder / name[:2] / name

    def _part(self, table: str, name: str) -> Path:
        return self.folder / "parts" / f"{_short(table)}-{name}"


def _short(table: str) -> str:
    """Return a file name's beginning for a table, whatever its name holds."""
    return hashlib.blake2b(table.encode(), digest_size=8).hexdigest()


@contextmanager
def _refused() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NoSpace(f"A photo can't be stored: {error.strerror}.", fix="Free some space.") from error

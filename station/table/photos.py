"""Evidence photographs: stored by content hash, durable before an event names them."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from station.errors import StationError
from station.evidence.keeping import Stored, free_at, stored_below
from station.evidence.wire import is_name, name_of

ROOM_FOR_EVENTS = 16 * 1024 * 1024
"""Bytes of the disk that photographs leave free: a result is worth more than its picture."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class PhotoStoreError(StationError):
    """A photograph can't be stored; ``code``: ``photo.full`` (no space for it) or ``photo.not_stored``."""

    code = "photo.not_stored"


class PhotoStore:
    """A folder of JPEG files named by the BLAKE2b-128 hash of their bytes.

    ``room``: bytes of the disk that stay free for the log.
    """

    def __init__(self, folder: Path, room: int = ROOM_FOR_EVENTS) -> None:
        self.folder = folder
        self._room = room

    def put(self, jpeg: bytes) -> str:
        """Store the bytes and return their name (``<32 hex digits>.jpg``); the same bytes twice are one file.

        Raises:
            PhotoStoreError: the file could not be written; nothing half-written stays behind.
        """
        name = name_of(jpeg)
        path = self.folder / name
        if path.exists():
            return name
        part = path.with_suffix(".part")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if self.free() < self._room + len(jpeg):
                raise OSError(errno.ENOSPC, "No space left for photographs")
            fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(jpeg)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
            _synced(self.folder)  # else a power cut may take the name from under the event that has it
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise PhotoStoreError(
                f"The photo can't be stored ({error.strerror}).",
                fix="Free some space.",
                code="photo.full" if error.errno in _FULL else None,
            ) from error
        return name

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a stored photo; None if it is not there."""
        path = self.path(name)
        try:
            return None if path is None else path.read_bytes()
        except OSError:
            return None

    def stored(self) -> dict[str, Stored]:
        """Return the photos that are there, by name."""
        return stored_below(self.folder, "*.jpg")

    def remove(self, name: str) -> None:
        """Delete a photo; nothing happens when it is not there."""
        path = self.path(name)
        if path is not None:
            with suppress(OSError):
                path.unlink()

    def free(self) -> int:
        """Return the bytes that the disk has free."""
        return free_at(self.folder)

    def path(self, name: str) -> Path | None:
        """Return the path of a stored photo; None if the name is not one of ours or not there."""
        if not is_name(name):
            return None
        path = self.folder / name
        return path if path.is_file() else None


def _synced(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)

"""Evidence photographs: stored by content hash, durable before an event names them."""

from __future__ import annotations

import errno
import threading
from contextlib import suppress
from pathlib import Path

from station.errors import StationError
from station.evidence.keeping import Stored, free_at, stored_below
from station.evidence.wire import is_name, name_of
from station.files import replace_file, sync

ROOM_FOR_EVENTS = 16 * 1024 * 1024
"""Bytes of the disk that photographs leave free: a result is worth more than its picture."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class PhotoStoreError(StationError):
    """A photograph can't be stored; ``code``: ``photo.full`` (no space for it) or ``photo.not_stored``."""

    code = "photo.not_stored"


class PhotoStore:
    """A folder of JPEG files named by the BLAKE2b-128 hash of their bytes. Used by any thread.

    ``room``: bytes of the disk that stay free for the log.
    """

    def __init__(self, folder: Path, room: int = ROOM_FOR_EVENTS) -> None:
        self.folder = folder
        self._room = room
        self._writing = threading.Lock()

    def put(self, jpeg: bytes) -> str:
        """Store the bytes and return their name (``<32 hex digits>.jpg``); the same bytes twice are one file.

        It outlives a power cut by then. A slow disk may take a second for that: not for the loop's thread.

        Raises:
            PhotoStoreError: the file could not be written; nothing half-written stays behind.
        """
        name = name_of(jpeg)
        try:
            with self._writing:
                self._put(self.folder / name, jpeg)
        except OSError as error:
            raise PhotoStoreError(
                f"The photo can't be stored ({error.strerror}).",
                fix="Free some space.",
                code="photo.full" if error.errno in _FULL else None,
            ) from error
        return name

    def _put(self, path: Path, jpeg: bytes) -> None:
        if path.exists():
            sync(self.folder)  # it may be there because the disk refused just this when it was stored
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.free() < self._room + len(jpeg):
            raise OSError(errno.ENOSPC, "No space left for photographs")
        replace_file(path, jpeg)  # durable with its name: an event will have it

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a stored photo; None if it is not there.

        Raises:
            OSError: it is there and cannot be read just now.
        """
        path = self.path(name)
        try:
            return None if path is None else path.read_bytes()
        except FileNotFoundError:
            return None

    def stored(self) -> dict[str, Stored]:
        """Return the photos that are there, by name."""
        return stored_below(self.folder, "*.jpg")

    def remove(self, name: str) -> None:
        """Delete a photo; nothing happens when it is not there."""
        path = self.path(name)
        if path is not None:
            with suppress(OSError):  # the policy sees that it is still there, and asks again
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

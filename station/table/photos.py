"""Evidence photographs: stored by content hash, durable before an event names them."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from station.errors import StationError

_NAME = re.compile(r"[0-9a-f]{32}\.jpg")


class PhotoStoreError(StationError):
    """A photograph can't be stored (disk full, no permission)."""

    code = "photo.not_stored"


class PhotoStore:
    """A folder of JPEG files named by the BLAKE2b-128 hash of their bytes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, jpeg: bytes) -> str:
        """Store the bytes and return their name (``<32 hex digits>.jpg``); the same bytes twice are one file.

        Raises:
            PhotoStoreError: the file could not be written; nothing half-written stays behind.
        """
        name = f"{hashlib.blake2b(jpeg, digest_size=16).hexdigest()}.jpg"
        path = self._folder / name
        if path.exists():
            return name
        part = path.with_suffix(".part")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as file:
                file.write(jpeg)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise PhotoStoreError(
                f"The photo can't be stored ({error.strerror}).", fix="Free some space."
            ) from error
        return name

    def path(self, name: str) -> Path | None:
        """Return the path of a stored photo; None if the name is not one of ours or not there."""
        if not _NAME.fullmatch(name):
            return None
        path = self._folder / name
        return path if path.is_file() else None

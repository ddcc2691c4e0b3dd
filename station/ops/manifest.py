"""What a backup holds, file by file, with a seal over the list itself."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Final

import msgspec

from station.errors import StationError

__all__ = ["NAME", "BackedUp", "BackupError", "Manifest", "read_manifest", "sha256_of", "write_manifest"]

NAME: Final = "manifest.json"
_CHUNK: Final = 1 << 20
_PATH: Final = re.compile(r"(home|config|keys)(/[^/\0]+)+")


class BackupError(StationError):
    """A backup cannot be made, is damaged, or cannot be restored there."""

    code = "backup.bad"
    exit_status = 2


class BackedUp(msgspec.Struct, frozen=True):
    """One file: its path below the backup, size in bytes, SHA-256 in hex, and permission bits."""

    path: str
    size: int
    sha256: str
    mode: int


class Manifest(msgspec.Struct, frozen=True):
    """The list.

    Args:
        process: ``table`` or ``central``.
        table: id of the table; empty for the central station.
        made_at: UTC, ISO 8601.
        version: of the program that made it.
        config: name of the configuration file below ``config``.
        log: name of the log below ``home``.
        log_id: in hex.
        seq: of the last entry of the log's own chain.
        pos: position of the last entry of the file.
        head: store hash at that position, in hex: what ``quezhuo verify --expect`` takes.
        with_keys: whether secret keys are in it.
        files: everything in it.
    """

    process: str
    table: str
    made_at: str
    version: str
    config: str
    log: str
    log_id: str
    seq: int
    pos: int
    head: str
    with_keys: bool
    files: tuple[BackedUp, ...]


class _Sealed(msgspec.Struct, frozen=True):
    v: int
    manifest: Manifest
    sha256: str


def sha256_of(path: Path) -> str:
    """Give the SHA-256 of a file, in hex."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _seal(manifest: Manifest) -> str:
    return hashlib.sha256(msgspec.json.encode(manifest, order="deterministic")).hexdigest()


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the list into a backup's folder."""
    sealed = _Sealed(1, manifest, _seal(manifest))
    (folder / NAME).write_bytes(msgspec.json.format(msgspec.json.encode(sealed)) + b"\n")


def read_manifest(folder: Path) -> Manifest:
    """Read the list of a backup and check that it is whole.

    Raises:
        BackupError: there is none, or it is damaged.
    """
    try:
        sealed = msgspec.json.decode((folder / NAME).read_bytes(), type=_Sealed)
    except OSError:
        raise BackupError(f"There is no backup in {folder}.", fix="Name the folder of a backup.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _damaged(folder / NAME) from None
    manifest = sealed.manifest
    if sealed.sha256 != _seal(manifest) or not _consistent(manifest):
        raise _damaged(folder / NAME)
    return manifest


def _consistent(manifest: Manifest) -> bool:
    """Whether all that is named lies below the backup, once, and the log is one of its files.

    The seal shows damage alone: whoever writes another list can seal it too.
    """
    paths = [file.path for file in manifest.files]
    log = f"home/{manifest.log}"
    return all(map(_below, paths)) and len(set(paths)) == len(paths) and log in paths


def _below(path: str) -> bool:
    """Whether a path stays inside the backup."""
    return bool(_PATH.fullmatch(path)) and not {".", ".."} & set(path.split("/"))


def _damaged(path: Path) -> BackupError:
    return BackupError(f"{path} is damaged.", fix="Take another backup.")

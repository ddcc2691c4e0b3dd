"""CURVE keys in files, and the list of enrolled tables.

A key pair NAME lies in two TOML files: ``NAME.key`` (mode 0600: ``public`` and ``secret``) and ``NAME.pub``
(mode 0644: ``public``). The allow-list of the central station is a TOML file::

    [tables]
    T1 = "public key of table T1"

Keys are written in Z85 (https://rfc.zeromq.org/spec/32/), 40 characters.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec
import zmq
from zmq.utils import z85

from station.errors import KeyFileError

__all__ = [
    "AllowList",
    "KeyPair",
    "generate",
    "load_allow_list",
    "load_pair",
    "load_public",
    "write_allow_list",
]

_KEY_BYTES = 32


class KeyPair(msgspec.Struct, frozen=True):
    """A CURVE key pair in Z85."""

    public: str
    secret: str

    def __repr__(self) -> str:
        return f"KeyPair(public={self.public!r}, secret=…)"


def generate(folder: Path, name: str) -> KeyPair:
    """Draw a key pair and write ``NAME.key`` and ``NAME.pub`` into `folder`, which is created when missing.

    Raises:
        KeyFileError: one of the files exists already, or the folder cannot be written.
    """
    public, secret = (key.decode() for key in zmq.curve_keypair())
    pair = KeyPair(public, secret)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write_new(folder / f"{name}.key", f'public = "{public}"\nsecret = "{secret}"\n', mode=0o600)
        _write_new(folder / f"{name}.pub", f'public = "{public}"\n', mode=0o644)
    except FileExistsError as error:
        raise KeyFileError(
            f"The key file {error.filename} exists already.", fix="Move it away first, or use another name."
        ) from None
    except OSError as error:
        raise KeyFileError(
            f"The key files cannot be written to {folder}: {error.strerror}.", fix="Check the folder."
        ) from error
    return pair


def load_pair(path: Path) -> KeyPair:
    """Read a ``.key`` file.

    Raises:
        KeyFileError: missing, damaged, or readable by others.
    """
    data = _load(path)
    if path.stat().st_mode & 0o077:
        raise KeyFileError(f"Others may read the secret key {path}.", fix=f"Run: chmod 600 {path}")
    return KeyPair(_key(data.get("public"), path), _key(data.get("secret"), path))


def load_public(path: Path) -> str:
    """Read the public key of a ``.pub`` (or ``.key``) file, in Z85.

    Raises:
        KeyFileError: missing or damaged.
    """
    return _key(_load(path).get("public"), path)


def load_allow_list(path: Path) -> dict[str, str]:
    """Read an allow-list: table id → public key.

    Raises:
        KeyFileError: missing, damaged, or one key stands for two tables.
    """
    tables = _load(path).get("tables", {})
    if not isinstance(tables, dict):
        raise KeyFileError(f"The file {path} has no section [tables].", fix="Add it; see the documentation.")
    keys = {str(table): _key(key, path) for table, key in tables.items()}
    if len(set(keys.values())) != len(keys):
        raise KeyFileError(f"Two tables in {path} have the same key.", fix="Make a key for each table.")
    return keys


def write_allow_list(path: Path, tables: Mapping[str, str]) -> None:
    """Write an allow-list (table id → public key); a running central station takes it over by itself.

    Raises:
        KeyFileError: a key is none, or the file cannot be written.
    """
    lines = [f'{msgspec.json.encode(table).decode()} = "{_key(key, path)}"' for table, key in tables.items()]
    draft = path.with_name(path.name + ".new")
    try:
        draft.write_text("\n".join(["[tables]", *lines, ""]), encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise KeyFileError(
            f"The allow-list {path} cannot be written: {error.strerror}.", fix="Check the folder."
        ) from error


class AllowList:
    """The allow-list file as it is now: read again when it changes, so enrolling needs no restart.

    Args:
        path: the file. It must be good at the start; a damaged newer version is not taken over.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp = self._stat()
        self._by_key = _by_key(load_allow_list(path))

    @property
    def tables(self) -> frozenset[str]:
        """The enrolled tables."""
        self._refresh()
        return frozenset(self._by_key.values())

    def table_of(self, key: str) -> str | None:
        """Give the table that a public key (Z85) is enrolled for."""
        self._refresh()
        return self._by_key.get(key)

    def _refresh(self) -> None:
        stamp = self._stat()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._by_key = _by_key(load_allow_list(self._path))
        except KeyFileError:
            return  # half-edited: the last good list stays in force

    def _stat(self) -> tuple[int, int, int] | None:
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _by_key(tables: Mapping[str, str]) -> dict[str, str]:
    return {key: table for table, key in tables.items()}


def _load(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise KeyFileError(
            f"The key file {path} cannot be read: {error.strerror}.", fix="Make keys with: quezhuo keygen"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise KeyFileError(
            f"The key file {path} is damaged.", fix="Make new keys with: quezhuo keygen"
        ) from None


def _key(value: object, path: Path) -> str:
    try:
        good = isinstance(value, str) and len(z85.decode(value)) == _KEY_BYTES
    except (ValueError, KeyError):
        good = False
    if not good:
        raise KeyFileError(f"The file {path} holds something that is no key.", fix="Keys have 40 characters.")
    return str(value)


def _write_new(path: Path, text: str, mode: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        os.fchmod(fd, mode)
        file.write(text)

"""Reading and writing the small TOML files that keys lie in."""

from __future__ import annotations

import tomllib
from pathlib import Path

from zmq.utils import z85

from station.errors import KeyFileError

__all__ = ["bytes_of", "curve_key", "load_toml", "raw_key", "text_of"]

_KEY_BYTES = 32


def load_toml(path: Path) -> dict[str, object]:
    """Read a TOML file.

    Raises:
        KeyFileError: missing or damaged.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise KeyFileError(
            f"The key file {path} cannot be read: {error.strerror}.",
            fix="Check the path, or make keys: quezhuo keygen NAME",
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise KeyFileError(
            f"The key file {path} is damaged.", fix="Make new keys with: quezhuo keygen"
        ) from None


def curve_key(value: object, path: Path) -> str:
    """Return a CURVE key in Z85 (40 characters) as it is.

    Raises:
        KeyFileError: it is none; `path` is named.
    """
    try:
        good = isinstance(value, str) and len(z85.decode(value)) == _KEY_BYTES
    except (ValueError, KeyError):
        good = False
    if not good:
        raise KeyFileError(f"The file {path} holds something that is no key.", fix="Keys have 40 characters.")
    return str(value)


def raw_key(value: object, path: Path) -> str | None:
    """Return an Ed25519 key (32 bytes as 64 hexadecimal digits) as it is; None for None.

    Raises:
        KeyFileError: it is something else; `path` is named.
    """
    if value is None:
        return None
    try:
        good = isinstance(value, str) and len(value) == 2 * _KEY_BYTES and bool(bytes.fromhex(value))
    except ValueError:
        good = False
    if not good:
        raise KeyFileError(
            f"The file {path} holds something that is no signing key.", fix="They have 64 hexadecimal digits."
        )
    return str(value)


def bytes_of(key: str) -> bytes:
    """Return the 32 bytes of a CURVE key in Z85."""
    return z85.decode(key)


def text_of(key: bytes) -> str:
    """Return a CURVE key of 32 bytes in Z85."""
    return z85.encode(key).decode()

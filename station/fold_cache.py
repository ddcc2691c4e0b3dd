"""A folded state kept in a file beside the log, so that a start need not fold everything anew.

It is a shortcut and nothing else: what is in the log counts. The file says up to which position of the log
the state goes, which hash stands there, and by which program it was folded. When any of this does not fit, or
the file is damaged, it is not used. Its checksum is keyed with a secret of the process, for the file is the
one thing beside the log that decides what is shown, and no check of the log would find it out. A process
without such a secret (no key, or one without its signing half) keeps nothing and folds its whole log at each
start. The file can be deleted at any time.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Generic, TypeVar

import msgspec
import structlog

from station.files import replace_file

__all__ = ["FOLDING", "FoldCache", "code_version"]

_log = structlog.get_logger()
State = TypeVar("State")
_CHECK_SIZE = 32
_FORMAT = b"QZ-fold-2"

FOLDING = (
    "engine",
    "station.fold_cache",
    "station.folding",
    "station.messages",
    "station.places",
    "station.session",
    "station.state",
    "station.versions",
)
"""The modules and packages that decide what a table's log amounts to."""


@cache
def code_version(modules: tuple[str, ...]) -> bytes | None:
    """Hash what a fold depends on besides the log.

    Args:
        modules: names of modules, and of packages with all that is below them: modules and data files, such
            as those of the rule sets.

    Returns:
        32 bytes, from names and bytes of the files, and from the versions of Python and of the library that
        decodes events and states; None where one of the modules has no file.
    """
    python = f"{sys.implementation.name} {sys.version_info} msgspec {msgspec.__version__}"
    digest = hashlib.blake2b(_FORMAT + python.encode(), digest_size=_CHECK_SIZE)
    for name in sorted(set(modules)):
        try:
            for file, data in _files(name):
                digest.update(hashlib.blake2b(f"{name} {file}".encode()).digest())
                digest.update(hashlib.blake2b(data).digest())
        except OSError:
            return None
    return digest.digest()


def _files(module: str) -> Iterator[tuple[str, bytes]]:
    """Give name and bytes of a module's file, or of all files of a package. Raises OSError."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(module)
    origin = Path(spec.origin)
    if origin.name != "__init__.py":
        yield origin.name, origin.read_bytes()
        return
    for path in sorted(origin.parent.rglob("*")):
        if path.is_file() and path.parent.name != "__pycache__":
            yield path.relative_to(origin.parent).as_posix(), path.read_bytes()


class _Kept(msgspec.Struct, frozen=True):
    """What the file holds."""

    code: bytes
    log_id: bytes
    pos: int
    hash: bytes
    state: msgspec.Raw


class FoldCache(Generic[State]):
    """The cache of one log.

    Args:
        path: the file.
        kind: type of the state; it is encoded with msgspec.
        code: what it is folded by, from `code_version`; None: nothing is kept.
        secret: makes the file's checksum one that nobody else can compute; empty: nothing is kept or used.
    """

    def __init__(self, path: Path, kind: type[State], code: bytes | None, secret: bytes = b"") -> None:
        self._path = path
        self._code = code
        self._secret = secret
        self._decoder = msgspec.msgpack.Decoder(kind)
        self._refused = False

    def load(self, log_id: bytes, hash_at: Callable[[int], bytes | None]) -> State | None:
        """Give the state kept; None when there is none that fits.

        Args:
            log_id: id of the log.
            hash_at: gives the hash at a position of the log.
        """
        if not self._secret:
            return None
        try:
            return self._read(log_id, hash_at)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError, ValueError) as error:
            _log.warning("kept fold not used; the whole log is folded", file=str(self._path), why=str(error))
            return None

    def _read(self, log_id: bytes, hash_at: Callable[[int], bytes | None]) -> State:
        raw = self._path.read_bytes()
        if self._check(raw[_CHECK_SIZE:]) != raw[:_CHECK_SIZE]:
            raise ValueError("it is damaged, or was written with other keys")
        kept = msgspec.msgpack.decode(raw[_CHECK_SIZE:], type=_Kept)
        if self._code is None or kept.code != self._code:
            raise ValueError("another version of the program wrote it")
        if kept.log_id != log_id or hash_at(kept.pos) != kept.hash:
            raise ValueError("it is not of this log")
        return self._decoder.decode(kept.state)

    def save(self, log_id: bytes, pos: int, digest: bytes, state: State) -> None:
        """Keep a state; where the disk refuses, the next start folds the log anew, and one line says so.

        Args:
            log_id: id of the log.
            pos: the position after which this is the state.
            digest: the hash at this position.
            state: the state.
        """
        if self._code is None or not self._secret:
            return
        try:
            encoded = msgspec.Raw(msgspec.msgpack.encode(state))
            data = msgspec.msgpack.encode(_Kept(self._code, log_id, pos, digest, encoded))
            replace_file(self._path, self._check(data) + data, durable=False)
        except (OSError, OverflowError, RecursionError) as error:  # or a state that cannot be written so
            if not self._refused:
                _log.warning("fold not kept", file=str(self._path), why=str(error))
            self._refused = True
        else:
            self._refused = False

    def _check(self, data: bytes) -> bytes:
        return hashlib.blake2b(data, digest_size=_CHECK_SIZE, key=self._secret, person=b"fold cache").digest()

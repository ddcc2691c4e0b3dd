"""Backup of a table or of the central station, also while it runs.

The log is copied first, in one consistent step of SQLite's backup interface
(https://www.sqlite.org/backup.html), the photographs after it: a photograph is on the disk before an event
names it, so whatever the copied log names is copied too. The folder appears under its name only when it is
complete and on the disk.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from station.errors import LogFull
from station.files import sync
from station.log.log import Log
from station.ops.databases import copy_database, damage_of
from station.ops.manifest import BackedUp, BackupError, Manifest, sha256_of, write_manifest

__all__ = ["Source", "back_up"]

_LEFT_OUT: Final = ("-wal", "-shm", "-journal", ".lock", ".part", ".pid", ".new", ".probe", ".fold")
"""Endings of files that mean nothing without the running process."""
_DATABASE: Final = ".db"
_ASIDE: Final = ".db.before-"
_KEY: Final = ".key"


@dataclass(frozen=True, slots=True)
class Source:
    """What is backed up.

    `process`: ``table`` or ``central``; `log`: name of the log below `home`; `config`: the configuration
    file; `beside`: files it names (allow-list, calibration, public keys); `keys`: secret key files;
    `made_anew`: files below `home` that the process makes anew from the log, and that would not fit an older
    one.
    """

    process: str
    table: str
    home: Path
    log: str
    config: Path
    beside: tuple[Path, ...] = ()
    keys: tuple[Path, ...] = ()
    made_anew: tuple[str, ...] = ()


def back_up(
    source: Source, target: Path, *, with_keys: bool = False, progress: Callable[[str], None] = lambda _: None
) -> Manifest:
    """Write a backup into a new folder.

    Args:
        source: what to copy.
        target: the folder; it must not exist.
        with_keys: take the secret keys too; whoever has them can speak as this process.
        progress: called with the name of each file before it is copied.

    Raises:
        BackupError: the folder exists, or lies in the home; the log is damaged. LogError: it cannot be read.
        OSError: a file cannot be read or written. Nothing is left in each case.
    """
    target = target.absolute()
    if target.exists():
        raise BackupError(f"{target} exists already.", fix="Name a new folder.")
    if source.home.resolve() in (target.resolve(), *target.resolve().parents):
        raise BackupError(f"{target} lies in the home itself.", fix="Name a folder on another disk.")
    if not (source.home / source.log).is_file():
        raise BackupError(f"There is no log in {source.home}.", fix="Start the process once, or check home.")
    draft = target.with_name(f"{target.name}.unfinished-{os.getpid()}")
    draft.mkdir(mode=0o700, parents=True)
    try:
        manifest = _fill(source, draft, with_keys, progress)
        write_manifest(draft, manifest)
        _to_disk(draft)
        draft.rename(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    with contextlib.suppress(OSError):  # all of it is on the disk; some network folders force no names
        sync(target.parent)
    return manifest


def _fill(source: Source, draft: Path, with_keys: bool, progress: Callable[[str], None]) -> Manifest:
    for path in _of_home(source, with_keys):
        relative = path.relative_to(source.home)
        progress(str(relative))
        _copy(path, draft / "home" / relative)
    for folder, paths in (("config", (source.config, *source.beside)), ("keys", source.keys)):
        if folder == "config" or with_keys:
            for path in paths:
                if path.is_file():
                    progress(path.name)
                    _copy(path, _free(draft / folder / path.name))
    with Log.open(draft / "home" / source.log, read_only=True) as log:
        _check(log, source.home)
        own, stored = log.head, log.pos_head
        log_id = log.log_id
    return Manifest(
        process=source.process,
        table=source.table,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=version("quezhuo"),
        config=source.config.name,
        log=source.log,
        log_id=log_id.hex(),
        seq=own.seq,
        pos=stored.seq,
        head=stored.hash.hex(),
        with_keys=with_keys,
        files=tuple(_listed(draft)),
    )


def _check(log: Log, home: Path) -> None:
    """Refuse to make what could not be restored: told now, not on the day when it is needed."""
    damage = damage_of(log)
    if damage is not None:
        raise BackupError(
            f"The log in {home} does not hold ({damage}), and no backup was made.",
            fix="Keep the earlier backups, copy the whole home as it is, and look with `quezhuo verify`.",
        )


def _of_home(source: Source, with_keys: bool) -> Iterator[Path]:
    """Give the files of the home: the log first, then other databases, then the rest."""
    log = source.home / source.log
    left_out = {log, *(source.home / name for name in source.made_anew)}
    wanted = [
        path for path in sorted(_files(source.home)) if not _fleeting(path.name) and path not in left_out
    ]
    secret = {path.resolve() for path in source.keys}
    if not with_keys:
        wanted = [path for path in wanted if path.suffix != _KEY and path.resolve() not in secret]
    return iter([log, *sorted(wanted, key=lambda path: path.suffix != _DATABASE)])


def _files(home: Path) -> Iterator[Path]:
    """Give all files below a folder, also behind links: photographs may lie on a disk of their own.

    Raises:
        BackupError: a link leads nowhere. OSError: a folder cannot be read.
    """
    seen: set[str] = set()
    for folder, below, names in os.walk(home, followlinks=True, onerror=_raise):
        if os.path.realpath(folder) in seen:
            below.clear()  # a link leads back to where we were
            continue
        seen.add(os.path.realpath(folder))
        for path in (Path(folder, name) for name in names):
            if path.is_symlink() and not path.exists():
                raise BackupError(
                    f"The link {path} leads nowhere.", fix="Connect its disk, or remove the link."
                )
            if path.is_file():
                yield path


def _raise(error: OSError) -> None:
    raise error


def _fleeting(name: str) -> bool:
    """Whether a file means nothing alone. Of a log that was moved aside, the write-ahead log is a part."""
    return name.endswith(_LEFT_OUT) and _ASIDE not in name


def _copy(path: Path, to: Path) -> None:
    to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.suffix == _DATABASE:
        try:
            copy_database(path, to)
        except LogFull as error:  # it is not the log's disk that is full
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(to)) from error
    else:
        with contextlib.suppress(FileNotFoundError):  # thinned out meanwhile
            shutil.copyfile(path, to)
            to.chmod(stat.S_IMODE(path.stat().st_mode))


def _free(path: Path) -> Path:
    """A name that is not taken yet: two files of one name may come from two folders."""
    name, number = path.name, 1
    while path.exists():
        number += 1
        path = path.with_name(f"{number}-{name}")
    return path


def _listed(draft: Path) -> Iterator[BackedUp]:
    for path in sorted(draft.rglob("*")):
        if path.is_file():
            info = path.stat()
            relative = str(path.relative_to(draft))
            yield BackedUp(relative, info.st_size, sha256_of(path), stat.S_IMODE(info.st_mode))


def _to_disk(folder: Path) -> None:
    for path in (*folder.rglob("*"), folder):
        sync(path)

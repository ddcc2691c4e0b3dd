"""Restoring a backup, and a table's log from what the central station has of it."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from station.errors import LogInUse
from station.files import sync
from station.log.chain import ZERO_HEAD
from station.log.log import Log
from station.log.rebuild import CopiedChain, chains_of, rebuild
from station.ops.databases import damage_of
from station.ops.manifest import BackupError, Manifest, read_manifest, sha256_of

__all__ = [
    "CENTRAL_INDEX",
    "TABLE_INDEX",
    "TABLE_LOG",
    "Rebuilt",
    "check_backup",
    "rebuild_from_central",
    "restore",
]

TABLE_LOG: Final = "table.db"
TABLE_INDEX: Final = "evidence.db"
"""What a table knows of its photos, by position in its log; it is made anew when it is missing."""
CENTRAL_INDEX: Final = "evidence/index.db"
"""The same at the central station."""
_BESIDE: Final = ("-wal", "-shm")


def check_backup(backup: Path, progress: Callable[[str], None] = lambda _: None) -> Manifest:
    """Check every file of a backup and the whole chain of its log.

    Raises:
        BackupError: something is missing or damaged; the message names it.
    """
    manifest = read_manifest(backup)
    for file in manifest.files:
        progress(file.path)
        path = backup / file.path
        if path.resolve() != backup.resolve() / file.path or not path.is_file():  # no link leads elsewhere
            raise BackupError(f"The backup lacks {file.path}.", fix="Take another backup.")
        if path.stat().st_size != file.size or sha256_of(path) != file.sha256:
            raise BackupError(f"{file.path} of the backup is damaged.", fix="Take another backup.")
    with Log.open(backup / "home" / manifest.log, read_only=True) as log:
        damage, head = damage_of(log), log.pos_head
    if damage is None and (head.seq, head.hash.hex()) != (manifest.pos, manifest.head):
        damage = f"it ends at entry {head.seq}, not at {manifest.pos}, or with another hash"
    if damage is not None:
        raise BackupError(f"The log of the backup does not hold ({damage}).", fix="Take another backup.")
    for ending in _BESIDE:  # left by looking at a backup of an earlier version
        with suppress(OSError):  # where nothing can be written, nothing was left
            (backup / "home" / f"{manifest.log}{ending}").unlink(missing_ok=True)
    return manifest


def restore(
    backup: Path, home: Path, *, force: bool = False, progress: Callable[[str], None] = lambda _: None
) -> tuple[Manifest, Path | None]:
    """Put a backup into a home that is empty or not there.

    The files of the configuration come into ``HOME/restored``: they belong where the process looks for them.

    Args:
        backup: folder of the backup.
        home: where to put it.
        force: move what is there aside first.
        progress: called with each file's name.

    Returns:
        the list of the backup, and where the earlier home is now, if there was one.

    Raises:
        BackupError: the backup is damaged, or the home is not empty. LogInUse: a process runs there. Nothing
            was touched in each case.
    """
    manifest = check_backup(backup, progress)
    home = home.resolve()
    if home.is_mount():
        raise BackupError(f"{home} is a disk of its own.", fix="Name a folder on it, and set it as home.")
    filled = home.exists() and (not home.is_dir() or any(home.iterdir()))
    if filled and not force:
        raise BackupError(
            f"{home} is not empty.", fix="Name another --home, or add --force: what is there is moved aside."
        )
    if filled:
        _not_running(home)
    draft = home.with_name(f"{home.name}.restoring-{os.getpid()}")
    try:
        draft.mkdir(mode=0o700, parents=True)
        for file in manifest.files:
            progress(file.path)
            top, _, rest = file.path.partition("/")
            to = draft / rest if top == "home" else draft / "restored" / file.path
            to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copyfile(backup / file.path, to)
            to.chmod(file.mode & 0o755)  # for nobody else to write
            sync(to)
        for folder in (path for path in draft.rglob("*") if path.is_dir()):
            sync(folder)
        aside = _aside(home) if filled else None
        try:
            if home.exists():
                home.rmdir()
            draft.rename(home)
        except BaseException:
            if aside is not None and not home.exists():
                aside.rename(home)
            raise
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    sync(home)
    sync(home.parent)
    return manifest, aside


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What became of a table's log: its last entry before (0: there was none) and now, and where the earlier
    file is, if one was replaced."""

    log_id: bytes
    before: int
    now: int
    aside: Path | None


def rebuild_from_central(central: Path, table: str, home: Path, *, log_id: bytes | None = None) -> Rebuilt:
    """Write, or complete, a table's log from the central station's copy of it.

    Args:
        central: the central station's log file, or a copy of it; it may be in use.
        table: id of the table.
        home: the table's home; made when missing. A log in it is completed, never changed.
        log_id: which log of the table, if it had several; None: the one in `home`, else the newest.

    Raises:
        BackupError: the station knows nothing of that table or log, or the log in `home` is another one.
        LogInUse: the table runs. LogError: a file cannot be read or written.
    """
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    _not_running(home)
    path = home / TABLE_LOG
    with Log.open(central, read_only=True) as copy, ExitStack() as stack:
        own = stack.enter_context(Log.open(path, read_only=True)) if path.exists() else None
        chain = _chosen(chains_of(copy, table), table, log_id if own is None else own.log_id)
        before = own.head if own is not None else ZERO_HEAD
        longer, shorter = (own, chain.head) if own and before.seq > chain.head.seq else (copy, before)
        if longer.hash_at(chain.log_id, shorter.seq) != shorter.hash:
            raise _forked(table)
        if before.seq >= chain.head.seq:
            return Rebuilt(chain.log_id, before.seq, before.seq, None)
        draft = path.with_name(f"{TABLE_LOG}.rebuilding-{os.getpid()}")
        now = rebuild(draft, chain.log_id, chain.entries(), int(1000 * time.time()))
    aside = _moved_log(path)
    for ending in ("", *_BESIDE):  # its positions are those of the earlier file
        (home / f"{TABLE_INDEX}{ending}").unlink(missing_ok=True)
    draft.rename(path)
    sync(path)
    sync(home)
    return Rebuilt(chain.log_id, before.seq, now.seq, aside)


def _chosen(chains: list[CopiedChain], table: str, log_id: bytes | None) -> CopiedChain:
    fits = [chain for chain in chains if log_id in (None, chain.log_id)]
    if not fits:
        raise BackupError(
            f"The central station has no such log of table {table}.",
            fix="Check the name of the table and which log lies in its home.",
        )
    return fits[0]


def _forked(table: str) -> BackupError:
    return BackupError(
        f"The log in the home and the central station's copy of table {table} have different histories.",
        fix="Keep both files, and call the head referee.",
    )


def _moved_log(path: Path) -> Path | None:
    """Move a log aside with what SQLite keeps beside it: that of another file would spoil the new one."""
    if not path.exists():
        for ending in _BESIDE:
            path.with_name(path.name + ending).unlink(missing_ok=True)
        return None
    aside = _aside(path)
    for ending in _BESIDE:
        beside = path.with_name(path.name + ending)
        if beside.exists():
            beside.rename(aside.with_name(aside.name + ending))
    return aside


def _aside(path: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    aside, number = path.with_name(f"{path.name}.before-{stamp}"), 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.before-{stamp}-{number}")
    path.rename(aside)
    return aside


def _not_running(home: Path) -> None:
    """Refuse to touch the home of a running process: it holds the lock beside its log."""
    for lock in home.glob("*.db.lock") if home.is_dir() else ():
        fd = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
        with closing(os.fdopen(fd)):
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LogInUse(f"A process runs in {home}.", fix="Stop it first.") from None

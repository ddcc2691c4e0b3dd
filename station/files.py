"""Files that are there whole or not at all.

What `replace_file` promises, so that nobody else has to think of it: the bytes go to a draft in the same
folder, with the mode they shall have from its first byte on; the draft is forced to the disk, renamed over
the file, and the folder is forced to the disk too. Readers see the old file or the new one, a power cut
leaves one of them, and once the call returns it leaves the new one (rename(2), fsync(2)). When anything
before the rename fails, the old file is as it was and the draft is gone. Only a kill leaves a draft behind,
of a name that begins with a dot and ends with ``.new``; backups leave those out, and `sweep` deletes them.

Two processes may write the same file, the later one wins; two threads of one process may not.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["move_into_place", "replace_file", "sweep", "sync", "write_new"]


def replace_file(
    path: Path, data: bytes | str, *, mode: int = 0o600, keep_mode: bool = False, durable: bool = True
) -> None:
    """Write a file in one step.

    Args:
        path: in a folder that exists.
        data: bytes, or text to be written as UTF-8.
        mode: of the file, whatever the umask.
        keep_mode: a file that is there already keeps its own.
        durable: False forces nothing to the disk: for what can be made anew. After a power cut (not after a
            mere crash of this program) such a file may be empty, so its reader has to know damage.

    Raises:
        OSError: it cannot be written; the old file is as it was, unless it was the folder that refused to be
            forced to the disk: then the new one is there, but may not outlive a power cut.
    """
    if keep_mode:
        with suppress(FileNotFoundError):  # the first one gets `mode`
            mode = path.stat().st_mode & 0o777
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)  # of an earlier process of this number
    try:
        _write(draft, data, mode, durable)
        draft.replace(path)
    except BaseException:
        with suppress(OSError):  # the trouble that is raised matters more
            draft.unlink(missing_ok=True)
        raise
    if durable:
        sync(path.parent)


def write_new(path: Path, data: bytes | str, *, mode: int = 0o600) -> None:
    """Write a file that does not exist yet, and force it to the disk. Other processes may see half of it.

    Args:
        path, data, mode: as for `replace_file`.

    Raises:
        FileExistsError: it exists; it is as it was. OSError: it cannot be written; nothing of it is left.
    """
    _write(path, data, mode, durable=True)
    sync(path.parent)


def move_into_place(draft: Path, path: Path) -> None:
    """Give a file that was written piece by piece its name, as durably as `replace_file`.

    Args:
        draft: the file, in the same file system; closed or flushed.
        path: its name; a file of this name is replaced.

    Raises:
        OSError: the disk refuses. The draft stays, unless it was renamed already.
    """
    sync(draft)
    draft.replace(path)
    sync(path.parent)


def sweep(folder: Path) -> None:
    """Delete drafts that killed processes have left in a folder, which belongs to this process alone now."""
    for draft in folder.glob(".*.new"):
        with suppress(OSError):  # it does no harm, and the next start tries again
            draft.unlink()


def sync(path: Path) -> None:
    """Force a file's bytes, or a folder's names, to the disk.

    Raises:
        OSError: the disk refuses.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _write(path: Path, data: bytes | str, mode: int, durable: bool) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(fd, "wb") as file:
            os.fchmod(fd, mode)  # whatever the umask
            file.write(data.encode() if isinstance(data, str) else data)
            file.flush()
            if durable:
                os.fsync(fd)
    except BaseException:
        with suppress(OSError):  # the trouble that is raised matters more
            path.unlink(missing_ok=True)
        raise

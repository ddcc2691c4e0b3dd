"""Text files that are there whole or not at all: calibrations, tile sets, scenes.

The same promise as the station's own (`station.files`), which this room may not import.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["replace_text"]


def replace_text(path: Path, text: str, *, durable: bool = True) -> None:
    """Write a file in one step: readers see the old text or the new one.

    Args:
        path: in a folder that exists.
        text: written as UTF-8.
        durable: the text is on the disk before it gets its name, and the name before this returns, so that a
            power cut leaves the old file or the new one. False: for what lives no longer than the process.

    Raises:
        OSError: it cannot be written; the old file is as it was, and no draft is left.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with draft.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        draft.replace(path)
    except BaseException:
        with suppress(OSError):  # the trouble that is raised matters more
            draft.unlink(missing_ok=True)
        raise
    if durable:
        folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

"""What a simulated machine writes down: executed motions, and its tiles between two runs."""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from firmware_bridge.errors import UsageError
from firmware_bridge.interlock import RULES
from firmware_bridge.ops import Op


def write_json(path: Path, data: dict[str, Any], *, durable: bool) -> None:
    """Replace a JSON file in one step: a reader sees the old or the new one. `durable`: on the disk now."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with fresh.open("w", encoding="utf-8") as file:
            json.dump(data, file)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            fresh.unlink()


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in a JSON file; None if the file is absent or empty.

    Raises:
        UsageError: it holds something else.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return None
    if not raw.strip():
        return None
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise UsageError(f"{path} is no file of a simulated machine; name another one.")
    return data


class Pulses:
    """Counts every executed motion in a file that is on the disk before the motion begins.

    `{"motions": [{"cmd_id", "op", "boot_id"}, ...], "counts": {op: n}}`; an existing file is continued.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        known = read_json(path) or {}
        self._motions: list[dict[str, Any]] = list(known.get("motions", []))
        self._write()

    def __call__(self, cmd_id: int, op: Op, boot_id: int) -> None:
        """Write down that `op` begins; operations without motion are not counted."""
        if RULES[op].motion:
            self._motions.append({"cmd_id": cmd_id, "op": op.name, "boot_id": boot_id})
            self._write()

    def _write(self) -> None:
        counts = Counter(motion["op"] for motion in self._motions)
        write_json(
            self._path, {"motions": self._motions, "counts": dict(sorted(counts.items()))}, durable=True
        )
